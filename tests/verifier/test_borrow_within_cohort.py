"""KQ-06: in an attempt with borrowing, borrowWithinCohort permits every other victim."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
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


def state_with(  # noqa: PLR0913 - one argument for everything the law depends on
    *,
    borrow: str = "LowerPriority",
    threshold: int | None = None,
    priority: int = 0,
    reclaim: str = "Any",
    nominal: int = 2,
    asked: int = 4,
) -> State:
    """Make a preemptor that must borrow: 4 GPUs in a queue with 2; the rest is the cohort's."""
    return cluster(
        cohort("all", gpus=6 - nominal),
        queue("mine", nominal, "all", preemption=policies("Never", reclaim, borrow, threshold)),
        queue("other", 2, "all"),
        running("a", "other", 4, priority=priority),
        running("b", "other", 4, priority=99),
        waiting("incoming", asked, priority=10),
    )


@pytest.mark.parametrize(
    ("borrow", "threshold", "priority", "permitted"),
    [
        ("LowerPriority", None, 9, True),
        ("LowerPriority", None, 10, False),
        ("LowerPriority", None, 11, False),
        ("LowerPriority", 5, 5, True),
        ("LowerPriority", 5, 6, False),
        ("LowerPriority", 50, 9, True),
        ("LowerPriority", 50, 10, False),
    ],
)
def test_policy(borrow: str, threshold: int | None, priority: int, permitted: bool) -> None:  # noqa: FBT001
    state = state_with(borrow=borrow, threshold=threshold, priority=priority)
    reason = WHILE_BORROWING if permitted else RECLAIM
    assert broken(state, plan_of(state, ("a", reason))) == ([] if permitted else ["KQ-06"])


def test_never_forbids_it() -> None:
    """The queue is under nominal, so Kueue does try with borrowing, if only last."""
    state = state_with(borrow="Never", priority=0)
    assert broken(state, plan_of(state, ("a", RECLAIM))) == ["KQ-06"]


def test_without_borrowing_anyone_reclaimable_is_permitted() -> None:
    """Now the queue's nominal quota covers what its own workload and the preemptor use."""
    for priority in (9, 11):
        state = cluster(
            cohort("all"),
            queue("mine", 4, "all", preemption=policies("Never", "Any", "LowerPriority")),
            queue("other", 4, "all"),
            running("mine-too", "mine", 1),
            running("a", "other", 2, priority=priority),
            running("b", "other", 5, priority=99),
            waiting("incoming", 2, priority=10),
        )
        reason = RECLAIM
        assert not broken(state, plan_of(state, ("a", reason), borrowing=False)), priority


def test_hierarchical_advantage_needs_no_permission() -> None:
    """The request fits in the quota of the queue itself, so its right is the older one."""
    state = state_with(borrow="Never", nominal=4, priority=11)
    assert not broken(state, plan_of(state, ("a", RECLAIM)))


def test_the_reason_is_reclaim_while_borrowing_in_either_attempt() -> None:
    state = state_with(priority=0)
    assert broken(state, plan_of(state, ("a", RECLAIM))) == ["KQ-06"]
    # Neither does the queue's nominal quota suffice; the law of that is another one.
    assert broken(state, plan_of(state, ("a", WHILE_BORROWING), borrowing=False)) == ["KQ-02"]
    assert broken(state, plan_of(state, ("a", RECLAIM), borrowing=False)) == ["KQ-02", "KQ-06"]
