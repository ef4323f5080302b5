"""K83-05: withinCohort permits victims of other queues."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.cluster import pending, queue, running, state_of
from tests.kep83.cases import decision_of, permitted

LOW, EQUAL = frozenset({"ns/low"}), frozenset({"ns/equal"})
ALL = {LOW, EQUAL, LOW | EQUAL}


def borrowed(reclaim: str) -> State:
    """Queue b borrows all 4 of queue a: 2 at a priority just below the preemptor's, 2 at it."""
    return state_of(
        queue("a", 4, "org", within="LowerPriority", reclaim=reclaim),
        queue("b", 0, "org"),
        running("low", "b", 2, 9),
        running("equal", "b", 2, 10),
        pending("a", 2, 10),
    )


@pytest.mark.parametrize(
    ("reclaim", "sets"), [("Never", set()), ("LowerPriority", {LOW}), ("Any", ALL)]
)
def test_policy_of_the_queue_in_todays_words(reclaim: str, sets: set[frozenset[str]]) -> None:
    decision = decision_of(borrowed(reclaim))
    assert permitted(decision) == sets
    assert permitted(decision, without={"K83-05"}) == ALL


@pytest.mark.parametrize(
    ("cohort", "sets"),
    [
        ("Never", set()),
        ("ReclaimFromLowerPriority", {LOW}),
        ("ReclaimFromAny", ALL),
        ("LowerPriority", {LOW}),
    ],
)
@pytest.mark.parametrize("reclaim", ["Never", "Any"])
def test_option_takes_the_place_of_the_policy(
    cohort: str, sets: set[frozenset[str]], reclaim: str
) -> None:
    assert permitted(decision_of(borrowed(reclaim), cohort=cohort)) == sets
