"""One scheduling cycle, from the heads to the queues that are left.

Source: kueue-semantics.md, section 7; kueue ff69552e pkg/scheduler/scheduler.go ``schedule``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from planner.quota.preemptor import as_preemptor
from planner.quota.snapshot import Snapshot, take_snapshot
from planner.reference.cycle.admissibility import refusal_of
from planner.reference.cycle.order import classical_order
from planner.reference.cycle.processing import Processing
from planner.reference.cycle.record import Cycle, Entry, Nominee
from planner.reference.cycle.requeue import requeue
from planner.reference.cycle.tournament import tournament_order
from planner.reference.cycle.waiting import heads, waiting_queues
from planner.reference.decision import decide
from planner.state import State, Workload


def run_cycle(state: State, now: datetime | None = None) -> Cycle:
    """Replay the scheduling cycle that Kueue would run on a state, and its queues afterwards.

    Parameters
    ----------
    state
        What was read.
    now
        The clock; the state's own when absent.

    Raises
    ------
    LookupFailed
        If an admitted workload names a flavor that nothing knows.
    """
    snapshot = take_snapshot(state, now)
    queues = waiting_queues(state, snapshot)
    nominees: list[Nominee] = []
    inadmissible: list[Entry] = []
    for queue, workload in heads(queues, snapshot):
        preemptor = as_preemptor(state, snapshot, workload)
        refusal = refusal_of(state, workload, snapshot.queues[queue])
        if refusal is None:
            nominees.append(Nominee(preemptor, decide(snapshot, preemptor)))
        else:
            inadmissible.append(Entry(preemptor, "inadmissible", None, *refusal))
    processing = Processing(snapshot, snapshot.usage.copy())
    entries = [processing.process(nominee) for nominee in _in_order(processing, nominees)]
    for entry in (*entries, *inadmissible):
        waiting = queues[entry.preemptor.queue]
        waiting.active.pop(0)
        requeue(state, snapshot, waiting, entry)
    return Cycle(
        snapshot=snapshot,
        entries=tuple(entries),
        inadmissible=tuple(inadmissible),
        evicted=tuple(processing.evicted),
        left=_keys(snapshot, {queue: waiting.active for queue, waiting in queues.items()}),
        parked=_keys(snapshot, {queue: waiting.parked for queue, waiting in queues.items()}),
    )


def _in_order(processing: Processing, nominees: list[Nominee]) -> Iterable[Nominee]:
    """Give the nominees in the order of processing; fair sharing looks at what is taken so far."""
    snapshot = processing.snapshot
    if snapshot.configuration.fair_sharing_on:
        return tournament_order(snapshot, processing.usage, nominees)
    return classical_order(nominees, snapshot.configuration)


def _keys(snapshot: Snapshot, workloads: dict[int, list[Workload]]) -> dict[str, tuple[str, ...]]:
    return {
        snapshot.queue_name(queue): tuple(workload.key for workload in some)
        for queue, some in workloads.items()
        if some
    }
