"""Whom Kueue itself evicts, in its order: classical preemption."""

from tests.oracle.legality import attempt, collected
from tests.oracle.question import Question


def kueue(question: Question) -> list[str]:
    """Walk the candidates in order until the preemptor fits, then give back what need not go."""
    candidates, attempts = collected(question)
    for borrow in attempts:
        allowed = attempt(question, candidates, borrow=borrow)
        gone, targets = 0, []
        for each in candidates:
            if not allowed(gone, each.index):
                continue
            gone |= 1 << each.index
            targets.append(each.index)
            if question.fits(gone, borrow=borrow):
                kept = _filled_back(question, targets, gone, borrow=borrow)
                return [question.cluster.held[index].key for index in kept]
    return []


def _filled_back(question: Question, targets: list[int], gone: int, *, borrow: bool) -> list[int]:
    for place in range(len(targets) - 2, -1, -1):
        without = gone & ~(1 << targets[place])
        if question.fits(without, borrow=borrow):
            gone = without
            targets[place] = targets[-1]
            targets.pop()
    return targets
