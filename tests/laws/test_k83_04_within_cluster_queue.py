"""K83-04: victims of the own queue have a lower priority, if withinClusterQueue is not Never."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.cluster import pending, queue, running, state_of
from tests.kep83.cases import decision_of, permitted

LOW, EQUAL = frozenset({"ns/low"}), frozenset({"ns/equal"})


def full_queue(within: str) -> State:
    """Queue a is full; one workload has a priority just below the preemptor's, one the same.

    That one is newer than the preemptor.
    """
    return state_of(
        queue("a", 4, within=within),
        running("low", "a", 2, 9),
        running("equal", "a", 2, 10, minute=40),
        pending("a", 2, 10),
    )


@pytest.mark.parametrize("within", ["LowerPriority", "LowerOrNewerEqualPriority"])
def test_only_lower_priorities_go(within: str) -> None:
    """The KEP does not know LowerOrNewerEqualPriority; here it means the same."""
    decision = decision_of(full_queue(within))
    assert permitted(decision) == {LOW}
    assert permitted(decision, without={"K83-04"}) == {LOW, EQUAL, LOW | EQUAL}


def test_never() -> None:
    assert permitted(decision_of(full_queue("Never"))) == set()
    assert permitted(decision_of(full_queue("LowerPriority"), queue="Never")) == set()


def test_option_takes_the_place_of_the_policy() -> None:
    assert permitted(decision_of(full_queue("Never"), queue="LowerPriority")) == {LOW}


def test_other_queues_are_not_bound() -> None:
    """With Never in its own queue, the preemptor still reclaims from others."""
    state = state_of(
        queue("a", 2, "org", reclaim="Any"),
        queue("b", 0, "org"),
        running("b1", "b", 2, 10),
        pending("a", 2),
    )
    assert permitted(decision_of(state)) == {frozenset({"ns/b1"})}
