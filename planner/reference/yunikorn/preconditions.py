"""When the scheduler tries generic preemption for an ask.

Source: docs/semantics/yunikorn.md §3; yunikorn-core be3bb487, scheduler/objects/application.go
and preemption.go (CheckPreconditions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.laws.yunikorn import YK_MAY_PREEMPT
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.resource import fits_loose
from planner.reference.laws import keeps
from planner.reference.yunikorn.predicates import ByResource, Predicates
from planner.state.clock import SECOND

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
