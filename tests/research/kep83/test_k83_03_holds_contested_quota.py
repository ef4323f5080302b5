"""K83-03: a victim uses the involved flavors in an active queue of the preemptor's cohort."""

import pytest

from tests.cluster import Object, cohort, pending, queue, running
from tests.research.kep83.court import Case, court_of, judge, sets


def with_neighbour(*more: Object) -> list[Object]:
    """Queue b borrows 2 with b1; queue a wants them back."""
    return [
        *cohort("org"),
        *queue("a", {"gpu": 2, "cards": 1}, "org", reclaim="Any"),
        *queue("b", {"gpu": 0, "cards": 1}, "org"),
        *running("b1", "b", {"gpu": 2}),
        *pending("a", {"gpu": 2, "cards": 1}),
        *more,
    ]


# What h1 holds counts as used: without it 1 would be missing whoever goes.
OUTSIDE = Case(
    "inactive queues and other cohorts give nothing",
    with_neighbour(
        *queue("held", {"gpu": 0}, "org", stop="Hold"),
        *running("h1", "held", {"gpu": 1}),
        *queue("alone", {"gpu": 0}),
        *running("x1", "alone", {"gpu": 1}),
    ),
    fits=("cards",),
    legal=sets(),
)
CASES = [
    Case(
        "other resources do not make a candidate",
        with_neighbour(*running("b2", "b", {"cards": 1})),
        fits=("cards",),
        legal=sets("b1"),
        forbids=sets("b1 b2"),
    ),
    Case(
        # One that names the flavor and holds 0 of it may go.
        "the amount does not matter",
        with_neighbour(*running("b2", "b", {"gpu": 0})),
        fits=("cards",),
        permits=sets("b1 b2"),
    ),
    OUTSIDE,
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-03", case)


@pytest.mark.parametrize("key", ["ns/h1", "ns/x1"])
def test_who_is_outside_breaks_it(key: str) -> None:
    """Both are over their quota and hold what is contested."""
    assert "K83-03" in court_of("K83-03", OUTSIDE).broken({key}, attempt=True)
