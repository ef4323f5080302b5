"""Cohorts of equal shares: which of them Kueue looks at first is random.

Source: docs/semantics/kueue.md §6.4.
"""

from __future__ import annotations

import planner
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.chance import EQUAL_COHORTS
from planner.reference.kueue.decision import Decision, decide, outcomes
from tests.cluster import PENDING, Object, cohort, fair_sharing, pending, queue, running, state_of


def parts(*, first: int = 2, second: int = 2) -> list[list[Object]]:
    """Return a tree of three cohorts: the own one, and two that borrow of the root's 4.

    The pending workload asks for 1, which any workload of the two others makes room for.
    """
    names = [name for name, amount in (("x", first), ("y", second)) for _ in range(amount)]
    return [
        fair_sharing(),
        cohort("root", nominal=4),
        *(cohort(name, "root") for name in ("own", "left", "right")),
        queue("a", 0, "own", reclaim="Any"),
        queue("x", 0, "left"),
        queue("y", 0, "right"),
        *(running(f"{name}{number}", name, 1) for number, name in enumerate(names)),
        pending("a", 1),
    ]


def found(some: list[list[Object]]) -> tuple[Decision, set[tuple[str, ...]]]:
    """Return the decision that is shown, and the victims of all that Kueue may come to."""
    state = state_of(*some)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    every = outcomes(snapshot, preemptor)
    names = {tuple(target.workload.key[3:4] for target in one.targets) for one in every}
    return decide(snapshot, preemptor), names


def test_either_of_two_equal_cohorts_may_lose() -> None:
    decision, victims = found(parts())
    assert decision.undetermined == (EQUAL_COHORTS,)
    assert [target.workload.key[3:4] for target in decision.targets] == ["y"]  # the last one
    assert victims == {("x",), ("y",)}


def test_a_plan_says_so() -> None:
    plan = planner.solve(state_of(*parts()))
    assert any(EQUAL_COHORTS in note for note in plan.notes)


def test_the_larger_share_leaves_nothing_to_chance() -> None:
    decision, victims = found(parts(first=3, second=1))
    assert (decision.undetermined, victims) == ((), {("x",)})
