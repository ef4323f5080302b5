"""What Kueue does in a small dump, by the replay of its decisions, and by simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from planner.commands.simulate.kueue_world import KueueWorld
from planner.commands.simulate.record import Event as Happened
from planner.commands.simulate.script import Script
from planner.commands.simulate.world import Mark
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import take_snapshot
from planner.reader import read_kueue_objects
from planner.reference.kueue.decision import decide

MAX_CYCLES: Final = 60
"""Cycles after which a small cluster that has not repeated itself will not."""
AT_REST: Final = "nothing moves until something in the cohort changes"
_WHERE: Final = "example"


class Told(NamedTuple):
    """What Kueue decides for a pending workload: the mode, and whom it would evict."""

    mode: str
    targets: tuple[str, ...]


def decided(dump: Any, pending: str) -> Told:  # noqa: ANN401 - parsed JSON
    """Replay Kueue's decision for a pending workload of a dump."""
    state = read_kueue_objects(dump, where=_WHERE)
    snapshot = take_snapshot(state)
    found = decide(snapshot, find_preemptor(state, snapshot, pending))
    return Told(found.assignment.mode, tuple(one.workload.key for one in found.search.targets))


class Event(NamedTuple):
    """Who was admitted or preempts in a cycle; nobody where all waited for a change."""

    workload: str
    evicts: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The event as a sentence."""
        if not self.workload:
            return AT_REST
        if not self.evicts:
            return f"{self.workload} is admitted"
        return f"{self.workload} preempts {', '.join(self.evicts)}"


Standing = tuple[Mark, ...]
"""What every cohort tree is like, as a simulation compares it."""


class _Play:
    """A simulation, told in few words: victims go after a second.

    Once nothing moves any more, all compete again, as if something else in the cohort had changed.
    """

    def __init__(self, dump: Any) -> None:  # noqa: ANN401 - parsed JSON
        state = read_kueue_objects(dump, where=_WHERE)
        self.world = KueueWorld(state, Script(), decide)
        tree = self.world.snapshot(0).tree
        self.trees = sorted({tree.path(node)[-1] for node in self.world.queues})
        self.events: list[Event] = []

    def standings(self) -> Iterator[Standing]:
        """Yield how all stands, cycle by cycle, until nothing moves although all compete."""
        rested: set[Standing] = set()
        at_s = 0
        for _ in range(MAX_CYCLES):
            self.world.happen(at_s)
            ran, moved = self.world.cycle(at_s)
            self.events += _in_short(ran)
            later_s = at_s + 1 if moved else self.world.next_s()
            standing = tuple(self.world.mark(tree, at_s) for tree in self.trees)
            if later_s is None and (standing in rested or not self._parks):
                return
            yield standing
            if later_s is None:
                rested.add(standing)
                self.events.append(Event("", ()))
                for tree in self.trees:
                    self.world.wake(tree, at_s)
            at_s = at_s + 1 if later_s is None else later_s

    @property
    def _parks(self) -> bool:
        return any(waiting.parked for waiting in self.world.queues.values())


def _in_short(events: Sequence[Happened]) -> Iterator[Event]:
    """Yield who is admitted or preempts whom in a cycle."""
    told = [one for one in events if one.kind in {"admitted", "preempted"}]
    for by, some in groupby(told, key=lambda one: one.by or one.workload):
        evicts = tuple(one.workload for one in some if one.by)
        yield Event(by, evicts)


def loop(dump: Any) -> tuple[str, ...]:  # noqa: ANN401 - parsed JSON
    """Return the events that lead into a round of evictions, and the round; empty without one.

    A round leads from a standing to the same standing, and somebody is evicted in it: whoever
    that is was admitted again, and the round goes on for ever.
    """
    play = _Play(dump)
    seen: dict[Standing, int] = {}
    for standing in play.standings():
        since = seen.setdefault(standing, len(play.events))
        if any(event.evicts for event in play.events[since:]):
            told = [event.in_words for event in play.events]
            return (*told, f"and so on from step {since + 1}")
    return ()
