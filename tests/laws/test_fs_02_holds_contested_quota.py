"""FS-02: a victim holds contested quota, of whatever amount, in the preemptor's tree."""

from __future__ import annotations

from tests.admitted import admitted_fairly
from tests.cluster import cohort, fair_sharing, pending, problem_of, queue, running, state_of

RESOURCES = {"gpu": 4, "cpu": 8}


def test_a_workload_without_contested_quota_is_no_victim() -> None:
    state = state_of(
        queue("a", RESOURCES, within="LowerPriority"),
        running("gpus", "a", {"gpu": 4}),
        running("cores", "a", {"cpu": 1}),
        pending("a", {"gpu": 2}),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    both = frozenset({"ns/gpus", "ns/cores"})
    assert admitted_fairly(problem) == {frozenset({"ns/gpus"})}
    assert both in admitted_fairly(problem, without={"FS-02"})


def test_naming_the_flavor_is_enough_the_amount_may_be_zero() -> None:
    state = state_of(
        queue("a", RESOURCES, within="LowerPriority"),
        running("gpus", "a", {"gpu": 4}),
        running("none", "a", {"gpu": 0, "cpu": 1}),
        pending("a", {"gpu": 2}),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert frozenset({"ns/gpus", "ns/none"}) in admitted_fairly(problem)


def test_other_trees_and_inactive_queues_give_nothing() -> None:
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", reclaim="Any"),
        queue("stopped", 0, "org", stop="Hold"),
        queue("active", 0, "org"),
        queue("elsewhere", 0, "other"),
        running("s", "stopped", 2),
        running("r", "active", 2),
        running("e", "elsewhere", 2),
        pending("a", 2),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert admitted_fairly(problem) == {frozenset({"ns/r"})}
