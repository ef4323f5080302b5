"""KQ-01: after all victims are gone, the preemptor fits."""

from __future__ import annotations

from tests.admitted import admitted
from tests.cluster import cohort, pending, problem_of, queue, running, state_of


def test_too_few_victims_are_forbidden_and_enough_permitted() -> None:
    state = state_of(
        queue("a", 4, within="LowerPriority"),
        running("one", "a", 1),
        running("three", "a", 3),
        pending("a", 3),
    )
    problem, *_ = problem_of(state)
    assert admitted(problem) == {True: {frozenset({"ns/three"}), frozenset({"ns/one", "ns/three"})}}
    dropped = admitted(problem, without={"KQ-01"})[True]
    assert frozenset({"ns/one"}) in dropped


def test_borrowing_limit_of_the_queue_binds() -> None:
    """Six of eight are free in the cohort, but the queue may use no more than three."""
    state = state_of(
        cohort("org"),
        queue("a", 2, "org", borrowing=1, within="LowerPriority"),
        queue("b", 6, "org"),
        running("small", "a", 1),
        running("other", "a", 1),
        pending("a", 3),
    )
    problem, *_ = problem_of(state)
    assert admitted(problem) == {True: {frozenset({"ns/small", "ns/other"})}}
    without_limit = state_of(
        cohort("org"),
        queue("a", 2, "org", within="LowerPriority"),
        queue("b", 6, "org"),
        running("small", "a", 1),
        running("other", "a", 1),
        pending("a", 3),
    )
    problem, *_ = problem_of(without_limit)
    assert frozenset() in admitted(problem)[True]


def test_borrowing_limit_of_a_cohort_on_the_path_binds() -> None:
    state = state_of(
        cohort("root", nominal=8),
        cohort("dept", "root", nominal=0, borrowing=2),
        queue("a", 2, "dept", within="LowerPriority"),
        running("two", "a", 2),
        running("one", "a", 1),
        pending("a", 3),
    )
    problem, *_ = problem_of(state)
    # The department may use 2 + 2: one of the three running has to go at least.
    two, one = "ns/two", "ns/one"
    assert admitted(problem)[True] == {frozenset({two}), frozenset({two, one})}


def test_lending_limit_keeps_quota_that_victims_elsewhere_cannot_free() -> None:
    """Queue b keeps 2 of its 4; evicting within those 2 frees nothing for queue a."""
    state = state_of(
        cohort("org"),
        queue("a", 2, "org", reclaim="Any", within="LowerPriority"),
        queue("b", 4, "org", lending=2),
        running("b1", "b", 3),
        running("b2", "b", 3),
        pending("a", 2),
    )
    problem, *_ = problem_of(state)
    sets = admitted(problem)
    assert frozenset({"ns/b1"}) in sets[True] | sets[False]
    # b uses 6 of 4: 4 of the cohort's 4 lendable; without b1 it uses 3, 1 of the cohort's.
    assert frozenset() not in sets[True]
