"""A forged certificate is refused: values, bounds, order, facts, victims."""

from typing import Any

import pytest

from planner.plan import Certificate, Level
from planner.plan.kueue import Amount, Demand, Plan
from planner.verifier.kueue.certificate import check_certificate, check_levels, check_status
from planner.verifier.kueue.plan import match_plan
from tests.cluster import cohort, pending, queue, running, state_of
from tests.told import told
from tests.verifier.cases import OWN, RECLAIM, broken, plan_of, victim_of

STATE = state_of(
    cohort("all"),
    queue("mine", 6, "all", within="LowerPriority", reclaim="Any"),
    queue("other", 2, "all"),
    running("a", "mine", 3, priority=1),
    running("b", "other", 2),
    running("c", "other", 3),
    running("safe", "mine", 0, priority=50),
    queue("quiet", 0, "all"),
    running("calm", "quiet", 0),
    pending("mine", 3, 10),
)
"""8 GPUs, all in use: 3 by queue mine, whose quota is 6, and 5 by queue other, whose is 2."""

TERMS = {"cost": 5, "workloads": 1, "lost_work": 7, "restart_cost": 2}

LEVELS = (
    Level(term="cost", title="", unit="", value=5, bound=5, proof="certified"),
    Level(term="lost_work+restart_cost", title="", unit="", value=9, bound=9, proof="certified"),
)


def honest() -> Plan:
    amount = Amount(flavor="default", resource="gpu", units=3, quantity="3")
    return plan_of(
        STATE,
        victim_of(STATE, "a", OWN).model_copy(update={"usage": (amount,)}),
        status="optimal",
        terms={"cost": 5, "workloads": 1},
        demand=(
            Demand(
                flavor="default",
                resource="gpu",
                requested=3,
                available=0,
                shortfall=3,
                quantity="3",
                contested=True,
            ),
        ),
        certificate=Certificate(digest="", levels=LEVELS, removal_order=("ns/a",)),
    )


def with_certificate(**fields: Any) -> Plan:
    plan = honest()
    assert plan.certificate is not None
    return plan.model_copy(update={"certificate": plan.certificate.model_copy(update=fields)})


def with_level(position: int, **fields: Any) -> Plan:
    levels = list(LEVELS)
    levels[position] = levels[position].model_copy(update=fields)
    return with_certificate(levels=tuple(levels))


def refused(plan: Plan) -> list[str]:
    verdicts = check_certificate(match_plan(STATE, plan), plan, TERMS)
    return [verdict.law for verdict in verdicts if not verdict.holds]


@pytest.mark.parametrize(
    ("plan", "law"),
    [
        (with_level(1, term="lost_work+unfairness", value=7, bound=7), "CT-01"),
        (with_level(0, bound=4), "CT-02"),
        (with_level(0, bound=6), "CT-02"),
        (with_level(0, proof=None), "CT-02"),
        (with_certificate(levels=()), "CT-02"),
        (honest().model_copy(update={"certificate": None}), "CT-02"),
        (with_certificate(removal_order=()), "CT-04"),
    ],
)
def test_a_forged_claim_is_refused(plan: Plan, law: str) -> None:
    """Besides all fields of a plan, each with another value (`commands/check/test_every_field`)."""
    assert law in refused(plan)


def test_another_victim_changes_everything() -> None:
    """A cheaper one that fits as well: the law-abiding plan still has the old values."""
    plan = honest()
    forged = plan.model_copy(update={"victims": (victim_of(STATE, "c", RECLAIM),)})
    assert not broken(STATE, forged)
    assert refused(forged) == ["CT-04"]
    terms = {"cost": 9, "workloads": 1, "lost_work": 7, "restart_cost": 2}
    assert not check_levels(forged, terms).holds


def test_a_feasible_plan_may_leave_a_gap() -> None:
    plan = with_level(0, bound=3, proof=None).model_copy(update={"status": "feasible"})
    assert check_status(plan).holds
    proved = with_level(0, bound=3).model_copy(update={"status": "feasible"})
    told(check_status(proved).detail)
    assert not check_status(plan.model_copy(update={"status": "optimal"})).holds


def test_only_what_is_called_optimal_needs_a_proof() -> None:
    plan = with_level(1, proof=None)
    assert check_status(plan.model_copy(update={"status": "feasible"})).holds
    told(check_status(plan).detail)


def test_an_illegal_removal_order_is_refused() -> None:
    """Queue other has quota 2 and uses 5: 3 may go after 2, but not 2 after 3."""
    victims = (victim_of(STATE, "b", RECLAIM), victim_of(STATE, "c", RECLAIM))
    for order, forbidden in ((("ns/b", "ns/c"), []), (("ns/c", "ns/b"), ["CT-04"])):
        certificate = Certificate(digest="", levels=LEVELS[:0], removal_order=order)
        plan = honest().model_copy(
            update={"victims": victims, "certificate": certificate, "status": "feasible"}
        )
        assert not broken(STATE, plan)
        assert refused(plan) == forbidden, order
