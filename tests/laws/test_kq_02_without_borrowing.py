"""KQ-02: an attempt without borrowing ends within the queue's nominal quota."""

import pytest

from tests.cluster import Object, cohort, pending, queue, running, state_of
from tests.laws.judges import RECLAIM, WHILE_BORROWING, Case, broken, detail, judge, sets
from tests.told import told


def contest(mine: int, asked: int) -> list[Object]:
    """Return two queues of 4 in a cohort, of which b borrows."""
    return [
        *cohort("org"),
        *queue("a", 4, "org", within="LowerPriority", reclaim="Any"),
        *queue("b", 4, "org"),
        *running("mine", "a", mine),
        *running("theirs", "b", 3),
        *running("more", "b", 3),
        *pending("a", asked),
    ]


def over(asked: int, spare: int, borrow: str = "Never") -> list[Object]:
    """Return a queue that uses 2 of 4, next to one which borrows 2."""
    return [
        *cohort("org", nominal=spare),
        *queue("a", 4, "org", within="LowerPriority", reclaim="Any", borrow=borrow),
        *queue("b", 4, "org"),
        *running("mine", "a", 2),
        *running("high", "b", 4, 99),
        *running("theirs", "b", 2),
        *pending("a", asked),
    ]


CASES = [
    Case(
        # Evicting one workload of b makes room in the cohort, but a would then use 5 of 4.
        "nominal quota is the bound",
        contest(2, 3),
        borrowing=False,
        forbids=sets("theirs"),
        permits=sets("mine theirs"),
    ),
    Case(
        "a request up to nominal is permitted",
        contest(1, 3),
        borrowing=False,
        permits=sets("theirs"),
    ),
    Case("within nominal is permitted", over(2, 0), borrowing=False, permits=sets("theirs")),
    Case(
        # 4 would be available, but the queue would use 6 of 4.
        "above nominal is forbidden",
        over(4, 2),
        borrowing=False,
        forbids=sets("theirs"),
    ),
    Case(
        "above nominal is permitted with borrowing",
        over(4, 2, "LowerPriority"),
        permits=sets("theirs"),
    ),
    Case(
        "own victims lower the usage that counts",
        over(4, 0),
        borrowing=False,
        permits=sets("mine theirs"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-02", case)


def test_usage_and_quota_are_told() -> None:
    state = state_of(over(4, 2))
    told(detail("KQ-02", state, ("theirs", RECLAIM), borrowing=False))
    permitted = state_of(over(4, 2, "LowerPriority"))
    assert not broken(permitted, ("theirs", WHILE_BORROWING))
