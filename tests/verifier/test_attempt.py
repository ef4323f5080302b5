"""KQ-08: the plan belongs to an attempt which Kueue makes."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
    OWN,
    RECLAIM,
    assigned,
    broken,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)


def state_with(mine: int, borrow: str = "Never", reclaim: str = "LowerPriority") -> State:
    """Make a queue with nominal 4 that uses some of it, next to one which borrows."""
    return cluster(
        cohort("all", gpus=4),
        queue("mine", 4, "all", preemption=policies("LowerPriority", reclaim, borrow)),
        queue("other", 4, "all"),
        running("own", "mine", mine),
        running("a", "other", 12 - mine),
        waiting("incoming", 2, priority=10),
    )


def attempts(state: State) -> list[bool]:
    """Ask for either attempt; every other law holds or is not asked."""
    return [
        borrowing
        for borrowing in (True, False)
        if verdicts(state, plan_of(state, ("own", OWN), borrowing=borrowing))["KQ-08"].holds
    ]


def test_both_attempts_when_the_queue_is_under_nominal() -> None:
    assert attempts(state_with(3)) == [True, False]


def test_only_borrowing_when_it_is_not_and_borrowing_is_forbidden() -> None:
    state = state_with(4)
    assert attempts(state) == [True]
    plan = plan_of(state, ("own", OWN), borrowing=False)
    assert broken(state, plan) == ["KQ-08"]
    assert verdicts(state, plan)["KQ-08"].detail == "Kueue tries with borrowing only"


def test_both_attempts_when_borrowing_is_permitted() -> None:
    assert attempts(state_with(5, borrow="LowerPriority")) == [True, False]


def test_only_borrowing_without_candidates_of_other_queues() -> None:
    state = state_with(3, reclaim="Never")
    assert broken(state, plan_of(state, ("own", OWN), borrowing=False)) == ["KQ-08"]
    assert not broken(state, plan_of(state, ("own", OWN), borrowing=True))


def test_a_workload_of_a_queue_within_its_quota_is_no_candidate() -> None:
    state = cluster(
        cohort("all"),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "LowerPriority")),
        queue("other", 4, "all"),
        running("own", "mine", 3),
        running("a", "other", 4),
        waiting("incoming", 2, priority=10),
    )
    assert attempts(state) == [True]


def test_the_order_depends_on_hierarchical_advantage() -> None:
    """Either order is legal; only the words differ."""
    advantage, none = state_with(2), state_with(3)
    detail = "Kueue tries with borrowing, then without borrowing"
    assert verdicts(advantage, plan_of(advantage))["KQ-08"].detail == detail
    detail = "Kueue tries without borrowing, then with borrowing"
    assert verdicts(none, plan_of(none))["KQ-08"].detail == detail


def test_nothing_evicted_needs_no_attempt() -> None:
    state = cluster(queue("mine", 4), waiting("incoming", 4))
    plan = plan_of(state, borrowing=None, assignment=assigned("Fit"))
    assert not broken(state, plan)


@pytest.mark.parametrize("name", ["own", "unheard-of"])
def test_victims_without_an_attempt_are_forbidden(name: str) -> None:
    state = state_with(4)
    assert "KQ-08" in broken(state, plan_of(state, (name, OWN), borrowing=None))


def test_fair_sharing_has_no_such_attempts() -> None:
    state = state_with(2)
    fair = state.model_copy(
        update={
            "configuration": state.configuration.model_validate(
                {"kind": "Configuration", "fairSharing": {}}
            )
        }
    )
    plan = plan_of(state, ("a", RECLAIM), borrowing=False)
    assert not broken(state, plan)
    assert broken(fair, plan) == ["KQ-08"]
