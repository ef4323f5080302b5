"""The claims of a plan, judged by their trees.

An optimal plan has a claim for each level and one for its ties, an infeasible plan one in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from planner.commands.check.record import CheckedClaim
from planner.errors import UnsupportedError
from planner.objective.profiles import Measure, measure_title
from planner.plan import BoundByRows, Certificate, Level, Tree
from planner.plan.proof import ByRows
from planner.proof.claims import INFEASIBLE, LAST_RESORT, TIES, Claims, Stated, level_claim
from planner.proof.question import Open, Question
from planner.proof.sums import bound_by_rows

_TITLES: Final = {
    INFEASIBLE: "no legal victim set exists",
    LAST_RESORT: "no legal victim set spares who opted out",
}


def check_levels(
    claims: Claims, certificate: Certificate, victims: Sequence[int]
) -> Iterator[CheckedClaim]:
    """Judge every level, then the ties; ``victims`` are positions in candidate order."""
    trees = {tree.claim: tree for tree in certificate.trees}
    stated: list[Stated] = []
    for level in certificate.levels:
        measure: Measure = tuple(level.term.split("+"))
        found, detail = _judge_level(claims, stated, measure, victims, trees)
        fault = _sum_fault(claims, stated, level, certificate.sums) if found else ""
        stated.append(Stated(measure, claims.value(measure, victims), found))
        yield CheckedClaim(
            claim=level.term,
            title=measure_title(measure),
            value=level.value,
            certified=found and not fault,
            detail=fault or detail,
        )
    levels = {level.term for level in certificate.levels}
    for stray in (each.term for each in certificate.sums if each.term not in levels):
        yield CheckedClaim(claim=stray, title="", certified=False, detail="it is no level")
    certified, detail = _judge_ties(claims, stated, victims, trees.get(TIES))
    title = "first among equals in the scheduler's candidate order"
    yield CheckedClaim(claim=TIES, title=title, certified=certified, detail=detail)


def check_infeasible(
    claims: Claims, trees: Sequence[Tree], known: str = "", claim: str = INFEASIBLE
) -> CheckedClaim:
    """Judge the claim that there is no legal set, or none that spares who opted out.

    ``known`` says why it needs no tree.
    """
    tree = next((tree for tree in trees if tree.claim == claim), None)
    found, detail = (True, known) if known else _judge(claims.infeasible, tree)
    return CheckedClaim(claim=claim, title=_TITLES[claim], certified=found, detail=detail)


def _judge_level(
    claims: Claims,
    earlier: Sequence[Stated],
    measure: Measure,
    victims: Sequence[int],
    trees: Mapping[str, Tree],
) -> tuple[bool, str]:
    if claims.is_unknown(measure):
        return False, "it asks the scheduler what victims do next: no tree tells"
    value = claims.value(measure, victims)
    if value == 0:
        return True, "no term is below 0"
    tree = trees.get(level_claim(measure))
    return _judge(lambda: claims.level(earlier, measure, value), tree)


def _sum_fault(
    claims: Claims, earlier: Sequence[Stated], level: Level, sums: Sequence[BoundByRows]
) -> str:
    """Say what is wrong with the sum of rows that a plan states for a level, if it states one.

    It is added up anew, from the names of the rows and their multipliers alone.
    """
    measure: Measure = tuple(level.term.split("+"))
    for stated in (each for each in sums if each.term == level.term):
        leaf = ByRows(rows={row.row: row.times for row in stated.rows})
        question = claims.level(earlier, measure, level.value)
        found = bound_by_rows(question, [leaf], measure, level.value)
        if found is None:
            return "the rows of its sum do not contradict one another"
        if found != stated:
            return "its sum of rows is not what the rows add up to"
    return ""


def _judge_ties(
    claims: Claims, levels: Sequence[Stated], victims: Sequence[int], tree: Tree | None
) -> tuple[bool, str]:
    def ask() -> Question:
        if sorted(claims.canonical(levels, victims)) != sorted(victims):
            message = "of workloads that nothing tells apart it does not take the first"
            raise Open(message)
        return claims.ties(levels, victims)

    return _judge(ask, tree)


def _judge(ask: Callable[[], Question], tree: Tree | None) -> tuple[bool, str]:
    if tree is None:
        return False, "there is no tree"
    try:
        ask().check(tree.steps)
    except Open as gap:
        return False, f"the tree does not show it: {gap}"
    except UnsupportedError as error:
        return False, str(error)
    return True, _say_steps(len(tree.steps))


def _say_steps(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"
