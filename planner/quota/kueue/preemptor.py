"""The preemptor: the pending workload that is to get room, and the queue it waits for.

A slice of an elastic workload replaces an old slice, whose usage need not be asked for.

Source: docs/semantics/kueue-features.md §2; kueue ff69552e
pkg/workloadslicing/workloadslicing.go ``ReplacedWorkloadSlice``, ``FindReplacedSliceTarget`` and
pkg/scheduler/flavorassigner/flavorassigner.go ``TotalRequestsFor``, ``append``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from planner.errors import InputError, LookupFailed, UnsupportedError, did_you_mean
from planner.quantity import plural
from planner.quota.kueue.amount import Arithmetic
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.holding import (
    PodSetHolding,
    effective_priority,
    pod_set_holdings,
    queue_order_time,
)
from planner.quota.kueue.request import Defaults, pod_set_requests
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.state.kueue import Configuration, State, Workload
from planner.state.kueue_columns import held_of

Hold = Literal[
    "notQueued",
    "backOff",
    "clusterQueueInactive",
    "notHead",
    "inadmissible",
    "preemptionGated",
    "waitsForPodsReady",
    "tooFewPods",
    "notFirst",
    "deferred",
]
"""What keeps Kueue from acting on a workload: the first filter at which it fails, or what follows.

notQueued             it stands in no queue
backOff               it is parked until the time of its next try, or until somebody sets Requeued
clusterQueueInactive  its ClusterQueue is not asked for a head
notHead               another workload of its ClusterQueue is before it
inadmissible          it is a head, but its checks, its namespace or its pods are turned down
preemptionGated       it would preempt, but has a closed gate
waitsForPodsReady     it fits, but nobody is admitted while the pods of another are not ready
tooFewPods            its victims would not free enough pods, and so none of them is ever evicted
notFirst              heads of other ClusterQueues are before it in the cycle, and take or reserve
                      what it would take
deferred              it will fit once the victims of another head are gone, and preempts nobody
"""


def find_preemptor(state: State, snapshot: Snapshot, key: str) -> Preemptor:
    """Look up the pending workload ``namespace/name`` and the queue it waits for.

    Raises ``LookupFailed`` if the workload, its LocalQueue or its ClusterQueue is not in the dump.
    Raises ``InputError`` if the workload does not wait: it holds quota, is finished or deactivated.
    """
    workload = snapshot.waiting.get(key) or find_workload(state, key)
    if not workload.is_pending:
        found = f"workload {key} is not pending: it {_why_not_pending(workload)}"
        raise InputError(state.source, found)
    return as_preemptor(state, snapshot, workload)


def _why_not_pending(workload: Workload) -> str:
    reason = "is finished" if workload.spec.active else "is deactivated (spec.active is false)"
    if workload.holds_quota:
        reason = "already holds quota"
    evicted = workload.condition("Evicted")
    if evicted is not None and evicted.is_true:
        reason += f"; its condition Evicted is True ({evicted.reason}: {evicted.message})"
    return reason


def deactivated(state: State) -> list[str]:
    """Say of each workload that would wait were it active that it is not, and why."""
    idle = (one for one in state.workloads.where(state.workloads.gone) if not one.spec.active)
    return [f"{one.key} {_why_not_pending(one)}" for one in idle if not one.is_true("Finished")]


def key_of(state: State, name: str, meant: Sequence[str]) -> str:
    """Return the key of the workload that a user means by a name, or the name as it is.

    That is the workload with this key; or else the only one of this name, whose namespace may be
    left out, or that of the job of this name: Kueue calls the workload of a job KIND-JOB-HASH
    (pkg/controller/jobframework/workload_names.go). The keys that may be ``meant`` come first.

    Raises ``LookupFailed`` if several may be meant.
    """
    if state.workloads.find(name) is not None:
        return name
    namespace, _, own = name.rpartition("/")
    of_job = re.compile(rf"[a-z0-9]+-{re.escape(own)}-[0-9a-f]{{5}}")
    for keys in (meant, state.workloads.keys):
        places = [(key, *key.split("/", 1)) for key in keys]
        there = [(key, called) for key, place, called in places if namespace in {"", place}]
        found = [key for key, called in there if called == own] or [
            key for key, called in there if of_job.fullmatch(called)
        ]
        if len(found) > 1:
            some = ", ".join(found[:10])
            raise LookupFailed(state.source, f"{name} may be any of {len(found)}", f"one of {some}")
        if found:
            return found[0]
    return name


def find_workload(state: State, key: str) -> Workload:
    """Look up a workload ``namespace/name``; raises ``LookupFailed`` if it is not in the dump."""
    workload = state.workloads.find(key)
    if workload is not None:
        return workload
    waiting = state.pending
    some = ", ".join(waiting[:10]) or "there are none"
    expected, hint = f"one of the pending workloads: {some}", did_you_mean(key, waiting)
    raise LookupFailed(state.source, f"there is no workload {key}", expected, hint)


def as_preemptor(state: State, snapshot: Snapshot, workload: Workload) -> Preemptor:
    """Return a pending workload as a preemptor, with the ClusterQueue behind its LocalQueue.

    Raises ``LookupFailed`` if its LocalQueue or its ClusterQueue is not in the dump. Raises
    ``UnsupportedError`` if a pod count is negative, as older releases have it where more pods are
    reclaimable than there are: the API server takes no such admission.
    """
    namespace, rules = workload.metadata.namespace, state.configuration.rules
    defaults = Defaults.in_namespace(namespace, state.limit_ranges, state.runtime_classes, rules)
    charges = snapshot.devices.charges(workload)
    pod_sets = pod_set_requests(workload, state.configuration, defaults, charges.of_pod_set)
    if any(one.count < 0 for one in pod_sets):
        release = state.configuration.release.name
        message = f"Kueue {release} lets it ask for less than nothing: more of its pods are "
        raise UnsupportedError(workload.key, f"{message}reclaimable than it has")
    return Preemptor(
        workload=workload,
        queue=_queue_of(state, snapshot, workload),
        priority=effective_priority(workload, state.configuration),
        queued_at=queue_order_time(workload, state.configuration),
        pod_sets=tuple(
            # Totals that Kueue recorded include what a dump may lack, so they replace the request.
            replace(one, totals=charges.recorded.get(one.name, one.totals))
            for one in pod_sets
        ),
        rejection=charges.rejection,
        notes=charges.notes,
        buffer=state.configuration.timestamp_buffer,
    )


def _queue_of(state: State, snapshot: Snapshot, workload: Workload) -> int:
    name, namespace = workload.spec.queue_name, workload.metadata.namespace
    if not name:
        found = f"workload {workload.key} waits in no LocalQueue: its spec.queueName is empty"
        hint = "the label kueue.x-k8s.io/queue-name of its job names one"
        raise LookupFailed(state.source, found, hint=hint)
    for local in state.local_queues:
        if (local.metadata.name, local.metadata.namespace) == (name, namespace):
            queue = local.spec.cluster_queue
            if queue in snapshot.node_of:
                return snapshot.node_of[queue]
            found = f'LocalQueue {local.key} points to ClusterQueue "{queue}"'
            kind, wanted, known = "clusterqueues", queue, [one.name for one in state.cluster_queues]
            break
    else:
        kind, wanted = "localqueues", f"{namespace}/{name}"
        found = f'workload {workload.key} waits in LocalQueue "{wanted}"'
        known = [one.key for one in state.local_queues]
    there = f"the dump has {', '.join(known[:10])}" if known else ""
    hint = did_you_mean(wanted, known) or there
    hint = hint or f"add {kind} to the kinds that kubectl get prints"
    raise LookupFailed(state.source, f"{found}, which is not in the dump", hint=hint)


_GATE: Final = "ElasticJobsViaWorkloadSlices"


def names_replaced(workload: Workload, configuration: Configuration) -> str:
    """Return the key of the slice a workload says it replaces; empty if none or the gate is off."""
    return workload.replaces if configuration.gate(_GATE) else ""


class Replaced(NamedTuple):
    """An old slice with what it holds by podset; ``replacement`` is the key of the new slice."""

    slice: Admitted
    replacement: str
    pod_sets: Sequence[PodSetHolding]
    arithmetic: Arithmetic

    def at(self, place: int) -> PodSetHolding:
        """Return what the podset at a place of the spec holds: place, not name, matches podsets.

        Raises ``UnsupportedError`` if the old slice has fewer podsets.
        """
        if place < len(self.pod_sets):
            return self.pod_sets[place]
        holds = f"holds {plural(len(self.pod_sets), 'podset')} only"
        raise UnsupportedError(
            self.replacement,
            f"it replaces {self.slice.key}, which {holds}: Kueue itself crashes on that",
        )

    def named(self, name: str, resource: str) -> int:
        """Return how much of a resource the first podset of a name holds."""
        return next((one.amounts.get(resource, 0) for one in self.pod_sets if one.name == name), 0)

    def beyond(self, places: Sequence[int], resource: str, amount: int) -> int:
        """Return an amount less what the old podsets at these places hold; it may be negative."""
        for place in places:
            held = self.at(place).amounts.get(resource, 0)
            amount = self.arithmetic.subtract(amount, held)
        return amount


def replaced_by(snapshot: Snapshot, preemptor: Preemptor) -> Replaced | None:
    """Return the slice that a pending workload replaces; ``None`` if it is an ordinary workload.

    The slice has to hold quota in the same ClusterQueue, and be of the same namespace, which older
    releases do not ask for (switch 31 of planner/state/kueue_release.py).
    """
    old = replaced_slice(snapshot, preemptor.queue, preemptor.workload)
    if old is None:
        return None
    holdings = pod_set_holdings(held_of(old.workload), snapshot.configuration)
    return Replaced(old, preemptor.key, holdings, snapshot.tree.arithmetic)


def replaced_slice(snapshot: Snapshot, queue: int, workload: Workload) -> Admitted | None:
    """Return the holder in a ClusterQueue that a workload of that queue replaces, if any."""
    key = names_replaced(workload, snapshot.configuration)
    anywhere = not snapshot.configuration.rules.replaces_in_own_namespace
    for one in snapshot.admitted.get(queue, ()) if key else ():
        if one.key == key and (anywhere or one.namespace == workload.metadata.namespace):
            return one
    return None
