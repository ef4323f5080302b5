"""Why no set of the candidates is legal: the plan says what is true of the state."""

import pytest

import planner
from tests.cluster import Object, cohort, fair_sharing, pending, queue, running, state_of

OTHERS = (
    cohort("org"),
    queue("b", 4, "org"),
    running("b1", "b", 4, 0),
    running("b2", "b", 2, 0),
)
"""Somebody borrows what is asked for."""
MINE = (*OTHERS, running("a1", "a", 2, 0), pending("a", 4))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (queue("a", 4, "org", reclaim="Any"), "borrowWithinCohort is Never (KQ-06)"),
        (queue("a", 4, "org", reclaim="Any", borrow="LowerPriority"), None),
        (queue("a", 4, "org", reclaim="Any", within="LowerPriority"), None),
    ],
)
def test_who_would_have_to_borrow_is_told_so(own: list[Object], said: str | None) -> None:
    """Nobody protects b1, which frees all that is asked for; a itself has no victim, or one."""
    plan = planner.solve(state_of(own, *MINE))
    assert (plan.status == "infeasible") == (said is not None)
    assert (said or "") in plan.explanation


def test_who_stays_within_its_quota_is_told_of_those_that_are_protected() -> None:
    """Two are missing; b gives one and is within its quota then, and d1 has a higher priority."""
    plan = planner.solve(
        state_of(
            cohort("org"),
            queue("a", 4, "org", reclaim="LowerPriority"),
            queue("b", 4, "org"),
            queue("d", 0, "org"),
            *(running(f"b{i}", "b", 1, 0) for i in range(5)),
            running("d1", "d", 1, 20),
            pending("a", 4),
        )
    )
    assert plan.status == "infeasible"
    assert "queues that stop being over their quota" in plan.explanation


def test_under_fair_sharing_nothing_is_said_of_borrowing() -> None:
    own = queue("a", 4, "org", reclaim="Any")
    plan = planner.solve(state_of(fair_sharing(), own, *MINE))
    assert "borrowWithinCohort" not in plan.explanation
