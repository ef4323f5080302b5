"""Whether the scheduler ever comes to a pending workload, as long as nothing else changes.

A decision for one workload says what Kueue does when its turn comes. It may never come: the head
of a StrictFIFO queue that finds nobody to preempt stays the head, and the head of another queue
that reserves what it cannot have is before others in every cycle, which then are skipped.

Source: docs/semantics/kueue.md §7.1, §7.4 and §7.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from planner.quota.kueue.snapshot import Snapshot
from planner.reference.kueue.cycle.record import Schedule
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import Pending, Waiting, heads, waiting_queues
from planner.state.kueue import State

MOST_CYCLES: Final = 200
"""Cycles after which nothing is said: as a rule two tell."""
_MOVES: Final = frozenset({"admitted", "preempting", "deferred"})


class InTheWay(NamedTuple):
    """Who is before a workload in every cycle: those of its own StrictFIFO queue, or others."""

    workloads: tuple[str, ...]
    own_queue: bool


def in_the_way(
    state: State, snapshot: Snapshot, key: str, queue: int, is_late: Callable[[], bool]
) -> InTheWay | None:
    """Return who keeps the scheduler from a pending workload; ``None`` where nobody is known to.

    A workload that stands in no queue, or in one that takes no part in scheduling, has no turn.

    Parameters
    ----------
    key, queue
        The workload, and the node of its ClusterQueue.
    is_late
        Whether time is up, asked before each cycle.
    """
    snapshot = snapshot.at_will(will=False)  # Kueue's cycles know nothing of anybody's will
    root = snapshot.tree.path(queue)[-1]
    queues = {
        node: waiting
        for node, waiting in waiting_queues(state, snapshot).items()
        if snapshot.tree.path(node)[-1] == root
    }
    if all(one.key != key for one in queues[queue].active):
        return None
    found = never_reached(state, snapshot, queues, is_late, wanted=key)
    return next((by for pending, by in found if pending.key == key), None)


def never_reached(
    state: State,
    snapshot: Snapshot,
    queues: dict[int, Waiting],
    is_late: Callable[[], bool],
    wanted: str = "",
) -> list[tuple[Pending, InTheWay]]:
    """Return who waits in a cohort tree and is never reached, each with who keeps Kueue from it.

    Cycles are run until anybody is admitted or preempts, who changes everything, or all is as it
    was before a cycle. In the first case, and where time is up before, nobody is known.

    Parameters
    ----------
    queues
        Those of one tree, which are changed.
    is_late
        Whether time is up, asked before each cycle.
    wanted
        The one workload that is asked about: once it is reached there is nothing to return.
    """
    reached: set[str] = set()
    seen: set[object] = set()
    for number in range(MOST_CYCLES):
        if is_late():
            return []
        at_head = dict(heads(queues, snapshot))
        ran = schedule(state, snapshot, queues, cycle=number)
        if any(entry.outcome in _MOVES for entry in ran.entries):
            return []
        entries = (*ran.entries, *ran.inadmissible)
        # Whoever is skipped lost the room or the targets to one before it: that is not reached.
        reached.update(one.preemptor.key for one in entries if one.outcome != "skipped")
        if wanted in reached:
            return []
        standing = _standing(queues)
        # Nothing else changes, so from here on the cycles repeat: whoever was not reached never is.
        if standing in seen:
            return [
                (pending, _keeper(ran, at_head[node].key, is_reached=at_head[node].key in reached))
                for node in at_head
                for pending in queues[node].active
                if pending.key not in reached
            ]
        seen.add(standing)
    return []


def _keeper(ran: Schedule, head: str, *, is_reached: bool) -> InTheWay:
    """Return who keeps Kueue from those of a queue: its head, or who is before that head.

    Whoever finds nobody to preempt reserves room all the same, and comes first in every cycle.
    """
    if is_reached:
        return InTheWay((head,), own_queue=True)
    keys = [entry.preemptor.key for entry in ran.entries]
    before = ran.entries[: keys.index(head)]
    found = (one.preemptor.key for one in before if one.outcome == "noCandidates")
    return InTheWay(tuple(found), own_queue=False)


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
