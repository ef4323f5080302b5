"""When preemption is tried (docs/semantics/yunikorn.md §3)."""

from typing import Any

import pytest

from planner.reference.yunikorn.candidates import Preconditions
from planner.reference.yunikorn.decision import Decision
from tests.yunikorn.building import NOW, SECOND, allocation, decided, two_queues

GPU = {"gpu": 1}
Json = dict[str, Any]


def full(**of_ask: Any) -> Json:
    """Build a node of one device, which ``low`` holds and ``high`` wants."""
    return two_queues(allocation("victim", GPU), size=1, **of_ask)


def conditions(decision: Decision) -> Preconditions:
    """Return what was checked."""
    assert isinstance(decision.conditions, Preconditions)
    return decision.conditions


@pytest.mark.parametrize(
    ("of_ask", "broken"),
    [
        ({}, ""),
        ({"age": 30}, ""),
        ({"age": 29}, "delay_passed"),
        ({"triggeredPreemption": True}, "not_triggered"),
        ({"x": {"allowPreemptOther": False}}, "allow_preempt_other"),
        ({"x": {"allowPreemptSelf": False}}, ""),
        ({"x": {"preemptCheckTime": NOW - 15 * SECOND}}, ""),
        ({"x": {"preemptCheckTime": NOW - 14 * SECOND}}, "check_interval_passed"),
    ],
)
def test_each_alone_prevents_it(of_ask: Json, broken: str) -> None:
    decision = decided(full(**of_ask))
    checked = conditions(decision)
    assert checked.attempted is decision.triggered is (not broken)
    names = ("delay_passed", "not_triggered", "allow_preempt_other", "check_interval_passed")
    assert [name for name in names if not getattr(checked, name)] == ([broken] if broken else [])


def test_the_partition_may_switch_it_off() -> None:
    value = full()
    value["queues"]["partitions"][0]["preemption"] = {"enabled": False}
    assert not conditions(decided(value)).preemption_enabled
    assert not decided(value).triggered


def test_the_delay_is_that_of_the_leaf() -> None:
    value = full(age=5)
    root = value["queues"]["partitions"][0]["queues"][0]
    root["properties"] = {"preemption.delay": "5s"}
    assert decided(value).triggered
    root["queues"][1]["properties"] = {"preemption.delay": "6s"}
    assert not decided(value).triggered


def test_an_ask_that_finds_a_node_does_not_preempt() -> None:
    value = two_queues(allocation("x", GPU), size=2)
    assert conditions(decided(value)).allocatable_now
    assert not decided(value).triggered


@pytest.mark.parametrize(
    "change", [{"schedulable": False}, {"reservations": ["other"]}, {"available": {}}]
)
def test_a_node_that_is_not_for_it(change: Json) -> None:
    value = two_queues(allocation("x", GPU), size=2)
    value["nodes"][0]["nodesInfo"][0] |= change
    assert not conditions(decided(value)).allocatable_now


def test_nodes_count_as_tried_when_the_queue_has_headroom() -> None:
    value = two_queues(allocation("x", GPU), size=2)
    value["nodes"][0]["nodesInfo"][0]["available"] = {}
    assert conditions(decided(value)).nodes_tried
    assert not conditions(decided(full())).nodes_tried
