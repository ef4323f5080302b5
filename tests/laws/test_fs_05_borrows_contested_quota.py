"""FS-05: other queues give only if they borrow contested quota to begin with."""

from __future__ import annotations

import pytest

from tests.admitted import admitted_fairly
from tests.cluster import cohort, fair_sharing, pending, problem_of, queue, running, state_of

B, C = frozenset({"ns/b1"}), frozenset({"ns/c1"})


@pytest.mark.parametrize(("nominal", "permitted"), [(2, False), (1, True)])
def test_borrowing_something_else_is_not_enough(nominal: int, *, permitted: bool) -> None:
    """Queue b borrows cpu, and gpu only if its quota is below the 2 it uses."""
    state = state_of(
        cohort("org", nominal={"gpu": 4 - nominal, "cpu": 2}),
        queue("a", 2, "org", reclaim="Any"),
        queue("b", {"gpu": nominal, "cpu": 0}, "org"),
        queue("c", 0, "org"),
        running("b1", "b", {"gpu": 2, "cpu": 2}),
        running("c1", "c", 4),
        pending("a", 2),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert admitted_fairly(problem) == {C} | ({B, B | C} if permitted else set())
    assert admitted_fairly(problem, without={"FS-05"}) == {B, C, B | C}


def test_the_own_queue_need_not_borrow() -> None:
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", within="LowerPriority"),
        running("mine", "a", 3),
        pending("a", 2),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert admitted_fairly(problem) == {frozenset({"ns/mine"})}


def test_only_the_start_counts() -> None:
    """Once b1 is gone, b borrows no gpu, but still a core: b2 may follow."""
    state = state_of(
        cohort("org", nominal={"gpu": 0, "cpu": 2}),
        queue("a", 4, "org", reclaim="Any"),
        queue("b", {"gpu": 2, "cpu": 0}, "org"),
        running("b1", "b", {"gpu": 2, "cpu": 1}),
        running("b2", "b", {"gpu": 2, "cpu": 1}),
        pending("a", 4),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert frozenset({"ns/b1", "ns/b2"}) in admitted_fairly(problem)
