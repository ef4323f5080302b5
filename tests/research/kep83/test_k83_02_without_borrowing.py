"""K83-02: what needs preemption does not borrow, unless withinCohort is LowerPriority."""

import pytest

from tests.cluster import Object, cohort, pending, queue, running
from tests.research.kep83.court import Case, judge, sets


def two_full_queues(asked: int) -> list[Object]:
    """Queue a uses 2 of 3, queue b 4 of 3."""
    return [
        *cohort("org"),
        *queue("a", 3, "org", within="LowerPriority", reclaim="Any"),
        *queue("b", 3, "org"),
        *running("a1", "a", 2),
        *running("b1", "b", 2),
        *running("b2", "b", 2),
        *pending("a", asked),
    ]


# Of 4 cards 2 are free: queue a borrows 1 unless cards, too, are said to need preemption.
CARDS = [
    *cohort("org"),
    *queue("a", {"gpu": 2, "cards": 1}, "org", reclaim="Any"),
    *queue("b", {"gpu": 0, "cards": 3}, "org"),
    *running("b1", "b", {"gpu": 2, "cards": 2}),
    *pending("a", {"gpu": 2, "cards": 2}),
]
# Cards of which nothing is asked for are over their min as long as m runs.
OVER = [
    *queue("a", {"gpu": 4, "cards": 0}, within="LowerPriority"),
    *running("n", "a", {"gpu": 2}),
    *running("m", "a", {"gpu": 2, "cards": 1}),
    *pending("a", {"gpu": 2, "cards": 0}),
]
CASES = [
    Case(
        # 2 more make 4 of 3 unless a1 goes; that b1 frees enough elsewhere does not count.
        "the queue stays within its min",
        two_full_queues(2),
        legal=sets("a1", "a1 b1", "a1 b2"),
        forbids=sets("b1"),
    ),
    Case("all of the min may be used", two_full_queues(3), legal=sets("a1 b1", "a1 b2")),
    Case(
        "borrowing while preempting is a policy",
        two_full_queues(2),
        options={"cohort": "LowerPriority"},
        permits=sets("b1"),
    ),
    Case("what fits may borrow", CARDS, fits=("cards",), legal=sets("b1")),
    Case("what needs preemption may not", CARDS, legal=sets()),
    Case("a request of 0 asks for nothing where more is used", OVER, legal=sets("n", "n m", "m")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-02", case)
