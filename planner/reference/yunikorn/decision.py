"""What YuniKorn decides for an ask: one entry for generic and required-node preemption.

An ask with a required node, as of a DaemonSet, is preempted for by rules of its own: no delay,
fence, guaranteed or policy counts.

Source: docs/semantics/yunikorn.md §3 to §11; yunikorn-core be3bb487,
scheduler/objects/required_node_preemptor.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cmp_to_key
from types import MappingProxyType
from typing import Final, Literal

from planner.laws import YK_FITS_NODE, YK_LAST_TIER, YK_MAY_PREEMPT, YK_PREEMPTABLE, YK_PRIORITY
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.resource import (
    equal,
    fits,
    fits_loose,
    ge_all,
    gt_zero,
    minus,
    plus,
    share_type,
)
from planner.reference.laws import keeps
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.generic import try_preemption
from planner.reference.yunikorn.preconditions import Preconditions, check, predicates_of
from planner.state.yunikorn import Allocation, Ask


@dataclass(frozen=True, slots=True)
class RequiredNodeConditions:
    """What must hold before the required node is made free."""

    reserved: bool
    fits_headroom: bool
    can_allocate: bool
    not_triggered: bool

    @property
    def attempted(self) -> bool:
        """Whether the scheduler tries preemption."""
        return self.reserved and self.fits_headroom and not self.can_allocate and self.not_triggered


@keeps(YK_MAY_PREEMPT)
def check_required_node(asking: Asking, room: NodeRoom) -> RequiredNodeConditions:
    """Check whether the reserved-allocation pass comes to preemption for the ask."""
    ask = asking.ask
    return RequiredNodeConditions(
        reserved=room.reserved_for(ask.allocation_key),
        fits_headroom=fits_loose(asking.leaf.headroom, ask.resource),
        can_allocate=fits(room.available, ask.resource),
        not_triggered=not ask.triggered_preemption,
    )


@keeps(YK_FITS_NODE)
def preempt_required_node(
    cluster: Cluster, ask: Ask, room: NodeRoom, ties: Mapping[str, int]
) -> tuple[Candidate, ...]:
    """Return the victims on the required node, in order; none if they would not suffice.

    The free space of the node does not lessen their number.
    """
    # Ties first: the sort after it keeps their order where the core has none.
    held = sorted(_eligible(cluster, ask, room), key=lambda candidate: ties.get(candidate.key, 0))
    held.sort(key=cmp_to_key(_compare))
    victims = []
    taken: dict[str, int] = {}
    for candidate in held:
        if ge_all(taken, ask.resource):
            break
        taken = plus(taken, candidate.resource)
        victims.append(candidate)
    # Free space counts here, but not above: more may go than are needed (§11.1).
    suffices = ge_all(plus(taken, room.available), ask.resource)
    return tuple(victims) if suffices else ()


@keeps(YK_PREEMPTABLE, YK_PRIORITY)
def _eligible(cluster: Cluster, ask: Ask, room: NodeRoom) -> list[Candidate]:
    return [
        Candidate(allocation, cluster.tree.leaf_of(application), application.application_id)
        for application in cluster.partition.applications
        for allocation in application.allocations
        if allocation.node_id == room.node_id
        and not allocation.x.not_on_node
        and not allocation.required_node
        and allocation.priority <= ask.priority
        and not allocation.preempted
        and not allocation.x.released
        and share_type(ask.resource, allocation.resource)
    ]


@keeps(YK_LAST_TIER)
def _class_of(allocation: Allocation) -> int:
    """Rank ordinary allocations first, then those opted out, then originators."""
    if allocation.originator:
        return 3
    return 2 if allocation.opted_out else 1


def _compare(left: Candidate, right: Candidate) -> int:
    """Compare as the core sorts; equal or incomparable sizes have no order there."""
    a, b = left.allocation, right.allocation
    for smaller, larger in (
        (_class_of(a), _class_of(b)),
        (a.priority, b.priority),
        (-a.allocation_time, -b.allocation_time),
    ):
        if smaller != larger:
            return -1 if smaller < larger else 1
    if equal(a.resource, b.resource):
        return 0
    # No strict order: of two that are each larger in something both come first.
    return 1 if gt_zero(minus(a.resource, b.resource)) else -1


Kind = Literal["generic", "required-node"]
NO_TIES: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided for one ask.

    A preemption may be triggered without victims; ``node`` is the node it reserves.
    """

    kind: Kind
    conditions: Preconditions | RequiredNodeConditions | None
    triggered: bool = False
    node: str | None = None
    victims: tuple[Candidate, ...] = field(default=())

    @property
    def victim_keys(self) -> tuple[str, ...]:
        """The allocation keys of the victims, in the order in which they are released."""
        return tuple(victim.key for victim in self.victims)


def decide(
    cluster: Cluster, asking: Asking, *, callback: bool = True, ties: Mapping[str, int] = NO_TIES
) -> Decision:
    """Decide for an ask whether it preempts, on which node, and whom.

    Parameters
    ----------
    cluster, asking
        The partition made ready, and the ask in it.
    callback
        Whether the shim has registered its predicates, as it always does in a cluster.
    ties
        Ranks by allocation key for allocations that have no order in the core: equal in opt-out,
        originator and creation time. Without it they keep the order of the state.
    """
    if asking.ask.required_node:
        return _decide_required_node(cluster, asking, ties)
    return _decide_generic(cluster, asking, ties, callback=callback)


def _decide_generic(
    cluster: Cluster, asking: Asking, ties: Mapping[str, int], *, callback: bool
) -> Decision:
    predicates = predicates_of(cluster.x)
    conditions = check(cluster, asking, predicates)
    direct = cluster.x.direct
    # Some recorded states call the preemptor directly, whatever its conditions say.
    if direct is None and not conditions.attempted:
        return Decision("generic", conditions)
    success = try_preemption(
        cluster,
        asking,
        predicates if callback else None,
        nodes_tried=conditions.nodes_tried if direct is None else direct.nodes_tried,
        ties=ties,
    )
    if success is None:
        return Decision("generic", conditions)
    return Decision("generic", conditions, True, success.node_id, success.victims)  # noqa: FBT003


def _decide_required_node(cluster: Cluster, asking: Asking, ties: Mapping[str, int]) -> Decision:
    ask = asking.ask
    room = cluster.node(ask.required_node)
    if room is None:
        return Decision("required-node", None)
    conditions = check_required_node(asking, room)
    if cluster.x.direct is None and not conditions.attempted:
        return Decision("required-node", conditions)
    victims = preempt_required_node(cluster, ask, room, ties)
    if not victims:
        return Decision("required-node", conditions)
    return Decision("required-node", conditions, True, room.node_id, victims)  # noqa: FBT003
