"""KQ-02: an attempt without borrowing ends within the queue's nominal quota."""

from __future__ import annotations

from tests.admitted import admitted
from tests.cluster import cohort, pending, problem_of, queue, running, state_of


def test_without_borrowing_nominal_quota_is_the_bound() -> None:
    """Evicting one workload of b makes room in the cohort, but a would then use 5 of 4."""
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", within="LowerPriority", reclaim="Any"),
        queue("b", 4, "org"),
        running("mine", "a", 2),
        running("theirs", "b", 3),
        running("more", "b", 3),
        pending("a", 3),
    )
    problem, *_ = problem_of(state)
    mine, theirs = "ns/mine", "ns/theirs"
    without = admitted(problem)[False]
    assert frozenset({theirs}) not in without
    assert frozenset({mine, theirs}) in without
    assert frozenset({theirs}) in admitted(problem, without={"KQ-02"})[False]


def test_request_up_to_nominal_is_permitted() -> None:
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 4, "org"),
        running("mine", "a", 1),
        running("theirs", "b", 3),
        running("more", "b", 3),
        pending("a", 3),
    )
    problem, *_ = problem_of(state)
    assert frozenset({"ns/theirs"}) in admitted(problem)[False]
