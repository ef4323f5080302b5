"""K83-02: what needs preemption does not borrow, unless withinCohort is LowerPriority."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.cluster import cohort, pending, queue, running, state_of
from tests.kep83.cases import decision_of, permitted

A1, B1, B2 = "ns/a1", "ns/b1", "ns/b2"


def two_full_queues(asked: int) -> State:
    """Queue a uses 2 of 3, queue b 4 of 3."""
    return state_of(
        cohort("org"),
        queue("a", 3, "org", within="LowerPriority", reclaim="Any"),
        queue("b", 3, "org"),
        running("a1", "a", 2),
        running("b1", "b", 2),
        running("b2", "b", 2),
        pending("a", asked),
    )


def test_queue_stays_within_its_min() -> None:
    """2 more make 4 of 3 unless a1 goes; that it frees enough elsewhere does not count."""
    decision = decision_of(two_full_queues(2))
    assert permitted(decision) == {frozenset({A1}), frozenset({A1, B1}), frozenset({A1, B2})}
    assert frozenset({B1}) in permitted(decision, without={"K83-02"})


def test_all_of_the_min_may_be_used() -> None:
    sets = permitted(decision_of(two_full_queues(3)))
    assert sets == {frozenset({A1, B1}), frozenset({A1, B2})}


def test_borrowing_while_preempting_is_a_policy() -> None:
    assert frozenset({B1}) in permitted(decision_of(two_full_queues(2), cohort="LowerPriority"))


@pytest.mark.parametrize("fits", [(), ("cards",)])
def test_what_fits_may_borrow(fits: tuple[str, ...]) -> None:
    """Of 4 cards 2 are free: queue a borrows 1 unless cards, too, are said to need preemption."""
    state = state_of(
        cohort("org"),
        queue("a", {"gpu": 2, "cards": 1}, "org", reclaim="Any"),
        queue("b", {"gpu": 0, "cards": 3}, "org"),
        running("b1", "b", {"gpu": 2, "cards": 2}),
        pending("a", {"gpu": 2, "cards": 2}),
    )
    expected = {frozenset({B1})} if fits else set()
    assert permitted(decision_of(state, fits)) == expected
