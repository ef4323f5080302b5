"""KQ-06: while borrowing, other queues give only what borrowWithinCohort allows."""

from __future__ import annotations

import pytest

from tests.admitted import admitted
from tests.cluster import Object, cohort, pending, problem_of, queue, running, state_of


def borrower(policy: str, threshold: int | None = None, nominal: int = 0) -> list[Object]:
    """Return a queue with little quota of its own, and one that borrows for three workloads."""
    return [
        *cohort("org", nominal=6),
        *queue("a", nominal, "org", reclaim="Any", borrow=policy, threshold=threshold),
        *queue("b", 0, "org"),
        *running("low", "b", 2, 1),
        *running("middle", "b", 2, 5),
        *running("equal", "b", 2, 10),
        *pending("a", 2, 10),
    ]


@pytest.mark.parametrize(
    ("policy", "threshold", "permitted"),
    [
        ("Never", None, set()),
        ("LowerPriority", None, {"ns/low", "ns/middle"}),
        ("LowerPriority", 5, {"ns/low", "ns/middle"}),
        ("LowerPriority", 4, {"ns/low"}),
    ],
)
def test_policy_and_threshold(policy: str, threshold: int | None, permitted: set[str]) -> None:
    problem, *_ = problem_of(state_of(borrower(policy, threshold)))
    borrowing = {key for keys in admitted(problem, both_attempts=True)[True] for key in keys}
    assert borrowing == permitted
    dropped = admitted(problem, without={"KQ-06"}, both_attempts=True)[True]
    assert {key for keys in dropped for key in keys} == {"ns/low", "ns/middle", "ns/equal"}


def test_hierarchical_advantage_lifts_the_limit() -> None:
    """The request fits in the queue's own quota: others are mere guests there."""
    problem, *_ = problem_of(state_of(borrower("Never", nominal=2)))
    assert frozenset({"ns/equal"}) in admitted(problem, both_attempts=True)[True]
