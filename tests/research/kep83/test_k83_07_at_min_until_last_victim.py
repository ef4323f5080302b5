"""K83-07: other queues give only until they are below their min of all involved flavors."""

from dataclasses import replace

import pytest

from tests.cluster import cohort, pending, queue, running
from tests.research.kep83.court import Case, judge, sets

CASES = [
    Case(
        # Queue b uses 5 of 3: after one of 2 it is at its min, and may give one more, no third.
        "a queue at its min is not below it",
        [
            *cohort("org"),
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", 3, "org"),
            *running("b1", "b", 2),
            *running("b2", "b", 2),
            *running("b3", "b", 1),
            *pending("a", 4),
        ],
        legal=sets("b1", "b2", "b1 b2", "b1 b3", "b2 b3"),
        without=sets("b1", "b2", "b1 b2", "b1 b3", "b2 b3", "b1 b2 b3"),
    ),
    Case(
        # Department right is within its 8, which today protects queue b below it; here nothing.
        "each queue by itself and no cohort",
        [
            *cohort("root"),
            *cohort("left", "root"),
            *cohort("right", "root"),
            *queue("a", 2, "left", reclaim="Any"),
            *queue("b", 1, "right"),
            *queue("c", 7, "right"),
            *queue("d", 0, "left"),
            *running("b1", "b", 3),
            *running("c1", "c", 3),
            *running("d1", "d", 4),
            *pending("a", 2),
        ],
        victims="b1 d1",
    ),
    Case(
        # b1 goes first and leaves b below its 2, so b2 is passed over; c1 alone is enough then.
        "the algorithm passes over who is below its min",
        [
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", 2, "org"),
            *queue("c", 0, "org"),
            *running("b1", "b", 2, 1),
            *running("b2", "b", 1, 2),
            *running("c1", "c", 3, 3),
            *pending("a", 3),
        ],
        permits=sets("c1", "b1 b2"),
    ),
    Case(
        # Queue b uses 6 of 4: 1 and 1 may go first, and then 4 as the last one; not the other way.
        "the largest goes last",
        [
            *queue("a", 6, "org", reclaim="Any"),
            *queue("b", 4, "org"),
            *running("b1", "b", 4),
            *running("b2", "b", 1),
            *running("b3", "b", 1),
            *running("a1", "a", 4),
            *pending("a", 2),
        ],
        permits=sets("b1 b2 b3"),
    ),
    Case(
        # After b1 queue b is below its 4 gpu, but at its 1 card.
        "one involved flavor at its min is enough",
        [
            *queue("a", {"gpu": 2, "cards": 2}, "org", reclaim="Any"),
            *queue("b", {"gpu": 4, "cards": 1}, "org"),
            *running("b1", "b", {"gpu": 2, "cards": 1}),
            *running("b2", "b", {"gpu": 2, "cards": 1}),
            *pending("a", {"gpu": 2, "cards": 2}),
        ],
        permits=sets("b1 b2"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-07", case)


def test_today_kueue_stops_a_step_earlier_and_asks_cohorts() -> None:
    step, cohorts = CASES[:2]
    without = sets("b1", "b2", "b1 b3", "b2 b3")
    judge("KQ-07", replace(step, legal=without, without=None, forbids=sets("b1 b2")))
    judge("KQ-07", replace(cohorts, victims="d1"))
