"""KQ-05: a victim of another queue satisfies reclaimWithinCohort of the preemptor's queue."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
    OWN,
    RECLAIM,
    WHILE_BORROWING,
    broken,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    waiting,
)


def state_with(policy: str, priority: int, theirs: str = "Never") -> State:
    """Make a queue that wants its nominal quota back from one which borrows all of it.

    Its own workload is there to keep a policy of Never from changing the attempts.
    """
    return cluster(
        cohort("all"),
        queue("mine", 4, "all", preemption=policies("LowerPriority", policy)),
        queue("other", 4, "all", preemption=policies(theirs, theirs)),
        running("a", "other", 4, priority=priority),
        running("b", "other", 4, priority=99),
        waiting("incoming", 4, priority=10),
    )


@pytest.mark.parametrize(
    ("policy", "priority", "permitted"),
    [
        ("LowerPriority", 9, True),
        ("LowerPriority", 10, False),
        ("LowerPriority", 11, False),
        ("Any", 9, True),
        ("Any", 11, True),
        ("Never", 9, False),
    ],
)
def test_policy(policy: str, priority: int, permitted: bool) -> None:  # noqa: FBT001
    state = state_with(policy, priority)
    assert broken(state, plan_of(state, ("a", RECLAIM))) == ([] if permitted else ["KQ-05"])


def test_the_victims_own_policies_never_matter() -> None:
    state = state_with("Never", 9, theirs="LowerPriority")
    assert broken(state, plan_of(state, ("a", RECLAIM))) == ["KQ-05"]


@pytest.mark.parametrize("reason", [OWN, WHILE_BORROWING, ""])
def test_the_reason_is_reclamation(reason: str) -> None:
    state = state_with("LowerPriority", 9)
    assert broken(state, plan_of(state, ("a", reason))) == ["KQ-05"]
