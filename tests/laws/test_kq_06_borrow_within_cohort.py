"""KQ-06: while borrowing, other queues give only what borrowWithinCohort allows."""

import pytest

from tests.cluster import Object, cohort, pending, queue, running, state_of
from tests.laws.judges import RECLAIM, WHILE_BORROWING, Case, broken, judge, sets


def borrower(policy: str, threshold: int | None = None, nominal: int = 0) -> list[Object]:
    """Return a queue with little quota of its own, and one that borrows for four workloads."""
    return [
        *cohort("org", nominal=8),
        *queue("a", nominal, "org", reclaim="Any", borrow=policy, threshold=threshold),
        *queue("b", 0, "org"),
        *running("low", "b", 2, 1),
        *running("middle", "b", 2, 5),
        *running("high", "b", 2, 9),
        *running("equal", "b", 2, 10),
        *pending("a", 2, 10),
    ]


ONE_BY_ONE = ("low", "middle", "high", "equal")
CASES = [
    Case(
        f"{policy}, threshold {threshold}",
        borrower(policy, threshold),
        permits=sets(*ONE_BY_ONE[:permitted]),
        forbids=sets(*ONE_BY_ONE[permitted:]),
    )
    for policy, threshold, permitted in (
        ("Never", None, 0),
        ("", None, 3),  # not Never: a leave to preempt while borrowing
        ("LowerPriority", None, 3),
        ("LowerPriority", 50, 3),
        ("LowerPriority", 5, 2),
        ("LowerPriority", 4, 1),
    )
]
CASES += [
    Case(
        # The request fits in the queue's own quota: others are mere guests there.
        "hierarchical advantage lifts the limit",
        borrower("Never", nominal=2),
        permits=sets("equal"),
    ),
    Case(
        # Now nominal quota covers what the own workload and the preemptor use.
        "without borrowing anyone reclaimable goes",
        [
            *cohort("org"),
            *queue("a", 4, "org", reclaim="Any", borrow="LowerPriority"),
            *queue("b", 4, "org"),
            *running("mine", "a", 1),
            *running("high", "b", 2, 9),
            *running("higher", "b", 2, 11),
            *running("most", "b", 3, 99),
            *pending("a", 2, 10),
        ],
        borrowing=False,
        permits=sets("high", "higher"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-06", case)


def in_need(borrow: str) -> list[Object]:
    """Return a queue that must borrow: it wants 4 and has 2."""
    return [
        *cohort("org", nominal=4),
        *queue("a", 2, "org", reclaim="Any", borrow=borrow),
        *queue("b", 2, "org"),
        *running("low", "b", 4, 9),
        *running("high", "b", 4, 99),
        *pending("a", 4, 10),
    ]


def test_the_reason_is_reclaim_while_borrowing_in_either_attempt() -> None:
    state = state_of(in_need("LowerPriority"))
    assert broken(state, ("low", RECLAIM)) == ["KQ-06"]
    # Neither does the queue's nominal quota suffice; the law of that is another one.
    assert broken(state, ("low", WHILE_BORROWING), borrowing=False) == ["KQ-02"]
    assert broken(state, ("low", RECLAIM), borrowing=False) == ["KQ-02", "KQ-06"]


def test_never_forbids_it() -> None:
    """The queue is under nominal, so Kueue does try with borrowing, if only last."""
    judge("KQ-06", Case("", in_need("Never"), attempts=(False, True), forbids=sets("low")))
