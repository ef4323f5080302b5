"""YK-08: the ask fits on one node, and victims are there unless it has room anyway."""

from __future__ import annotations

from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    two_queues,
)

A, B, C = (frozenset({key}) for key in "abc")


def on_nodes(nodes: list[Json], size: int, *running: Json) -> Json:
    """Build a cluster: ``root.low`` runs everything, ``root.high`` asks for some gpus."""
    return cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 9})],
        nodes,
        [
            application("runs", "root.low", *running),
            application("asks", "root.high", asks=(ask("ask", {"gpu": size}),)),
        ],
    )


def test_victims_on_different_nodes_make_no_room() -> None:
    """Node n2 is too small for the ask; two of three would be enough for the root's maximum."""
    running = (
        allocation(k, {"gpu": 1}, on=on) for k, on in (("a", "n1"), ("b", "n1"), ("c", "n2"))
    )
    nodes = [node("n1", {"gpu": 2}), node("n2", {"gpu": 1})]
    court = Court(on_nodes(nodes, 2, *running))
    assert court.admitted() == {"n1": {A | B}}
    without = court.admitted(without={"YK-08"})
    assert without == {"n1": {A | B, A | C, B | C, A | B | C}}


def test_each_node_has_its_own_victims() -> None:
    running = (
        allocation(k, {"gpu": 1}, on=on) for k, on in (("a", "n1"), ("b", "n1"), ("c", "n2"))
    )
    nodes = [node("n1", {"gpu": 2}), node("n2", {"gpu": 1})]
    court = Court(on_nodes(nodes, 1, *running))
    assert court.admitted() == {"n1": {A, B, A | B}, "n2": {C}}


def test_for_a_node_with_room_victims_are_anywhere() -> None:
    """Node n2 has room, n1 has not."""
    running = (
        allocation(k, {"gpu": 1}, on=on) for k, on in (("a", "n1"), ("b", "n1"), ("c", "n2"))
    )
    nodes = [node("n1", {"gpu": 2}), node("n2", {"gpu": 2})]
    court = Court(on_nodes(nodes, 1, *running))
    anything = {A, B, C, A | B, A | C, B | C, A | B | C}
    assert court.admitted() == {"n1": {A, B, A | B}, "n2": anything}


def test_what_is_available_counts_also_below_zero() -> None:
    running = (allocation(k, {"gpu": 1}) for k in "ab")
    court = Court(on_nodes([node("n1", {"gpu": 4}, available={"gpu": -1})], 1, *running))
    assert court.admitted() == {"n1": {A | B}}


def test_a_node_that_is_not_schedulable_is_none() -> None:
    nodes = [node("n1", {"gpu": 2}, schedulable=False), node("n2", {"gpu": 1})]
    running = allocation("a", {"gpu": 2}), allocation("c", {"gpu": 1}, on="n2")
    assert Court(on_nodes(nodes, 1, *running)).admitted() == {"n2": {C}}


def test_without_any_usable_node_nothing_is_legal() -> None:
    nodes = [node("n1", {"gpu": 2}, schedulable=False)]
    assert Court(on_nodes(nodes, 1, allocation("a", {"gpu": 2}))).admitted() == {}


def test_a_required_node_gives_all_victims() -> None:
    nodes = [node("n1", {"gpu": 1}), node("n2", {"gpu": 1})]
    running = allocation("a", {"gpu": 1}), allocation("b", {"gpu": 1}, on="n2")
    value = on_nodes(nodes, 1, *running)
    value["applications"][1]["requests"][0]["requiredNodeId"] = "n2"
    assert Court(value).admitted("yunikorn-required-node") == {"n2": {B}}
    without = Court(value).admitted("yunikorn-required-node", without={"YK-08"})
    assert without == {"n2": {A, B, A | B}}


def test_on_a_required_node_no_other_type_may_stay_below_zero() -> None:
    """The core compares all types there, not only those of the ask."""
    running = allocation("a", {"gpu": 1}), allocation("b", {"gpu": 1, "mem": 1})
    value = two_queues(*running, requiredNodeId="n1")
    value["nodes"][0]["nodesInfo"][0]["available"] = {"mem": -1}
    assert Court(value).admitted("yunikorn-required-node") == {"n1": {B, A | B}}
