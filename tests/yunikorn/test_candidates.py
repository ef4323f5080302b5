"""When, among whom and how preemption is tried (docs/semantics/yunikorn.md §3, §4 and §11)."""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import prepare
from planner.reference.yunikorn.candidates import find_candidates, find_fence, in_order
from planner.reference.yunikorn.decision import Decision, RequiredNodeConditions
from planner.reference.yunikorn.quota import QuotaPreemption, preempt_quota
from planner.reference.yunikorn.turn import Preconditions
from tests.yunikorn.building import (
    NOW,
    SECOND,
    allocation,
    application,
    ask,
    asking_of,
    cluster_value,
    decided,
    gpus,
    node,
    queue,
    state_of,
    two_queues,
)

GPU = {"gpu": 1}
Json = dict[str, Any]


def walked(value: Json) -> tuple[str, list[str]]:
    """Return the path of the fence, and the keys of the candidates."""
    _, asking = asking_of(value)
    fence = find_fence(asking.leaf, asking.ask)
    found = find_candidates(asking.leaf, asking.ask, fence)
    return fence.root.path, sorted(candidate.key for candidate in found)


def tenants(a: Json, b: Json, c: Json, priority: int = 0, **more: Any) -> Json:
    """Build root.t with the queues a (it asks) and b, and root.c; b and c run one each."""
    apps = [
        application("a", "root.t.a", asks=(ask("ask", GPU, priority=str(priority)),)),
        application("b", "root.t.b", allocation("of-b", GPU, priority="5")),
        application("c", "root.c", allocation("of-c", GPU, priority="5")),
    ]
    queues = [queue("t", queue("a", **a), queue("b", **b), **more), queue("c", **c)]
    return cluster_value(queues, [node("n1", {"gpu": 2})], apps)


@pytest.mark.parametrize(
    ("parts", "fence", "keys"),
    [
        ({}, "root", ["of-b", "of-c"]),
        ({"preemption_policy": "fence"}, "root.t", ["of-b"]),
        ({"max": {"gpu": 1}}, "root.t", ["of-b"]),
        ({"a": {"max": {"gpu": 1}}}, "root", ["of-b", "of-c"]),
        ({"a": {"preemption_policy": "fence"}}, "root.t.a", []),
        ({"a": {"preemption_policy": "disabled"}}, "root", ["of-b", "of-c"]),
        ({"b": {"preemption_policy": "fence"}}, "root", ["of-b", "of-c"]),
        ({"b": {"preemption_policy": "disabled"}}, "root", ["of-c"]),
        ({"b": {"guaranteed": GPU}}, "root", ["of-c"]),
        ({"priority": 4}, "root", []),
        ({"priority": 4, "a": {"priority_offset": "1"}}, "root", ["of-b", "of-c"]),
        ({"priority": 4, "priority_offset": "1"}, "root", ["of-b", "of-c"]),
        ({"a": {"priority_policy": "fence", "priority_offset": "4"}}, "root", []),
        ({"b": {"priority_offset": "1"}}, "root", ["of-c"]),
        ({"b": {"priority_offset": "6", "priority_policy": "fence"}}, "root", ["of-c"]),
        (
            {"priority": 0, "b": {"priority_policy": "fence"}},
            "root",
            ["of-b"],
        ),
    ],
)
def test_fence_and_candidates(parts: Json, fence: str, keys: list[str]) -> None:
    parts = {"a": {}, "b": {}, "c": {}, "priority": 5, **parts}
    assert walked(tenants(**parts)) == (fence, keys)


def test_the_offset_of_the_fence_itself_counts_for_its_other_children() -> None:
    fenced = {"preemption_policy": "fence", "priority_offset": "1"}
    assert walked(tenants({}, {}, {}, priority=4, **fenced)) == ("root.t", ["of-b"])


def test_a_leaf_that_cannot_take_the_ask_fences_itself() -> None:
    value = tenants({"max": GPU}, {}, {}, priority=9)
    value["applications"][0]["allocations"] = [allocation("own", GPU)]
    assert walked(value) == ("root.t.a", [])


@pytest.mark.parametrize(
    ("change", "is_candidate"),
    [
        ({}, True),
        ({"resource": {"gpu": 0}}, True),
        ({"resource": {"vcore": 1}}, False),
        ({"preempted": True}, False),
        ({"x": {"released": True}}, False),
        ({"x": {"notInApp": True}}, False),
        ({"x": {"allowPreemptSelf": False}}, True),
        ({"originator": True}, True),
        ({"requiredNodeId": "n1"}, False),
        ({"allocationTags": {"yunikorn.apache.org/requiredNode": "n1"}}, False),
        ({"priority": "1"}, False),
        ({"priority": "-1"}, True),
    ],
)
def test_who_is_a_candidate(change: Json, *, is_candidate: bool) -> None:
    value = two_queues(allocation("it", GPU) | change)
    assert walked(value) == ("root", ["it"] if is_candidate else [])


def test_order_is_opted_out_last_then_originators_then_newest_first() -> None:
    out: Json = {"x": {"allowPreemptSelf": False}}
    value = two_queues(
        allocation("out-new", GPU, 1, **out),
        allocation("out-originator", GPU, 1, originator=True, **out),
        allocation("originator", GPU, 1, originator=True),
        allocation("old", GPU, 9),
        allocation("tied", GPU, 2),
        allocation("new", GPU, 2),
    )
    _, asking = asking_of(value)
    found = find_candidates(asking.leaf, asking.ask, find_fence(asking.leaf, asking.ask))
    rest = ["old", "originator", "out-new", "out-originator"]
    assert [one.key for one in in_order(found, {})] == ["tied", "new", *rest]
    assert [one.key for one in in_order(found, {"tied": 1})] == ["new", "tied", *rest]


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


OUT: dict[str, Any] = {"x": {"allowPreemptSelf": False}}


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


def freed(value: Json, path: str = "root.a") -> QuotaPreemption:
    """Free a queue."""
    return preempt_quota(prepare(state_of(value)).tree.by_path[path], {})


def leaf(*running: Json, most: int = 1, **more: Any) -> Json:
    """Build the queue root.a with a maximum, and what runs in it."""
    of_queue = queue("a", max={"gpu": most}, quota_preemption_delay="10s", **more)
    switch = {"quotapreemptionenabled": True}
    return cluster_value([of_queue], [], [application("1", "root.a", *running)], preemption=switch)


def keys(found: QuotaPreemption) -> list[str]:
    """Return the keys of the victims."""
    return [victim.key for victim in found.victims]


@pytest.mark.parametrize(
    ("running", "victims"),
    [
        ([allocation("low", GPU), allocation("high", GPU, priority="1")], ["low"]),
        ([allocation("plain", GPU, priority="-1"), allocation("out", GPU, **OUT)], ["out"]),
        ([allocation("plain", GPU), allocation("first", GPU, originator=True)], ["first"]),
        ([allocation("out", GPU, **OUT), allocation("f", GPU, originator=True)], ["out"]),
        ([allocation("old", GPU, 7200), allocation("new", GPU, 3600)], ["new"]),
        ([allocation("mixed", {"gpu": 1, "b": 1}), allocation("pure", GPU)], ["pure"]),
        ([allocation("bound", GPU, requiredNodeId="n"), allocation("free", GPU)], ["free"]),
        (gpus(big=2), []),
        ([allocation("gone", GPU, preempted=True), allocation("here", GPU)], []),
        ([allocation("here", GPU)], []),
    ],
)
def test_victims_of_a_leaf(running: list[Json], victims: list[str]) -> None:
    assert keys(freed(leaf(*running))) == victims


def test_the_smaller_goes_first() -> None:
    running = [allocation("two", {"gpu": 2}), allocation("one", GPU)]
    assert keys(freed(leaf(*running, most=1))) == ["one"]


def test_no_more_than_the_amount_goes() -> None:
    running = [allocation(key, {"gpu": size}) for key, size in (("a", 1), ("b", 2), ("c", 3))]
    found = freed(leaf(*running, most=2))
    assert (found.amount, keys(found)) == ({"gpu": 4}, ["a", "b"])


def test_the_guaranteed_of_the_queue_is_kept() -> None:
    running = [allocation(key, GPU) for key in "abc"]
    assert freed(leaf(*running, most=1, guaranteed={"gpu": 2})).amount == GPU


def test_a_queue_within_its_quota_is_left_alone() -> None:
    assert freed(leaf(allocation("a", GPU))) == QuotaPreemption(acquired=False)


def test_a_parent_splits_by_what_each_child_has_above_its_guaranteed() -> None:
    """Above: b 3 of 4, c 1 of 4; of 4 to free that is 3 and 1. d is within its guaranteed."""
    apps = [
        application("b", "root.a.b", *(allocation(f"b{i}", GPU) for i in range(4))),
        application("c", "root.a.c", *(allocation(f"c{i}", GPU) for i in range(1))),
        application("d", "root.a.d", *(allocation(f"d{i}", GPU) for i in range(2))),
    ]
    children = [queue("b", guaranteed=GPU), queue("c"), queue("d", guaranteed={"gpu": 2})]
    value = cluster_value([queue("a", *children, max={"gpu": 3})], [], apps)
    found = freed(value)
    assert found.amount == {"gpu": 4}
    assert found.shares == {"root.a.b": {"gpu": 3}, "root.a.c": {"gpu": 1}}
    assert len(found.victims) == 4


def test_amounts_go_through_doubles() -> None:
    """Of 2^53 + 1 above the maximum 2^53 is to be freed, the nearest double.

    Source: yunikorn-core be3bb487, scheduler/objects/quota_preemptor.go (setPreemptableResources:
    the absolute value is taken of a double).
    """
    running = [allocation("all", {"gpu": 2**53 + 1}), allocation("one", GPU)]
    found = freed(leaf(*running, most=1))
    assert (found.amount, keys(found)) == ({"gpu": 2**53}, ["one"])
