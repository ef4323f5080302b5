"""The interface of a cluster to the main loop of a simulation, whichever its scheduler."""

from __future__ import annotations

import hashlib
import heapq
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any, Final, NamedTuple, cast

from planner.plan.base import Uncovered
from planner.research.simulate.record import AFTER, Event, Fate, Kind, Phase, Standing, Totals
from planner.research.simulate.script import Script


class Due(IntEnum):
    """The kinds of appointments; at the same time the smaller number comes first."""

    # Quota is given back, by ends of runs and by victims, and backoffs end, before any workload is
    # woken to compete: who is woken is queued already, and would be queued once more.
    FINISH = 0
    RELEASE = 1
    BACKOFF = 2
    WAKE = 3
    ARRIVE = 4


class Appointment(NamedTuple):
    """Something that happens at a time, in seconds after the start, to a workload or a tree."""

    at_s: int
    due: Due
    place: int
    key: str
    tree: int


class Agenda:
    """All appointments; a cancelled one stays in the heap until its time, and is then skipped."""

    def __init__(self) -> None:
        self._heap: list[Appointment] = []
        self._valid: dict[tuple[Due, str], Appointment] = {}
        self._made = 0

    def set(self, at_s: int, due: Due, key: str, tree: int) -> None:
        """Make an appointment; it replaces an earlier one of the same kind for the same key."""
        # Of equal times and kinds the appointment made first is first: heaps do not see to that.
        self._made += 1
        made = Appointment(at_s, due, self._made, key, tree)
        self._valid[due, key] = made
        heapq.heappush(self._heap, made)

    def has(self, due: Due, key: str) -> bool:
        """Say whether there is an appointment of a kind for a key."""
        return (due, key) in self._valid

    def call_off(self, due: Due, key: str) -> None:
        """Cancel the appointment of a kind for a key, if there is one."""
        self._valid.pop((due, key), None)

    def next_s(self) -> int | None:
        """Return the time of the next appointment; ``None`` if there is none."""
        while self._heap:
            first = self._heap[0]
            if self._valid.get((first.due, first.key)) is first:
                return first.at_s
            heapq.heappop(self._heap)
        return None

    def take(self, until_s: int) -> Iterator[Appointment]:
        """Yield and drop all appointments that are due, also those made meanwhile."""
        while (at_s := self.next_s()) is not None and at_s <= until_s:
            found = heapq.heappop(self._heap)
            # Dropped before it is carried out: that may make another appointment of its kind.
            del self._valid[found.due, found.key]
            yield found

    def trees(self) -> frozenset[int]:
        """Return the trees that have appointments."""
        return frozenset(one.tree for one in self._valid.values())

    def after(self, at_s: int, tree: int) -> list[tuple[int, int, str]]:
        """Return the appointments of a tree in order, with the seconds from a time to each."""
        coming = sorted(one for one in self._valid.values() if one.tree == tree)
        return [(one.at_s - at_s, one.due.value, one.key) for one in coming]


class Entered(NamedTuple):
    """A workload that is there at the start, or arrives later, in seconds after the start."""

    key: str
    queue: str
    priority: int
    standing: Standing
    arrived_s: int = 0


def fates(entered: Iterable[Entered], timeline: Iterable[Event], end_s: int) -> Iterator[Fate]:
    """Yield what became of every workload by the end, in the order of entering."""
    events = defaultdict[str, list[Event]](list)
    for event in timeline:
        events[event.workload].append(event)
    for one in entered:
        own, spent = events[one.key], Counter[Phase]()
        phase, since_s = cast("Phase", one.standing), 0
        for event in own:
            spent[phase] += event.at_s - since_s
            phase, since_s = AFTER[event.kind], event.at_s
        spent[phase] += end_s - since_s
        of = {kind: [event for event in own if event.kind == kind] for kind in AFTER}
        starts, evictions = of["admitted"], of["preempted"]
        yield Fate(
            workload=one.key,
            queue=starts[-1].queue if starts else one.queue,
            priority=one.priority,
            standing="running" if phase == "leaving" else phase,
            arrived_s=one.arrived_s,
            admitted_s=starts[0].at_s if starts else None,
            finished_s=of["finished"][-1].at_s if of["finished"] else None,
            admissions=len(starts),
            evictions=len(evictions),
            waiting_s=spent["pending"],
            running_s=spent["running"],
            lost_s=sum(event.lost_s or 0 for event in evictions),
            lost_work=sum(event.lost_work or 0 for event in evictions),
        )


def totals_of(some: Sequence[Fate]) -> Totals:
    """Return the sums over all workloads."""
    summed = Totals.model_fields.keys() & Fate.model_fields.keys()
    return Totals(
        workloads=len(some),
        finished=sum(one.standing == "finished" for one in some),
        evicted=sum(one.evictions > 0 for one in some),
        **{name: sum(getattr(one, name) for one in some) for name in summed},
    )


class Mark(NamedTuple):
    """Digests of a part of a cluster at a moment: after equal marks the same happens.

    ``state`` is of all that decides, without the clock; ``to_come`` is of what happens by itself,
    and after how long.
    """

    state: bytes
    to_come: bytes


def digest(value: object) -> bytes:
    """Return a hash of the ``repr`` of a value, which is to be the same always, as for tuples."""
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()


Text = tuple[object, ...]
"""Nested tuples of texts and numbers: equal values have the same ``repr``."""


def ranks(values: Iterable[float]) -> dict[float, int]:
    """Return the rank of each different value: times decide by their order only."""
    return {value: rank for rank, value in enumerate(sorted(set(values)))}


class Cycle(NamedTuple):
    """The events of a scheduling cycle; ``moved`` says whether the next could do anything new."""

    events: Sequence[Event]
    moved: bool


class World(ABC):
    """A cluster in which time passes; times are whole seconds after the start.

    Its parts, called trees and numbered, do not affect one another. ``start`` is the clock at the
    start, ``names`` has the names of workloads whose keys are no names; ``cycles`` counts the
    scheduling cycles so far, and ``endless`` has the keys of those that ran without a run time.
    """

    def __init__(self, start: datetime, script: Script, names: Mapping[str, str]) -> None:
        self.start: Final = start
        self.names: Final = names
        self.cycles = 0
        self.endless: Final[set[str]] = set()
        self._script: Final = script
        self._agenda: Final = Agenda()
        # By keys: the seconds of progress that workloads kept through their evictions.
        self._kept: Final[dict[str, int]] = {}

    def _event(self, kind: Kind, at_s: int, key: str, queue: str, **more: Any) -> Event:  # noqa: ANN401
        return Event(at_s=at_s, cycle=self.cycles, kind=kind, workload=key, queue=queue, **more)

    def _called(self, key: str) -> Iterable[str]:
        """Return what a script may call a workload: its key, and its name if it has another."""
        return filter(None, (key, self.names.get(key)))

    def _plan_end(
        self, key: str, tree: int, since_s: int, at_s: int, annotated: int | None = None
    ) -> None:
        """Plan the end of a run that began at ``since_s``, if it ends; in 1 s if that is past."""
        run_s = self._script.run_s(*self._called(key), annotated=annotated)
        if run_s is None:
            self.endless.add(key)
        else:
            end_s = since_s + run_s - self._kept.get(key, 0)
            self._agenda.set(max(at_s + 1, end_s), Due.FINISH, key, tree)

    def _lose(self, key: str, ran_s: int, most_s: int | None = None) -> int:
        """Return how much of a run an eviction loses: the seconds after the last checkpoint.

        ``most_s`` is the most that is lost.
        """
        kept_s, saves_s = self._kept.get(key, 0), self._script.checkpoint_s(*self._called(key))
        lost_s = ran_s if most_s is None else min(ran_s, most_s)
        if saves_s is not None:
            # Checkpoints are counted from the beginning of the work, through all interruptions;
            # no more is lost than this run has made.
            lost_s = min(lost_s, (kept_s + ran_s) % saves_s)
        self._kept[key] = kept_s + ran_s - lost_s
        self._agenda.call_off(Due.FINISH, key)
        return lost_s

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What a plan would say of the state that it begins with, whoever asks."""

    def left_out(self, known: Sequence[Uncovered]) -> tuple[Uncovered, ...]:
        """Return what this simulation leaves out, of all that is known not to be modelled."""
        return tuple(known)

    @abstractmethod
    def entered(self) -> Iterator[Entered]:
        """Yield all workloads that are there, or arrive later, before anything happens."""

    def next_s(self) -> int | None:
        """Return when something happens by itself; ``None`` if nothing is to come."""
        return self._agenda.next_s()

    @abstractmethod
    def happen(self, at_s: int) -> list[Event]:
        """Carry out all appointments that are due."""

    @abstractmethod
    def cycle(self, at_s: int) -> Cycle:
        """Let the scheduler run once."""

    @abstractmethod
    def tree_of(self, event: Event) -> int:
        """Return the tree in which an event happened."""

    @abstractmethod
    def mark(self, tree: int, at_s: int) -> Mark:
        """Return the mark of a tree at a time."""

    @abstractmethod
    def busy(self) -> Collection[int]:
        """Return the trees in which something is to happen, or the last cycle did something."""

    @abstractmethod
    def used(self) -> Sequence[int]:
        """Return how much of each resource is in use, in the order of ``capacities``."""

    @abstractmethod
    def capacities(self) -> Iterable[tuple[str, str, int | None]]:
        """Return flavor, name and amount of each resource that there is; ``None``: unlimited."""
