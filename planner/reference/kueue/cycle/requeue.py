"""Who goes back to the queue after a cycle, and who is parked.

Source: docs/semantics/kueue.md §7.5; kueue ff69552e pkg/scheduler/scheduler.go
``requeueAndUpdate``, ``markSkipped`` and pkg/cache/queue/cluster_queue.go
``RequeueIfNotPresent``, ``handleInadmissibleHash``, ``preemptorWorkload``.
"""

from __future__ import annotations

from typing import Final

from planner.reference.kueue.cycle.record import Entry
from planner.reference.kueue.cycle.waiting import Pending, Progress, Waiting
from planner.state import Configuration

_AT_ONCE: Final = frozenset({"preempting", "deferred", "skipped", "migrating"})
"""Outcomes after which a workload of a BestEffortFIFO queue is tried again in the next cycle."""
_WALKED: Final = frozenset({"noFit", "noCandidates"})
"""Outcomes that say something of every workload of the same shape, and that keep how far the
walk over the flavors came."""


def requeue(
    configuration: Configuration, waiting: Waiting, pending: Pending, entry: Entry, cycle: int
) -> None:
    """Put the head of a queue, which was taken out, where it belongs after the cycle."""
    if entry.outcome == "admitted":
        if waiting.preemptor == pending.key:
            waiting.preemptor = None
        return
    pending.progress = _progress(configuration, waiting, pending, entry, cycle)
    # Sticky: whoever preempted is the head again, or its victims would make room for another.
    if entry.requeue_reason == "PendingPreemption":
        waiting.preemptor = pending.key
    if _goes_back(pending, entry, strict=waiting.strict):
        waiting.put(pending)
        return
    waiting.parked.append(pending)
    equivalence = configuration.gate("SchedulingEquivalenceHashing")
    if equivalence and not waiting.strict and entry.outcome in _WALKED:
        _park_alike(waiting, pending)


def _goes_back(pending: Pending, entry: Entry, *, strict: bool) -> bool:
    """Say whether a head competes again in the next cycle."""
    # StrictFIFO waits behind its head whatever failed, but for a namespace that does not match.
    if strict and entry.requeue_reason != "NamespaceMismatch":
        return True
    if entry.outcome in _AT_ONCE:
        return True
    return pending.progress is not None and pending.progress.has_untried


def _progress(
    configuration: Configuration, waiting: Waiting, pending: Pending, entry: Entry, cycle: int
) -> Progress | None:
    """Return what is remembered of the walks over the flavors."""
    if entry.decision is None:
        return pending.progress
    keeps = entry.outcome in _WALKED or (
        entry.outcome == "skipped" and configuration.gate("FlavorFungibilityPreserveScanProgress")
    )
    return Progress(entry.decision.assigned.tried, cycle, waiting.generation) if keeps else None


def _park_alike(waiting: Waiting, head: Pending) -> None:
    """Park all workloads of the head's queue which the scheduler cannot tell from the head."""
    waiting.bulk.add(head.kind)
    others, waiting.active = waiting.active, []
    for pending in others:
        (waiting.parked if pending.kind == head.kind else waiting.active).append(pending)
