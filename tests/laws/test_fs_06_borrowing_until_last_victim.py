"""FS-06: other queues and cohorts give only while they borrow, in whichever resource."""

from __future__ import annotations

from tests.admitted import admitted_fairly
from tests.cluster import cohort, fair_sharing, pending, problem_of, queue, running, state_of


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
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    b1, b2, b3 = ({f"ns/b{i}"} for i in (1, 2, 3))
    # b3 first: 4 of 3 is still borrowing when the other goes.
    permitted = {frozenset(keys) for keys in (b1, b2, b1 | b3, b2 | b3)}
    assert admitted_fairly(problem) == permitted
    dropped = admitted_fairly(problem, without={"FS-06"})
    assert dropped - permitted == {frozenset(b1 | b2), frozenset(b1 | b2 | b3)}


def test_borrowing_what_nobody_contests_is_borrowing() -> None:
    """Without b1, b uses 2 of its 2 gpus; whether it borrows a core decides about b2."""
    for cores, permitted in ((0, True), (2, False)):
        state = state_of(
            cohort("org", nominal={"gpu": 0, "cpu": 2}),
            queue("a", 4, "org", reclaim="Any"),
            queue("b", {"gpu": 2, "cpu": cores}, "org"),
            running("b1", "b", {"gpu": 2, "cpu": 1}),
            running("b2", "b", {"gpu": 2, "cpu": 1}),
            pending("a", 4),
            fair_sharing(),
        )
        problem, *_ = problem_of(state)
        both = frozenset({"ns/b1", "ns/b2"})
        assert (both in admitted_fairly(problem)) == permitted
        assert both in admitted_fairly(problem, without={"FS-06"})


def test_usage_without_a_quota_entry_is_no_borrowing() -> None:
    """Queue b says nothing of cpu, so what it uses of it does not count for its share."""
    state = state_of(
        cohort("org", nominal={"gpu": 0, "cpu": 2}),
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 2, "org"),
        running("b1", "b", {"gpu": 2, "cpu": 1}),
        running("b2", "b", {"gpu": 2, "cpu": 1}),
        pending("a", 4),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert admitted_fairly(problem) == {frozenset({"ns/b1"}), frozenset({"ns/b2"})}


def test_cohorts_between_must_borrow_too() -> None:
    """Department right is within its 6, so its borrowing queue is safe; d's is not."""
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
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert admitted_fairly(problem) == {frozenset({"ns/d1"})}
    assert frozenset({"ns/b1"}) in admitted_fairly(problem, without={"FS-06"})


def test_last_victims_are_nested_along_the_tree() -> None:
    """Both queues of department right may give one; the department a second if it still borrows."""
    b1, c1 = {"ns/b1"}, {"ns/c1"}
    for more, permitted in (([], False), (running("c2", "c", 1), True)):
        state = state_of(
            cohort("root"),
            cohort("right", "root"),
            queue("a", 4, "root", reclaim="Any"),
            queue("b", 1, "right"),
            queue("c", 1, "right"),
            running("b1", "b", 2),
            running("c1", "c", 2),
            more,
            pending("a", 3),
            fair_sharing(),
        )
        problem, *_ = problem_of(state)
        both = frozenset(b1 | c1)
        assert (both in admitted_fairly(problem)) == permitted
        assert both in admitted_fairly(problem, without={"FS-06"})
