"""When the scheduler tries generic preemption for an ask.

Source: yunikorn-semantics.md, section 3; yunikorn-core be3bb487, scheduler/objects/application.go
and preemption.go (CheckPreconditions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.reference.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.predicates import ByResource, Predicates
from planner.reference.yunikorn.properties import SECOND
from planner.reference.yunikorn.resource import fits_loose

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


def check(cluster: Cluster, asking: Asking, predicates: Predicates | None) -> Preconditions:
    """Check all preconditions of an ask; the policy of its own queue is not one of them."""
    ask, leaf = asking.ask, asking.leaf
    last = ask.x.preempt_check_time
    fits_headroom = fits_loose(leaf.headroom, ask.resource)
    return Preconditions(
        preemption_enabled=cluster.partition.preemption.enabled,
        allow_preempt_other=ask.x.allow_preempt_other,
        not_triggered=not ask.triggered_preemption,
        no_required_node=not ask.required_node,
        delay_passed=cluster.now >= ask.request_time + leaf.properties.delay,
        check_interval_passed=last is None or cluster.now >= last + CHECK_INTERVAL,
        fits_headroom=fits_headroom,
        allocatable_now=fits_headroom and _finds_node(cluster, asking, predicates),
    )


def _finds_node(cluster: Cluster, asking: Asking, predicates: Predicates | None) -> bool:
    """Say whether some schedulable node, not reserved for somebody else, has room."""
    shim = predicates or ByResource()
    return any(
        room.node.schedulable
        and not room.reserved_for_others(asking.ask.allocation_key)
        and shim.passes(room, asking.ask.resource)
        for room in cluster.nodes
    )
