"""YK-01, YK-03, YK-10 and YK-11: last resorts, the own queue, who may go, who may ask."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Certificate, Level, Proof
from planner.quota.yunikorn.cluster import prepare
from planner.state.yunikorn import YuniKornState
from tests.verifier.yunikorn.plans import (
    CODE,
    DESIGN,
    GPU,
    REQUIRED,
    broken,
    guaranteed,
    one_node,
    plan_of,
    verdicts,
    victim_of,
)
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

OPTED_OUT: Json = {"x": {"allowPreemptSelf": False}}
ORIGINATOR: Json = {"originator": True}


def state_with(*held: Json, **of_ask: Any) -> YuniKornState:
    """Make queue low run these and one ordinary allocation ``plain``, of a GPU each."""
    running = [allocation("plain", GPU), *held]
    return one_node(
        queue("low"),
        guaranteed("high", 9),
        running={"root.low": running},
        size=len(running),
        **of_ask,
    )


def level(term: str, value: int, bound: int, resort: Proof | None = None) -> Certificate:
    made = Level(term=term, title="", unit="", value=value, bound=bound)
    return Certificate(digest="", levels=(made,), last_resort=resort)


@pytest.mark.parametrize("flags", [OPTED_OUT, OPTED_OUT | ORIGINATOR])
@pytest.mark.parametrize(
    ("certificate", "law"),
    [
        (None, ["YK-01"]),
        (level("D2", 1, 1), ["YK-01"]),
        (level("D2", 1, 1, "certified"), []),
        (level("D2", 1, 1, "solver"), []),
        (level("D0", 1, 1), ["YK-01"]),
        (level("D0", 1, 1, "certified"), []),
        (level("D0", 1, 0, "certified"), ["YK-01"]),
        (level("D0", 2, 2, "certified"), ["YK-01"]),
    ],
)
def test_who_opted_out_is_a_last_resort_under_every_objective(
    flags: Json, certificate: Certificate | None, law: list[str]
) -> None:
    state = state_with(allocation("a", GPU, **flags))
    plan = plan_of(state, "n1", "a", certificate=certificate)
    plan = plan.model_copy(update={"status": "optimal"})
    assert broken(state, plan) == law
    assert broken(state, plan.model_copy(update={"algorithm": "yunikorn"})) == []
    ordinary = plan_of(state, "n1", "plain", certificate=certificate)
    assert broken(state, ordinary) == []


@pytest.mark.parametrize(
    ("certificate", "law"),
    [
        (None, []),
        (level("D2", 1, 0), []),
        (level("D0", 1, 1), []),
        (level("D0", 1, 0), ["YK-01"]),
        (level("D0", 2, 2), ["YK-01"]),
        (level("D0", 0, 0), ["YK-01"]),
    ],
)
def test_originators_are_where_they_are_counted(
    certificate: Certificate | None, law: list[str]
) -> None:
    state = state_with(allocation("a", GPU, **ORIGINATOR))
    plan = plan_of(state, "n1", "a", certificate=certificate)
    plan = plan.model_copy(update={"status": "optimal"})
    assert broken(state, plan) == law
    assert broken(state, plan.model_copy(update={"algorithm": "yunikorn"})) == []
    ordinary = plan_of(state, "n1", "plain", certificate=certificate)
    assert broken(state, ordinary) == []


def test_a_plan_without_proof_need_not_prove_its_last_resorts() -> None:
    state = state_with(allocation("a", GPU, **OPTED_OUT))
    plan = plan_of(state, "n1", "a", certificate=level("D0", 1, 0))
    assert broken(state, plan.model_copy(update={"status": "feasible"})) == []
    assert broken(state, plan.model_copy(update={"status": "optimal"})) == ["YK-01"]


def test_last_resorts_in_words() -> None:
    state = state_with(allocation("a", GPU, **OPTED_OUT), allocation("b", GPU, **ORIGINATOR))
    plan = plan_of(state, "n1", "a", "b", certificate=level("D0", 2, 0))
    proved = plan.model_copy(update={"status": "optimal"})
    assert verdicts(state, proved)["YK-01"].detail == (
        "a opted out, b is an originator: nothing says that no legal set spares who opted out; "
        "a opted out, b is an originator: 2 of them claimed, no fewer than 0 proved necessary"
    )
    suggestion = verdicts(state, plan_of(state, "n1", "b"))["YK-01"]
    assert suggestion.detail == (
        "originators count where D0 does, not under min-count; b is an originator"
    )
    late = verdicts(state, plan_of(state, "n1", "a"))["YK-01"]
    assert late.detail == "not proved unavoidable in time: a opted out"


def test_other_queue() -> None:
    """Queue high uses 2 of its guaranteed, 1: what it gives up is what the ask takes."""
    state = one_node(
        guaranteed("high", 1),
        running={"root.high": [allocation("mine", {"gpu": 2})]},
        size=2,
    )
    plan = plan_of(state, "n1", "mine")
    assert broken(state, plan) == ["YK-03"]
    assert verdicts(state, plan)["YK-03"].detail == "mine is in queue root.high, as the ask itself"


@pytest.mark.parametrize(
    ("held", "law"),
    [
        ({}, []),
        ({"resource": {"gpu": 0}}, []),
        ({"resource": {"disk": 1}}, ["YK-10"]),
        ({"requiredNodeId": "n1"}, ["YK-10"]),
        ({"x": {"released": True}}, ["YK-10"]),
        ({"preempted": True}, ["YK-10"]),
        ({"placeholder": True}, []),
    ],
)
@pytest.mark.parametrize("of_ask", [{}, {"requiredNodeId": "n1"}])
def test_a_victim_is_free_to_go(held: Json, law: list[str], of_ask: Json) -> None:
    state = state_with(allocation("a", GPU) | held, **of_ask)
    assert broken(state, plan_of(state, "n1", "plain", "a")) == law


@pytest.mark.parametrize(
    ("taken", "detail"),
    [
        (["a", "nonesuch"], "nonesuch is not among the allocations"),
        (["a", "stray"], "stray is not among the allocations"),
        (["a", "a"], "a is named 2 times"),
        (["a", "ask"], "ask is the ask itself"),
    ],
)
def test_a_victim_is_known_and_named_once(taken: list[str], detail: str) -> None:
    """The application of the allocation ``stray`` does not know it."""
    stray = allocation("stray", GPU, x={"notInApp": True})
    state = state_with(allocation("a", GPU), stray)
    plan = plan_of(state, "n1", *taken)
    assert broken(state, plan) == ["YK-10"]
    assert verdicts(state, plan)["YK-10"].detail == detail


def test_there_is_a_victim_or_no_node() -> None:
    """The node has room as it is, so the plan need not name it."""
    state = one_node(queue("low"), guaranteed("high", 9), running={}, size=5)
    assert broken(state, plan_of(state, None)) == []
    assert broken(state, plan_of(state, "n1")) == ["YK-10"]
    assert verdicts(state, plan_of(state, "n1"))["YK-10"].detail == (
        "the plan names a node, but no victims"
    )


def test_a_plan_of_unknown_victims_is_not_one_that_evicts_nothing() -> None:
    state = one_node(queue("low"), guaranteed("high", 9), running={}, size=5)
    assert broken(state, plan_of(state, None, "nonesuch")) == ["YK-08", "YK-10"]


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"queue": "root.high"}, "a is in queue root.low, not in root.high"),
        ({"application": "asks"}, "a is of application in-root.low, not asks"),
    ],
)
def test_a_victim_is_where_the_plan_says(fields: Json, detail: str) -> None:
    state = state_with(allocation("a", GPU))
    forged = victim_of(prepare(state), "a", **fields)
    plan = plan_of(state, "n1", forged)
    assert broken(state, plan) == ["YK-10"]
    assert verdicts(state, plan)["YK-10"].detail == detail


@pytest.mark.parametrize(
    ("of_ask", "enabled", "law"),
    [
        ({}, True, []),
        ({"age": 0}, True, []),
        ({"x": {"preemptCheckTime": 1_800_000_000 * 10**9}}, True, []),
        ({"triggeredPreemption": True}, True, ["YK-11"]),
        ({"x": {"allowPreemptOther": False}}, True, ["YK-11"]),
        ({}, False, ["YK-11"]),
    ],
)
def test_may_preempt(of_ask: Json, enabled: bool, law: list[str]) -> None:  # noqa: FBT001
    value = cluster_value(
        [queue("low"), guaranteed("high", 9)],
        [node("n1", GPU)],
        [
            application("runs", "root.low", allocation("a", GPU)),
            application("asks", "root.high", asks=(ask("ask", GPU, **of_ask),)),
        ],
        preemption={"enabled": enabled},
    )
    state = state_of(value)
    assert broken(state, plan_of(state, "n1", "a")) == law


@pytest.mark.parametrize(
    ("of_ask", "law"),
    [
        ({}, []),
        ({"x": {"allowPreemptOther": False}}, []),
        ({"triggeredPreemption": True}, ["YK-11"]),
    ],
)
def test_with_a_required_node_only_an_earlier_attempt_forbids_it(
    of_ask: Json, law: list[str]
) -> None:
    """No guaranteed is needed, and the own queue may give victims."""
    value = cluster_value(
        [queue("high", guaranteed={"gpu": 9}, preemption_policy="disabled")],
        [node("n1", GPU)],
        [
            application("runs", "root.high", allocation("a", GPU)),
            application(
                "asks", "root.high", asks=(ask("ask", GPU, requiredNodeId="n1", **of_ask),)
            ),
        ],
        preemption={"enabled": False},
    )
    state = state_of(value)
    assert broken(state, plan_of(state, "n1", "a")) == law


@pytest.mark.parametrize(("priority", "law"), [("0", []), ("1", ["YK-06"])])
def test_with_a_required_node_priorities_are_plain(priority: str, law: list[str]) -> None:
    state = one_node(
        queue("low", priority_offset="-9"),
        queue("high"),
        running={"root.low": [allocation("a", GPU, priority=priority)]},
        size=1,
        requiredNodeId="n1",
    )
    assert broken(state, plan_of(state, "n1", "a")) == law


@pytest.mark.parametrize(
    ("of_ask", "rules", "law"),
    [
        ({}, DESIGN, []),
        ({}, CODE, []),
        ({}, REQUIRED, ["YK-08", "YK-11"]),
        ({"requiredNodeId": "n1"}, DESIGN, ["YK-11"]),
        ({"requiredNodeId": "n1"}, CODE, ["YK-11"]),
        ({"requiredNodeId": "n1"}, REQUIRED, []),
    ],
)
def test_an_ask_with_a_required_node_has_rules_of_its_own(
    of_ask: Json, rules: str, law: list[str]
) -> None:
    state = state_with(**of_ask)
    assert broken(state, plan_of(state, "n1", "plain", rules=rules)) == law
    for status in ("infeasible", "unknown"):
        nothing = plan_of(state, None, rules=rules, status=status)
        assert broken(state, nothing) == (["YK-11"] if law else [])
