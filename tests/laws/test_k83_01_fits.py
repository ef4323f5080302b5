"""K83-01: the preemptor fits, within its max and what the cohort has."""

from __future__ import annotations

from tests.cluster import cohort, pending, queue, running, state_of
from tests.kep83.cases import decision_of, permitted

B1, B2, B3 = "ns/b1", "ns/b2", "ns/b3"


def test_enough_goes_and_no_more_is_asked() -> None:
    """6 of 6 are in use; queue a wants its 4, so two of b's 2 must go: exactly 4."""
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 2, "org"),
        *(running(name, "b", 2) for name in ("b1", "b2", "b3")),
        pending("a", 4),
    )
    decision = decision_of(state)
    two = {frozenset({B1, B2}), frozenset({B1, B3}), frozenset({B2, B3})}
    assert permitted(decision) == {*two, frozenset({B1, B2, B3})}
    assert frozenset({B1}) in permitted(decision, without={"K83-01"})


def test_max_bounds_what_may_be_borrowed_while_preempting() -> None:
    """Queue a may use 2 and borrow 1: it gets 3 that way, and never 4."""

    def sets(asked: int) -> set[frozenset[str]]:
        state = state_of(
            cohort("org"),
            queue("a", 2, "org", borrowing=1),
            queue("b", 2, "org"),
            running("b1", "b", 4),
            pending("a", asked),
        )
        return permitted(decision_of(state, cohort="LowerPriority"))

    assert sets(3) == {frozenset({B1})}
    assert sets(4) == set()
