"""The tree of queues: limits, usage, headroom (docs/semantics/yunikorn.md §2 and §3)."""

import pytest

from planner.errors import LookupFailed
from planner.quota.yunikorn.cluster import find_ask, prepare
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

GPU = {"gpu": 1}


def test_quota_of_root_is_what_the_nodes_have() -> None:
    nodes = [
        node("n1", {"gpu": 4, "disk": 0}),
        node("n2", {"gpu": 3, "vcore": 5}, schedulable=False),
    ]
    root = prepare(state_of(cluster_value([queue("a")], nodes, []))).tree.root
    assert (root.max, root.guaranteed) == ({"gpu": 7, "vcore": 5}, None)


def test_quota_of_root_in_the_file_is_ignored() -> None:
    value = cluster_value([queue("a")], [], [])
    value["queues"]["partitions"][0]["queues"][0]["resources"] = {"max": GPU, "guaranteed": GPU}
    root = prepare(state_of(value)).tree.root
    assert (root.max, root.guaranteed) == (None, None)


def test_a_quota_of_zeros_is_not_set() -> None:
    value = cluster_value([queue("a", guaranteed={"gpu": 0}, max={"gpu": 0})], [], [])
    leaf = prepare(state_of(value)).tree.by_path["root.a"]
    assert (leaf.guaranteed, leaf.max) == (None, None)


def test_usage_counts_at_every_ancestor() -> None:
    apps = [
        application("1", "root.p.a", allocation("x", {"gpu": 2}, preempted=True)),
        application("2", "root.p.b", allocation("y", {"gpu": 1, "vcore": 9})),
    ]
    value = cluster_value([queue("p", queue("a"), queue("b"))], [], apps)
    by_path = prepare(state_of(value)).tree.by_path
    assert by_path["root"].allocated == {"gpu": 3, "vcore": 9}
    assert by_path["root.p"].preempting == {"gpu": 2}
    assert by_path["root.p.b"].allocated == {"gpu": 1, "vcore": 9}


def test_headroom_is_the_least_on_the_path() -> None:
    apps = [application("1", "root.p.a", allocation("x", {"gpu": 2}))]
    queues = [queue("p", queue("a", max={"vcore": "1"}), queue("b"), max={"gpu": 3})]
    by_path = prepare(state_of(cluster_value(queues, [node("n1", {"gpu": 9})], apps))).tree.by_path
    assert by_path["root.p.a"].headroom == {"gpu": 1, "vcore": 1000}
    assert by_path["root.p.b"].headroom == {"gpu": 1}
    assert by_path["root.p.a"].effective_max == {"gpu": 3, "vcore": 1000}


def test_names_are_lower_case() -> None:
    value = cluster_value([queue("Team-A")], [], [application("1", "root.TEAM-a")])
    assert len(prepare(state_of(value)).tree.by_path["root.team-a"].applications) == 1


def test_an_application_needs_its_queue() -> None:
    value = cluster_value([queue("a")], [], [application("1", "root.b")])
    with pytest.raises(LookupFailed, match=r"root\.b") as caught:
        prepare(state_of(value))
    assert caught.value.where == "test: application 1"


def test_an_ask_is_found_by_its_key() -> None:
    value = cluster_value([queue("a")], [], [application("1", "root.a", asks=(ask("x", GPU),))])
    cluster = prepare(state_of(value))
    assert find_ask(cluster, "x", "1").leaf.path == "root.a"
    with pytest.raises(LookupFailed, match="nonesuch"):
        find_ask(cluster, "nonesuch")
    with pytest.raises(LookupFailed, match="application"):
        find_ask(cluster, "x", "2")


def test_a_partition_is_found_by_its_name() -> None:
    state = state_of(cluster_value([queue("a")], [], []))
    assert prepare(state, "default").partition.name == "default"
    with pytest.raises(LookupFailed, match="gpu"):
        prepare(state, "gpu")


@pytest.mark.parametrize(
    ("of_node", "available"),
    [
        ({}, {"gpu": 2}),
        ({"occupied": {"gpu": 1}}, {"gpu": 1}),
        ({"allocated": {"gpu": 4}}, {"gpu": 0}),
        ({"available": {"gpu": -1}}, {"gpu": -1}),
    ],
)
def test_available(of_node: dict[str, object], available: dict[str, int]) -> None:
    apps = [application("1", "root.a", allocation("x", {"gpu": 2}))]
    value = cluster_value([queue("a")], [node("n1", {"gpu": 4}, **of_node)], apps)
    (room,) = prepare(state_of(value)).nodes
    assert room.available == available
