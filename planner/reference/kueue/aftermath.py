"""The state after a plan, and whom each of its victims would then preempt.

The victims are gone and pending again, the preemptor holds what it was assigned; everything else
stays as it is, the clock included. An eviction clears ``status.admission`` and sets the conditions
Evicted and Preempted, unless the workload was being evicted already: Kueue does not evict it a
second time (docs/semantics/kueue.md §7). An admission sets both to False. Reclaimable pods stay
what they are. Each victim then waits in its LocalQueue, with its own priority and its place in the
queue; whom Kueue would evict for this victim alone is replayed exactly. Other workloads that wait
are not admitted in between.

Source: docs/semantics/kueue.md §2.1, §2.4, §4 to §7; docs/design/objectives.md §3 (D11); kueue
ff69552e pkg/workload/workload.go ``SetEvictedCondition``, ``SetPreemptedCondition`` and
``SetQuotaReservation``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from planner.quantity import from_units
from planner.quota.kueue.admission import as_admitted
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.preemptor import as_preemptor, replaced_slice
from planner.quota.kueue.request import PODS
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import NO_TOPOLOGIES
from planner.reference.kueue.decision import decide
from planner.state.base import Condition
from planner.state.kueue import State, Workload
from planner.state.kueue_topology import AssignedDomain, TopologyAssignment
from planner.state.kueue_workload import (
    PREEMPTED,
    Admission,
    Eviction,
    PodSetAssignment,
    SchedulingStats,
)

if TYPE_CHECKING:
    from planner.reference.kueue.topology.find import Placement

NOWHERE: Final[Mapping[str, Placement]] = {}
_HELD = ("QuotaReserved", "Admitted")
_EVICTION = ("Evicted", "Preempted")


def snapshot_after(snapshot: Snapshot, holder: Admitted, victims: Collection[Admitted]) -> Snapshot:
    """Return the snapshot with the victims gone and the preemptor admitted as ``holder``.

    A slice of an elastic workload that the preemptor replaces is finished then.
    """
    old = replaced_slice(snapshot, holder.queue, holder.workload)
    # By key: the old slice can be a victim, too, and gives its usage back once.
    victims = [*{one.key: one for one in (*victims, *([old] if old else []))}.values()]
    left = snapshot_without(snapshot, victims)
    left.usage.add(holder.queue, holder.usage)
    holders = Holders.of_records((*left.admitted[holder.queue], holder))
    admitted = {**left.admitted, holder.queue: holders}
    # Where the preemptor's pods will be is not known: quota alone decides what victims do next.
    return replace(left, admitted=admitted, topologies=NO_TOPOLOGIES)


def snapshot_without(snapshot: Snapshot, victims: Collection[Admitted]) -> Snapshot:
    """Return the snapshot with the victims gone, and a usage of its own."""
    usage, admitted = snapshot.usage.copy(), dict(snapshot.admitted)
    gone = {victim.key for victim in victims}
    for victim in victims:
        usage.remove(victim.queue, victim.usage)
    for node in {victim.queue for victim in victims}:
        admitted[node] = Holders.of_records(one for one in admitted[node] if one.key not in gone)
    return replace(snapshot, usage=usage, admitted=admitted)


def evicted(victim: Admitted, reason: str, now: datetime) -> Workload:
    """Return the workload of a victim as it is once evicted; ``reason`` is its reason code."""
    changed = {kind: _condition(kind, "False", "Pending", now) for kind in _HELD}
    if not victim.evicted:
        changed |= _eviction(reason, now)
    return _with(victim.workload, changed, None)


def evicting(victim: Admitted, reason: str, now: datetime) -> Admitted:
    """Return a victim that still holds what it held, and is being evicted from now on.

    Its evictions are counted in its schedulingStats, as pkg/workload/evict/evict.go does.
    """
    workload = _with(victim.workload, _eviction(reason, now), victim.workload.status.admission)
    counts = Counter({PREEMPTED: 1})
    for one in workload.status.scheduling_stats.evictions:
        counts[one.reason] += one.count
    evictions = tuple(Eviction(reason=name, count=count) for name, count in counts.items())
    update = {"scheduling_stats": SchedulingStats(evictions=evictions)}
    workload = workload.model_copy(update={"status": workload.status.model_copy(update=update)})
    return victim.changed(workload)._replace(evicted=True, leaving=True, remarks=workload.remarks)


def _eviction(reason: str, now: datetime) -> dict[str, Condition]:
    return {
        "Evicted": _condition("Evicted", "True", PREEMPTED, now),
        "Preempted": _condition("Preempted", "True", reason, now),
    }


def admit(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    placements: Mapping[str, Placement] = NOWHERE,
) -> Admitted:
    """Return the preemptor as admitted with its assignment, requests for ``pods`` included.

    ``placements`` say by podset where its pods go, if that is known.
    """
    now, configuration = snapshot.now, snapshot.configuration
    pod_sets = []
    for request, pods in zip(preemptor.pod_sets, assignment.pod_sets, strict=True):
        # Admitted workloads hold `pods`, which Kueue's search for victims does not ask for
        # (docs/semantics/kueue.md §4.1).
        totals = request.totals_at(pods.count)
        pod_sets.append(
            PodSetAssignment.model_construct(  # amounts are read already
                name=request.name,
                count=totals[PODS],
                flavors={resource: choice.flavor for resource, choice in pods.flavors.items()},
                resource_usage={  # a user may give flavors of resources that are not requested
                    resource: from_units(totals.get(resource, 0), resource)
                    for resource in pods.flavors
                },
                topology=_written(placements[request.name]) if request.name in placements else None,
            )
        )
    changed = {kind: _condition(kind, "True", kind, now) for kind in _HELD}
    changed |= {kind: _condition(kind, "False", "QuotaReserved", now) for kind in _EVICTION}
    admission = Admission(
        cluster_queue=snapshot.queue_name(preemptor.queue), pod_set_assignments=tuple(pod_sets)
    )
    workload = _with(preemptor.workload, changed, admission)
    held = as_admitted(configuration, now, snapshot.fr_index, preemptor.queue, workload)
    # Whatever a condition says of the pods is of a run before this one.
    past = snapshot.past_of(preemptor.queue, workload)
    return held._replace(past=past, started_at=now, running_s=0)


def _written(placement: Placement) -> TopologyAssignment:
    domains = tuple(AssignedDomain(values=values, count=n) for values, n in placement.domains)
    return TopologyAssignment(levels=placement.levels, domains=domains)


def _condition(kind: str, status: str, reason: str, now: datetime) -> Condition:
    return Condition(type=kind, status=status, reason=reason, last_transition_time=now)


def _with(
    workload: Workload, changed: dict[str, Condition], admission: Admission | None
) -> Workload:
    kept = [one for one in workload.status.conditions if one.type not in changed]
    status = workload.status.model_copy(
        update={"conditions": (*kept, *changed.values()), "admission": admission}
    )
    return workload.model_copy(update={"status": status})


def pending_again(state: State, snapshot: Snapshot, victim: Admitted, reason: str) -> Preemptor:
    """Return a victim as a preemptor that waits once evicted; ``reason`` is its reason code.

    Raises `LookupFailed` if its LocalQueue or ClusterQueue is not in the dump.
    """
    return as_preemptor(state, snapshot, evicted(victim, reason, snapshot.now))


def next_targets(after: Snapshot, waiting: Preemptor) -> tuple[str, ...]:
    """Return whom a victim that waits would preempt after the plan, but for whom goes already."""
    found = decide(after, waiting).search.targets
    return tuple(one.workload.key for one in found if not one.workload.leaving)
