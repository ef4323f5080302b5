"""A forged certificate is refused: values, bounds, order, and what is said of the state."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from planner.plan import Certificate, Level
from planner.plan.yunikorn import NodeRoom, QueueUse, ResourceAmount, YuniKornPlan
from planner.quota.yunikorn.cluster import prepare
from planner.verifier.yunikorn import match_yunikorn, verify_yunikorn_plan
from planner.verifier.yunikorn.facts import check_yunikorn_certificate
from tests.verifier.yunikorn.plans import CODE, REQUIRED, guaranteed, plan_of, victim_of
from tests.yunikorn.building import (
    SECOND,
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

TAGS: Json = {
    "allocationTags": {"kubernetes.io/meta/namespace": "ml", "kubernetes.io/meta/podName": "driver"}
}
LARGE: Json = {"gpu": 2, "vcore": 1500, "memory": 2**31}
SMALL: Json = {"gpu": 1, "vcore": 500, "memory": 2**30}
WANTED: Json = {"gpu": 2, "vcore": 1000}


def value() -> Json:
    """Node n1 has 4 GPUs, of which low uses 2 and 1, a second queue 1, and 1 is going already."""
    low = queue("low", guaranteed={"gpu": "1"}, max={"gpu": "8"}, priority_offset="-3")
    gone = allocation("gone", {"gpu": 1}, 7, preempted=True)
    return cluster_value(
        [low, guaranteed("high", 4, priority_offset="2")],
        [node("n1", {"gpu": 5, "vcore": 4000, "memory": 2**34}), node("n2", {"gpu": 1})],
        [
            application(
                "runs",
                "root.low",
                allocation("large", LARGE, 90, originator=True, priority="4", **TAGS),
                allocation("small", SMALL, 100, priority="5"),
                gone,
            ),
            application("asks", "root.high", asks=(ask("ask", WANTED, priority="7", **TAGS),)),
        ],
    )


STATE = state_of(value())
CLUSTER = prepare(STATE)
TERMS = {"last_resort": 1, "workloads": 2, "lost_work": 7, "restart_cost": 2}
LEVELS = (
    Level(term="last_resort", title="", unit="", value=1, bound=1, proof="certified"),
    Level(term="lost_work+restart_cost", title="", unit="", value=9, bound=9, proof="certified"),
)
SAID_OF_LARGE: Json = {
    "pod": "ml/driver",
    # The ask is worth 7 + 2 at the root, this one 4 - 3: 8 less than the ask.
    "adjusted_priority": -1,
    "position": 4,
    "age_s": 90,
    "usage": (
        ResourceAmount(resource="gpu", units=2, quantity="2"),
        ResourceAmount(resource="memory", units=2**31, quantity="2Gi"),
        ResourceAmount(resource="vcore", units=1500, quantity="1500m"),
    ),
}
SAID_OF_SMALL: Json = {"adjusted_priority": 0, "position": 2, "age_s": 100}
ROOM = (
    # 5 less 2, 1 and 1; then 3 more.
    NodeRoom(resource="gpu", asked=2, available=1, after=4),
    NodeRoom(resource="vcore", asked=1000, available=2000, after=4000),
    NodeRoom(resource="memory", asked=0, available=2**34 - 3 * 2**30, after=2**34),
)
QUEUES = (
    QueueUse(queue="root", resource="gpu", guaranteed=None, max=6, before=3, after=2),
    QueueUse(queue="root.low", resource="gpu", guaranteed=1, max=8, before=3, after=0),
    QueueUse(queue="root.low", resource="vcore", guaranteed=None, max=None, before=2000, after=0),
    QueueUse(queue="root.high", resource="gpu", guaranteed=4, max=None, before=0, after=2),
    QueueUse(queue="root", resource="vcore", guaranteed=None, max=4000, before=2000, after=1000),
    QueueUse(queue="root.high", resource="vcore", guaranteed=None, max=None, before=0, after=1000),
)


def honest() -> YuniKornPlan:
    return plan_of(
        STATE,
        "n1",
        victim_of(CLUSTER, "small", **SAID_OF_SMALL),
        victim_of(CLUSTER, "large", **SAID_OF_LARGE),
        rules=CODE,
        status="optimal",
        objective="least-disruption",
        pod="ml/driver",
        last_tier=True,
        room=ROOM,
        queues=QUEUES,
        terms={"last_resort": 1, "workloads": 2},
        certificate=Certificate(digest="", levels=LEVELS, removal_order=("small", "large")),
    )


def refused(plan: YuniKornPlan, terms: dict[str, int] | None = None) -> list[str]:
    """Return the ids of the claims that are not true."""
    case = match_yunikorn(STATE, plan)
    verdicts = check_yunikorn_certificate(case, plan, terms or TERMS)
    return [verdict.law for verdict in verdicts if not verdict.holds]


def changed(**fields: Any) -> YuniKornPlan:
    return honest().model_copy(update=fields)


def with_certificate(**fields: Any) -> YuniKornPlan:
    certificate = honest().certificate
    assert certificate is not None
    return changed(certificate=certificate.model_copy(update=fields))


def with_level(position: int, **fields: Any) -> YuniKornPlan:
    levels = list(LEVELS)
    levels[position] = levels[position].model_copy(update=fields)
    return with_certificate(levels=tuple(levels))


def with_large(**fields: Any) -> YuniKornPlan:
    return changed(
        victims=(
            victim_of(CLUSTER, "small", **SAID_OF_SMALL),
            victim_of(CLUSTER, "large", **{**SAID_OF_LARGE, **fields}),
        )
    )


def with_usage(**fields: Any) -> YuniKornPlan:
    *others, vcore = SAID_OF_LARGE["usage"]
    return with_large(usage=(*others, vcore.model_copy(update=fields)))


def with_queue(position: int, **fields: Any) -> YuniKornPlan:
    queues = list(QUEUES)
    queues[position] = queues[position].model_copy(update=fields)
    return changed(queues=tuple(queues))


def test_an_honest_plan_is_accepted() -> None:
    assert verify_yunikorn_plan(STATE, honest()).accepted
    assert verify_yunikorn_plan(STATE, honest()).removal_order == ("small", "large")
    assert not refused(honest())


@pytest.mark.parametrize(
    ("plan", "law"),
    [
        (with_level(1, bound=10), "CT-02"),
        (with_level(1, proof=None), "CT-02"),
        (with_certificate(levels=()), "CT-02"),
        (changed(certificate=None), "CT-02"),
        (with_certificate(removal_order=("small", "gone")), "CT-04"),
        # Without large, low is within its guaranteed, and small could not go any more.
        (with_certificate(removal_order=("large", "small")), "CT-04"),
        (changed(now=honest().now + timedelta(seconds=1)), "CT-05"),
        (with_large(position=1), "CT-05"),
        (with_large(position=2), "CT-05"),
        (with_usage(quantity="1500"), "CT-05"),
        (with_usage(quantity="much"), "CT-05"),
        (with_large(usage=SAID_OF_LARGE["usage"][1:]), "CT-05"),
        (with_queue(1, guaranteed=None), "CT-05"),
        (with_queue(2, max=0), "CT-05"),
    ],
)
def test_a_forged_claim_is_refused(plan: YuniKornPlan, law: str) -> None:
    """Besides all fields of a plan, each with another value (`commands/check/test_every_field`)."""
    assert refused(plan) == [law]


def test_a_victim_that_is_not_there() -> None:
    plan = changed(victims=(*honest().victims, victim_of(CLUSTER, "nonesuch")))
    assert refused(plan) == ["CT-05"]


def test_room_on_a_node_that_is_not_there() -> None:
    assert refused(changed(node=None)) == ["CT-05"]
    assert refused(changed(node=None, room=())) == []


def test_victims_elsewhere_leave_the_room_of_the_node_as_it_is() -> None:
    given = value()
    given["nodes"][0]["nodesInfo"][0]["capacity"]["gpu"] = 7
    given["applications"][0]["allocations"][1]["nodeId"] = "n2"
    state = state_of(given)
    small = victim_of(prepare(state), "small", **SAID_OF_SMALL)
    # 7 less 2 of large and 1 that is going.
    for after, law in ((4, []), (5, ["CT-05"])):
        room = NodeRoom(resource="gpu", asked=2, available=4, after=after)
        vcore = NodeRoom(resource="vcore", asked=1000, available=2500, after=2500)
        plan = plan_of(state, "n1", small, rules=CODE, room=(room, vcore))
        case = match_yunikorn(state, plan)
        assert not [v.law for v in verify_yunikorn_plan(state, plan).verdicts if not v.holds]
        verdicts = check_yunikorn_certificate(case, plan, TERMS)
        assert [verdict.law for verdict in verdicts if not verdict.holds] == law


def test_the_levels_are_those_of_the_objective() -> None:
    case = match_yunikorn(STATE, honest())
    for levels, right in (
        (["last_resort", "lost_work+restart_cost"], True),
        (["lost_work+restart_cost", "last_resort"], False),
        (["last_resort"], False),
    ):
        verdict = check_yunikorn_certificate(case, honest(), TERMS, levels)[0]
        assert (verdict.law, verdict.holds) == ("CT-01", right)


def test_the_clock_may_be_coarser_than_nanoseconds() -> None:
    state = state_of({**value(), "now": CLUSTER.now + 123_456_789})
    clock = datetime.fromtimestamp(CLUSTER.now // SECOND, UTC)
    for micros, right in ((123_456, True), (123_457, True), (125_000, False), (0, False)):
        plan = changed(now=clock + timedelta(microseconds=micros))
        verdict = check_yunikorn_certificate(match_yunikorn(state, plan), plan, TERMS)[2]
        assert verdict.holds == right, micros


def test_quantities_may_be_written_in_any_way_that_is_exact() -> None:
    assert refused(with_usage(quantity="1500m")) == []
    gpu, memory, vcore = SAID_OF_LARGE["usage"]
    memory = memory.model_copy(update={"quantity": "2048Mi"})
    assert refused(with_large(usage=(gpu, memory, vcore))) == []


def test_with_a_required_node_any_order_will_do_and_priorities_are_plain() -> None:
    given = value()
    given["applications"][1]["requests"][0]["requiredNodeId"] = "n1"
    state = state_of(given)
    large = victim_of(CLUSTER, "large", **{**SAID_OF_LARGE, "adjusted_priority": 4})
    small = victim_of(CLUSTER, "small", **{**SAID_OF_SMALL, "adjusted_priority": 5})
    for order in (("small", "large"), ("large", "small")):
        certificate = Certificate(digest="", levels=LEVELS, removal_order=order)
        plan = changed(rules=REQUIRED, victims=(small, large), certificate=certificate)
        assert verify_yunikorn_plan(state, plan).accepted
        verdicts = check_yunikorn_certificate(match_yunikorn(state, plan), plan, TERMS)
        assert all(verdict.holds for verdict in verdicts), verdicts
