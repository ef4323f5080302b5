"""Who waits in which queue, in which order, and the heads.

Source: kueue-semantics.md, section 7.1; kueue ff69552e pkg/workload/workload.go ``IsAdmissible``
and pkg/cache/queue/cluster_queue.go ``baseCompareFunc``, ``backoffWaitingTimeExpired``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from planner.quota.holding import effective_priority, queue_order_time
from planner.quota.snapshot import Snapshot
from planner.state import Configuration, State, Workload

GATED_BY: Final = "kueue.x-k8s.io/admission-gated-by"


@dataclass(slots=True)
class Waiting:
    """The workloads of one ClusterQueue: ``active`` in queue order, and those that are parked."""

    active: list[Workload]
    parked: list[Workload]

    @property
    def head(self) -> Workload | None:
        """The first active workload."""
        return self.active[0] if self.active else None


def waiting_queues(state: State, snapshot: Snapshot) -> dict[int, Waiting]:
    """Return who waits in every ClusterQueue, by node, in the order of the dump.

    A workload whose LocalQueue is not there or stopped, or points nowhere, waits in none.
    """
    queue_of = {
        (local.metadata.namespace, local.metadata.name): snapshot.node_of[local.spec.cluster_queue]
        for local in state.local_queues
        if local.spec.stop_policy == "None" and local.spec.cluster_queue in snapshot.node_of
    }
    queues = {node: Waiting([], []) for node in snapshot.queues}
    for workload in state.workloads:
        queue = queue_of.get((workload.metadata.namespace, workload.spec.queue_name))
        if queue is not None and is_queued(workload, state.configuration):
            waiting = queues[queue]
            backs_off = not backoff_expired(workload, snapshot.now)
            (waiting.parked if backs_off else waiting.active).append(workload)
    for waiting in queues.values():
        waiting.active.sort(key=lambda workload: _queue_order(workload, state.configuration))
    return queues


def heads(queues: dict[int, Waiting], snapshot: Snapshot) -> Iterator[tuple[int, Workload]]:
    """Yield the head of every active ClusterQueue with its node."""
    for queue, waiting in queues.items():
        if waiting.head is not None and snapshot.is_active(queue):
            yield queue, waiting.head


def is_queued(workload: Workload, configuration: Configuration) -> bool:
    """Say whether a workload may stand in a queue at all."""
    if not workload.is_pending or workload.is_true("QuotaReserved"):
        return False
    reserved = workload.condition("QuotaReserved")
    on_hold = reserved is not None and reserved.status == "False" and reserved.reason == "OnHold"
    gated = configuration.gate("AdmissionGatedBy") and workload.metadata.annotations.get(GATED_BY)
    return not (on_hold or gated or workload.is_true("WaitingForReplacementPods"))


def backoff_expired(workload: Workload, now: datetime) -> bool:
    """Say whether a workload may be tried again after an eviction."""
    requeued = workload.condition("Requeued")
    if requeued is not None and requeued.status == "False":
        return False
    requeue = workload.status.requeue_state
    return requeue is None or requeue.requeue_at is None or requeue.requeue_at <= now


def _queue_order(workload: Workload, configuration: Configuration) -> tuple[int, datetime, str]:
    return (
        -effective_priority(workload, configuration),
        queue_order_time(workload, configuration),
        workload.metadata.uid,
    )
