"""The verifier as a whole: order of verdicts, plans without victims, strange input, speed."""

import pytest

from planner.errors import InputError, UnsupportedError
from planner.laws import RULE_SETS
from planner.quota.kueue.snapshot import take_snapshot
from planner.verifier.kueue.plan import match_plan, setting_for, verify_plan
from tests.cluster import (
    Object,
    cohort,
    configuration,
    fair_sharing,
    pending,
    queue,
    running,
    state_of,
)
from tests.verifier.cases import BY_SHARE, OWN, RECLAIM, assigned, fair_plan, plan_of

FAIR = configuration(fairSharing={})
STATE = state_of(
    queue("mine", 4, within="LowerPriority"),
    running("a", "mine", 4),
    pending("mine", 2, 10),
)


def test_verdicts_in_the_order_of_the_registry() -> None:
    verification = verify_plan(STATE, plan_of(STATE, ("a", OWN)))
    expected = [(law.id, law.title) for law in RULE_SETS["kueue-classical"]]
    assert [(verdict.law, verdict.title) for verdict in verification.verdicts] == expected
    assert all(verdict.detail for verdict in verification.verdicts)
    assert verification.removal_order == ("ns/a",)
    assert verification.accepted


def test_the_rules_of_fair_sharing_have_their_own_verdicts() -> None:
    state = state_of(
        FAIR,
        queue("mine", 4, within="LowerPriority"),
        running("a", "mine", 4),
        pending("mine", 2, 10),
    )
    verification = verify_plan(state, fair_plan(state, ("a", OWN)))
    expected = [(law.id, law.title) for law in RULE_SETS["kueue-fair"]]
    assert [(verdict.law, verdict.title) for verdict in verification.verdicts] == expected
    assert all(verdict.detail for verdict in verification.verdicts)
    assert verification.removal_order == ("ns/a",)
    assert verification.accepted


@pytest.mark.parametrize("status", ["feasible", "infeasible", "unknown"])
@pytest.mark.parametrize(
    ("rules", "configured", "law"),
    [
        ("kueue-classical", (), None),
        ("kueue-classical", (FAIR,), "KQ-08"),
        ("kueue-fair", (), "FS-07"),
        ("kueue-fair", (FAIR,), None),
    ],
)
def test_the_rules_must_be_those_of_the_configuration(
    rules: str, configured: tuple[list[Object], ...], law: str | None, status: str
) -> None:
    """Whatever the plan claims, and even if it evicts nobody."""
    state = state_of(*configured, queue("mine", 4), pending("mine", 4, 0))
    plan = plan_of(state, borrowing=None, rules=rules, status=status)
    verification = verify_plan(state, plan)
    failed = [verdict.law for verdict in verification.verdicts if not verdict.holds]
    assert failed == ([] if law is None else [law])
    assert verification.accepted == (law is None)


@pytest.mark.parametrize("status", ["infeasible", "unknown"])
def test_no_plan_means_nothing_to_judge(status: str) -> None:
    verification = verify_plan(STATE, plan_of(STATE, status=status, borrowing=None))
    assert verification.accepted
    assert not verification.verdicts
    assert not verify_plan(STATE, plan_of(STATE, ("a", OWN), status=status)).accepted


def test_what_fits_at_once_needs_no_attempt() -> None:
    state = state_of(queue("mine", 4), pending("mine", 4, 0))
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
        verify_plan(STATE, plan_of(STATE, preemptor="ns/unheard-of"))


def test_unknown_rules_are_not_guessed() -> None:
    with pytest.raises(UnsupportedError, match="house-rules"):
        verify_plan(STATE, plan_of(STATE).model_copy(update={"rules": "house-rules"}))


@pytest.mark.parametrize("fair", [False, True])
def test_a_thousand_workloads_and_a_hundred_victims(fair: bool) -> None:  # noqa: FBT001
    queues = [f"q{number}" for number in range(10)]
    names = [f"w{number}" for number in range(1_000)]
    state = state_of(
        *([fair_sharing(within_nominal=False)] if fair else []),
        cohort("all"),
        *(cohort(f"c{number}", "all") for number in range(5)),
        queue("mine", 100, "all", within="LowerPriority", reclaim="Any"),
        *(queue(name, 80, f"c{i % 5}") for i, name in enumerate(queues)),
        *(running(name, queues[i % 10], 1) for i, name in enumerate(names)),
        pending("mine", 50, 10),
    )
    snapshot = take_snapshot(state)
    taken = [(name, BY_SHARE if fair else RECLAIM) for name in names[:150]]
    make, few = (fair_plan, "FS-01") if fair else (plan_of, "KQ-01")
    verification = verify_plan(state, make(state, *taken[:50]), snapshot=snapshot)
    assert [v.law for v in verification.verdicts if not v.holds] == [few]
    assert verify_plan(state, make(state, *taken), snapshot=snapshot).accepted


@pytest.mark.parametrize("fair", [False, True])
def test_a_setting_is_used_again_only_if_it_is_that_of_the_plan(*, fair: bool) -> None:
    parts = (
        queue("mine", 4, within="LowerPriority"),
        running("a", "mine", 2),
        running("b", "mine", 2),
        pending("mine", 2, 10),
    )
    state = state_of(*((FAIR,) if fair else ()), *parts)
    snapshot = take_snapshot(state)
    plan = (fair_plan if fair else plan_of)(state, ("a", OWN))
    right = setting_for(state, snapshot, plan.preemptor, plan.assignment)
    assert match_plan(state, plan, snapshot=snapshot, setting=right).setting is right
    known = verify_plan(state, plan, snapshot=snapshot, setting=right)
    assert known == verify_plan(state, plan)
    assert known.accepted
    nothing = plan.assignment.model_copy(update={"pod_sets": ()})
    wrong = setting_for(state, snapshot, plan.preemptor, nothing)
    assert verify_plan(state, plan, snapshot=snapshot, setting=wrong) == known
