"""KQ-03: a victim holds contested quota, of whatever amount, in the preemptor's tree."""

from __future__ import annotations

from tests.admitted import admitted
from tests.cluster import cohort, pending, problem_of, queue, running, state_of

RESOURCES = {"gpu": 4, "cpu": 8}


def test_a_workload_without_contested_quota_is_no_victim() -> None:
    state = state_of(
        queue("a", RESOURCES, within="LowerPriority"),
        running("gpus", "a", {"gpu": 4}),
        running("cores", "a", {"cpu": 1}),
        pending("a", {"gpu": 2}),
    )
    problem, *_ = problem_of(state)
    assert admitted(problem) == {True: {frozenset({"ns/gpus"})}}
    dropped = admitted(problem, without={"KQ-03"})[True]
    assert frozenset({"ns/gpus", "ns/cores"}) in dropped


def test_naming_the_flavor_is_enough_the_amount_may_be_zero() -> None:
    state = state_of(
        queue("a", RESOURCES, within="LowerPriority"),
        running("gpus", "a", {"gpu": 4}),
        running("none", "a", {"gpu": 0, "cpu": 1}),
        pending("a", {"gpu": 2}),
    )
    problem, *_ = problem_of(state)
    assert frozenset({"ns/gpus", "ns/none"}) in admitted(problem)[True]


def test_other_trees_and_inactive_queues_have_no_victims() -> None:
    state = state_of(
        cohort("org"),
        cohort("elsewhere"),
        queue("a", 1, "org", reclaim="Any"),
        queue("b", 1, "org"),
        queue("stopped", 1, "org", stop="Hold"),
        queue("far", 0, "elsewhere"),
        running("b1", "b", 2),
        running("s1", "stopped", 2),
        running("f1", "far", 2),
        pending("a", 1),
    )
    problem, *_ = problem_of(state)
    assert [workload.key for workload in problem.workloads] == ["ns/b1"]
