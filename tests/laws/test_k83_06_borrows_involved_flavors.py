"""K83-06: other queues give only if they borrow involved flavors before anything is removed."""

from __future__ import annotations

from tests.cluster import pending, queue, running, state_of
from tests.kep83.cases import decision_of, permitted


def test_a_queue_at_its_min_gives_nothing() -> None:
    """Queue b uses exactly its 2; that K83-07 would let it go below is not enough."""
    state = state_of(
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 2, "org"),
        queue("c", 0, "org"),
        running("b1", "b", 2),
        running("c1", "c", 2),
        running("c2", "c", 2),
        pending("a", 4),
    )
    decision = decision_of(state)
    c1, c2 = "ns/c1", "ns/c2"
    assert permitted(decision) == {frozenset({c1, c2})}
    assert frozenset({"ns/b1", c1}) in permitted(decision, without={"K83-06"})


def test_borrowing_one_unit_is_enough_and_so_is_one_involved_flavor() -> None:
    """Queue b borrows 1 card and no gpu."""
    state = state_of(
        queue("a", {"gpu": 2, "cards": 2}, "org", reclaim="Any"),
        queue("b", {"gpu": 2, "cards": 1}, "org"),
        running("b1", "b", {"gpu": 1, "cards": 2}),
        pending("a", {"gpu": 1, "cards": 2}),
    )
    assert permitted(decision_of(state)) == {frozenset({"ns/b1"})}
    # Where cards fit, only gpu is involved, and of that queue b borrows nothing.
    assert permitted(decision_of(state, fits=("cards",))) == set()


def test_the_own_queue_need_not_borrow() -> None:
    state = state_of(queue("a", 2, within="LowerPriority"), running("a1", "a", 2), pending("a", 2))
    assert permitted(decision_of(state)) == {frozenset({"ns/a1"})}
