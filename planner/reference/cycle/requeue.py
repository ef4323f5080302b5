"""Who goes back to the queue after a cycle, and who is parked.

Source: kueue-semantics.md, section 7.5; kueue ff69552e pkg/scheduler/scheduler.go
``requeueAndUpdate`` and pkg/cache/queue/cluster_queue.go ``RequeueIfNotPresent``,
``handleInadmissibleHash``.
"""

from __future__ import annotations

from typing import Final

from planner.quota.preemptor import as_preemptor
from planner.quota.request import Defaults
from planner.quota.snapshot import Preemptor, Snapshot
from planner.reference.cycle.equivalence import Class, equivalence_class
from planner.reference.cycle.record import Entry
from planner.reference.cycle.waiting import Waiting
from planner.state import State

_AT_ONCE: Final = frozenset({"preempting", "deferred", "skipped"})
"""Outcomes after which a workload of a BestEffortFIFO queue is tried again in the next cycle."""
_WALKED: Final = frozenset({"noFit", "noCandidates"})
"""Outcomes that say something of every workload of the same shape, and that keep how far the
walk over the flavors came."""


def requeue(state: State, snapshot: Snapshot, waiting: Waiting, entry: Entry) -> None:
    """Put the head of a queue, which was taken out, where it belongs after the cycle."""
    if entry.outcome == "admitted":
        return
    workload = entry.preemptor.workload
    strict = snapshot.queues[entry.preemptor.queue].spec.queueing_strategy == "StrictFIFO"
    if _goes_back(entry, strict=strict):
        waiting.active.insert(0, workload)
        return
    waiting.parked.append(workload)
    equivalence = state.configuration.gate("SchedulingEquivalenceHashing")
    if equivalence and not strict and entry.outcome in _WALKED:
        _park_alike(state, snapshot, waiting, entry.preemptor)


def _goes_back(entry: Entry, *, strict: bool) -> bool:
    """Say whether a head competes again in the next cycle."""
    if strict and entry.requeue_reason != "NamespaceMismatch":
        return True
    if entry.outcome in _AT_ONCE:
        return True
    decision = entry.decision
    return entry.outcome in _WALKED and decision is not None and decision.assigned.untried


def _park_alike(state: State, snapshot: Snapshot, waiting: Waiting, head: Preemptor) -> None:
    """Park all workloads of the head's queue which the scheduler cannot tell from the head."""
    same = _class(state, head)
    others, waiting.active = waiting.active, []
    for workload in others:
        alike = _class(state, as_preemptor(state, snapshot, workload)) == same
        (waiting.parked if alike else waiting.active).append(workload)


def _class(state: State, preemptor: Preemptor) -> Class:
    namespace = preemptor.workload.metadata.namespace
    defaults = Defaults.of(namespace, state.limit_ranges, state.runtime_classes)
    return equivalence_class(preemptor, defaults)
