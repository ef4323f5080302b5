"""Preemption after a quota was lowered (docs/semantics/yunikorn.md §11.2)."""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import prepare
from planner.reference.yunikorn.quota import QuotaPreemption, preempt_quota
from tests.yunikorn.building import allocation, application, cluster_value, queue, state_of

GPU = {"gpu": 1}
OUT: dict[str, Any] = {"x": {"allowPreemptSelf": False}}
Json = dict[str, Any]


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
        ([allocation("big", {"gpu": 2})], []),
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
