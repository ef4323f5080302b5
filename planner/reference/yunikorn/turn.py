"""Whether an ask has its turn: what holds it back, and what must hold before it may preempt.

Source: docs/semantics/yunikorn.md §3, docs/semantics/yunikorn-features.md §17 to §22 and §25;
yunikorn-core be3bb487, scheduler/objects/application.go, queue.go (TryAllocate) and preemption.go
(CheckPreconditions).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.laws import yunikorn as laws
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.held_back import (
    ATTEMPTS,
    fits_user,
    has_its_node,
    may_not_start,
    passed_over,
    placeholders_of,
    waits_for_placeholder,
)
from planner.quota.yunikorn.resource import fits_in, fits_loose, ge_all
from planner.reference.laws import keeps
from planner.reference.yunikorn.order import apps_in_order, in_turn, nodes_in_order
from planner.reference.yunikorn.predicates import predicates_of
from planner.state.clock import SECOND, to_nanoseconds
from planner.state.yunikorn import Allocation, Application
from planner.state.yunikorn_release import V1_8

BACKS_OFF: Final = "too many unschedulable asks in the application, waiting"
"""What the core says where it does not look at an application."""
COMES_LATE: Final = "ten asks before it in its queue are tried in every cycle"
"""What the core says nothing of."""


def backs_off(cluster: Cluster, application: Application) -> bool:
    """Say whether the core does not look at the asks of an application yet; from 1.8 on."""
    deadline = application.backoff_deadline
    if deadline is None or cluster.release < V1_8:
        return False
    return cluster.now < to_nanoseconds(deadline)


def comes_too_late(cluster: Cluster, asking: Asking) -> str:
    """Say why the core never comes to an ask: so many before it find no place, in every cycle.

    From 1.8 on these are of its application, which backs off after some; before they are of its
    leaf, of which ten may try to preempt. Nobody knows an order by fairness.
    """
    leaf, older = asking.leaf, cluster.release < V1_8
    most = ATTEMPTS if older else leaf.properties.backoff
    if older and asking.ask.required_node:  # it is made free in another pass
        return ""
    applications = [asking.application]
    if older and not leaf.properties.fair:
        applications = [one for one in apps_in_order(leaf) if not may_not_start(cluster, one)]
    for one in applications if most else ():
        for ask in in_turn(one.requests):
            if ask.allocation_key == asking.ask.allocation_key:
                return ""
            each = Asking(ask, one, leaf)
            if waits_for_placeholder(one, ask) or not fits_user(cluster, each):
                continue
            if fits_loose(leaf.headroom, ask.resource):
                finds_nothing = not ask.required_node and node_for(cluster, each) is None
            else:
                finds_nothing = older
            most -= finds_nothing
            if not most:
                return COMES_LATE if older else BACKS_OFF
    return ""


def held_back(cluster: Cluster, asking: Asking) -> str:
    """Say what passes over an ask before its headroom is looked at; empty if nothing does.

    With a reservation of its required node an ask is looked at before its application backs off.
    """
    if why := passed_over(cluster, asking):
        return why
    if has_its_node(cluster, asking.ask):
        return ""
    if backs_off(cluster, asking.application):
        return BACKS_OFF
    return comes_too_late(cluster, asking)


CHECK_INTERVAL: Final = 15 * SECOND


class Preconditions(Struct, frozen=True):
    """What must hold before an ask may preempt, in the order in which it is checked.

    ``held_back`` says what passes over the ask before that, in the core's words; empty if nothing
    does. ``fits_headroom`` and ``allocatable_now`` say where in the cycle the ask stands: an ask
    that fits and finds a node is allocated, and needs no preemption.

    An ask with a required node preempts in another pass, which looks at none of the switches and
    times, and at two things of the node: it is ``reserved`` for the ask, and has no ``room``. For
    a node with room the core does not look for victims, even if the shim refuses the ask there.
    """

    held_back: str
    preemption_enabled: bool
    allow_preempt_other: bool
    not_triggered: bool
    no_required_node: bool
    delay_passed: bool
    check_interval_passed: bool
    fits_headroom: bool
    allocatable_now: bool
    reserved: bool = False
    has_room: bool = False

    @property
    def nodes_tried(self) -> bool:
        """Whether the nodes were tried before preemption, and no node had room."""
        return self.fits_headroom

    @property
    def attempted(self) -> bool:
        """Whether the scheduler tries preemption."""
        if self.held_back or not self.not_triggered:
            return False
        if not self.no_required_node:
            return self.reserved and self.fits_headroom and not self.has_room
        return (
            self.preemption_enabled
            and self.allow_preempt_other
            and self.delay_passed
            and self.check_interval_passed
            and not self.allocatable_now
        )


def check(cluster: Cluster, asking: Asking) -> Preconditions:
    """Check all preconditions of an ask; the policy of its own queue is not one of them."""
    return replace(
        check_in_turn(cluster, asking),
        held_back=held_back(cluster, asking),
        allocatable_now=free_node(cluster, asking) is not None,
    )


@keeps(laws.YK_MAY_PREEMPT)
def check_in_turn(cluster: Cluster, asking: Asking) -> Preconditions:
    """Check the preconditions of an ask whose turn it is, and which no node takes."""
    ask, leaf = asking.ask, asking.leaf
    last = ask.x.preempt_check_time
    required = cluster.node(ask.required_node) if ask.required_node else None
    return Preconditions(
        held_back="",
        preemption_enabled=cluster.partition.preemption.enabled,
        allow_preempt_other=ask.x.allow_preempt_other,
        not_triggered=not ask.triggered_preemption,
        no_required_node=not ask.required_node,
        delay_passed=cluster.now >= ask.request_time + leaf.properties.delay,
        check_interval_passed=last is None or cluster.now >= last + CHECK_INTERVAL,
        fits_headroom=fits_loose(leaf.headroom, ask.resource),
        allocatable_now=False,
        reserved=required is not None and required.reserved_for(ask.allocation_key),
        has_room=required is not None and fits_in(required.available, ask.resource),
    )


def free_node(cluster: Cluster, asking: Asking) -> NodeRoom | None:
    """Return the first node that takes an ask, None if there is none, or the ask is passed over."""
    if passed_over(cluster, asking) or not fits_loose(asking.leaf.headroom, asking.ask.resource):
        return None
    return node_for(cluster, asking)


def node_for(cluster: Cluster, asking: Asking) -> NodeRoom | None:
    """Return the first node that takes an ask of which headroom and user have enough.

    The node is schedulable, has room, and is not reserved for another ask. An ask with a required
    node has that one alone: the core tries it whether it is schedulable or not, and reserves it for
    the ask beside others of this kind.
    """
    ask = asking.ask
    if not asking.leaf.may_take(ask.resource):
        return None
    shim = predicates_of(cluster, ask)
    for room in cluster.nodes:
        if ask.required_node:
            usable = room.node_id == ask.required_node
        else:
            usable = room.node.schedulable and not room.reserved_for_others(ask.allocation_key)
        if usable and shim.passes(room):
            return room
    return None


def placeholder_for(cluster: Cluster, asking: Asking) -> Allocation | None:
    """Return a placeholder of which an ask takes the place, there or on another node; or None.

    Neither limits nor headroom are looked at.
    """
    ask, shim = asking.ask, predicates_of(cluster, asking.ask)
    large = [
        held
        for held in placeholders_of(asking.application, ask)
        if asking.leaf.is_leaf and ge_all(held.resource, ask.resource)
    ]
    for held in large:
        room = cluster.node(held.node_id)
        if room is not None and shim.reservable(room):
            return held
    for room in nodes_in_order(cluster) if large else ():
        if room.node.schedulable and shim.passes(room):
            return large[0]
    return None
