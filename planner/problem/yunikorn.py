"""YuniKorn: an ask in a partition, or a queue above its lowered maximum, as a problem.

All queues of the partition are in the problem, all its nodes, and all allocations of its
applications: which of them are candidates is for the laws to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from planner.problem.array import BoolArray, IntArray
from planner.quota.yunikorn.cluster import Asking, Cluster, may_host
from planner.quota.yunikorn.held_back import passed_over
from planner.quota.yunikorn.lowered import excess
from planner.quota.yunikorn.queue import Queue, walk
from planner.quota.yunikorn.resource import Resource, fits_in
from planner.state.yunikorn import Allocation, Ask
from planner.state.yunikorn_release import V1_8, V1_9, Release

NOWHERE = -1
"""The node of an allocation whose node is not in the partition; the parent of the root."""


class YuniKornProblem(Struct, frozen=True, dict=True):
    """One decision for one ask.

    Q queues, N nodes, A allocations, T resource types.

    - ``ask``: The ask itself; ``ask.resource`` is what it wants, in the core's units.
    - ``may_preempt``: Whether the partition and the ask permit preemption at all, and the core does
      not pass over the ask (YK-11).
    - ``types``: (T,) every resource type that the ask, a node, a queue or an allocation names, and
      what the ask's pod lacks on some node by Kubernetes' own count, by other names.
    - ``queues``, ``parent``: (Q,) the queues, parents before their children; the position of the
      queue above each, -1 for the root.
    - ``path``: The queue of the ask, then those above it, the root last.
    - ``nodes``, ``usable``, ``available``: (N,) names; whether the ask may go there; sparse
      amounts, also negative ones. For an ask with a required node only that node is usable.
    - ``lacking``: (N,) what the ask's pod lacks there by Kubernetes' own count; empty where that is
      not known.
    - ``allocations``, ``applications``, ``queue``, ``node``: (A,): the records; the ids of their
      applications; the position of their queue; that of their node, or -1.
    - ``holding``: (A, T) what they hold, 0 for a type they lack; of what the ask's pod lacks, what
      they give back on their own node.
    - ``priority``, ``originator``, ``opted_out``: (A,): their own priority, without offsets; flags.
    - ``order``: (A,) their rank in the core's candidate order, from 0: opted out last, originators
      late, newest first. For an ask with a required node: originators last, opted out late, lowest
      priority, newest, smallest first; so, too, where a quota was lowered, as the core has no order
      over all leaves then. Allocations equal in these keep the order of the state.
    - ``shares``, ``excess``: Of a queue above its maximum what the core would free in each leaf
      that it searches, by path, and what the queue uses above that maximum; ``None`` for an ask.
    - ``release``: The release of the core, whose rules hold.
    """

    ask: Ask
    may_preempt: bool
    types: Sequence[str]
    queues: Sequence[Queue]
    parent: Sequence[int]
    path: Sequence[int]
    nodes: Sequence[str]
    usable: BoolArray
    available: Sequence[Resource]
    lacking: Sequence[Mapping[str, int]]
    allocations: Sequence[Allocation]
    applications: Sequence[str]
    queue: IntArray
    node: IntArray
    holding: IntArray
    priority: IntArray
    originator: BoolArray
    opted_out: BoolArray
    order: IntArray
    shares: Mapping[str, Resource] | None = None
    excess: Resource | None = None
    release: Release = V1_9

    @property
    def older(self) -> bool:
        """Whether the rules of guaranteed amounts are those up to 1.7: all types count."""
        return self.release < V1_8

    @property
    def own_queue(self) -> int:
        """The queue of the ask."""
        return self.path[0]

    @cached_property
    def within(self) -> BoolArray:
        """(Q, Q) whether the second queue is the first one or below it."""
        within = np.eye(len(self.queues), dtype=np.bool_)
        for queue, above in enumerate(self.parent):  # parents come before their children
            if above != NOWHERE:
                within[:, queue] |= within[:, above]
        return within

    @cached_property
    def roomy(self) -> tuple[int, ...]:
        """The usable nodes that have room for the ask without any victims."""
        usable, wanted = np.flatnonzero(self.usable).tolist(), self.ask.resource
        room = (node for node in usable if fits_in(self.available[node], wanted))
        return tuple(node for node in room if not self.lacking[node])


def build_yunikorn_problem(cluster: Cluster, asking: Asking) -> YuniKornProblem:
    """Build the problem of one ask."""
    ask = asking.ask
    queues = list(walk(cluster.tree.root))
    position = {queue.path: i for i, queue in enumerate(queues)}
    rows = [
        (allocation, application.application_id, position[cluster.tree.leaf_of(application).path])
        for application in cluster.partition.applications
        for allocation in application.allocations
        # Of a required node the core asks who is there, not the applications: some know less.
        if ask.required_node or not allocation.x.not_in_app
    ]
    allocations = [allocation for allocation, _, _ in rows]
    nodes = {room.node_id: i for i, room in enumerate(cluster.nodes)}
    named = set(ask.resource)
    for queue in queues:
        named.update(queue.guaranteed or (), queue.max or ())
    for room in cluster.nodes:
        named.update(room.available)
    for allocation in allocations:
        named.update(allocation.resource)
    lacks = [cluster.lacks(room.node_id, ask) for room in cluster.nodes]
    types = [*sorted(named), *sorted({one.what for some in lacks for one in some})]
    held = [cluster.given_back(allocation, ask) for allocation in allocations]
    holding = [[each.get(t, 0) for t in types] for each in held]
    keys = [_rank(one, generic=asking.is_generic) for one in allocations]
    order = np.empty(len(keys), dtype=np.int64)
    order[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    # With a required node only an earlier attempt forbids preemption.
    permitted = cluster.partition.preemption.enabled and ask.x.allow_preempt_other
    return YuniKornProblem(
        ask=ask,
        may_preempt=not ask.triggered_preemption
        and (permitted or not asking.is_generic)
        and (asking.shares is not None or not passed_over(cluster, asking)),
        types=types,
        queues=queues,
        parent=[position[one.parent.path] if one.parent else NOWHERE for one in queues],
        path=[position[queue.path] for queue in reversed(asking.leaf.lineage)],
        nodes=list(nodes),
        usable=np.array([may_host(cluster, room, ask) for room in cluster.nodes], dtype=np.bool_),
        available=[room.available for room in cluster.nodes],
        lacking=[{one.what: one.missing for one in some} for some in lacks],
        allocations=allocations,
        applications=[application for _, application, _ in rows],
        queue=np.array([queue for _, _, queue in rows], dtype=np.int64),
        node=np.array([nodes.get(a.node_id, NOWHERE) for a in allocations], dtype=np.int64),
        holding=np.array(holding, dtype=np.int64).reshape(len(allocations), len(types)),
        priority=np.array([a.priority for a in allocations], dtype=np.int64),
        originator=np.array([a.originator for a in allocations], dtype=np.bool_),
        opted_out=np.array([a.opted_out for a in allocations], dtype=np.bool_),
        order=order,
        shares=asking.shares,
        excess=None if asking.shares is None else excess(asking.leaf),
        release=cluster.release,
    )


def _rank(held: Allocation, *, generic: bool) -> tuple[int, ...]:
    """Rank an allocation as the core orders candidates (docs/semantics/yunikorn.md §7 and §11.1).

    On a node that an ask requires, of two that hold as many types, the one that holds less of each
    comes first, as its sum is less.
    """
    if generic:
        return held.opted_out, held.originator, -held.allocation_time
    tier = 2 if held.originator else int(held.opted_out)
    return tier, held.priority, -held.allocation_time, sum(held.resource.values())
