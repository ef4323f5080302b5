"""Queues by hand (docs/semantics/yunikorn.md §2, §3 and §5): limits, properties, what is left."""

import pytest

from planner.errors import LookupFailed
from planner.quota.yunikorn.cluster import find_ask, prepare
from planner.quota.yunikorn.queue import (
    DEFAULT_DELAY,
    AskReference,
    Level,
    Properties,
    Snapshot,
    preemptable,
    read_properties,
    remaining_guaranteed,
)
from planner.quota.yunikorn.resource import Amount
from planner.state.clock import SECOND, parse_duration
from planner.state.yunikorn import inherited
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


MINUTE = 60 * SECOND


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("1m30s", 90 * SECOND),
        ("10s", 10 * SECOND),
        ("1.5h", 90 * MINUTE),
        (".5s", SECOND // 2),
        ("1.s", SECOND),
        ("100ms", SECOND // 10),
        ("3us", 3000),
        ("3µs", 3000),
        ("7ns", 7),
        ("-5s", -5 * SECOND),
        ("+5s", 5 * SECOND),
        ("0", 0),
        ("0s", 0),
        ("", None),
        ("-", None),
        ("bad", None),
        ("5", None),
        ("5 s", None),
        (".s", None),
        ("5d", None),
        ("9999999h", None),
        ("1s" * 60, None),
    ],
)
def test_durations(text: str, duration: int | None) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    ("passed", "own", "effective"),
    [
        ({"preemption.delay": "10s"}, {}, {"preemption.delay": "10s"}),
        ({"preemption.delay": "10s"}, {"preemption.delay": "5s"}, {"preemption.delay": "5s"}),
        ({"preemption.policy": "fence"}, {}, {"preemption.policy": "default"}),
        ({"preemption.policy": "disabled"}, {}, {"preemption.policy": "disabled"}),
        (
            {"preemption.policy": "disabled"},
            {"preemption.policy": "fence"},
            {"preemption.policy": "fence"},
        ),
        ({"preemption.policy": "Disabled"}, {}, {"preemption.policy": "Disabled"}),
        ({"priority.offset": "7"}, {}, {"priority.offset": "0"}),
        ({"priority.policy": "fence"}, {}, {"priority.policy": "default"}),
    ],
)
def test_inheritance(
    passed: dict[str, str], own: dict[str, str], effective: dict[str, str]
) -> None:
    assert inherited(passed, own) == effective


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({}, Properties()),
        ({"preemption.policy": "fence"}, Properties(preemption_fence=True)),
        ({"preemption.policy": "disabled"}, Properties(disabled=True)),
        ({"preemption.policy": "nonesuch"}, Properties()),
        ({"preemption.policy": "Fence"}, Properties(preemption_fence=True)),
        ({"preemption.policy": "DISABLED"}, Properties(disabled=True)),
        ({"priority.policy": "Fence"}, Properties(priority_fence=True)),
        ({"priority.policy": "fence"}, Properties(priority_fence=True)),
        ({"priority.offset": "-3"}, Properties(priority_offset=-3)),
        ({"priority.offset": "2147483648"}, Properties()),
        ({"priority.offset": "high"}, Properties()),
        ({"preemption.delay": "5s"}, Properties(delay=5 * SECOND)),
        ({"preemption.delay": "0s"}, Properties(delay=DEFAULT_DELAY)),
        ({"preemption.delay": "bad"}, Properties(delay=DEFAULT_DELAY)),
    ],
)
def test_meaning(written: dict[str, str], meant: Properties) -> None:
    """The core compares policies in lower case (scheduler/policies, PreemptionPolicyFromString)."""
    assert read_properties(written) == meant


ROOT = Level("root", None, {"x": 9}, {}, None)


def level(path: str, guaranteed: Amount, allocated: Amount, ask: AskReference) -> Level:
    """Build a level that has nothing preempting."""
    return Level(path, guaranteed, allocated, {}, ask)


@pytest.mark.parametrize(
    ("parent", "leaf", "rest"),
    [
        (None, None, None),
        ({"x": 5}, None, {"x": 2}),
        (None, {"x": 4}, {"x": 3}),
        ({"x": 5}, {"x": 9}, {"x": 2}),
        ({"x": 5}, {"y": 1}, {"x": 2, "y": 1}),
    ],
)
def test_a_queue_beside_the_ask(parent: Amount, leaf: Amount, rest: Amount) -> None:
    ask = AskReference("root.other", None)
    levels = [ROOT, level("root.p", parent, {"x": 3}, ask), level("root.p.a", leaf, {"x": 1}, ask)]
    assert remaining_guaranteed(levels) == rest


def test_the_own_guaranteed_of_the_leaf_overrules_that_of_its_ancestors() -> None:
    ask = AskReference("root.p.a", {"x": 4})
    parent = level("root.p", {"x": 3, "y": 2}, {"x": 9}, ask)
    assert remaining_guaranteed([ROOT, parent]) is None
    assert remaining_guaranteed([ROOT, parent, level("root.p.a", {"x": 4}, {"x": 1}, ask)]) == {
        "x": 3
    }


def test_without_its_own_the_leaf_has_what_its_ancestors_have() -> None:
    ask = AskReference("root.p.a", None)
    parent = level("root.p", {"x": 3}, {"x": 9}, ask)
    assert remaining_guaranteed([ROOT, parent, level("root.p.a", None, {}, ask)]) == {"x": -6}


@pytest.mark.parametrize(("asking", "rest"), [("root.q10", None), ("root.r10", {"x": 2})])
def test_an_ancestor_is_recognised_by_a_plain_prefix(asking: str, rest: Amount) -> None:
    ask = AskReference(asking, {"x": 1})
    assert remaining_guaranteed([ROOT, level("root.q1", {"x": 3}, {"x": 1}, ask)]) == rest


def test_what_is_preempting_counts_as_gone() -> None:
    levels = [ROOT, Level("root.a", {"x": 3}, {"x": 5}, {"x": 4}, AskReference("root.b", None))]
    assert remaining_guaranteed(levels) == {"x": 2}
    assert preemptable(levels) == {}


@pytest.mark.parametrize(
    ("parent", "leaf", "amount"),
    [
        (({"x": 5}, {"x": 7}), (None, {"x": 4, "y": 1}), {"x": 2, "y": 1}),
        (({"x": 5}, {"x": 5}), (None, {"x": 4}), {"x": 4}),
        ((None, {"x": 7}), ({"x": 4}, {"x": 4}), {}),
        ((None, {"x": 7}), ({"x": 4}, {}), None),
        ((None, None), (None, {"x": 1}), {"x": 1}),
    ],
)
def test_preemptable(
    parent: tuple[Amount, Amount], leaf: tuple[Amount, Amount], amount: Amount
) -> None:
    ask = AskReference("root.other", None)
    assert preemptable([level("root.p", *parent, ask), level("root.p.a", *leaf, ask)]) == amount


def test_a_fresh_snapshot_knows_nothing_of_the_changes_of_another() -> None:
    apps = [application("1", "root.a", allocation("x", {"gpu": 3}))]
    value = cluster_value([queue("a", guaranteed={"gpu": 2}), queue("b")], [], apps)
    by_path = prepare(state_of(value)).tree.by_path
    leaf, asking = by_path["root.a"], by_path["root.b"]
    snapshot = Snapshot(asking, {"gpu": 1})
    snapshot.remove(leaf, {"gpu": 3})
    assert snapshot.remaining(leaf) == {"gpu": 2}
    assert not snapshot.takeable(leaf)
    assert snapshot.fresh().remaining(leaf) == {"gpu": -1}
    assert snapshot.fresh().takeable(leaf)
    assert preemptable(snapshot.fresh().levels(leaf)) == {"gpu": 1}
    snapshot.add(leaf, {"gpu": 1})
    assert snapshot.remaining(leaf) == {"gpu": 1}
    assert leaf.allocated == {"gpu": 3}
