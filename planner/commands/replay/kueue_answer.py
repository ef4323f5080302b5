"""Decisions and whole scheduling cycles of Kueue in the form in which they are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from planner.assignment import Assignment
from planner.commands.replay.comparison import Answer
from planner.quota.snapshot import Snapshot
from planner.reference.kueue.cycle.record import Cycle, Entry, Outcome
from planner.reference.kueue.decision import Decision
from planner.reference.kueue.target import Target

_DEFERRED: Final = "DeferredFit"
_STATUS: Final[Mapping[Outcome, str]] = {
    "admitted": "assumed",
    "skipped": "skipped",
    "preemptionGated": "preemptionGated",
}
"""The scheduler's own word for what became of a head; for the others it has none."""


def decision_answer(decision: Decision, snapshot: Snapshot) -> Answer:
    """Return a decision in the form in which answers are recorded."""
    return {
        "assignment": _assignment(decision.assignment),
        "targets": [_target(target, snapshot) for target in decision.targets],
    }


def cycle_answer(cycle: Cycle) -> Answer:
    """Return a scheduling cycle in the form in which cycles are recorded.

    What has no order in the scheduler stands by name: the inadmissible, the evicted, who waits.
    """
    snapshot = cycle.snapshot
    inadmissible = [_entry(entry, snapshot) for entry in cycle.inadmissible]
    evicted = [_target(target, snapshot) for target in cycle.evicted]
    return {
        "entries": [_entry(entry, snapshot) for entry in cycle.entries],
        "inadmissible": sorted(inadmissible, key=_workload),
        "evicted": sorted(evicted, key=_workload),
        "finished": sorted(one.key for one in cycle.finished),
        "left": _sorted(cycle.left),
        "parked": _sorted(cycle.parked),
    }


def _entry(entry: Entry, snapshot: Snapshot) -> Answer:
    mode = _DEFERRED if entry.outcome == "deferred" else ""
    return {
        "workload": entry.preemptor.key,
        "clusterQueue": snapshot.queue_name(entry.preemptor.queue),
        "outcome": entry.outcome,
        "status": _STATUS.get(entry.outcome, ""),
        "requeueReason": entry.requeue_reason,
        "quotaReservedReason": entry.quota_reserved_reason,
        "assignment": entry.assignment and _assignment(entry.assignment, mode),
        "targets": [_target(target, snapshot) for target in entry.targets],
    }


def _assignment(assignment: Assignment, mode: str = "") -> Answer:
    """Return an assignment; ``mode`` takes the place of every mode in it."""
    return {
        "mode": mode or assignment.mode,
        "borrowing": assignment.borrowing,
        "podSets": [
            {
                "name": pods.name,
                "count": pods.count,
                "flavors": {
                    resource: {"flavor": choice.flavor, "mode": mode or choice.mode}
                    for resource, choice in pods.flavors.items()
                },
            }
            for pods in assignment.pod_sets
        ],
    }


def _target(target: Target, snapshot: Snapshot) -> Answer:
    return {
        "workload": target.workload.key,
        "clusterQueue": snapshot.queue_name(target.workload.queue),
        "reason": target.reason,
    }


def _workload(answer: Answer) -> str:
    return str(answer["workload"])


def _sorted(waiting: Mapping[str, Sequence[str]]) -> Answer:
    return {queue: sorted(keys) for queue, keys in waiting.items()}
