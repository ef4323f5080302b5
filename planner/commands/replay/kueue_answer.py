"""Decisions and whole scheduling cycles of Kueue in the form in which they are recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from planner.commands.replay.comparison import Answer
from planner.quota.kueue.preemptor import as_preemptor, find_workload
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.assigned import Assigned
from planner.reference.kueue.cycle.nomination import why_not_nominated
from planner.reference.kueue.cycle.record import Cycle, Decider, Entry, Outcome
from planner.reference.kueue.cycle.run import run_cycle
from planner.reference.kueue.decision import Decision, decide
from planner.reference.kueue.target import Target
from planner.reference.kueue.topology.find import Placement
from planner.state import State, Workload

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
        "assignment": _assignment(decision.assigned),
        "targets": [_target(target, snapshot) for target in decision.targets],
    }


def inactivity_answer(snapshot: Snapshot, preemptor: Preemptor) -> Answer:
    """Return what is recorded of a workload for whose ClusterQueue nothing is decided."""
    if snapshot.is_active(preemptor.queue):
        return {}
    return {"inadmissible": "the ClusterQueue is not in the snapshot"}


def nomination_answer(
    state: State, snapshot: Snapshot, key: str, decider: Decider = decide
) -> Answer:
    """Return whether a workload is nominated, and what becomes of it, as that is recorded.

    Raises
    ------
    LookupFailed
        If the workload is not in the dump.
    """
    workload = find_workload(state, key)
    reason = why_not_nominated(state, snapshot, workload)
    if reason is None:
        found = _decided(state, snapshot, workload, decider)
        return {"nominated": True, **found, **_fate(state, key, decider)}
    answer: Answer = {"nominated": False, "why": reason.why}
    if reason.message:
        answer["message"] = reason.message
    if reason.why == "notHead":
        answer["ifHead"] = _decided(state, snapshot, workload, decider)
    return answer


def _decided(state: State, snapshot: Snapshot, workload: Workload, decider: Decider) -> Answer:
    """Return what Kueue counts for a workload that is nominated, and what it decides for it."""
    preemptor = as_preemptor(state, snapshot, workload)
    requests = {
        one.name: {name: str(amount) for name, amount in one.totals.items()}
        for one in preemptor.pod_sets
    }
    decision = decider(snapshot, preemptor)
    found = {"requests": requests, "message": decision.assigned.message}
    return decision_answer(decision, snapshot) | found


def _fate(state: State, key: str, decider: Decider) -> Answer:
    """Return what becomes of a nominated workload in a cycle with all that wait."""
    cycle = run_cycle(state, decider=decider, placing=True)
    entry = next((one for one in cycle.entries if one.preemptor.key == key), None)
    return {
        "outcome": entry.outcome if entry else "",
        "evicted": _by_workload(_target(one, cycle.snapshot) for one in cycle.evicted),
        "finished": sorted(one.key for one in cycle.finished),
    }


def cycle_answer(cycle: Cycle) -> Answer:
    """Return a scheduling cycle in the form in which cycles are recorded.

    What has no order in the scheduler stands by name: the inadmissible, the evicted, who waits.
    """
    snapshot = cycle.snapshot
    answer: Answer = {
        "entries": [_entry(entry, snapshot) for entry in cycle.entries],
        "inadmissible": _by_workload(
            {**_entry(entry, snapshot), "message": entry.message} for entry in cycle.inadmissible
        ),
        "evicted": _by_workload(_target(target, snapshot) for target in cycle.evicted),
        "finished": sorted(one.key for one in cycle.finished),
        "admitted": sorted(
            entry.preemptor.key for entry in cycle.entries if entry.outcome == "admitted"
        ),
        "notQueued": _by_workload(
            {"workload": key, "message": message} for key, message in cycle.not_queued.items()
        ),
        "inactiveClusterQueues": sorted(snapshot.inactive),
        "blocked": cycle.blocked,
    }
    if not cycle.blocked:  # else the scheduler is still in the middle of it
        answer |= {"left": _sorted(cycle.left), "parked": _sorted(cycle.parked)}
    return answer


def _entry(entry: Entry, snapshot: Snapshot) -> Answer:
    mode = _DEFERRED if entry.outcome == "deferred" else ""
    return {
        "workload": entry.preemptor.key,
        "clusterQueue": snapshot.queue_name(entry.preemptor.queue),
        "outcome": entry.outcome,
        "status": _STATUS.get(entry.outcome, ""),
        "requeueReason": entry.requeue_reason,
        "quotaReservedReason": entry.quota_reserved_reason,
        "assignment": entry.decision and _assignment(entry.decision.assigned, mode),
        "targets": [_target(target, snapshot) for target in entry.targets],
    }


def _assignment(assigned: Assigned, mode: str = "") -> Answer:
    """Return an assignment; ``mode`` takes the place of every mode in it."""
    assignment = assigned.assignment
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
                "topologyAssignment": _placement(assigned.placements.get(pods.name)),
                "delayedTopologyRequest": "Pending" if pods.name in assigned.delayed else None,
            }
            for pods in assignment.pod_sets
        ],
    }


def _placement(placement: Placement | None) -> Answer | None:
    if placement is None:
        return None
    domains = [{"values": list(values), "count": count} for values, count in placement.domains]
    return {"levels": list(placement.levels), "domains": domains}


def _target(target: Target, snapshot: Snapshot) -> Answer:
    return {
        "workload": target.workload.key,
        "clusterQueue": snapshot.queue_name(target.workload.queue),
        "reason": target.reason,
    }


def _by_workload(answers: Iterable[Answer]) -> list[Answer]:
    return sorted(answers, key=lambda answer: str(answer["workload"]))


def _sorted(waiting: Mapping[str, Sequence[str]]) -> Answer:
    return {queue: sorted(keys) for queue, keys in waiting.items()}
