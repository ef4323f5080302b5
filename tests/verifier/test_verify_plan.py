"""The verifier as a whole: order of verdicts, plans without victims, strange input, speed."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from planner.errors import InputError, UnsupportedError
from planner.laws import KUEUE_CLASSICAL
from planner.quota.snapshot import take_snapshot
from planner.verifier import kueue, verify_plan
from planner.verifier.kueue import CHECKS
from tests.verifier.cases import (
    OWN,
    RECLAIM,
    assigned,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    waiting,
)

STATE = cluster(
    queue("mine", 4, preemption=policies("LowerPriority")),
    running("a", "mine", 4),
    waiting("incoming", 2, priority=10),
)


def test_every_law_has_a_check_of_its_name_and_says_its_id() -> None:
    for law in KUEUE_CLASSICAL:
        check: Callable[..., object] = getattr(kueue, law.name)
        assert CHECKS[law.id] is check
        assert (check.__doc__ or "").startswith(f"{law.id}: ")
    assert len(CHECKS) == len(KUEUE_CLASSICAL)


def test_verdicts_in_the_order_of_the_registry() -> None:
    verification = verify_plan(STATE, plan_of(STATE, ("a", OWN)))
    expected = [(law.id, law.title) for law in KUEUE_CLASSICAL]
    assert [(verdict.law, verdict.title) for verdict in verification.verdicts] == expected
    assert all(verdict.detail for verdict in verification.verdicts)
    assert verification.removal_order == ("team/a",)
    assert verification.accepted


@pytest.mark.parametrize("status", ["infeasible", "unknown"])
def test_no_plan_means_nothing_to_judge(status: str) -> None:
    verification = verify_plan(STATE, plan_of(STATE, status=status, borrowing=None))
    assert verification.accepted
    assert not verification.verdicts
    assert not verify_plan(STATE, plan_of(STATE, ("a", OWN), status=status)).accepted


def test_what_fits_at_once_needs_no_attempt() -> None:
    state = cluster(queue("mine", 4), waiting("incoming", 4))
    for mode in ("Fit", "Preempt"):
        plan = plan_of(state, borrowing=None, assignment=assigned(mode))
        assert verify_plan(state, plan).accepted


def test_a_snapshot_may_be_given() -> None:
    plan = plan_of(STATE, ("a", OWN))
    given = verify_plan(STATE, plan, snapshot=take_snapshot(STATE))
    assert given == verify_plan(STATE, plan)


def test_a_snapshot_that_does_not_know_the_flavor_is_taken_anew() -> None:
    plan = plan_of(STATE, borrowing=None, assignment=assigned("Fit", flavor="unheard-of"))
    verification = verify_plan(STATE, plan, snapshot=take_snapshot(STATE))
    assert [v.law for v in verification.verdicts if not v.holds] == ["KQ-01"]


def test_the_snapshot_stays_as_it_was() -> None:
    snapshot = take_snapshot(STATE)
    before = [row.copy() for row in snapshot.usage.amount]
    verify_plan(STATE, plan_of(STATE, ("a", OWN)), snapshot=snapshot)
    assert snapshot.usage.amount == before


def test_a_plan_for_somebody_else_cannot_be_matched() -> None:
    with pytest.raises(InputError, match="unheard-of"):
        verify_plan(STATE, plan_of(STATE, preemptor="team/unheard-of"))


def test_unknown_rules_are_not_guessed() -> None:
    with pytest.raises(UnsupportedError, match="house-rules"):
        verify_plan(STATE, plan_of(STATE).model_copy(update={"rules": "house-rules"}))


def test_ten_thousand_workloads_and_hundreds_of_victims() -> None:
    """Well below a second; the limit leaves room for a busy machine."""
    queues = [f"q{number}" for number in range(100)]
    names = [f"w{number}" for number in range(10_000)]
    state = cluster(
        cohort("all"),
        *(cohort(f"c{number}", "all") for number in range(10)),
        queue("mine", 1000, "all", preemption=policies("LowerPriority", "Any")),
        *(queue(name, 80, f"c{i % 10}") for i, name in enumerate(queues)),
        *(running(name, queues[i % 100], 1) for i, name in enumerate(names)),
        waiting("incoming", 500, priority=10),
    )
    snapshot = take_snapshot(state)
    taken = [(name, RECLAIM) for name in names[:1500]]
    plan = plan_of(state, *taken[:500])
    start = time.perf_counter()
    verification = verify_plan(state, plan, snapshot=snapshot)
    elapsed = time.perf_counter() - start
    assert [v.law for v in verification.verdicts if not v.holds] == ["KQ-01"]
    assert elapsed < 2
    start = time.perf_counter()
    assert verify_plan(state, plan_of(state, *taken), snapshot=snapshot).accepted
    assert time.perf_counter() - start < 2
