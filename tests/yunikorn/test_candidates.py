"""The fence and the walk below it (docs/semantics/yunikorn.md §4)."""

from typing import Any

import pytest

from planner.reference.yunikorn.candidates import find_candidates, find_fence, in_order
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    asking_of,
    cluster_value,
    node,
    queue,
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
