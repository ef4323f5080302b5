"""Certificates under fair sharing: shares that are stated, removal orders."""

import math
from typing import Any

import pytest

from planner.plan import Certificate
from planner.plan.kueue import NodeShare, Plan
from planner.verifier.kueue.certificate import check_certificate
from planner.verifier.kueue.plan import match_plan
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.verifier.cases import BY_SHARE, RECLAIM, broken, fair_plan, plan_of

STATE = state_of(
    fair_sharing(),
    cohort("all", nominal=4),
    cohort("theirs", "all", weight="0"),
    queue("mine", 2, "all", within="LowerPriority", reclaim="Any", weight="3"),
    queue("other", 2, "theirs"),
    queue("quiet", 2, "theirs", lending=0),
    running("own", "mine", 2),
    running("a", "other", 2),
    running("b", "other", 4),
    running("x", "quiet", 2),
    pending("mine", 2, 10),
)
"""8 GPUs that all may use; 6 of them by other, whose nominal quota is 2, and 2 by mine."""

SHARES = (
    NodeShare(
        name="mine", kind="ClusterQueue", weight=3, before=0, with_preemptor=250 / 3, after=250 / 3
    ),
    NodeShare(
        name="other", kind="ClusterQueue", weight=1, before=500, with_preemptor=500, after=250
    ),
    NodeShare(
        name="theirs",
        kind="Cohort",
        weight=0,
        before=math.inf,
        with_preemptor=math.inf,
        after=math.inf,
    ),
    NodeShare(name="all", kind="Cohort", weight=1, before=0, with_preemptor=0, after=0),
)


def refused(plan: Plan) -> list[str]:
    verdicts = check_certificate(match_plan(STATE, plan), plan, {})
    return [verdict.law for verdict in verdicts if not verdict.holds]


def with_share(position: int, **fields: Any) -> Plan:
    shares = list(SHARES)
    shares[position] = shares[position].model_copy(update=fields)
    return fair_plan(STATE, ("a", BY_SHARE), shares=tuple(shares))


def test_honest_shares_are_accepted() -> None:
    plan = fair_plan(STATE, ("a", BY_SHARE), shares=SHARES)
    assert not broken(STATE, plan)
    assert not refused(plan)
    assert not refused(Plan.model_validate_json(plan.model_dump_json()))


@pytest.mark.parametrize(
    "plan",
    [
        with_share(0, before=1),
        with_share(0, with_preemptor=math.nextafter(250 / 3, 0)),
        with_share(0, after=83.333),
        with_share(0, after=math.nan),
        with_share(0, weight=1),
        with_share(1, with_preemptor=250),
        with_share(1, after=500),
        with_share(2, after=0),
        with_share(3, before=1000),
        with_share(0, name="unheard-of"),
        with_share(0, kind="Cohort"),
        with_share(3, kind="ClusterQueue"),
    ],
)
def test_forged_shares_are_refused(plan: Plan) -> None:
    assert refused(plan) == ["CT-05"]


@pytest.mark.parametrize(
    ("order", "permitted"), [(("ns/a", "ns/b"), True), (("ns/b", "ns/a"), False)]
)
def test_the_removal_order_is_replayed_with_shares(
    order: tuple[str, ...],
    permitted: bool,  # noqa: FBT001
) -> None:
    """Other uses 7 of nominal 2: 5 may go after 1 (it has 500 then), but not 1 after 5 (0)."""
    state = state_of(
        fair_sharing(),
        cohort("all", nominal=4),
        queue("mine", 2, "all", within="LowerPriority", reclaim="Any"),
        queue("other", 2, "all"),
        running("own", "mine", 1),
        running("a", "other", 1),
        running("b", "other", 5),
        running("c", "other", 1),
        pending("mine", 3, 10),
    )
    certificate = Certificate(digest="", levels=(), removal_order=order)
    plan = fair_plan(state, ("a", BY_SHARE), ("b", BY_SHARE), certificate=certificate)
    assert not broken(state, plan)
    verdicts = check_certificate(match_plan(state, plan), plan, {})
    failed = [verdict.law for verdict in verdicts if not verdict.holds]
    assert failed == ([] if permitted else ["CT-04"])


def test_a_queue_is_enough_where_classical_preemption_asks_its_cohort() -> None:
    """Theirs is within its quota as a whole: other is a candidate under fair sharing only."""
    state = state_of(
        fair_sharing(),
        cohort("all", nominal=0),
        cohort("theirs", "all", nominal=4),
        queue("mine", 4, "all", within="LowerPriority", reclaim="Any"),
        queue("other", 0, "theirs"),
        running("own", "mine", 4),
        running("a", "other", 4),
        pending("mine", 1, 10),
    )
    candidates = {
        rules: [w.key for w in match_plan(state, plan_of(state, rules=rules)).setting.candidates]
        for rules in ("kueue-fair", "kueue-classical")
    }
    assert candidates == {"kueue-fair": ["ns/own", "ns/a"], "kueue-classical": ["ns/own"]}
    assert broken(state, fair_plan(state, ("a", RECLAIM)))[-2:] == ["FS-06", "FS-07"]
