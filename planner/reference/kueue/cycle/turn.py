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

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import count
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
    waiting_queues,
)
from planner.reference.kueue.decision import Decision, decide
from planner.state.kueue import State
from planner.state.kueue_workload import Workload

MOST_WORK: Final = 100_000
"""The most steps for one plan; a cycle takes heads times those who hold quota in the tree."""
MOST_CYCLES: Final = 200
"""Cycles after which no answer is given: as a rule two cycles are enough."""
_TAKEN: Final = frozenset({"admitted", "preempting", "migrating"})
_MOVES: Final = _TAKEN | {"deferred"}


class Turn(NamedTuple):
    """What becomes of a workload in the next cycle in which it, or anybody else, gets anything.

    ``entry`` is its own, ``None`` where the scheduler does not come to it. ``before`` are the
    entries before it that take what was decided for it alone, if any do; where the scheduler waits
    for pods, the entry whose pods it waits for.
    """

    entry: Entry | None
    before: Sequence[Entry]

    @property
    def is_taken(self) -> bool:
        """Whether the workload is admitted, or others are evicted for it."""
        return self.entry is not None and self.entry.outcome in _TAKEN

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
    """Run the next cycles of a cohort tree, until anybody gets anything, or nobody ever will.

    ``decision`` is Kueue's for one workload alone. The answer is ``None`` where nobody competes
    with that, where its flavors are not those that Kueue would assign, and in a large tree.
    """
    first = first_in_tree(state, snapshot, preemptor)
    is_late = budget(len(first) * _held(snapshot, preemptor.queue), MOST_WORK)
    if first.keys() == {preemptor.queue} and first[preemptor.queue] is preemptor.workload:
        return None
    own = decision if decision.assigned.usage else decide(snapshot, preemptor)
    if is_late() or own.assignment != decision.assignment:
        return None
    decider, key = _knowing(preemptor.key, own), preemptor.key
    # Mostly the heads of the first cycle tell, without the queues behind them.
    if first[preemptor.queue].key == key:
        queues = {}
        for node, one in first.items():
            strict = snapshot.queues[node].spec.queueing_strategy == "StrictFIFO"
            queues[node] = Waiting(strict, [Pending(state, snapshot, one, node)])
        ran = schedule(state, snapshot, queues, decider)
        turn = _turn(snapshot, ran, key, own)
        if turn.is_taken or ran.blocked or _changes(ran):
            return turn
    queues = _queues(state, snapshot, preemptor)
    for ran, repeats in cycles(state, snapshot, queues, is_late, decider):
        turn = _turn(snapshot, ran, key, own)
        if turn.is_taken or ran.blocked or repeats or _changes(ran):
            return turn
    return None


def _turn(snapshot: Snapshot, ran: Schedule, key: str, own: Decision) -> Turn:
    keys = [entry.preemptor.key for entry in ran.entries]
    place = keys.index(key) if key in keys else None
    entry = None if place is None else ran.entries[place]
    if place is None or entry is None or entry.outcome == "waitsForPodsReady":
        before = [one for one in ran.entries if one.outcome == "admitted"]
        return Turn(entry, before[-1:] if ran.blocked else ())
    return Turn(entry, takers(snapshot, own, ran.entries[: place + 1]))


def _changes(ran: Schedule) -> bool:
    """Say whether a cycle changes more than queues; who only waits for victims changes nothing."""
    return bool(ran.evicted) or any(entry.outcome == "admitted" for entry in ran.entries)


def cycles(
    state: State,
    snapshot: Snapshot,
    queues: dict[int, Waiting],
    is_late: Callable[[], bool],
    decider: Decider = decide,
) -> Iterator[tuple[Schedule, bool]]:
    """Run cycles on queues, which are changed; say whether they would only repeat from there on.

    That is so once the queues are as after an earlier cycle; the caller ends it before if a cycle
    changes more than the queues. ``is_late`` says before each cycle whether time is up.
    """
    seen: set[object] = set()
    for number in range(MOST_CYCLES):
        if is_late():
            return
        ran = schedule(state, snapshot, queues, decider, cycle=number)
        marks = standing(queues)
        yield ran, marks in seen
        if marks in seen:
            return
        seen.add(marks)


def budget(each: int, most: int) -> Callable[[], bool]:
    """Return a function to ask before each cycle if it is too much, the same in every run."""
    done = count(each, each)
    return lambda: next(done) > most


def _knowing(key: str, own: Decision) -> Decider:
    """Return a decider that decides as Kueue does, and knows what it decides for one workload."""

    def decider(
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        if preemptor.key == key and nominated is None and not tried:
            return own
        return decide(snapshot, preemptor, nominated=nominated, tried=tried)

    return decider


def is_large(state: State, snapshot: Snapshot, preemptor: Preemptor) -> bool:
    """Say whether not even one cycle is run for a workload, as too many hold quota in its tree."""
    first = first_in_tree(state, snapshot, preemptor)
    return len(first) > 1 and len(first) * _held(snapshot, preemptor.queue) > MOST_WORK


def first_in_tree(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Mapping[int, Workload]:
    """Return the heads of the active ClusterQueues in the tree of a workload, by node.

    What lets one that was tried in vain compete again lets all others do so, too.
    """
    first = first_in_line(state, snapshot, awake=preemptor.workload.was_tried)
    root = snapshot.tree.root
    found = {
        node: workload
        for node, workload in first.items()
        if snapshot.is_active(node) and root(node) == root(preemptor.queue)
    }
    return {preemptor.queue: preemptor.workload, **found}


def _held(snapshot: Snapshot, queue: int) -> int:
    """Return how many hold quota in the tree of a queue."""
    root = snapshot.tree.root
    return sum(len(some) for node, some in snapshot.admitted.items() if root(node) == root(queue))


def _queues(state: State, snapshot: Snapshot, preemptor: Preemptor) -> dict[int, Waiting]:
    """Return the queues of the tree of a workload, those parked that conditions tell of."""
    root, found = snapshot.tree.root, waiting_queues(state, snapshot)
    queues = {
        node: waiting for node, waiting in found.items() if root(node) == root(preemptor.queue)
    }
    if not preemptor.workload.was_tried:
        for waiting in queues.values():
            waiting.park_tried(state.configuration)
    return queues


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
    a queue that takes no part in scheduling, has no turn at all: its answer is ``None``.
    """
    key = preemptor.key
    queues = _queues(state, snapshot, preemptor)
    if all(one.key != key for one in queues[preemptor.queue].active):
        return None
    heads = len(first_in_tree(state, snapshot, preemptor))
    spent = budget(heads * _held(snapshot, preemptor.queue), MOST_WORK)
    found = never_reached(state, snapshot, queues, lambda: spent() or is_late(), wanted=key)
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
    for ran, repeats in cycles(state, snapshot, queues, is_late):
        # A blocked cycle is not over: when pods are ready it goes on, and reaches other entries.
        if ran.blocked or any(entry.outcome in _MOVES for entry in ran.entries):
            return []
        entries = (*ran.entries, *ran.inadmissible)
        # A skipped entry lost the room or the targets to an earlier one: it is not reached.
        reached.update(one.preemptor.key for one in entries if one.outcome != "skipped")
        if wanted in reached:
            return []
        # Nothing else changes: what was not reached never is.
        if repeats:
            return [
                (pending, _keeper(snapshot, ran, head.preemptor, reached))
                for head in entries
                for pending in queues[head.preemptor.queue].active
                if pending.key not in reached
            ]
    return []


def standing(queues: Mapping[int, Waiting]) -> object:
    """Return who competes and who is parked in queues, and how far walks over flavors came."""
    competing = (
        tuple((one.key, str(one.progress and one.progress.tried)) for one in waiting.active)
        for waiting in queues.values()
    )
    parked = (tuple(sorted(one.key for one in waiting.parked)) for waiting in queues.values())
    return tuple(zip(queues, competing, parked, strict=True))


def _keeper(
    snapshot: Snapshot, ran: Schedule, head: Preemptor, reached: Container[str]
) -> InTheWay:
    """Return what keeps Kueue from the workloads of a queue: its head, or entries before that.

    An entry that finds no candidates reserves room all the same, and comes first in every cycle.
    """
    name = snapshot.queue_name
    if head.key in reached:
        return InTheWay((head.key,), (name(head.queue),), own_queue=True)
    place = [entry.preemptor.key for entry in ran.entries].index(head.key)
    decision = ran.entries[place].decision
    assert decision is not None, "a skipped entry was decided for"  # noqa: S101
    found = [one.preemptor for one in takers(snapshot, decision, ran.entries[: place + 1])]
    keys, queues = (one.key for one in found), (name(one.queue) for one in found)
    return InTheWay(tuple(keys), tuple(queues), own_queue=False)
