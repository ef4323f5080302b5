"""Which nodes may host an ask at all, with or without victims.

Source: docs/semantics/yunikorn.md §7; yunikorn-core be3bb487, scheduler/objects/preemption.go.
"""

from __future__ import annotations

from typing import Final

from planner.quota.yunikorn.cluster import Cluster, NodeRoom
from planner.quota.yunikorn.resource import fits
from planner.state.clock import SECOND
from planner.state.yunikorn import Ask

WAIT_TIMEOUT_S: Final = 60 * 60
RESERVATION_DELAY: Final = 2 * SECOND


def is_usable(cluster: Cluster, room: NodeRoom, ask: Ask) -> bool:
    """Say whether a node may be planned: schedulable, large enough, not reserved for others."""
    if not room.node.schedulable or not fits(room.node.capacity, ask.resource):
        return False
    if not room.reserved_for_others(ask.allocation_key):
        return True
    # One that is cancelled opens the node, even if others are left: so does the core (§7).
    return any(_may_cancel(cluster, key, ask) for key in room.node.reservations)


def _may_cancel(cluster: Cluster, key: str, ask: Ask) -> bool:
    """Say whether a reservation is cancelled: of lower priority, and too old."""
    holder = cluster.asks.get(key)
    if holder is None or holder.required_node or holder.triggered_preemption:
        return False
    seconds, delay = cluster.x.reservation_wait_timeout_s, cluster.x.reservation_delay_ns
    timeout = (WAIT_TIMEOUT_S if seconds is None else seconds) * SECOND
    # The timeout counts twice in the core: until it is due, and once more from then on.
    due = holder.request_time + timeout + (RESERVATION_DELAY if delay is None else delay)
    return holder.priority < ask.priority and cluster.now - due > timeout
