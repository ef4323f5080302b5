"""Why the scheduler computes no flavors and no victims for a pending workload.

A decision for one workload says what Kueue does when it is nominated. These are the filters that
come before, in Kueue's order; none of them looks at quota.

Source: docs/semantics/kueue-features.md §1.1 to §1.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from planner.quota.snapshot import Snapshot
from planner.reference.kueue.cycle.admissibility import refusal_of
from planner.reference.kueue.cycle.waiting import (
    INADMISSIBLE,
    LeadingTo,
    backoff_expired,
    is_queued,
    leading_to,
    not_queued,
    queue_order,
)
from planner.state import State, Workload

Why = Literal["notQueued", "backOff", "clusterQueueInactive", "notHead", "inadmissible"]
"""The first filter that says no.

notQueued             it stands in no queue
backOff               it is parked until the time of its next try, or until somebody sets Requeued
clusterQueueInactive  its ClusterQueue is not asked for a head
notHead               another workload of its ClusterQueue is before it
inadmissible          it is a head, but its checks, its namespace or its pods are turned down
"""


@dataclass(frozen=True, slots=True)
class NotNominated:
    """The filter at which a workload fails, in Kueue's words where it has any, and in ours.

    ``head`` is the workload that is looked at instead; only if another one is before it.
    """

    why: Why
    message: str
    text: str
    head: str = ""


def why_not_nominated(state: State, snapshot: Snapshot, workload: Workload) -> NotNominated | None:
    """Say why a pending workload is not nominated in the next cycle; ``None`` if it is.

    Nobody counts as parked after an earlier try: a dump does not say who is
    (docs/semantics/kueue-features.md §1.4).
    """
    leading = leading_to(state)
    message = not_queued(workload, snapshot, leading)
    if message:
        why = _why_not_queued(workload) if message == INADMISSIBLE else message
        return NotNominated("notQueued", message, f"it stands in no queue: {why}")
    if not backoff_expired(workload, snapshot.now):
        return NotNominated("backOff", "", _backing_off(workload))
    name = leading[workload.metadata.namespace, workload.spec.queue_name]
    node = snapshot.node_of[name]
    queue = snapshot.queues[node]
    if not snapshot.is_active(node):
        text = f"ClusterQueue {queue.name} is inactive: {snapshot.inactive[queue.name]}"
        return NotNominated("clusterQueueInactive", "", text)
    head = _head(state, snapshot, node, leading)
    if head.key != workload.key:
        text = f"it is not the head of ClusterQueue {queue.name}: {head.key} is before it"
        return NotNominated("notHead", "", text, head.key)
    refusal = refusal_of(state, workload, queue)
    if refusal is None:
        return None
    return NotNominated("inadmissible", refusal.message, refusal.message)


def _head(state: State, snapshot: Snapshot, node: int, leading: LeadingTo) -> Workload:
    """Return the first workload of a ClusterQueue in which at least one competes."""
    queue = snapshot.queues[node].name
    competing = (
        workload
        for workload in state.workloads
        if leading.get((workload.metadata.namespace, workload.spec.queue_name)) == queue
        and is_queued(workload, snapshot, node)
        and backoff_expired(workload, snapshot.now)
    )

    def place(workload: Workload) -> tuple[float, tuple[int, datetime, str]]:
        past = snapshot.past_of(node, workload)
        return past or 0.0, queue_order(workload, snapshot.configuration)

    return min(competing, key=place)


_FLAGS: Final = {
    "Finished": "it is finished",
    "QuotaReserved": "it holds quota",
    "WaitingForReplacementPods": "it waits for replacement pods (WaitingForReplacementPods)",
}


def _why_not_queued(workload: Workload) -> str:
    """Say which part of a workload keeps it out of every queue."""
    for kind, text in _FLAGS.items():
        if workload.is_true(kind):
            return text
    if not workload.spec.active:
        return "it is deactivated (spec.active is false)"
    if workload.is_on_hold:
        return "it is on hold (QuotaReserved is False, OnHold)"
    return f"its admission is gated by {workload.gated_by}"


def _backing_off(workload: Workload) -> str:
    requeued = workload.condition("Requeued")
    if requeued is not None and requeued.status == "False":
        return f"it is parked until somebody sets Requeued ({requeued.reason or 'no reason given'})"
    requeue = workload.status.requeue_state
    until = requeue.requeue_at if requeue else None
    return f"it backs off until {until:%Y-%m-%dT%H:%M:%SZ}; a restart of the manager forgets that"
