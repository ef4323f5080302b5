"""KQ-02: an attempt without borrowing ends within the nominal quota of the queue."""

from __future__ import annotations

from planner.state import State
from tests.verifier.cases import (
    OWN,
    RECLAIM,
    broken,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)


def state_with(asked: int) -> State:
    """Make a queue with nominal 4 that uses 2, next to one which borrows 2."""
    return cluster(
        cohort("all"),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "Any")),
        queue("other", 4, "all"),
        running("a", "mine", 2),
        running("b", "other", 4, priority=99),
        running("c", "other", 2),
        waiting("incoming", asked, priority=10),
    )


def test_within_nominal_is_permitted() -> None:
    state = state_with(2)
    assert not broken(state, plan_of(state, ("c", RECLAIM), borrowing=False))


def test_above_nominal_is_forbidden() -> None:
    """4 would be available, but the queue would use 6 of 4."""
    state = cluster(
        cohort("all", gpus=2),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "Any")),
        queue("other", 4, "all"),
        running("a", "mine", 2),
        running("b", "other", 4, priority=99),
        running("c", "other", 2),
        waiting("incoming", 4, priority=10),
    )
    plan = plan_of(state, ("c", RECLAIM), borrowing=False)
    assert broken(state, plan) == ["KQ-02"]
    assert verdicts(state, plan)["KQ-02"].detail == (
        "ClusterQueue mine would use 6 nvidia.com/gpu in flavor h200, its nominal quota is 4"
    )


def test_above_nominal_is_permitted_with_borrowing() -> None:
    state = cluster(
        cohort("all", gpus=2),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "Any", "LowerPriority")),
        queue("other", 4, "all"),
        running("a", "mine", 2),
        running("b", "other", 4, priority=99),
        running("c", "other", 2),
        waiting("incoming", 4, priority=10),
    )
    assert not broken(state, plan_of(state, ("c", "InCohortReclaimWhileBorrowing")))


def test_own_victims_lower_the_usage_that_counts() -> None:
    state = state_with(4)
    assert not broken(state, plan_of(state, ("a", OWN), ("c", RECLAIM), borrowing=False))
