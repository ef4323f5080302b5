"""A partition made ready for decisions: its queues, nodes and asks, each found by name.

Source: docs/semantics/yunikorn.md §2, §7 and §14; yunikorn-core be3bb487,
scheduler/partition.go and scheduler/objects/node.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from planner.errors import LookupFailed
from planner.quota.yunikorn.limits import Limits
from planner.quota.yunikorn.queue import Queue, QueueTree, build_tree
from planner.quota.yunikorn.resource import Resource, added_up, fits_in, minus, plus
from planner.state.clock import SECOND
from planner.state.yunikorn import (
    Allocation,
    Application,
    Ask,
    InstanceExtra,
    Node,
    Partition,
    YuniKornState,
)
from planner.state.yunikorn_pods import KubernetesObjects
from planner.state.yunikorn_release import V1_8, Release, release_of

if TYPE_CHECKING:
    from planner.quota.yunikorn.predicates import Demand, Lack, Placed


class NodeRoom(Struct, frozen=True):
    """A node and what is available on it."""

    node: Node
    available: Resource

    @property
    def node_id(self) -> str:
        """The name of the node."""
        return self.node.node_id

    def reserved_for(self, key: str) -> bool:
        """Say whether the node carries a reservation of the ask."""
        return key in self.node.reservations

    def reserved_for_others(self, key: str) -> bool:
        """Say whether the node is reserved, but not for the ask."""
        return bool(self.node.reservations) and not self.reserved_for(key)


class Cluster(Struct, frozen=True, eq=False, dict=True):
    """Everything a decision about one partition needs.

    ``objects`` is what Kubernetes' predicates look at, None where that is not known; ``release`` is
    the core's, the newest that is known where nothing says which.
    """

    now: int
    partition: Partition
    tree: QueueTree
    nodes: Sequence[NodeRoom]
    asks: Mapping[str, Ask]
    limits: Limits
    release: Release
    objects: KubernetesObjects | None
    x: InstanceExtra

    def node(self, node_id: str) -> NodeRoom | None:
        """Return a node, None if there is none of that name."""
        return next((room for room in self.nodes if room.node_id == node_id), None)

    def demand(self, ask: Ask) -> Demand | None:
        """Return what Kubernetes demands of nodes for an ask; None where not all of it is known."""
        return None if self._placed is None else self._placed.demand(ask)

    def closes(self, node_id: str, ask: Ask) -> bool:
        """Say whether the shim refuses a node for an ask, whatever is preempted.

        Recorded states may name nodes that it always refuses to asks that require no node.
        """
        if node_id in self.x.veto_nodes and not ask.required_node:
            return True
        demand = self.demand(ask)
        return demand is not None and demand.lacks(node_id) is None

    def lacks(self, node_id: str, ask: Ask) -> Sequence[Lack]:
        """Return what the pod of an ask lacks on a node by Kubernetes' count; nothing if closed."""
        demand = self.demand(ask)
        return () if demand is None else demand.lacks(node_id) or ()

    def given_back(self, held: Allocation, ask: Ask) -> Resource:
        """Return what an allocation holds, and what it gives back of what an ask's pod lacks."""
        lacks = self.lacks(held.node_id, ask)
        given = {one.what: one.held.get(held.allocation_key, 0) for one in lacks}
        return {**held.resource, **given} if given else held.resource

    @cached_property
    def waiting(self) -> Mapping[str, Resource]:
        """What the asks in each queue, and below it, add up to, by path; none where none wait."""
        total: dict[str, Resource] = {}
        for application in self.partition.applications:
            waits = waiting_of(application)
            for queue in self.tree.leaf_of(application).lineage if application.requests else ():
                total[queue.path] = plus(total.get(queue.path), waits)
        return total

    @cached_property
    def _placed(self) -> Placed | None:
        known = {node.metadata.name for node in self.objects.nodes} if self.objects else set()
        if self.objects is None or not known.issuperset(room.node_id for room in self.nodes):
            return None
        # What decides in Kubernetes is loaded for those who gave it.
        from planner.quota.yunikorn.predicates import Placed  # noqa: PLC0415

        return Placed(self.objects, self.partition.applications)


def waiting_of(application: Application) -> Resource:
    """Return what the asks of an application add up to."""
    return added_up(ask.resource for ask in application.requests)


class Asking(Struct, frozen=True):
    """An ask with its application and its leaf; or a queue that comes down to its maximum.

    That is an ask which wants nothing, in the place of its ``leaf`` the queue; ``shares`` is what
    the core would free in each leaf that it searches, by path, and ``None`` for all other asks.
    """

    ask: Ask
    application: Application
    leaf: Queue
    shares: Mapping[str, Resource] | None = None

    @property
    def is_generic(self) -> bool:
        """Whether it is an ordinary ask, without a node of its own."""
        return not self.ask.required_node and self.shares is None


def prepare(
    state: YuniKornState, partition: str | None = None, limits: Limits | None = None
) -> Cluster:
    """Make a partition ready; without a name, the only or the first one.

    ``limits`` are those of the partition so far, where it goes on.

    Raises `LookupFailed` if there is no such partition, or an application is in a queue which does
    not exist.
    """
    chosen = next(
        (one for one in state.partitions if partition is None or one.name == partition), None
    )
    if chosen is None:
        names = ", ".join(one.name for one in state.partitions)
        raise LookupFailed(state.source, f'there is no partition "{partition}"', f"one of {names}")
    held = _held_on_nodes(chosen) if any(node.available is None for node in chosen.nodes) else {}
    rooms = []
    for node in chosen.nodes:
        available = node.available
        if available is None:  # the dump leaves it out
            used = held.get(node.node_id) if node.allocated is None else node.allocated
            available = minus(node.capacity, plus(used, node.occupied))
        rooms.append(NodeRoom(node, available))
    return Cluster(
        now=state.now,
        partition=chosen,
        tree=build_tree(chosen, state.x, state.source),
        # By name: where scores are equal, the first that is looked at wins, in every run the same.
        nodes=tuple(sorted(rooms, key=lambda room: room.node_id)),
        asks={ask.allocation_key: ask for _, ask in chosen.asks},
        limits=limits or Limits(chosen),
        release=release_of(state.release),
        objects=state.objects,
        x=state.x,
    )


def _held_on_nodes(partition: Partition) -> Mapping[str, Resource]:
    held: dict[str, Resource] = {}
    for application in partition.applications:
        for one in application.allocations:
            if not one.x.not_on_node:
                held[one.node_id] = plus(held.get(one.node_id), one.resource)
    return held


def find_ask(cluster: Cluster, allocation_key: str, application_id: str | None = None) -> Asking:
    """Return an ask by its key; the application may be named too.

    Raises `LookupFailed` if there is no such ask.
    """
    for application, ask in cluster.partition.asks:
        named = application_id in {None, application.application_id}
        if named and ask.allocation_key == allocation_key:
            return Asking(ask, application, cluster.tree.leaf_of(application))
    owner = f' of application "{application_id}"' if application_id else ""
    raise LookupFailed("state", f'there is no ask "{allocation_key}"{owner}')


WAIT_TIMEOUT_S: Final = 60 * 60
RESERVATION_DELAY: Final = 2 * SECOND
"""How old an ask must be before a node is reserved for it."""


def is_usable(cluster: Cluster, room: NodeRoom, ask: Ask) -> bool:
    """Say whether a node may be planned: schedulable, large enough, not reserved for others.

    Source: docs/semantics/yunikorn.md §7; yunikorn-core be3bb487, scheduler/objects/preemption.go.
    """
    if not room.node.schedulable or not fits_in(room.node.capacity, ask.resource):
        return False
    if not room.reserved_for_others(ask.allocation_key):
        return True
    # One cancelled reservation opens the node, even if others are left, as in the core (§7).
    return bool(cancelled(cluster, room, ask))


def may_host(cluster: Cluster, room: NodeRoom, ask: Ask) -> bool:
    """Say whether an ask may have a node, room aside: the one that it requires, or a usable one.

    The shim must not close it to the ask's pod, whoever goes.
    """
    if ask.required_node:
        usable = room.node_id == ask.required_node
    else:
        usable = is_usable(cluster, room, ask)
    return usable and not cluster.closes(room.node_id, ask)


def cancelled(cluster: Cluster, room: NodeRoom, ask: Ask) -> set[str]:
    """Return the reservations of a node that are cancelled where an ask tries to preempt."""
    if not room.reserved_for_others(ask.allocation_key):
        return set()
    return {key for key in room.node.reservations if _may_cancel(cluster, key, ask)}


def _may_cancel(cluster: Cluster, key: str, ask: Ask) -> bool:
    """Say whether a reservation is cancelled: its ask has a lower priority, and it is too old."""
    holder = cluster.asks.get(key)
    if holder is None or holder.required_node or holder.triggered_preemption:
        return False
    if cluster.release < V1_8:
        return False
    seconds, delay = cluster.x.reservation_wait_timeout_s, cluster.x.reservation_delay_ns
    timeout = (WAIT_TIMEOUT_S if seconds is None else seconds) * SECOND
    # The timeout counts twice in the core: until it is due, and once more from then on.
    due = holder.request_time + timeout + (RESERVATION_DELAY if delay is None else delay)
    return holder.priority < ask.priority and cluster.now - due > timeout
