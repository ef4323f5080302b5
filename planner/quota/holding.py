"""What an admitted workload holds, and when it queued.

Source: docs/semantics/kueue.md §2.1, §2.3 and §2.4; kueue ff69552e pkg/workload/workload.go
``totalRequestsFromAdmission``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from planner.quantity import MAX_INT64, MIN_INT64, to_units
from planner.quota.amount import add, multiply
from planner.quota.request import counts_after_reclaim
from planner.quota.tree import FlavorResource
from planner.state import ClusterQueue, Configuration, Workload

BOOST_ANNOTATION = "kueue.x-k8s.io/priority-boost"
NEVER = datetime.min.replace(tzinfo=UTC)
"""Stands for a missing timestamp, which Kueue takes as the zero time."""

_MOVING = frozenset({"Evicted", "Preempted"})
"""Conditions that may move a workload in its queue."""

_BOOST = re.compile(r"[+-]?[0-9]{1,64}")


@dataclass(frozen=True, slots=True)
class PodSetHolding:
    """What the pods of one podset hold: per resource its flavor, where it has one, and amount."""

    name: str
    count: int
    flavors: Mapping[str, str]
    amounts: Mapping[str, int]


class Holding(NamedTuple):
    """What an admitted workload holds.

    ``amounts`` is the usage per flavor-resource; ``named`` is every fr it names a flavor for,
    whatever the amount; ``running`` is how many pods of each podset still run.
    """

    amounts: Mapping[FlavorResource, int]
    named: AbstractSet[FlavorResource]
    running: Mapping[str, int]

    @property
    def pods(self) -> int:
        """Return how many pods still run."""
        return sum(self.running.values())


def holding_of(workload: Workload, configuration: Configuration) -> Holding:
    """Return what an admitted workload holds; nothing if it is not admitted.

    Only ``status.admission`` counts. Where pods were reclaimed, each amount is divided by the
    admitted count, truncating, and multiplied by what is left. The pods that run are those
    admitted, without what is reclaimable.
    """
    admission = workload.status.admission
    left = counts_after_reclaim(workload, configuration)
    pods = dict(left)
    amounts: dict[FlavorResource, int] = {}
    named: AbstractSet[FlavorResource] = frozenset()
    for assigned in admission.pod_set_assignments if admission else ():
        name, count = assigned.name, assigned.count
        after = left.get(name, 0)
        if count is None:
            count = {one.name: one.count for one in workload.spec.pod_sets}.get(name, 0)
        elif name in left:
            pods[name] = min(after, count)
        frs, all_named = _named(tuple(assigned.flavors.items()))
        named = named | all_named if named else all_named
        for resource, nano in assigned.resource_usage.items():
            fr = frs.get(resource)
            if fr is None:
                continue
            amount = to_units(nano, resource)
            if after < count:
                amount = multiply(amount // count, after)
            amounts[fr] = add(amounts[fr], amount) if fr in amounts else amount
    return Holding(amounts, named, pods)


def pod_set_holdings(workload: Workload, configuration: Configuration) -> tuple[PodSetHolding, ...]:
    """Return what an admitted workload holds podset by podset, in the order of its admission.

    Amounts are those of ``holding_of``, and those of resources without a flavor.
    """
    admission = workload.status.admission
    left = counts_after_reclaim(workload, configuration)
    spec = {one.name: one.count for one in workload.spec.pod_sets}
    held = []
    for assigned in admission.pod_set_assignments if admission else ():
        count, after = assigned.count, left.get(assigned.name, 0)
        if count is None:
            count = spec.get(assigned.name, 0)
        amounts = {
            resource: to_units(nano, resource) for resource, nano in assigned.resource_usage.items()
        }
        if after < count:
            amounts = {name: multiply(each // count, after) for name, each in amounts.items()}
            count = after
        held.append(PodSetHolding(assigned.name, count, assigned.flavors, amounts))
    return tuple(held)


@lru_cache(maxsize=4096)
def _named(
    flavors: tuple[tuple[str, str], ...],
) -> tuple[Mapping[str, FlavorResource], AbstractSet[FlavorResource]]:
    """Return the fr of each resource with a flavor, and all of them: a dump has few such maps."""
    frs = {resource: FlavorResource(flavor, resource) for resource, flavor in flavors}
    return frs, frozenset(frs.values())


def is_concurrent(queue: ClusterQueue, configuration: Configuration) -> bool:
    """Say whether the variants of a workload compete in a ClusterQueue.

    Then only variants are admitted there, and only they hold quota
    (docs/semantics/kueue-features.md §7).
    """
    policy = queue.spec.concurrent_admission
    return policy is not None and configuration.gate("ConcurrentAdmission")


def effective_priority(workload: Workload, configuration: Configuration) -> int:
    """Return the priority, plus the boost annotation where the gate PriorityBoost is on.

    A boost that is no 32-bit decimal integer counts as 0.
    """
    priority = workload.spec.priority or 0
    text = workload.metadata.annotations.get(BOOST_ANNOTATION)
    if text is not None and configuration.gate("PriorityBoost"):
        boost = int(text) if _BOOST.fullmatch(text) else 0
        if -(2**31) <= boost < 2**31:
            priority += boost
    return min(max(priority, MIN_INT64), MAX_INT64)


class Progress(NamedTuple):
    """What the conditions of a workload say of its run.

    ``reserved`` says that it has a reservation, which may lack its time. ``started_at`` is when it
    last started running: pods ready, or else quota reserved. ``moved`` says that a condition may
    have moved it in its queue.
    """

    reserved: bool
    reserved_at: datetime | None
    started_at: datetime | None
    evicted: bool
    moved: bool


def progress_of(workload: Workload) -> Progress:
    """Read the conditions once: everybody that runs is asked, and a state can have 200,000."""
    reserved = ready = None
    evicted = moved = False
    for one in workload.status.conditions:
        kind = one.type
        if kind == "QuotaReserved":
            reserved = reserved or one
        elif kind == "PodsReady":
            ready = ready or one
        elif kind in _MOVING:
            moved = True
            evicted = evicted or (kind == "Evicted" and one.is_true)
    has_quota = reserved is not None and reserved.is_true
    reserved_at = reserved.last_transition_time if reserved and has_quota else None
    ready_at = ready.last_transition_time if ready and ready.is_true else None
    return Progress(has_quota, reserved_at, ready_at or reserved_at, evicted, moved)


def started_at(workload: Workload) -> datetime | None:
    """Return when it last started running: pods ready, or else quota reserved."""
    return progress_of(workload).started_at


def seconds_since(start: datetime | None, now: datetime) -> int:
    """Return the whole seconds from a time to another; none before it, or if it is not known."""
    return max(0, int((now - start).total_seconds())) if start else 0


def queue_order_time(
    workload: Workload, configuration: Configuration, *, moved: bool = True
) -> datetime:
    """Return the timestamp that orders the workload in its queue (docs/semantics/kueue.md §2.4).

    ``moved`` is as in `Progress`: without it the rest need not be looked at.
    """
    if not moved:
        return workload.metadata.creation_timestamp or NEVER
    evicted = workload.condition("Evicted")
    if evicted and evicted.is_true:
        settings = configuration.wait_for_pods_ready
        by_creation = settings and settings.requeuing_strategy.timestamp == "Creation"
        if evicted.reason == "PodsReadyTimeout" and not by_creation:
            return evicted.last_transition_time or NEVER
        if evicted.reason == "AdmissionCheck":
            return evicted.last_transition_time or NEVER
    if not configuration.gate("PrioritySortingWithinCohort"):
        preempted = workload.condition("Preempted")
        if preempted and preempted.is_true and preempted.reason == "InCohortReclaimWhileBorrowing":
            return (preempted.last_transition_time or NEVER) + timedelta(milliseconds=1)
    return workload.metadata.creation_timestamp or NEVER
