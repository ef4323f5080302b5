"""KQ-04: a victim of the own queue satisfies withinClusterQueue."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
    OWN,
    RECLAIM,
    broken,
    cluster,
    plan_of,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)

NOON = "2026-03-01T12:00:00Z"
LATER = "2026-03-01T12:00:01Z"


def state_with(policy: str, priority: int, created: str = NOON) -> State:
    """Make a victim of some priority and age; the preemptor has priority 10 and came at noon."""
    return cluster(
        queue("mine", 4, preemption=policies(policy)),
        running("a", "mine", 4, priority=priority, created=created),
        waiting("incoming", 4, priority=10, created=NOON),
    )


@pytest.mark.parametrize(
    ("policy", "priority", "created", "permitted"),
    [
        ("LowerPriority", 9, NOON, True),
        ("LowerPriority", 10, LATER, False),
        ("LowerPriority", 11, LATER, False),
        ("LowerOrNewerEqualPriority", 9, NOON, True),
        ("LowerOrNewerEqualPriority", 10, LATER, True),
        ("LowerOrNewerEqualPriority", 10, NOON, False),
        ("LowerOrNewerEqualPriority", 11, LATER, False),
        ("Never", 9, LATER, False),
    ],
)
def test_policy(policy: str, priority: int, created: str, permitted: bool) -> None:  # noqa: FBT001
    state = state_with(policy, priority, created)
    assert broken(state, plan_of(state, ("a", OWN))) == ([] if permitted else ["KQ-04"])


def test_the_reason_is_that_of_the_own_queue() -> None:
    state = state_with("LowerPriority", 0)
    plan = plan_of(state, ("a", RECLAIM))
    assert broken(state, plan) == ["KQ-04"]
    assert verdicts(state, plan)["KQ-04"].detail == (
        "team/a goes for reason InClusterQueue, not InCohortReclamation"
    )


def test_the_detail_names_the_ages_only_where_they_decide() -> None:
    state = state_with("LowerPriority", 11)
    assert verdicts(state, plan_of(state, ("a", OWN)))["KQ-04"].detail == (
        "team/a (priority 11) may not go for team/incoming (priority 10): "
        "withinClusterQueue: LowerPriority"
    )
    state = state_with("LowerOrNewerEqualPriority", 10)
    assert (
        "queued 2026-03-01T12:00:00" in verdicts(state, plan_of(state, ("a", OWN)))["KQ-04"].detail
    )
