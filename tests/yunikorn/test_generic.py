"""The plan of a node, the choice of the node, and the final victims.

Source: docs/semantics/yunikorn.md §6 to §10.
"""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import is_usable
from planner.quota.yunikorn.queue import Snapshot
from planner.reference.yunikorn.candidates import (
    OPTED_OUT_SCORE,
    ORIGINATOR_SCORE,
    find_candidates,
    find_fence,
    in_order,
)
from planner.reference.yunikorn.decision import (
    NO_CANDIDATE_SCORE,
    Plan,
    can_help,
    plan_node,
    score_of,
)
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    asking_of,
    cluster_value,
    decided,
    gpus,
    node,
    queue,
    two_queues,
)

GPU = {"gpu": 1}
OUT: dict[str, Any] = {"x": {"allowPreemptSelf": False}}
Json = dict[str, Any]


def planned(value: Json) -> Plan | None:
    """Return the plan of the first node."""
    cluster, asking = asking_of(value)
    fence = find_fence(asking.leaf, asking.ask)
    found = in_order(find_candidates(asking.leaf, asking.ask, fence), {})
    return plan_node(Snapshot(asking.leaf, asking.ask.resource), cluster.nodes[0], found)


def nodes_with(*held: list[Json], wanted: int = 1) -> Json:
    """Build one full node for each list of allocations of root.low."""
    nodes = []
    for number, allocations in enumerate(held, start=1):
        for one in allocations:
            one["nodeId"] = f"n{number}"
        nodes.append(
            node(f"n{number}", {"gpu": sum(one["resource"]["gpu"] for one in allocations)})
        )
    running = [one for allocations in held for one in allocations]
    apps = [
        application("runs", "root.low", *running),
        application("asks", "root.high", asks=(ask("ask", {"gpu": wanted}),)),
    ]
    return cluster_value([queue("low"), queue("high", guaranteed={"gpu": 9})], nodes, apps)


def test_the_newest_goes() -> None:
    decision = decided(two_queues(allocation("old", GPU, 9), allocation("new", GPU, 1), size=2))
    assert (decision.triggered, decision.node) == (True, "n1")
    assert decision.victim_keys == ("new",)


def test_as_many_as_needed() -> None:
    value = nodes_with([allocation(key, GPU, age) for age, key in enumerate("abcd")], wanted=3)
    assert decided(value).victim_keys == ("a", "b", "c")


def test_without_guaranteed_nothing_helps() -> None:
    value = two_queues(allocation("x", GPU), size=1, guaranteed=0)
    cluster, asking = asking_of(value)
    snapshot = Snapshot(asking.leaf, asking.ask.resource)
    assert not can_help(snapshot, [])
    assert not decided(value).triggered
    assert cluster.tree.by_path["root.high"].guaranteed is None


def test_the_ask_must_fit_whole_into_what_is_left() -> None:
    value = nodes_with(gpus(x=3), wanted=3)
    queues = value["queues"]["partitions"][0]["queues"][0]["queues"]
    assert decided(value).triggered
    queues[1]["resources"] = {"guaranteed": {"gpu": 2}}
    assert not decided(value).triggered


def test_room_may_be_made_in_the_guaranteed_of_an_ancestor() -> None:
    """The ancestor guarantees 2, of which 3 are held: one more, less two, is no more than 2."""
    running = [allocation(key, GPU) for key in "abc"]
    apps = [
        application("1", "root.p.low", *running),
        application("2", "root.p.high", asks=(ask("ask", GPU),)),
    ]
    queues = [queue("p", queue("low"), queue("high"), guaranteed={"gpu": 2})]
    _, asking = asking_of(cluster_value(queues, [node("n1", {"gpu": 3})], apps))
    found = find_candidates(asking.leaf, asking.ask, find_fence(asking.leaf, asking.ask))
    snapshot = Snapshot(asking.leaf, GPU)
    assert [one.key for one in found] == ["a", "b", "c"]
    assert can_help(snapshot, found)
    assert can_help(snapshot, found[:2])
    assert not can_help(snapshot, found[:1])
    assert not can_help(snapshot, [])


def test_room_on_the_node_needs_no_victims() -> None:
    plan = planned(two_queues(allocation("x", GPU), size=2))
    assert plan is not None
    assert (plan.index, plan.victims) == (-1, ())


def test_what_does_not_lessen_the_shortfall_goes_last() -> None:
    value = two_queues(allocation("zero", {"gpu": 0}, 1), allocation("one", GPU, 2), size=1)
    plan = planned(value)
    assert plan is not None
    assert [victim.key for victim in plan.group] == ["zero", "one"]
    assert [victim.key for victim in plan.victims] == ["one", "zero"]
    assert plan.index == 0


def test_the_list_goes_on_behind_the_index() -> None:
    plan = planned(two_queues(allocation("a", GPU, 1), allocation("b", GPU, 2), size=2))
    assert plan is not None
    assert [victim.key for victim in plan.victims] == ["a", "b"]
    assert plan.index == 0


def test_a_candidate_larger_than_the_guaranteed_left_ends_the_pass() -> None:
    value = two_queues(allocation("large", {"gpu": 3}, 1), allocation("small", GPU, 2), size=4)
    assert planned(value) is None


def test_a_queue_is_not_taken_below_its_guaranteed_twice() -> None:
    value = nodes_with([allocation(key, GPU, age) for age, key in enumerate("ab")], wanted=2)
    low = value["queues"]["partitions"][0]["queues"][0]["queues"][0]
    low["resources"] = {"guaranteed": GPU}
    assert not decided(value).triggered
    low["resources"] = {}
    assert decided(value).victim_keys == ("a", "b")


@pytest.mark.parametrize(
    ("held", "chosen"),
    [
        ([[allocation("a", GPU)], [allocation("b", GPU)]], "n1"),
        ([[allocation("a", GPU, **OUT)], [allocation("b", GPU)]], "n2"),
        ([[allocation("a", GPU, **OUT)], [allocation("b", GPU, originator=True)]], "n2"),
        ([[allocation("a", GPU, originator=True)], [allocation("b", GPU)]], "n2"),
        ([[allocation("a", GPU), allocation("c", GPU, **OUT)], [allocation("b", GPU)]], "n1"),
    ],
)
def test_choice_of_the_node(held: list[list[Json]], chosen: str) -> None:
    value = nodes_with(*held)
    assert decided(value).node == chosen
    assert decided(value, callback=False).node == "n1"


def test_scores() -> None:
    value = two_queues(
        allocation("a", GPU, 1),
        allocation("b", GPU, 1, originator=True),
        allocation("c", GPU, 1, **OUT),
        size=3,
    )
    plan = planned(value)
    assert plan is not None
    assert [score_of(plan, index) for index in range(-1, 3)] == [
        0,
        1,
        ORIGINATOR_SCORE + 2,
        OPTED_OUT_SCORE + ORIGINATOR_SCORE + 3,
    ]
    assert score_of(Plan(plan.room, (), 0, plan.victims), 0) == NO_CANDIDATE_SCORE


def test_a_satisfactory_batch_of_ten_nodes_ends_the_search() -> None:
    """Ten nodes need two victims of two flags, the eleventh none: it comes in a batch too late."""
    held = [[allocation(f"{i:02}", GPU)] for i in range(1, 12)]
    value = nodes_with(*held)
    nodes = value["nodes"][0]["nodesInfo"]
    for number, one in enumerate(nodes, start=1):
        one["nodeID"] = f"n{number:02}"
        held[number - 1][0]["nodeId"] = one["nodeID"]
    assert decided(value).node == "n01"
    for allocations in held[:10]:
        allocations[0] |= OUT
    assert decided(value).node == "n11"


@pytest.mark.parametrize(
    ("x", "found"),
    [
        ({}, ("n1", ("a",))),
        ({"vetoNodes": ["n1"]}, ("n2", ("c",))),
        ({"mustRemove": {"n1": ["b"]}}, ("n2", ("c",))),
        ({"mustRemove": {"n1": ["b"]}, "vetoNodes": ["n2"]}, ("n1", ("a",))),
        ({"vetoNodes": ["n1", "n2"]}, (None, ())),
        ({"predicates": "none", "vetoNodes": ["n1"]}, ("n1", ("a",))),
        (
            {"predicates": "table", "table": [{"node": "n2", "success": True, "index": 0}]},
            ("n2", ("c",)),
        ),
        (
            {"predicates": "table", "table": [{"node": "n1", "success": False, "index": -1}]},
            (None, ()),
        ),
        (  # beyond the one victim of n2
            {"predicates": "table", "table": [{"node": "n2", "success": True, "index": 1}]},
            (None, ()),
        ),
    ],
)
def test_the_shim_may_refuse(x: Json, found: tuple[str | None, tuple[str, ...]]) -> None:
    held = [[allocation("a", GPU, 1), allocation("b", GPU, 2)], [allocation("c", GPU, 3)]]
    decision = decided(nodes_with(*held) | {"x": x})
    assert (decision.node, decision.victim_keys) == found


def test_an_answer_beyond_all_candidates_is_the_worst() -> None:
    """The core says that it should not happen, and takes the node whose candidate opted out."""
    rows = [
        {"node": "n1", "success": True, "index": 0},
        {"node": "n2", "success": True, "index": 7},
    ]
    value = nodes_with([allocation("a", GPU, 1, **OUT)], [allocation("c", GPU, 3)])
    decision = decided(value | {"x": {"predicates": "table", "table": rows}})
    assert (decision.node, decision.victim_keys) == ("n1", ("a",))


def test_a_success_may_have_no_victims() -> None:
    """An explicit 0 in the ask: nothing is collected, and yet the call succeeds."""
    value = two_queues(allocation("x", {"gpu": 1, "disk": 0}), size=1)
    value["applications"][1]["requests"][0]["resource"] = {"gpu": 1, "disk": 0}
    decision = decided(value)
    assert decision.triggered
    assert decision.victim_keys == ()


def test_free_space_does_not_count_in_the_end() -> None:
    """One device is free and one victim suffices, but the victims alone must reach the ask."""
    value = nodes_with([allocation("a", GPU, 1), allocation("b", GPU, 2)], wanted=2)
    value["nodes"][0]["nodesInfo"][0]["capacity"] = {"gpu": 3}
    assert decided(value).victim_keys == ("a", "b")
    value["applications"][0]["allocations"].pop()
    value["nodes"][0]["nodesInfo"][0]["capacity"] = {"gpu": 2}
    assert not decided(value).triggered


@pytest.mark.parametrize(
    ("change", "usable"),
    [
        ({}, True),
        ({"schedulable": False}, False),
        ({"capacity": {}}, False),
        ({"reservations": ["ask"]}, True),
        ({"reservations": ["other"]}, False),
        ({"reservations": ["other", "ask"]}, True),
        ({"reservations": ["stale"]}, True),
        ({"reservations": ["nonesuch"]}, False),
    ],
)
def test_usable_nodes(change: Json, *, usable: bool) -> None:
    value = two_queues(allocation("x", GPU), size=1, priority="1")
    hour = 3600
    waiting = (ask("other", GPU, 2 * hour + 2), ask("stale", GPU, 2 * hour + 3))
    value["applications"].append(application("waits", "root.low", asks=waiting))
    value["nodes"][0]["nodesInfo"][0] |= change
    cluster, asking = asking_of(value)
    assert is_usable(cluster, cluster.nodes[0], asking.ask) is usable


@pytest.mark.parametrize(
    "kept", [{"priority": "1"}, {"triggeredPreemption": True}, {"requiredNodeId": "n1"}]
)
def test_a_reservation_that_is_not_cancelled(kept: Json) -> None:
    value = two_queues(allocation("x", GPU), size=1, priority="1")
    stale = ask("stale", GPU, 10_000, **kept)
    value["applications"].append(application("waits", "root.low", asks=(stale,)))
    value["nodes"][0]["nodesInfo"][0]["reservations"] = ["stale"]
    cluster, asking = asking_of(value)
    assert not is_usable(cluster, cluster.nodes[0], asking.ask)
