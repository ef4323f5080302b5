"""What an admitted workload holds, and when it queued.

Source: kueue-semantics.md, sections 2.1, 2.3 and 2.4; kueue ff69552e pkg/workload/workload.go
``totalRequestsFromAdmission``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from planner.quantity import MAX_INT64, MIN_INT64, to_units
from planner.quota.amount import add, multiply
from planner.quota.request import counts_after_reclaim
from planner.quota.tree import FlavorResource, flavor_resource
from planner.state import Configuration, Workload

BOOST_ANNOTATION = "kueue.x-k8s.io/priority-boost"
NEVER = datetime.min.replace(tzinfo=UTC)
"""Stands for a missing timestamp, which Kueue takes as the zero time."""

_BOOST = re.compile(r"[+-]?[0-9]{1,64}")


def held_amounts(workload: Workload, configuration: Configuration) -> dict[FlavorResource, int]:
    """Return the usage of an admitted workload per flavor-resource.

    Only ``status.admission`` counts. Where pods were reclaimed, each amount is divided by the
    admitted count, truncating, and multiplied by what is left.
    """
    admission = workload.status.admission
    if admission is None:
        return {}
    left = counts_after_reclaim(workload, configuration)
    usage: dict[FlavorResource, int] = {}
    for assigned in admission.pod_set_assignments:
        count = assigned.count
        if count is None:
            counts = {pods.name: pods.count for pods in workload.spec.pod_sets}
            count = counts.get(assigned.name, 0)
        after = left.get(assigned.name, 0)
        for resource, nano in assigned.resource_usage.items():
            amount = to_units(nano, resource)
            if after < count:
                amount = multiply(amount // count, after)
            flavor = assigned.flavors.get(resource)
            if flavor is not None:
                fr = flavor_resource(flavor, resource)
                usage[fr] = add(usage.get(fr, 0), amount)
    return usage


def named_flavor_resources(workload: Workload) -> set[FlavorResource]:
    """Return every fr an admitted workload names a flavor for, whatever the amount."""
    admission = workload.status.admission
    assignments = admission.pod_set_assignments if admission else ()
    return {
        flavor_resource(flavor, resource)
        for assigned in assignments
        for resource, flavor in assigned.flavors.items()
    }


def running_pods(workload: Workload, configuration: Configuration) -> int:
    """Count the pods that still run: those admitted, without what is reclaimable."""
    left = counts_after_reclaim(workload, configuration)
    admission = workload.status.admission
    admitted = admission.pod_set_assignments if admission else ()
    held = {pods.name: pods.count for pods in admitted if pods.count is not None}
    return sum(min(count, held.get(name, count)) for name, count in left.items())


def effective_priority(workload: Workload, configuration: Configuration) -> int:
    """Return the priority, plus the boost annotation where the gate PriorityBoost is on.

    A boost that is no 32-bit decimal integer counts as 0.
    """
    priority = workload.spec.priority or 0
    if configuration.gate("PriorityBoost"):
        text = workload.metadata.annotations.get(BOOST_ANNOTATION, "")
        boost = int(text) if _BOOST.fullmatch(text) else 0
        if -(2**31) <= boost < 2**31:
            priority += boost
    return min(max(priority, MIN_INT64), MAX_INT64)


def started_at(workload: Workload) -> datetime | None:
    """Return when it last started running: pods ready, or else quota reserved."""
    ready = workload.condition("PodsReady")
    if ready and ready.is_true and ready.last_transition_time:
        return ready.last_transition_time
    return workload.reserved_at


def seconds_since(start: datetime | None, now: datetime) -> int:
    """Return the whole seconds from a time to another; none before it, or if it is not known."""
    return max(0, int((now - start).total_seconds())) if start else 0


def queue_order_time(workload: Workload, configuration: Configuration) -> datetime:
    """Return the timestamp that orders the workload in its queue (semantics, 2.4)."""
    evicted = workload.condition("Evicted")
    if evicted and evicted.is_true and evicted.last_transition_time:
        settings = configuration.wait_for_pods_ready
        by_creation = settings and settings.requeuing_strategy.timestamp == "Creation"
        if evicted.reason == "PodsReadyTimeout" and not by_creation:
            return evicted.last_transition_time
        if evicted.reason == "AdmissionCheck":
            return evicted.last_transition_time
    if not configuration.gate("PrioritySortingWithinCohort"):
        preempted = workload.condition("Preempted")
        if (
            preempted
            and preempted.is_true
            and preempted.reason == "InCohortReclaimWhileBorrowing"
            and preempted.last_transition_time
        ):
            return preempted.last_transition_time + timedelta(milliseconds=1)
    return workload.metadata.creation_timestamp or NEVER
