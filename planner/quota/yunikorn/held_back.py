"""What passes over an ask before its headroom is looked at, however long it waits.

None of this looks at the asks of others: only at what is allocated and counted. No preemption of
the core's changes it.

Source: docs/semantics/yunikorn-features.md §17 to §20 and §24; yunikorn-core be3bb487,
scheduler/objects/application.go and queue.go (TryAllocate, canRunApp).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.quota.yunikorn.limits import ACCEPTED, QUEUE_IS_FULL, USER_IS_FULL, USER_QUOTA
from planner.quota.yunikorn.resource import fits_loose
from planner.state.yunikorn import Allocation, Application, Ask

PARENT: Final = "its queue is a parent, and the core looks at asks in leaves only"
PLACEHOLDER: Final = "it waits for a placeholder of its group"
"""What the core says nothing of."""
ATTEMPTS: Final = 10
"""How many asks of a leaf get as far as preemption in one cycle."""


def may_not_start(cluster: Cluster, application: Application) -> str:
    """Say why an application may not start; one that runs is never held back."""
    if application.application_state != ACCEPTED:
        return ""
    if path := cluster.limits.full_queue(application):
        return f"{QUEUE_IS_FULL} ({path})"
    path = cluster.limits.full_row(application)
    return f"{USER_IS_FULL} ({path})" if path else ""


def waits_for_placeholder(application: Application, ask: Ask) -> bool:
    """Say whether an ask takes the place of a placeholder of its group, or waits for one.

    By the core's own count, which says nothing of whether there is one.
    """
    if ask.placeholder or not ask.task_group_name:
        return False
    groups = (one for one in application.task_groups if one.task_group_name == ask.task_group_name)
    return any(one.waiting > 0 for one in groups)


def placeholders_of(application: Application, ask: Ask) -> Iterator[Allocation]:
    """Yield the placeholders of which an ask may take the place, those too small for it as well."""
    for held in application.allocations if ask.task_group_name and not ask.placeholder else ():
        same = held.placeholder and held.task_group_name == ask.task_group_name
        if same and not (held.x.released or held.preempted):
            yield held


def fits_user(cluster: Cluster, asking: Asking) -> bool:
    """Say whether the user, and the group, of an application may have an ask."""
    return fits_loose(cluster.limits.headroom(asking.application), asking.ask.resource)


def has_its_node(cluster: Cluster, ask: Ask) -> bool:
    """Say whether the node that an ask requires is reserved for it: it is looked at before all."""
    room = cluster.node(ask.required_node) if ask.required_node else None
    return room is not None and room.reserved_for(ask.allocation_key)


def passed_over(cluster: Cluster, asking: Asking) -> str:
    """Say what passes over an ask, in the core's words; empty if nothing does."""
    ask, application = asking.ask, asking.application
    if not asking.leaf.is_leaf:
        return PARENT
    if why := may_not_start(cluster, application):
        return why
    if waits_for_placeholder(application, ask) and not has_its_node(cluster, ask):
        return PLACEHOLDER
    return "" if fits_user(cluster, asking) else USER_QUOTA
