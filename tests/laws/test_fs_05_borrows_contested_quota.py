"""FS-05: other queues give only if they borrow contested quota to begin with."""

import pytest

from tests.cluster import (
    SPARE,
    Object,
    cohort,
    fair_sharing,
    pending,
    queue,
    running,
    with_spare_flavor,
)
from tests.laws.judges import RECLAIM, Case, broken_fairly, fair_detail, judge, sets
from tests.told import told


def two_lenders(nominal: int) -> list[Object]:
    """Return a queue b that borrows cpu, and gpu only if its quota is below the 2 it uses."""
    return [
        *cohort("org", nominal={"gpu": 4 - nominal, "cpu": 2}),
        *queue("a", 2, "org", reclaim="Any"),
        *queue("b", {"gpu": nominal, "cpu": 0}, "org"),
        *queue("c", 0, "org"),
        *running("b1", "b", {"gpu": 2, "cpu": 2}),
        *running("c1", "c", 4),
        *pending("a", 2),
        *fair_sharing(),
    ]


def other_flavor(*more: Object) -> list[Object]:
    """Return a queue that borrows a flavor which nobody wants, beside one that borrows gpus."""
    return with_spare_flavor(
        [
            *cohort("org", nominal=2),
            *queue("a", 2, "org", reclaim="Any"),
            *queue("quiet", 2, "org"),
            *queue("c", 0, "org"),
            *running("q1", "quiet", 2),
            *running("q2", "quiet", 1, flavor=SPARE),
            *more,
            *running("c1", "c", 4),
            *pending("a", 2),
            *fair_sharing(),
        ]
    )


EVERYONE = sets("b1", "c1", "b1 c1")
CASES = [
    Case("something else is not enough", two_lenders(2), legal=sets("c1"), without=EVERYONE),
    Case("one of what is contested is", two_lenders(1), legal=EVERYONE, without=EVERYONE),
    Case("nor is another flavor", other_flavor(), legal=sets("c1"), forbids=sets("c1 q1")),
    Case("it is with one more", other_flavor(*running("q3", "quiet", 1)), permits=sets("c1 q1")),
    Case(
        "the own queue need not borrow",
        [
            *cohort("org"),
            *queue("a", 4, "org", within="LowerPriority"),
            *running("mine", "a", 3),
            *pending("a", 2),
            *fair_sharing(),
        ],
        legal=sets("mine"),
    ),
    Case(
        # Once b1 is gone, b borrows no gpu, but still a core: b2 may follow.
        "only the start counts",
        [
            *cohort("org", nominal={"gpu": 0, "cpu": 2}),
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", {"gpu": 2, "cpu": 0}, "org"),
            *running("b1", "b", {"gpu": 2, "cpu": 1}),
            *running("b2", "b", {"gpu": 2, "cpu": 1}),
            *pending("a", 4),
            *fair_sharing(),
        ],
        permits=sets("b1 b2"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-05", case)


def test_usage_and_quota_are_told() -> None:
    parts = two_lenders(2)
    taken = (("c1", RECLAIM), ("b1", RECLAIM))
    assert broken_fairly(parts, *taken) == ["FS-05"]
    told(fair_detail("FS-05", parts, *taken))
