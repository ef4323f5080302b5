"""K83-07: other queues give only until they are below their min of all involved flavors."""

from __future__ import annotations

from tests.admitted import admitted
from tests.cluster import cohort, pending, problem_of, queue, running, state_of
from tests.kep83.cases import decision_of, permitted

B1, B2, B3 = "ns/b1", "ns/b2", "ns/b3"


def test_a_queue_at_its_min_is_not_below_it() -> None:
    """Queue b uses 5 of 3: after one of 2 it is at its min, and may give one more, but no third.

    That is one step more than Kueue takes today.
    """
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 3, "org"),
        running("b1", "b", 2),
        running("b2", "b", 2),
        running("b3", "b", 1),
        pending("a", 4),
    )
    decision = decision_of(state)
    sets = permitted(decision)
    assert sets == {
        frozenset({B1}),
        frozenset({B2}),
        frozenset({B1, B2}),
        frozenset({B1, B3}),
        frozenset({B2, B3}),
    }
    assert permitted(decision, without={"K83-07"}) - sets == {frozenset({B1, B2, B3})}
    problem, *_ = problem_of(state)
    assert frozenset({B1, B2}) not in admitted(problem)[True]


def test_the_largest_goes_last() -> None:
    """Queue b uses 6 of 4: 1 and 1 may go first, and then 4 as the last one; not the other way."""
    state = state_of(
        queue("a", 6, "org", reclaim="Any"),
        queue("b", 4, "org"),
        running("b1", "b", 4),
        running("b2", "b", 1),
        running("b3", "b", 1),
        running("a1", "a", 4),
        pending("a", 2),
    )
    assert frozenset({B1, B2, B3}) in permitted(decision_of(state))


def test_one_involved_flavor_at_its_min_is_enough() -> None:
    """After b1 queue b is below its 4 gpu, but at its 1 card."""
    state = state_of(
        queue("a", {"gpu": 2, "cards": 2}, "org", reclaim="Any"),
        queue("b", {"gpu": 4, "cards": 1}, "org"),
        running("b1", "b", {"gpu": 2, "cards": 1}),
        running("b2", "b", {"gpu": 2, "cards": 1}),
        pending("a", {"gpu": 2, "cards": 2}),
    )
    assert frozenset({B1, B2}) in permitted(decision_of(state))


def test_each_queue_by_itself_and_no_cohort() -> None:
    """Department right is within its 8, which today protects queue b below it; here nothing."""
    state = state_of(
        cohort("root"),
        cohort("left", "root"),
        cohort("right", "root"),
        queue("a", 2, "left", reclaim="Any"),
        queue("b", 1, "right"),
        queue("c", 7, "right"),
        queue("d", 0, "left"),
        running("b1", "b", 3),
        running("c1", "c", 3),
        running("d1", "d", 4),
        pending("a", 2),
    )
    decision = decision_of(state)
    assert {key for keys in permitted(decision) for key in keys} == {"ns/b1", "ns/d1"}
    problem, *_ = problem_of(state)
    assert {key for sets in admitted(problem).values() for keys in sets for key in keys} == {
        "ns/d1"
    }
