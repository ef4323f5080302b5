"""K83-04: victims of the own queue have a lower priority, if withinClusterQueue is not Never."""

import pytest

from tests.cluster import Object, pending, queue, running
from tests.research.kep83.court import Case, judge, sets


def full_queue(within: str) -> list[Object]:
    """Queue a is full; one workload has a priority just below the preemptor's, one the same.

    That one is newer than the preemptor.
    """
    return [
        *queue("a", 4, within=within),
        *running("low", "a", 2, 9),
        *running("equal", "a", 2, 10, minute=40),
        *pending("a", 2, 10),
    ]


ALL = sets("low", "equal", "low equal")
CASES = [
    # The KEP does not know LowerOrNewerEqualPriority; here it means the same.
    Case(policy, full_queue(policy), legal=sets("low"), without=ALL)
    for policy in ("LowerPriority", "LowerOrNewerEqualPriority")
]
CASES += [
    Case("Never", full_queue("Never"), legal=sets()),
    Case(
        "Never takes the place of the policy",
        full_queue("LowerPriority"),
        options={"queue": "Never"},
        legal=sets(),
    ),
    Case(
        "LowerPriority takes the place of the policy",
        full_queue("Never"),
        options={"queue": "LowerPriority"},
        legal=sets("low"),
    ),
    Case(
        # With Never in its own queue, the preemptor still reclaims from others.
        "other queues are not bound",
        [
            *queue("a", 2, "org", reclaim="Any"),
            *queue("b", 0, "org"),
            *running("b1", "b", 2, 10),
            *pending("a", 2),
        ],
        legal=sets("b1"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-04", case)
