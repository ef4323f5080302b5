"""What a plan leaves behind: its victims gone and pending again, the preemptor admitted.

Everything else stays as it is, the clock included. An eviction clears ``status.admission`` and
sets the conditions Evicted and Preempted, unless the workload was being evicted already: Kueue
does not evict it a second time (docs/semantics/kueue.md §7). An admission takes both back.
Reclaimable pods stay what they are.

Source: docs/semantics/kueue.md §2.1 and §2.4; kueue ff69552e pkg/workload/workload.go
``SetEvictedCondition``, ``SetPreemptedCondition`` and ``SetQuotaReservation``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from planner.assignment import Assignment
from planner.quantity import from_units
from planner.quota.slices import replaced_slice
from planner.quota.snapshot import Admitted, Preemptor, Snapshot, as_admitted
from planner.state import Workload
from planner.state.base import Condition
from planner.state.workload import Admission, Eviction, PodSetAssignment, SchedulingStats

_HELD = ("QuotaReserved", "Admitted")
_EVICTION = ("Evicted", "Preempted")
_PREEMPTED = "Preempted"


def snapshot_after(snapshot: Snapshot, holder: Admitted, victims: Collection[Admitted]) -> Snapshot:
    """Return the snapshot with the victims gone and the preemptor admitted as ``holder``.

    A slice of an elastic workload that the preemptor replaces is finished then.
    """
    usage, admitted = snapshot.usage.copy(), dict(snapshot.admitted)
    old = replaced_slice(snapshot, holder.queue, holder.workload)
    victims = [*{one.key: one for one in (*victims, *([old] if old else []))}.values()]
    gone = {victim.key for victim in victims}
    for victim in victims:
        usage.remove(victim.queue, victim.usage)
    for node in {victim.queue for victim in victims}:
        admitted[node] = [one for one in admitted[node] if one.key not in gone]
    usage.add(holder.queue, holder.usage)
    admitted[holder.queue] = [*admitted[holder.queue], holder]
    return replace(snapshot, usage=usage, admitted=admitted)


def evicted(victim: Admitted, reason: str, now: datetime) -> Workload:
    """Return a victim as the workload that is pending once it is gone; ``reason`` is its code."""
    changed = {kind: _condition(kind, "False", "Pending", now) for kind in _HELD}
    if not victim.evicted:
        changed |= _eviction(reason, now)
    return _with(victim.workload, changed, None)


def evicting(victim: Admitted, reason: str, now: datetime) -> Admitted:
    """Return a victim that still holds what it held, and is being evicted from now on.

    Its evictions are counted in its schedulingStats, as pkg/workload/evict/evict.go does.
    """
    workload = _with(victim.workload, _eviction(reason, now), victim.workload.status.admission)
    counts = Counter({_PREEMPTED: 1})
    for one in workload.status.scheduling_stats.evictions:
        counts[one.reason] += one.count
    evictions = tuple(Eviction(reason=name, count=count) for name, count in counts.items())
    told = {"scheduling_stats": SchedulingStats(evictions=evictions)}
    workload = workload.model_copy(update={"status": workload.status.model_copy(update=told)})
    return victim._replace(workload=workload, evicted=True, remarked=True)


def _eviction(reason: str, now: datetime) -> dict[str, Condition]:
    return {
        "Evicted": _condition("Evicted", "True", _PREEMPTED, now),
        "Preempted": _condition("Preempted", "True", reason, now),
    }


def admit(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> Admitted:
    """Return the preemptor as what holds its assignment, requests for ``pods`` included."""
    now, configuration = snapshot.now, snapshot.configuration
    pod_sets = []
    for request, pods in zip(preemptor.pod_sets, assignment.pod_sets, strict=True):
        count = request.count if pods.count is None else pods.count
        totals = {**request.scaled(count).totals, "pods": count}
        pod_sets.append(
            PodSetAssignment.model_construct(  # amounts are read already
                name=request.name,
                count=count,
                flavors={resource: choice.flavor for resource, choice in pods.flavors.items()},
                resource_usage={  # flavors that a user gives may be of what is not requested
                    resource: from_units(totals.get(resource, 0), resource)
                    for resource in pods.flavors
                },
            )
        )
    changed = {kind: _condition(kind, "True", kind, now) for kind in _HELD}
    changed |= {kind: _condition(kind, "False", "QuotaReserved", now) for kind in _EVICTION}
    admission = Admission(
        clusterQueue=snapshot.queue_name(preemptor.queue), podSetAssignments=tuple(pod_sets)
    )
    workload = _with(preemptor.workload, changed, admission)
    held = as_admitted(configuration, now, snapshot.fr_index, preemptor.queue, workload)
    return held._replace(past=snapshot.past_of(preemptor.queue, workload))


def _condition(kind: str, status: str, reason: str, now: datetime) -> Condition:
    return Condition(type=kind, status=status, reason=reason, lastTransitionTime=now)


def _with(
    workload: Workload, changed: dict[str, Condition], admission: Admission | None
) -> Workload:
    """Return a workload with some conditions replaced and another admission."""
    kept = [one for one in workload.status.conditions if one.type not in changed]
    status = workload.status.model_copy(
        update={"conditions": (*kept, *changed.values()), "admission": admission}
    )
    return workload.model_copy(update={"status": status})
