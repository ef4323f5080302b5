"""Preemption for an ask with a required node (docs/semantics/yunikorn.md §11.1)."""

from typing import Any

import pytest

from planner.reference.yunikorn.decision import RequiredNodeConditions
from tests.yunikorn.building import allocation, decided, two_queues

GPU = {"gpu": 1}
OUT: dict[str, Any] = {"x": {"allowPreemptSelf": False}}
Json = dict[str, Any]


def daemon(*running: Json, size: int = 1, wanted: int = 1, **of_node: Any) -> Json:
    """Build a node reserved for an ask that must run there; its queue guarantees nothing."""
    value = two_queues(*running, size=size, guaranteed=0, requiredNodeId="n1", age=0)
    value["applications"][1]["requests"][0]["resource"] = {"gpu": wanted}
    value["nodes"][0]["nodesInfo"][0] |= {"reservations": ["ask"], **of_node}
    value["nodes"][0]["nodesInfo"].append({"nodeID": "n2", "capacity": {"gpu": 9}})
    return value


@pytest.mark.parametrize(
    ("running", "keys"),
    [
        ([allocation("old", GPU, 2), allocation("new", GPU, 1)], ("new",)),
        ([allocation("high", GPU, 1), allocation("low", GPU, 2, priority="-1")], ("low",)),
        ([allocation("out", GPU, 1, **OUT), allocation("plain", GPU, 2)], ("plain",)),
        (
            [allocation("first", GPU, 1, originator=True), allocation("out", GPU, 2, **OUT)],
            ("out",),
        ),
        ([allocation("big", {"gpu": 2}, 1), allocation("small", GPU, 1)], ("small",)),
        ([allocation("over", GPU, priority="1")], ()),
        ([allocation("gone", GPU, preempted=True)], ()),
        ([allocation("freed", GPU, x={"released": True})], ()),
        ([allocation("bound", GPU, requiredNodeId="n1")], ()),
        ([allocation("other", {"vcore": 1})], ()),
        ([allocation("away", GPU, on="n2")], ()),
    ],
)
def test_who_goes(running: list[Json], keys: tuple[str, ...]) -> None:
    decision = decided(daemon(*running, available={}))
    assert (decision.triggered, decision.victim_keys) == (bool(keys), keys)
    assert decision.node == ("n1" if keys else None)


def test_free_space_does_not_lessen_their_number() -> None:
    running = [allocation(key, GPU, age) for age, key in enumerate("ab")]
    assert decided(daemon(*running, size=3, wanted=2)).victim_keys == ("a", "b")


def test_free_space_may_complete_them() -> None:
    assert decided(daemon(allocation("a", GPU), size=2, wanted=2)).victim_keys == ("a",)
    assert not decided(daemon(allocation("a", GPU), size=2, wanted=3)).triggered


@pytest.mark.parametrize(
    ("of_node", "conditions"),
    [
        ({}, RequiredNodeConditions(True, True, False, True)),  # noqa: FBT003
        ({"reservations": []}, RequiredNodeConditions(False, True, False, True)),  # noqa: FBT003
        ({"available": GPU}, RequiredNodeConditions(True, True, True, True)),  # noqa: FBT003
    ],
)
def test_conditions(of_node: Json, conditions: RequiredNodeConditions) -> None:
    decision = decided(daemon(allocation("a", GPU), **of_node))
    assert decision.conditions == conditions
    assert decision.triggered is conditions.attempted


def test_neither_switch_nor_fence_nor_delay_prevents_it() -> None:
    value = daemon(allocation("a", GPU))
    partition = value["queues"]["partitions"][0]
    partition["preemption"] = {"enabled": False}
    for one in partition["queues"][0]["queues"]:
        one["properties"] = {"preemption.policy": "fence", "preemption.delay": "1h"}
    assert decided(value).victim_keys == ("a",)


def test_a_node_that_does_not_exist() -> None:
    value = daemon(allocation("a", GPU))
    value["applications"][1]["requests"][0]["requiredNodeId"] = "nonesuch"
    assert not decided(value).triggered
