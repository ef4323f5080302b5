"""YK-10: a victim has a type of the ask and is free to go; there is at least one."""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import prepare
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import (
    GPU,
    broken,
    full_node,
    guaranteed,
    one_node,
    plan_of,
    verdicts,
    victim_of,
)
from tests.yunikorn.building import Json, allocation, queue, two_queues

A, B = frozenset({"a"}), frozenset({"b"})


@pytest.mark.parametrize(
    "flag", [{"requiredNodeId": "n1"}, {"preempted": True}, {"x": {"released": True}}]
)
@pytest.mark.parametrize("rules", ["yunikorn-design", "yunikorn-code", "yunikorn-required-node"])
def test_what_must_stay_or_goes_already_is_no_victim(flag: dict[str, Any], rules: str) -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, **flag)
    required: Json = {"requiredNodeId": "n1"} if rules == "yunikorn-required-node" else {}
    court = Court(two_queues(*running, **required))
    assert court.admitted(rules) == {"n1": {A}}
    assert court.admitted(rules, without={"YK-10"}) == {"n1": {A, B, A | B}}


@pytest.mark.parametrize("rules", ["yunikorn-design", "yunikorn-required-node"])
@pytest.mark.parametrize(("of_b", "sets"), [({}, {A}), ({"gpu": 0}, {A, A | B})])
def test_a_victim_has_a_type_of_the_ask(rules: str, of_b: Json, sets: set[frozenset[str]]) -> None:
    """The amount may be zero."""
    held = allocation("a", {"gpu": 4}), allocation("b", {"mem": 2, **of_b}, placeholder=True)
    value = two_queues(*held, requiredNodeId="n1" if rules == "yunikorn-required-node" else "")
    value["nodes"][0]["nodesInfo"][0]["capacity"]["mem"] = 2
    court = Court(value)
    assert court.admitted(rules) == {"n1": sets}
    assert court.admitted(rules, without={"YK-10"}) == {"n1": {A, A | B}}


def test_there_is_at_least_one_victim() -> None:
    """The node has room, so that nobody need go."""
    court = Court(two_queues(allocation("a", {"gpu": 1})))
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-10"}) == {"n1": {A, frozenset()}}


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
    state = full_node(allocation("a", GPU), stray)
    plan = plan_of(state, "n1", *taken)
    assert broken(state, plan) == ["YK-10"]
    assert verdicts(state, plan)["YK-10"].detail == detail


def test_there_is_a_victim_or_no_node() -> None:
    """The node has room as it is, so the plan need not name it."""
    state = one_node(queue("low"), guaranteed("high", 9), running={}, size=5)
    assert broken(state, plan_of(state, None)) == []
    assert broken(state, plan_of(state, "n1")) == ["YK-10"]
    told(verdicts(state, plan_of(state, "n1"))["YK-10"].detail)


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
    state = full_node(allocation("a", GPU))
    forged = victim_of(prepare(state), "a", **fields)
    plan = plan_of(state, "n1", forged)
    assert broken(state, plan) == ["YK-10"]
    assert verdicts(state, plan)["YK-10"].detail == detail
