"""What the scheduling cycles do with a pending workload, and who is before it.

A decision for one workload says what Kueue does if nobody is before it. In a cycle the heads of the
other ClusterQueues of its cohort tree are decided for as well, and what those before it take or
reserve is gone; and a workload whose targets another one has chosen is decided for anew. Its turn
may never come, as long as nothing else changes: a head of a StrictFIFO queue that finds no
candidates stays the head, and a head of another queue that reserves quota it cannot have comes
before other heads in every cycle, which are then skipped.

Source: docs/semantics/kueue.md §7.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, NamedTuple

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.context import Tried
from planner.reference.kueue.cycle.processing import Decider, Entry, Schedule, is_available
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import (
    Pending,
    Waiting,
    first_in_line,
    heads,
    waiting_queues,
    was_tried,
)
from planner.reference.kueue.decision import Decision, decide
from planner.state.kueue import State
from planner.state.kueue_workload import Workload

MOST_WORK: Final = 1_000_000
"""Heads of a tree times those who hold quota in it, up to which cycles are replayed for a plan."""
MOST_CYCLES: Final = 200
"""Cycles after which no answer is given: as a rule two cycles are enough."""
_MOVES: Final = frozenset({"admitted", "preempting", "migrating", "deferred"})


class Turn(NamedTuple):
    """What becomes of a nominated workload in the next cycle.

    ``entry`` is ``None`` where the scheduler stops before it, as pods of another are not ready.
    ``before`` are the entries before it that take what was decided for it alone, if any do; where
    the scheduler waits for pods, the entry whose pods it waits for.
    """

    entry: Entry | None
    before: Sequence[Entry]

    @property
    def targets(self) -> tuple[str, ...]:
        """The workloads that Kueue evicts for it, and is not evicting already, in its order."""
        if self.entry is None or self.entry.outcome != "preempting" or not self.entry.decision:
            return ()
        found = (one.workload for one in self.entry.decision.search.targets)
        return tuple(one.key for one in found if not one.evicted)


def next_turn(
    state: State, snapshot: Snapshot, preemptor: Preemptor, decision: Decision
) -> Turn | None:
    """Run the next cycle of a cohort tree for the head of one of its queues.

    ``decision`` is Kueue's for that workload alone. The answer is ``None`` where no other workload
    of the tree is a head, where the decision has flavors that Kueue would not assign, and in a tree
    that `is_large`.
    """
    first = rivals(state, snapshot, preemptor)
    if not first or is_large(snapshot, preemptor.queue, first):
        return None
    snapshot = snapshot.at_will(will=False)  # Kueue's own cycles place pods as Kueue does
    own = decision if decision.assigned.usage else decide(snapshot, preemptor)
    if own.assignment != decision.assignment:
        return None

    queues = {
        node: Waiting(
            strict=snapshot.queues[node].spec.queueing_strategy == "StrictFIFO",
            active=[Pending(state, snapshot, workload, node)],
        )
        for node, workload in {**first, preemptor.queue: preemptor.workload}.items()
    }
    ran = schedule(state, snapshot, queues, _knowing(preemptor.key, own))
    keys = [entry.preemptor.key for entry in ran.entries]
    place = keys.index(preemptor.key) if preemptor.key in keys else None
    entry = None if place is None else ran.entries[place]
    if place is None or entry is None or entry.outcome == "waitsForPodsReady":
        return Turn(entry, [one for one in ran.entries if one.outcome == "admitted"][-1:])
    return Turn(entry, takers(snapshot, own, ran.entries[: place + 1]))


def _knowing(key: str, own: Decision) -> Decider:
    """Return a decider that decides as Kueue does, and knows what it decides for one workload."""

    def decider(
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        if preemptor.key == key and nominated is None:
            return own
        return decide(snapshot, preemptor, nominated=nominated, tried=tried)

    return decider


def rivals(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Mapping[int, Workload]:
    """Return the heads of the other active ClusterQueues in the tree of a workload, by node.

    A workload that was tried in vain competes again only when all of its tree do.
    """
    awake = was_tried(preemptor.workload)
    first = first_in_line(state, snapshot, without_tried=not awake)
    path = snapshot.tree.path
    root = path(preemptor.queue)[-1]
    return {
        node: workload
        for node, workload in first.items()
        if node != preemptor.queue and snapshot.is_active(node) and path(node)[-1] == root
    }


def is_large(snapshot: Snapshot, queue: int, first: Mapping[int, Workload]) -> bool:
    """Say whether deciding for all heads of the tree of a queue takes too long."""
    path = snapshot.tree.path
    root = path(queue)[-1]
    held = sum(len(some) for node, some in snapshot.admitted.items() if path(node)[-1] == root)
    return len(first) * held > MOST_WORK


def takers(snapshot: Snapshot, alone: Decision, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries that take the targets, the room or the places of the last one.

    ``alone`` is what was decided for that one alone. Of those that take room, all count up to the
    entry that leaves too little.
    """
    *before, last = entries
    if last.outcome in _MOVES and last.decision is alone:
        return ()
    moves = [one for one in before if one.outcome in _MOVES]
    wanted = {target.workload.key for target in alone.targets}
    choosing = [one for one in moves if any(each.workload.key in wanted for each in one.targets)]
    if choosing:
        return choosing
    asked, usage = alone.assigned.usage, snapshot.usage.copy()
    gone = [target.workload for target in alone.targets]
    taking = []
    for entry in before:
        usage.add(entry.preemptor.queue, entry.taken)
        gone += [one.workload for one in entry.targets if entry.outcome in _MOVES]
        if any(amount > 0 and asked.get(fr, 0) > 0 for fr, amount in entry.taken.items()):
            taking.append(entry)
        if not is_available(usage, gone, last.preemptor.queue, asked):
            return taking
    return [one for one in moves if one.decision and one.decision.assigned.placements]


class InTheWay(NamedTuple):
    """What is before a workload in every cycle: the head of its StrictFIFO queue, or others.

    ``queues`` are the ClusterQueues of the ``workloads``.
    """

    workloads: tuple[str, ...]
    queues: tuple[str, ...]
    own_queue: bool


def in_the_way(
    state: State, snapshot: Snapshot, preemptor: Preemptor, is_late: Callable[[], bool]
) -> InTheWay | None:
    """Return what keeps the scheduler from a pending workload; ``None`` if nothing is known.

    ``is_late`` says before each cycle whether time is up. A workload that stands in no queue, or in
    a queue that takes no part in scheduling, has no turn at all: its answer is ``None``, as it is
    in a tree that `is_large`.
    """
    key, queue = preemptor.key, preemptor.queue
    if is_large(snapshot, queue, rivals(state, snapshot, preemptor)):
        return None
    snapshot = snapshot.at_will(will=False)  # Kueue's own cycles place pods as Kueue does
    root = snapshot.tree.path(queue)[-1]
    queues = {
        node: waiting
        for node, waiting in waiting_queues(state, snapshot).items()
        if snapshot.tree.path(node)[-1] == root
    }
    if not was_tried(preemptor.workload):
        for waiting in queues.values():
            waiting.park_tried(state.configuration)
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
    """Return the workloads of a cohort tree that are never reached, each with what is before it.

    Cycles are run until a workload is admitted or preempts, which changes everything, or until the
    queues are as they were after an earlier cycle. In the first case, where a cycle waits for pods
    to be ready, and where time is up before (``is_late``), the list is empty, as nothing is known.
    ``queues`` are the queues of one tree, and are changed. ``wanted`` is the only workload that is
    asked about, if there is such a one: once it is reached, the list is empty.
    """
    reached: set[str] = set()
    seen: set[object] = set()
    for number in range(MOST_CYCLES):
        if is_late():
            return []
        at_head = dict(heads(queues, snapshot))
        ran = schedule(state, snapshot, queues, cycle=number)
        # A blocked cycle is not over: when pods are ready it goes on, and reaches other entries.
        if ran.blocked or any(entry.outcome in _MOVES for entry in ran.entries):
            return []
        entries = (*ran.entries, *ran.inadmissible)
        # A skipped entry lost the room or the targets to an earlier one: it is not reached.
        reached.update(one.preemptor.key for one in entries if one.outcome != "skipped")
        if wanted in reached:
            return []
        # Nothing else changes, so cycles repeat from here on: what was not reached never is.
        if (marks := standing(queues)) in seen:
            return [
                (pending, _keeper(snapshot, ran, at_head[node], reached))
                for node in at_head
                for pending in queues[node].active
                if pending.key not in reached
            ]
        seen.add(marks)
    return []


def standing(queues: Mapping[int, Waiting]) -> object:
    """Return who competes and who is parked in queues, and how far walks over flavors came."""
    competing = (
        tuple((one.key, str(one.progress and one.progress.tried)) for one in waiting.active)
        for waiting in queues.values()
    )
    parked = (tuple(sorted(one.key for one in waiting.parked)) for waiting in queues.values())
    return tuple(zip(queues, competing, parked, strict=True))


def _keeper(snapshot: Snapshot, ran: Schedule, head: Pending, reached: Container[str]) -> InTheWay:
    """Return what keeps Kueue from the workloads of a queue: its head, or entries before that.

    An entry that finds no candidates reserves room all the same, and comes first in every cycle.
    """
    name = snapshot.queue_name
    if head.key in reached:
        return InTheWay((head.key,), (name(head.preemptor.queue),), own_queue=True)
    place = [entry.preemptor.key for entry in ran.entries].index(head.key)
    decision = ran.entries[place].decision
    assert decision is not None, "a skipped entry was decided for"  # noqa: S101
    found = [one.preemptor for one in takers(snapshot, decision, ran.entries[: place + 1])]
    keys, queues = (one.key for one in found), (name(one.queue) for one in found)
    return InTheWay(tuple(keys), tuple(queues), own_queue=False)
