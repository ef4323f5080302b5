"""Whether an ask has its turn: what holds it back, and what must hold before it may preempt.

None of what holds back looks at the asks of others: only at what is allocated, reserved, counted.

Source: docs/semantics/yunikorn.md §3, docs/semantics/yunikorn-features.md §17 to §21;
yunikorn-core be3bb487, scheduler/objects/application.go, queue.go (TryAllocate,
canRunApp) and preemption.go (CheckPreconditions).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from planner.laws import yunikorn as laws
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.limits import ACCEPTED, QUEUE_IS_FULL, USER_IS_FULL, USER_QUOTA
from planner.quota.yunikorn.resource import fits_loose
from planner.reference.laws import keeps
from planner.reference.yunikorn.predicates import predicates_of
from planner.state.clock import SECOND, to_nanoseconds
from planner.state.yunikorn import Application, Ask
from planner.state.yunikorn_release import V1_8

BACKS_OFF: Final = "too many unschedulable asks in the application, waiting"
"""What the core says where it does not look at an application."""
PARENT: Final = "its queue is a parent, and the core looks at asks in leaves only"
PLACEHOLDER: Final = "it waits for a placeholder of its group"
"""What the core says nothing of."""


def may_not_start(cluster: Cluster, application: Application) -> str:
    """Say why an application may not start; one that runs is never held back."""
    if application.application_state != ACCEPTED:
        return ""
    if path := cluster.limits.full_queue(application):
        return f"{QUEUE_IS_FULL} ({path})"
    path = cluster.limits.full_row(application)
    return f"{USER_IS_FULL} ({path})" if path else ""


def backs_off(cluster: Cluster, application: Application) -> bool:
    """Say whether the core does not look at the asks of an application yet; from 1.8 on."""
    deadline = application.backoff_deadline
    if deadline is None or cluster.release < V1_8:
        return False
    return cluster.now < to_nanoseconds(deadline)


def waits_for_placeholder(application: Application, ask: Ask) -> bool:
    """Say whether an ask takes the place of a placeholder of its group, or waits for one.

    By the core's own count, which says nothing of whether there is one.
    """
    if ask.placeholder or not ask.task_group_name:
        return False
    groups = (one for one in application.task_groups if one.task_group_name == ask.task_group_name)
    return any(one.waiting > 0 for one in groups)


def fits_user(cluster: Cluster, asking: Asking) -> bool:
    """Say whether the user, and the group, of an application may have an ask."""
    return fits_loose(cluster.limits.headroom(asking.application), asking.ask.resource)


def held_back(cluster: Cluster, asking: Asking) -> str:
    """Say what passes over an ask before its headroom is looked at; empty if nothing does.

    With a reservation of its required node an ask is looked at before its application backs off.
    """
    ask, application = asking.ask, asking.application
    if not asking.leaf.is_leaf:
        return PARENT
    if why := may_not_start(cluster, application):
        return why
    room = cluster.node(ask.required_node) if ask.required_node else None
    if room is None or not room.reserved_for(ask.allocation_key):
        if backs_off(cluster, application):
            return BACKS_OFF
        if waits_for_placeholder(application, ask):
            return PLACEHOLDER
    return "" if fits_user(cluster, asking) else USER_QUOTA


CHECK_INTERVAL: Final = 15 * SECOND


class Preconditions(Struct, frozen=True):
    """What must hold before an ask may preempt, in the order in which it is checked.

    ``held_back`` says what passes over the ask before that, in the core's words; empty if nothing
    does. ``fits_headroom`` and ``allocatable_now`` say where in the cycle the ask stands: an ask
    that fits and finds a node is allocated, and needs no preemption.
    """

    preemption_enabled: bool
    allow_preempt_other: bool
    not_triggered: bool
    no_required_node: bool
    delay_passed: bool
    check_interval_passed: bool
    fits_headroom: bool
    allocatable_now: bool
    held_back: str = ""

    @property
    def nodes_tried(self) -> bool:
        """Whether the nodes were tried before preemption, and no node had room."""
        return self.fits_headroom

    @property
    def attempted(self) -> bool:
        """Whether the scheduler tries preemption."""
        return (
            not self.held_back
            and self.preemption_enabled
            and self.allow_preempt_other
            and self.not_triggered
            and self.no_required_node
            and self.delay_passed
            and self.check_interval_passed
            and not self.allocatable_now
        )


@keeps(laws.YK_MAY_PREEMPT)
def check(cluster: Cluster, asking: Asking) -> Preconditions:
    """Check all preconditions of an ask; the policy of its own queue is not one of them."""
    ask, leaf = asking.ask, asking.leaf
    last = ask.x.preempt_check_time
    return Preconditions(
        held_back=held_back(cluster, asking),
        preemption_enabled=cluster.partition.preemption.enabled,
        allow_preempt_other=ask.x.allow_preempt_other,
        not_triggered=not ask.triggered_preemption,
        no_required_node=not ask.required_node,
        delay_passed=cluster.now >= ask.request_time + leaf.properties.delay,
        check_interval_passed=last is None or cluster.now >= last + CHECK_INTERVAL,
        fits_headroom=fits_loose(leaf.headroom, ask.resource),
        allocatable_now=free_node(cluster, asking) is not None,
    )


def free_node(cluster: Cluster, asking: Asking) -> NodeRoom | None:
    """Return the first node that takes an ask which nothing holds back, None if there is none.

    The node is schedulable, has room, and is not reserved for another ask. An ask with a required
    node has that one alone: the core tries it whether it is schedulable or not, and reserves it for
    the ask beside others of this kind.
    """
    ask = asking.ask
    if held_back(cluster, asking) or not fits_loose(asking.leaf.headroom, ask.resource):
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
