"""When an ask may preempt, and which allocations: the fence, the priorities, the predicates.

The core asks the Kubernetes shim whether a pod passes the predicates of a node, by a callback that
a cluster always has. In a cluster its answer depends on the whole of Kubernetes; here the callback
answers by resources, as in the recordings, or by a fixed table.

Source: docs/semantics/yunikorn.md §3, §4 and §8; yunikorn-core be3bb487, scheduler/objects/
queue.go (FindEligiblePreemptionVictims), application.go and preemption.go (CheckPreconditions,
PreemptionPredicates).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from planner.laws import yunikorn as laws
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.queue import Queue, Snapshot
from planner.quota.yunikorn.resource import (
    Resource,
    fits,
    fits_loose,
    ge_known,
    plus,
    share_type,
)
from planner.reference.laws import keeps
from planner.state.clock import SECOND
from planner.state.yunikorn import Allocation, Ask, InstanceExtra


class Candidate(Struct, frozen=True, eq=False):
    """An allocation that may be preempted, its queue and its application."""

    allocation: Allocation
    queue: Queue
    application_id: str

    @property
    def key(self) -> str:
        """The key of the allocation."""
        return self.allocation.allocation_key

    @property
    def resource(self) -> dict[str, int]:
        """What the allocation holds."""
        return self.allocation.resource


class Fence(Struct, frozen=True):
    """The queue beyond which nothing is preempted, and the priorities on the way up to it."""

    root: Queue
    priorities: Mapping[str, int]


@keeps(laws.YK_FENCE)
def find_fence(leaf: Queue, ask: Ask) -> Fence:
    """Walk up from the leaf of the ask to the first queue that stops preemption.

    Besides the root and a queue with the policy ``fence`` that is a queue which cannot take the
    ask within its effective maximum, the leaf itself included.
    """
    priority = ask.priority
    priorities = {}
    queue = leaf
    while True:
        properties = queue.properties
        offset = properties.priority_offset
        # The queue's own offset counts at the fence, too, and so for all candidates compared there.
        priority = offset if properties.priority_fence else priority + offset
        priorities[queue.path] = priority
        if queue.parent is None or properties.preemption_fence:
            break
        # A queue whose maximum keeps the ask out is a fence: victims elsewhere would not help it.
        # Where that is the leaf of the ask itself, there are no candidates at all (§13.7).
        if queue.effective_max and not ge_known(
            queue.effective_max, plus(queue.allocated, ask.resource)
        ):
            break
        queue = queue.parent
    return Fence(queue, priorities)


def find_candidates(leaf: Queue, ask: Ask, fence: Fence) -> list[Candidate]:
    """Walk down from the fence and collect what may be preempted, queue by queue.

    Neither the opt-out nor the originator flag removes a candidate, and a priority fence inside
    the subtree of a victim removes the test of single priorities there.
    """
    snapshot = Snapshot(leaf, ask.resource)
    top = fence.priorities[fence.root.path]
    return list(_below(fence.root, ask, snapshot, fence.priorities, (top, False)))


@keeps(laws.YK_FENCE, laws.YK_OTHER_QUEUE, laws.YK_PRIORITY)
def _below(
    queue: Queue, ask: Ask, snapshot: Snapshot, path: Mapping[str, int], bound: tuple[int, bool]
) -> Iterator[Candidate]:
    priority, anyone = bound
    if queue.is_leaf:
        # The whole queue of the ask is spared, and with it the application (§13.3).
        if queue is not snapshot.leaf and not queue.properties.disabled:
            yield from _of_leaf(queue, ask, snapshot, None if anyone else priority)
        return
    for child in queue.children:
        offset = child.properties.priority_offset
        if child.path in path:
            below = (path[child.path], anyone)
        elif not child.properties.priority_fence:
            below = (priority - offset, anyone)
        # A priority fence is compared once, and no priority of an allocation inside it.
        elif offset <= priority:
            below = (priority, True)
        else:
            continue
        yield from _below(child, ask, snapshot, path, below)


@keeps(laws.YK_OVER_GUARANTEED, laws.YK_PREEMPTABLE, laws.YK_PRIORITY)
def _of_leaf(
    queue: Queue, ask: Ask, snapshot: Snapshot, priority: int | None
) -> Iterator[Candidate]:
    """Yield the candidates of a leaf up to a priority; None means any priority."""
    if not snapshot.lists(queue):
        return
    for candidate in in_leaf(queue, ask.resource):
        if priority is None or candidate.allocation.priority <= priority:
            yield candidate


def in_leaf(leaf: Queue, wanted: Resource) -> Iterator[Candidate]:
    """Yield the allocations of a leaf that hold a wanted type and may be preempted."""
    for application in leaf.applications:
        for held in application.allocations:
            if may_go(held, wanted) and not held.x.not_in_app:
                yield Candidate(held, leaf, application.application_id)


def may_go(held: Allocation, wanted: Resource) -> bool:
    """Say whether an allocation holds a wanted type, and nothing spares it."""
    spared = held.required_node or held.preempted or held.x.released
    # By type alone: an allocation that holds 0 of a type counts (§4).
    return not spared and share_type(wanted, held.resource)


@keeps(laws.YK_LAST_TIER)
def in_order(candidates: list[Candidate], ties: Mapping[str, int]) -> list[Candidate]:
    """Sort candidates: opted out last, originators late, newest first.

    Source: docs/semantics/yunikorn.md §7.

    Candidates equal in all of these have no order in the core; ``ties`` may rank them by key.
    """

    def rank(candidate: Candidate) -> tuple[bool, bool, int, int]:
        allocation = candidate.allocation
        return (
            allocation.opted_out,
            allocation.originator,
            -allocation.allocation_time,
            ties.get(allocation.allocation_key, 0),
        )

    return sorted(candidates, key=rank)


class ByResource(Struct, frozen=True):
    """Predicates that look at resources, and at vetoes a test may add."""

    veto: frozenset[str] = frozenset()
    must_remove: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def passes(self, room: NodeRoom, ask: Resource) -> bool:
        """Say whether the node takes the ask as it is."""
        vetoed = room.node_id in self.veto or bool(self.must_remove.get(room.node_id))
        return not vetoed and fits(room.available, ask)

    def first_index(
        self, room: NodeRoom, ask: Resource, victims: Sequence[Candidate], start: int
    ) -> int | None:
        """Return the first index, from ``start``, up to which victims are enough; None for none."""
        if room.node_id in self.veto:
            return None
        free = room.available
        wanted = set(self.must_remove.get(room.node_id, ()))
        for index, victim in enumerate(victims):
            free = plus(free, victim.resource)
            wanted.discard(victim.key)
            # Not before `start`: victims up to it are removed in one go, without a test.
            if index >= start and not wanted and fits(free, ask):
                return index
        return None


class ByTable(Struct, frozen=True):
    """Predicates with fixed answers, node by node."""

    takes: frozenset[str]
    index: Mapping[str, int]

    def passes(self, room: NodeRoom, *_: object) -> bool:
        """Say whether the node takes the ask as it is."""
        return room.node_id in self.takes

    def first_index(self, room: NodeRoom, *_: object) -> int | None:
        """Return the index of the table, None if it has no success for the node."""
        return self.index.get(room.node_id)


Predicates = ByResource | ByTable
"""The callback of the shim."""


def predicates_of(x: InstanceExtra) -> Predicates | None:
    """Return the callback of an instance, None if none is registered."""
    if x.predicates == "none":
        return None
    if x.predicates == "table":
        index = {row.node: row.index for row in x.table if row.success}
        return ByTable(frozenset(x.alloc_nodes), index)
    must_remove = {node: frozenset(keys) for node, keys in x.must_remove.items()}
    return ByResource(frozenset(x.veto_nodes), must_remove)


CHECK_INTERVAL: Final = 15 * SECOND


class Preconditions(Struct, frozen=True):
    """What must hold before an ask may preempt, in the order in which it is checked.

    ``fits_headroom`` and ``allocatable_now`` say where in the cycle the ask stands: an ask that
    fits and finds a node is allocated, and needs no preemption.
    """

    preemption_enabled: bool
    allow_preempt_other: bool
    not_triggered: bool
    no_required_node: bool
    delay_passed: bool
    check_interval_passed: bool
    fits_headroom: bool
    allocatable_now: bool

    @property
    def nodes_tried(self) -> bool:
        """Whether the nodes were tried before preemption, and no node had room."""
        return self.fits_headroom

    @property
    def attempted(self) -> bool:
        """Whether the scheduler tries preemption."""
        return (
            self.preemption_enabled
            and self.allow_preempt_other
            and self.not_triggered
            and self.no_required_node
            and self.delay_passed
            and self.check_interval_passed
            and not self.allocatable_now
        )


@keeps(laws.YK_MAY_PREEMPT)
def check(cluster: Cluster, asking: Asking, predicates: Predicates | None) -> Preconditions:
    """Check all preconditions of an ask; the policy of its own queue is not one of them."""
    ask, leaf = asking.ask, asking.leaf
    last = ask.x.preempt_check_time
    return Preconditions(
        preemption_enabled=cluster.partition.preemption.enabled,
        allow_preempt_other=ask.x.allow_preempt_other,
        not_triggered=not ask.triggered_preemption,
        no_required_node=not ask.required_node,
        delay_passed=cluster.now >= ask.request_time + leaf.properties.delay,
        check_interval_passed=last is None or cluster.now >= last + CHECK_INTERVAL,
        fits_headroom=fits_loose(leaf.headroom, ask.resource),
        allocatable_now=free_node(cluster, asking, predicates) is not None,
    )


def free_node(cluster: Cluster, asking: Asking, predicates: Predicates | None) -> NodeRoom | None:
    """Return the first node that takes an ask which fits the headroom, None if there is none.

    The node is schedulable, has room, and is not reserved for another ask. An ask with a required
    node has that one alone: the core tries it whether it is schedulable or not, and reserves it for
    the ask beside others of this kind.
    """
    ask = asking.ask
    if not fits_loose(asking.leaf.headroom, ask.resource):
        return None
    shim = predicates or ByResource()
    for room in cluster.nodes:
        if ask.required_node:
            usable = room.node_id == ask.required_node
        else:
            usable = room.node.schedulable and not room.reserved_for_others(ask.allocation_key)
        if usable and shim.passes(room, ask.resource):
            return room
    return None
