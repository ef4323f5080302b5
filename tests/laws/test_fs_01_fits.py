"""FS-01: after all victims are gone, the preemptor fits, borrowing what it may."""

from __future__ import annotations

from tests.admitted import admitted_fairly
from tests.cluster import cohort, fair_sharing, pending, problem_of, queue, running, state_of


def test_too_few_victims_are_forbidden_and_enough_permitted() -> None:
    state = state_of(
        queue("a", 4, within="LowerPriority"),
        running("one", "a", 1),
        running("three", "a", 3),
        pending("a", 3),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    one, three = frozenset({"ns/one"}), frozenset({"ns/three"})
    assert admitted_fairly(problem) == {three, one | three}
    assert admitted_fairly(problem, without={"FS-01"}) == {frozenset(), one, three, one | three}


def test_the_request_counts_once_although_shares_count_it_too() -> None:
    """All 8 of the cohort are used; 3 have to go for 3, no more."""
    state = state_of(
        cohort("org", nominal=8),
        queue("a", 0, "org", reclaim="Any"),
        queue("b", 0, "org"),
        running("three", "b", 3),
        running("five", "b", 5),
        pending("a", 3),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert frozenset({"ns/three"}) in admitted_fairly(problem)


def test_borrowing_is_permitted_up_to_the_limits_of_the_path() -> None:
    """The department may use 2 + 2: one of its three has to go at least, and one may stay."""
    state = state_of(
        cohort("root", nominal=8),
        cohort("dept", "root", nominal=0, borrowing=2),
        queue("a", 2, "dept", within="LowerPriority"),
        running("two", "a", 2),
        running("one", "a", 1),
        pending("a", 3),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    two, one = frozenset({"ns/two"}), frozenset({"ns/one"})
    assert admitted_fairly(problem) == {two, two | one}
    assert one in admitted_fairly(problem, without={"FS-01"})
