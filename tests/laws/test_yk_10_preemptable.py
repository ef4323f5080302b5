"""YK-10: a victim has a type of the ask and is free to go; there is at least one."""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import prepare
from tests.laws.judges_yunikorn import Court
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


def test_a_victim_has_a_type_of_the_ask() -> None:
    running = allocation("a", {"gpu": 4}), allocation("b", {"mem": 2})
    court = Court(two_queues(*running))
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-10"}) == {"n1": {A, A | B}}


def test_the_amount_may_be_zero() -> None:
    running = allocation("a", {"gpu": 4}), allocation("b", {"gpu": 0, "mem": 2})
    assert Court(two_queues(*running)).admitted() == {"n1": {A, A | B}}


def test_there_is_at_least_one_victim() -> None:
    """The node has room, so that nobody need go."""
    court = Court(two_queues(allocation("a", {"gpu": 1})))
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-10"}) == {"n1": {A, frozenset()}}


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
    state = full_node(allocation("a", GPU) | held, **of_ask)
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
    state = full_node(allocation("a", GPU), stray)
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
    state = full_node(allocation("a", GPU))
    forged = victim_of(prepare(state), "a", **fields)
    plan = plan_of(state, "n1", forged)
    assert broken(state, plan) == ["YK-10"]
    assert verdicts(state, plan)["YK-10"].detail == detail
