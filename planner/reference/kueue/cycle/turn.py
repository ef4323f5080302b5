"""Whether the scheduler ever comes to a pending workload, as long as nothing else changes.

A decision for one workload says what Kueue does when its turn comes. It may never come: the head
of a StrictFIFO queue that finds nobody to preempt stays the head, and the head of another queue
that reserves what it cannot have is before others in every cycle, which then are skipped.

Source: docs/semantics/kueue.md §7.1, §7.4 and §7.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planner.quota.snapshot import Snapshot
from planner.reference.kueue.cycle.record import Entry, Schedule
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import Waiting, waiting_queues
from planner.state import State

MOST_CYCLES: Final = 200
"""Cycles after which nothing is said: as a rule two tell."""
_MOVES: Final = frozenset({"admitted", "preempting", "deferred"})


@dataclass(frozen=True, slots=True)
class InTheWay:
    """Who is before a workload in every cycle: those of its own StrictFIFO queue, or others."""

    workloads: tuple[str, ...]
    own_queue: bool


def in_the_way(
    state: State, snapshot: Snapshot, key: str, queue: int, is_late: Callable[[], bool]
) -> InTheWay | None:
    """Return who keeps the scheduler from a pending workload; ``None`` where nobody is known to.

    Cycles are run in its cohort tree until one reaches it, or anybody else is admitted or
    preempts, or all is as it was before a cycle. A workload that stands in no queue has no turn.

    Parameters
    ----------
    key, queue
        The workload, and the node of its ClusterQueue.
    is_late
        Whether time is up, asked before each cycle.
    """
    root = snapshot.tree.path(queue)[-1]
    queues = {
        node: waiting
        for node, waiting in waiting_queues(state, snapshot).items()
        if snapshot.tree.path(node)[-1] == root
    }
    if all(one.key != key for one in queues[queue].active):
        return None
    seen: set[object] = set()
    for number in range(MOST_CYCLES):
        if is_late():
            return None
        head = queues[queue].head
        ran = schedule(state, snapshot, queues, cycle=number)
        if any(entry.outcome in _MOVES for entry in ran.entries) or _reaches(ran, key):
            return None
        standing = _standing(queues)
        if standing in seen:
            if head is not None and head.key != key:
                return InTheWay((head.key,), own_queue=True)
            return InTheWay(_before(ran, key), own_queue=False)
        seen.add(standing)
    return None


def _reaches(ran: Schedule, key: str) -> bool:
    entries: tuple[Entry, ...] = (*ran.entries, *ran.inadmissible)
    return any(one.preemptor.key == key and one.outcome != "skipped" for one in entries)


def _before(ran: Schedule, key: str) -> tuple[str, ...]:
    """Return who was processed before a workload that was skipped, and reserved something."""
    found = []
    for entry in ran.entries:
        if entry.preemptor.key == key:
            break
        if entry.outcome == "noCandidates":
            found.append(entry.preemptor.key)
    return tuple(found)


def _standing(queues: dict[int, Waiting]) -> object:
    """Return who competes and who is parked, and how far walks over flavors came."""
    return tuple(
        (
            node,
            tuple((one.key, str(one.progress and one.progress.tried)) for one in waiting.active),
            tuple(sorted(one.key for one in waiting.parked)),
        )
        for node, waiting in queues.items()
    )
