"""K83-01: the preemptor fits, within its max and what the cohort has."""

import pytest

from tests.cluster import Object, cohort, pending, queue, running
from tests.research.kep83.court import Case, judge, sets


def capped(asked: int) -> list[Object]:
    """Return a queue that may use 2 and borrow 1, beside one that uses all 4 there are."""
    return [
        *cohort("org"),
        *queue("a", 2, "org", borrowing=1),
        *queue("b", 2, "org"),
        *running("b1", "b", 4),
        *pending("a", asked),
    ]


BORROWS = {"cohort": "LowerPriority"}
CASES = [
    Case(
        # 6 of 6 are in use; queue a wants its 4, so two of b's 2 must go: exactly 4.
        "enough goes and no more is asked",
        [
            *cohort("org"),
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", 2, "org"),
            *(running(name, "b", 2)[0] for name in ("b1", "b2", "b3")),
            *pending("a", 4),
        ],
        legal=sets("b1 b2", "b1 b3", "b2 b3", "b1 b2 b3"),
        forbids=sets("b1"),
    ),
    # What may be borrowed while preempting: queue a gets 3 that way, and never 4.
    Case("up to its max", capped(3), options=BORROWS, legal=sets("b1")),
    Case("beyond its max", capped(4), options=BORROWS, legal=sets()),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-01", case)
