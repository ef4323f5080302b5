"""FS-01: the preemptor fits after all victims are gone, in the only attempt there is."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
    BY_SHARE,
    OWN,
    RECLAIM,
    assigned,
    broken,
    cluster,
    cohort,
    fair_plan,
    fair_sharing,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)


def state_with(request: int, *, borrowing: int | None = None) -> State:
    """Make a full cohort of 8: queue other uses 6 of its 2."""
    return cluster(
        fair_sharing(),
        cohort("all", gpus=4),
        queue("mine", 2, "all", borrowing=borrowing, preemption=policies("LowerPriority", "Any")),
        queue("other", 2, "all"),
        running("own", "mine", 2),
        running("a", "other", 2),
        running("rest", "other", 4),
        waiting("incoming", request, priority=10),
    )


@pytest.mark.parametrize(("request_", "fits"), [(2, True), (3, False)])
def test_enough_must_go(request_: int, fits: bool) -> None:  # noqa: FBT001
    """The request itself does not count as used: with it, all would be over-admitted."""
    state = state_with(request_)
    assert broken(state, fair_plan(state, ("own", OWN))) == ([] if fits else ["FS-01"])


@pytest.mark.parametrize(("limit", "fits"), [(2, True), (1, False)])
def test_a_borrowing_limit_holds(limit: int, fits: bool) -> None:  # noqa: FBT001
    state = state_with(2, borrowing=limit)
    assert broken(state, fair_plan(state, ("a", BY_SHARE))) == ([] if fits else ["FS-01"])


@pytest.mark.parametrize(("borrowing", "known"), [(True, True), (False, False), (None, False)])
def test_the_only_attempt_permits_borrowing(borrowing: bool | None, known: bool) -> None:  # noqa: FBT001
    state = state_with(2)
    plan = fair_plan(state, ("own", OWN), borrowing=borrowing)
    assert broken(state, plan) == ([] if known else ["FS-01"])


def test_both_faults_are_told() -> None:
    state = state_with(3)
    plan = fair_plan(state, ("own", OWN), borrowing=False)
    assert verdicts(state, plan)["FS-01"].detail == (
        "the plan must name the attempt with borrowing: fair sharing makes no other; "
        "asks for 3 nvidia.com/gpu in flavor h200, 2 available to ClusterQueue mine"
    )


def test_nothing_evicted_needs_no_attempt() -> None:
    state = cluster(fair_sharing(), queue("mine", 4), waiting("incoming", 4))
    plan = fair_plan(state, borrowing=None, assignment=assigned("Fit"))
    assert not broken(state, plan)
    assert "FS-01" in broken(state, fair_plan(state, ("unheard-of", OWN), borrowing=None))


def test_without_a_cohort_only_the_own_queue_gives() -> None:
    state = cluster(
        fair_sharing(),
        queue("mine", 4, preemption=policies("LowerPriority", "Any")),
        queue("other", 0),
        running("own", "mine", 3),
        running("a", "other", 9),
        waiting("incoming", 4, priority=10),
    )
    assert not broken(state, fair_plan(state, ("own", OWN)))
    assert "FS-01" in broken(state, fair_plan(state, ("a", RECLAIM)))
    assert broken(state, fair_plan(state, ("own", OWN), ("a", RECLAIM))) == ["FS-02"]
