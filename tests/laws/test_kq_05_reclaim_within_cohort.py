"""KQ-05: reclaimWithinCohort decides about victims of other queues."""

from __future__ import annotations

import pytest

from tests.cluster import Object, cohort, pending, queue, running
from tests.laws.judges import OWN, WHILE_BORROWING, Case, broken, judge, sets


def lent(policy: str, theirs: str = "Never") -> list[Object]:
    """Return a queue that wants its quota back from one which borrows it."""
    return [
        *cohort("org"),
        *queue("a", 3, "org", reclaim=policy),
        *queue("b", 0, "org", within=theirs, reclaim=theirs),
        *running("lower", "b", 1, 9),
        *running("equal", "b", 1, 10),
        *running("higher", "b", 1, 11),
        *pending("a", 0, 10),
    ]


CASES = [
    Case(policy or "unset", lent(policy), victims=permitted, anyone="lower equal higher")
    for policy, permitted in (
        ("", ""),
        ("Never", ""),
        ("LowerPriority", "lower"),
        ("Any", "lower equal higher"),
    )
]
# Only the preemptor's queue is asked.
CASES += [
    Case(
        "the victim's queue permits, which does not matter",
        lent("Never", "LowerPriority"),
        victims="",
    ),
    Case(
        "the victim's queue would never preempt, which does not matter",
        [
            *cohort("org"),
            *queue("a", 1, "org", reclaim="Any"),
            *queue("b", 0, "org"),
            *running("theirs", "b", 1, 50),
            *pending("a", 1, 10),
        ],
        permits=sets("theirs"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-05", case)


@pytest.mark.parametrize("reason", [OWN, WHILE_BORROWING, ""])
def test_the_reason_is_reclamation(reason: str) -> None:
    assert broken(CASES[2].state, ("lower", reason)) == ["KQ-05"]
