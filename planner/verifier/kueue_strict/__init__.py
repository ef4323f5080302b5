"""The rule set ``strict``: Kueue's documented precedence as laws, ST-01 to ST-05.

Today's laws ask whether every single removal is permitted at its moment. These ask whether it
was also its turn. They are judged beside today's laws and change none of their verdicts.

laws.py    one check per law
orders.py  a bounded search over orders; orders in one attempt of classical preemption; under fair
           sharing: two passes, whose turn it is, who passes

Small sets are judged exactly. A search that reaches its bound says so: it is then not known
whether the victims are strict-legal.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.laws import Law, of_precedence
from planner.laws.kueue import ST_ATTEMPTS
from planner.plan import Verdict
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.fair_sharing import FairCase
from planner.verifier.kueue_strict.laws import CHECKS, Answer, attempts_due
from planner.verifier.kueue_strict.orders import MOST_STATES
from planner.verifier.wording import judge

__all__ = ["MOST_STATES", "Strict", "attempts_due", "judge_strictly"]


@dataclass(frozen=True, slots=True)
class Strict:
    """What the laws of precedence say of victims that today's laws accept.

    ``legal`` is ``None`` where it is not decided: a search ended at its bound. ``verdicts`` are
    of the laws that apply, as far as they are decided, each in the company of those before it
    that hold. ``order`` is an order of removals that all of them permit, if there is one.
    """

    legal: bool | None
    verdicts: tuple[Verdict, ...] = ()
    order: tuple[str, ...] = ()


def judge_strictly(case: Case, most: int = MOST_STATES) -> Strict:
    """Judge victims by the laws of precedence.

    Parameters
    ----------
    case
        A plan of Kueue's matched with its state. Today's laws must accept it: only what they
        permit is looked at.
    most
        How many states each search over orders may visit.
    """
    laws = of_precedence("kueue-fair" if isinstance(case, FairCase) else "kueue-classical")
    if not case.victims:
        return Strict(legal=True)
    # All at once first: that is the answer nearly always, and one search in place of one each.
    answer = _all_of(case, laws, most)
    if answer.holds:
        verdicts = tuple(judge(law, (), answer.detail) for law in laws)
        return Strict(answer.holds, verdicts, tuple(case.victims[p].key for p in answer.order))
    kept: list[Law] = []
    verdicts = ()
    for law in laws:
        one = CHECKS[law.id](case, kept, most)
        # What comes after is judged in the company of those before: without them it means nothing.
        if one.holds is None:
            break
        verdicts += (judge(law, [] if one.holds else [one.detail], one.detail),)
        if one.holds:
            kept.append(law)
    return Strict(answer.holds, verdicts)


def _all_of(case: Case, laws: tuple[Law, ...], most: int) -> Answer:
    """Ask for all laws at once: where they hold together, that is found soonest."""
    first, last = laws[0], laws[-1]
    if first is ST_ATTEMPTS:
        answer = CHECKS[first.id](case, (), most)
        if not answer.holds:
            return answer
    return CHECKS[last.id](case, laws[:-1], most)
