"""KQ-07: other queues and cohorts give only while they are over their quota."""

from __future__ import annotations

from tests.admitted import admitted
from tests.cluster import cohort, pending, problem_of, queue, running, state_of


def test_a_queue_gives_up_what_it_borrowed_and_one_more_step() -> None:
    """Queue b uses 5 of 3: after one of 2 it is within its quota, so a second may not follow."""
    state = state_of(
        cohort("org"),
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 3, "org"),
        running("b1", "b", 2),
        running("b2", "b", 2),
        running("b3", "b", 1),
        pending("a", 4),
    )
    problem, *_ = problem_of(state)
    sets = admitted(problem)[True]
    b1, b2, b3 = "ns/b1", "ns/b2", "ns/b3"
    assert sets == {
        frozenset({b1}),
        frozenset({b2}),
        frozenset({b1, b3}),  # b3 first: 4 of 3 is still over quota when b1 goes
        frozenset({b2, b3}),
    }
    assert frozenset({b1, b2}) in admitted(problem, without={"KQ-07"})[True]


def test_cohorts_between_must_be_over_their_subtree_quota_too() -> None:
    """Department right is within its 6, so its borrowing queue is safe; dropping it is not."""
    state = state_of(
        cohort("root"),
        cohort("left", "root"),
        cohort("right", "root"),
        queue("a", 2, "left", reclaim="Any"),
        queue("b", 1, "right"),
        queue("c", 5, "right"),
        queue("d", 0, "left"),
        running("b1", "b", 3),
        running("c1", "c", 3),
        running("d1", "d", 2),
        pending("a", 2),
    )
    problem, *_ = problem_of(state)
    victims = {key for sets in admitted(problem).values() for keys in sets for key in keys}
    assert victims == {"ns/d1"}


def test_last_victims_are_nested_along_the_tree() -> None:
    """Both queues of department right may give one, but the department only one of the two."""
    state = state_of(
        cohort("root"),
        cohort("right", "root"),
        queue("a", 4, "root", reclaim="Any"),
        queue("b", 1, "right"),
        queue("c", 1, "right"),
        running("b1", "b", 2),
        running("c1", "c", 2),
        pending("a", 3),
    )
    problem, *_ = problem_of(state)
    b1, c1 = "ns/b1", "ns/c1"
    assert admitted(problem)[True] == {frozenset({b1}), frozenset({c1})}
    # With one more unit in use, the second removal still finds the department over quota.
    state = state_of(
        cohort("root"),
        cohort("right", "root"),
        queue("a", 4, "root", reclaim="Any"),
        queue("b", 1, "right"),
        queue("c", 1, "right"),
        running("b1", "b", 2),
        running("c1", "c", 2),
        running("c2", "c", 1),
        pending("a", 2),
    )
    problem, *_ = problem_of(state)
    assert frozenset({b1, c1}) in admitted(problem)[True]


def test_one_contested_resource_over_quota_is_enough() -> None:
    state = state_of(
        cohort("org"),
        queue("a", {"gpu": 2, "cpu": 2}, "org", reclaim="Any"),
        queue("b", {"gpu": 4, "cpu": 0}, "org"),
        running("b1", "b", {"gpu": 2, "cpu": 1}),
        running("b2", "b", {"gpu": 2, "cpu": 1}),
        pending("a", {"gpu": 2, "cpu": 2}),
    )
    problem, *_ = problem_of(state)
    # gpu is within quota, cpu is not: 2 of 0, then 1 of 0.
    assert frozenset({"ns/b1", "ns/b2"}) in admitted(problem)[True]
