"""In which order the core tries queues, applications and nodes.

Source: docs/semantics/yunikorn-features.md §17; yunikorn-core be3bb487,
scheduler/objects/sorters.go, nodesorting.go and queue.go (sortQueues, GetFairMaxResource,
recalculatePriority).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cmp_to_key
from types import MappingProxyType
from typing import Final

from planner.errors import UnsupportedError
from planner.quota.yunikorn.cluster import Cluster, NodeRoom, waiting_of
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import Resource, gt_zero, minus
from planner.state.yunikorn import Application, Ask
from planner.state.yunikorn_release import V1_7

_LEAST: Final = -(2**31)
_MOST: Final = 2**31 - 1
"""Priorities of queues stay within 32 bits."""
_WEIGHTS: Final = {"vcore": 1.0, "memory": 1.0}
STOPPED: Final = "Stopped"


NO_TIES: Final[Mapping[str, int]] = MappingProxyType({})
"""Ranks of nothing: what has no order in the core keeps that of the state."""


def leaves_in_order(cluster: Cluster, ties: Mapping[str, int] = NO_TIES) -> Iterator[Queue]:
    """Yield the leaves in which something waits, as the core walks down from the root.

    ``ties`` rank queues, by path, that have no order in the core.
    """
    states = cluster.partition.queue_states
    stopped = {path for path, one in states.items() if one.status == STOPPED}
    return _below(cluster.tree.root, cluster.tree.root.max or {}, cluster.waiting, stopped, ties)


def _below(
    queue: Queue,
    fair_max: Resource,
    waiting: Mapping[str, Resource],
    stopped: Collection[str],
    ties: Mapping[str, int],
) -> Iterator[Queue]:
    if queue.is_leaf:
        yield queue
        return
    most = {child: {**fair_max, **(child.max or {})} for child in queue.children}

    def compare(left: Queue, right: Queue) -> int:
        first, last = ([-_priority(one), _share(one, most[one])] for one in (left, right))
        if not queue.properties.by_priority:
            first, last = first[::-1], last[::-1]
        if first != last:
            return -1 if first < last else 1
        rest = minus(waiting[left.path], waiting[right.path])
        uneven = gt_zero(minus({}, rest)) - gt_zero(rest)
        return uneven or ties.get(left.path, 0) - ties.get(right.path, 0)

    tried = (one for one in most if gt_zero(waiting.get(one.path)) and one.path not in stopped)
    for child in sorted(tried, key=cmp_to_key(compare)):
        yield from _below(child, most[child], waiting, stopped, ties)


def _priority(queue: Queue) -> int:
    """Return the highest priority of what waits in a queue, with its policy and offset."""
    if queue.is_leaf:
        values = [ask.priority for one in queue.applications for ask in one.requests]
    else:
        values = [_priority(child) for child in queue.children]
    highest = max(values, default=_LEAST)
    if highest == _LEAST:
        return highest
    offset = queue.properties.priority_offset
    if queue.properties.priority_fence:
        return offset
    return min(max(offset + highest, _LEAST), _MOST)


def _share(queue: Queue, fair_max: Resource) -> float:
    """Return the largest share of its guaranteed, else of its maximum, that a queue has."""
    shares = [0.0]
    for t, held in queue.allocated.items():
        of = next((each[t] for each in (queue.guaranteed or {}, fair_max) if t in each), None)
        if held >= 0 and of is not None:
            shares.append(float(held) / float(of) if of > 0 else float(held > 0))
    return max(shares)


def apps_in_order(leaf: Queue, ties: Mapping[str, int] = NO_TIES) -> list[Application]:
    """Return the applications of a leaf in which something waits: by priority, then by age.

    ``ties`` rank those, by id, that have no order in the core.

    Raises `UnsupportedError` where the leaf sorts them by fairness.
    """
    if leaf.properties.fair:
        found = "application.sort.policy is fair"
        raise UnsupportedError(
            f"queue {leaf.path}", found, "applications in the order of their age"
        )

    def rank(one: Application) -> tuple[int, int, int]:
        first, since = -max(ask.priority for ask in one.requests), one.submission_time
        order = (first, since) if leaf.properties.by_priority else (since, first)
        return (*order, ties.get(one.application_id, 0))

    return sorted((one for one in leaf.applications if gt_zero(waiting_of(one))), key=rank)


def in_turn(asks: Iterable[Ask], ties: Mapping[str, int] = NO_TIES) -> list[Ask]:
    """Return asks as the core tries them: by priority, then by age; ``ties`` rank equal ones."""
    return sorted(
        asks, key=lambda ask: (-ask.priority, ask.request_time, ties.get(ask.allocation_key, 0))
    )


def nodes_in_order(cluster: Cluster) -> list[NodeRoom]:
    """Return the nodes that are not reserved, the least used first; for ``binpacking`` the most.

    The core finds a place for a node anew when it gets or loses an allocation, and from 1.7 on not
    when a foreign pod comes: a node that has only these stands where it stood when it was empty,
    until queues.yaml changes.
    """
    order = cluster.partition.order
    weights = order.weights or _WEIGHTS
    held = {each.node_id for one in cluster.partition.applications for each in one.allocations}
    is_fresh = cluster.release < V1_7 or cluster.x.queues_before is not None

    def rank(room: NodeRoom) -> tuple[float, str]:
        used = total = 0.0
        counts = is_fresh or room.node_id in held
        for t, capacity in room.node.capacity.items() if counts else ():
            if capacity and weights.get(t):
                used += (1.0 - float(room.available.get(t, 0)) / float(capacity)) * weights[t]
                total += weights[t]
        share = used / total if total else 0.0
        return (1.0 - share if order.type == "binpacking" else share), room.node_id

    return sorted((one for one in cluster.nodes if not one.node.reservations), key=rank)


def leftover(available: Resource, ask: Resource) -> float:
    """Return how much of what a node has an ask would leave: type by type a share, added up."""
    left = 0.0
    for t, has in available.items():
        if has > 0:
            wanted = max(0, ask.get(t, 0))
            left += max(0.0, float(has - wanted) / float(has))
    return left
