"""When the scheduler tries generic preemption for an ask, and what the shim answers on the way.

The core asks the Kubernetes shim whether a pod passes the predicates of a node, by a callback that
a cluster always has. What it answers there depends on the whole of Kubernetes; here it answers by
resources, as in the recordings, or by a fixed table.

Source: docs/semantics/yunikorn.md §3 and §8; yunikorn-core be3bb487, scheduler/objects/
application.go and preemption.go (CheckPreconditions, PreemptionPredicates).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from planner.laws.yunikorn import YK_MAY_PREEMPT
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.resource import Resource, fits, fits_loose, plus
from planner.reference.laws import keeps
from planner.reference.yunikorn.candidates import Candidate
from planner.state.clock import SECOND
from planner.state.yunikorn import InstanceExtra


class Predicates(Protocol):
    """The callback of the shim."""

    def passes(self, room: NodeRoom, ask: Resource) -> bool:
        """Say whether the node takes the ask as it is."""
        ...

    def first_index(
        self, room: NodeRoom, ask: Resource, victims: Sequence[Candidate], start: int
    ) -> int | None:
        """Return the first index, from ``start``, up to which victims must go; None for never."""
        ...


@dataclass(frozen=True)
class ByResource:
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
        """Remove the victims up to ``start``, then one by one, until the ask fits."""
        if room.node_id in self.veto:
            return None
        free = room.available
        wanted = set(self.must_remove.get(room.node_id, ()))
        for index, victim in enumerate(victims):
            free = plus(free, victim.resource)
            wanted.discard(victim.key)
            # Not before `start`: those up to it are removed in one go, and not asked about.
            if index >= start and not wanted and fits(free, ask):
                return index
        return None


@dataclass(frozen=True)
class ByTable:
    """Predicates with fixed answers, node by node."""

    takes: frozenset[str]
    index: Mapping[str, int]

    def passes(self, room: NodeRoom, ask: Resource) -> bool:  # noqa: ARG002 - fixed answers
        """Say whether the node takes the ask as it is."""
        return room.node_id in self.takes

    def first_index(
        self,
        room: NodeRoom,
        ask: Resource,  # noqa: ARG002 - fixed answers
        victims: Sequence[Candidate],  # noqa: ARG002
        start: int,  # noqa: ARG002
    ) -> int | None:
        """Return the index of the table, None if it has no success for the node."""
        return self.index.get(room.node_id)


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


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What must hold before an ask may preempt, in the order in which it is checked.

    ``fits_headroom`` and ``allocatable_now`` say where in the cycle the ask stands: one that
    fits and finds a node is allocated, not helped.
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
        """Whether the nodes were tried before, and none had room."""
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


@keeps(YK_MAY_PREEMPT)
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

    The node is schedulable, has room, and is not reserved for somebody else.
    """
    ask = asking.ask
    if not fits_loose(asking.leaf.headroom, ask.resource):
        return None
    shim = predicates or ByResource()
    for room in cluster.nodes:
        usable = room.node.schedulable and not room.reserved_for_others(ask.allocation_key)
        if usable and shim.passes(room, ask.resource):
            return room
    return None
