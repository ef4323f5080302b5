"""K83-06: other queues give only if they borrow involved flavors before anything is removed."""

import pytest

from tests.cluster import pending, queue, running
from tests.research.kep83.court import Case, judge, sets

# Queue b borrows 1 card and no gpu.
ONE_CARD = [
    *queue("a", {"gpu": 2, "cards": 2}, "org", reclaim="Any"),
    *queue("b", {"gpu": 2, "cards": 1}, "org"),
    *running("b1", "b", {"gpu": 1, "cards": 2}),
    *pending("a", {"gpu": 1, "cards": 2}),
]
CASES = [
    Case(
        # Queue b uses exactly its 2; that K83-07 would let it go below is not enough.
        "a queue at its min gives nothing",
        [
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", 2, "org"),
            *queue("c", 0, "org"),
            *running("b1", "b", 2),
            *running("c1", "c", 2),
            *running("c2", "c", 2),
            *pending("a", 4),
        ],
        legal=sets("c1 c2"),
        forbids=sets("b1 c1"),
    ),
    Case("one unit of one involved flavor is enough", ONE_CARD, legal=sets("b1")),
    # Where cards fit, only gpu is involved, and of that queue b borrows nothing.
    Case("what is not involved is not", ONE_CARD, fits=("cards",), legal=sets()),
    Case(
        "the own queue need not borrow",
        [*queue("a", 2, within="LowerPriority"), *running("a1", "a", 2), *pending("a", 2)],
        legal=sets("a1"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-06", case)
