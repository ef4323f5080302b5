"""The interface of a cluster to the main loop of a simulation, whichever its scheduler."""

from __future__ import annotations

import hashlib
import heapq
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Final, NamedTuple

from planner.errors import InternalError
from planner.plan.base import Uncovered
from planner.research.simulate.record import Event, Fate, Kind, Standing, Totals, Use
from planner.research.simulate.script import Script


class Due(IntEnum):
    """The kinds of appointments; at the same time the smaller number comes first."""

    # Quota is given back, by ends of runs and by victims, before any workload is woken to compete.
    FINISH = 0
    RELEASE = 1
    WAKE = 2
    BACKOFF = 3
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

    def after(self, at_s: int, tree: int) -> list[tuple[int, Due, str]]:
        """Return the appointments of a tree in order, with the seconds from a time to each."""
        coming = sorted(one for one in self._valid.values() if one.tree == tree)
        return [(one.at_s - at_s, one.due, one.key) for one in coming]


@dataclass(slots=True)
class _Account:
    """The account of a workload, with the fields of its fate; time is counted to ``since_s``."""

    queue: str
    priority: int
    standing: Standing
    arrived_s: int
    since_s: int
    leaving: bool = False
    admitted_s: int | None = None
    finished_s: int | None = None
    admissions: int = 0
    evictions: int = 0
    waiting_s: int = 0
    running_s: int = 0
    lost_s: int = 0
    lost_work: int = 0

    def pass_time(self, at_s: int) -> None:
        """Count the time until now as waiting or running; an evicted workload runs no more."""
        if self.standing == "pending":
            self.waiting_s += at_s - self.since_s
        elif self.standing == "running" and not self.leaving:
            self.running_s += at_s - self.since_s
        self.since_s = at_s


class Tally:
    """The accounts of all workloads."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def enter(self, key: str, queue: str, priority: int, standing: Standing, at_s: int = 0) -> None:
        """Open the account of a workload that is there at the start, or arrives at a time."""
        self._accounts[key] = _Account(queue, priority, standing, at_s, 0)

    def add(self, event: Event) -> None:
        """Count an event; InternalError if its workload has no account."""
        account = self._accounts.get(event.workload)
        if account is None:
            raise InternalError(f"{event.workload} is unknown, and yet it {event.kind}")
        account.pass_time(event.at_s)
        match event.kind:
            case "arrived":
                account.standing, account.arrived_s = "pending", event.at_s
            case "requeued":
                account.standing, account.leaving = "pending", False
            case "finished":
                account.standing, account.leaving = "finished", False
                account.finished_s = event.at_s
            case "admitted":
                account.standing, account.leaving = "running", False
                account.queue = event.queue
                account.admissions += 1
                if account.admitted_s is None:
                    account.admitted_s = event.at_s
            case "preempted":
                account.leaving = True
                account.evictions += 1
                account.lost_s += event.lost_s or 0
                account.lost_work += event.lost_work or 0

    def fates(self, at_s: int) -> tuple[Fate, ...]:
        """Return what became of every workload by the end, in the order of entering."""
        for account in self._accounts.values():
            account.pass_time(at_s)
        fields = Fate.model_fields.keys() - {"workload"}
        return tuple(
            Fate(workload=key, **{name: getattr(account, name) for name in fields})
            for key, account in self._accounts.items()
        )


def totals_of(fates: Iterable[Fate]) -> Totals:
    """Return the sums over all workloads."""
    some = list(fates)
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

    def _plan_end(self, key: str, tree: int, since_s: int, run_s: int | None, at_s: int) -> None:
        """Plan the end of a run that began at ``since_s``, if it ends; in 1 s if that is past."""
        if run_s is None:
            self.endless.add(key)
        else:
            end_s = since_s + run_s - self._kept.get(key, 0)
            self._agenda.set(max(at_s + 1, end_s), Due.FINISH, key, tree)

    def _lose(self, key: str, ran_s: int, saves_s: int | None, most_s: int | None = None) -> int:
        """Return how much of a run an eviction loses: the seconds after the last checkpoint.

        ``saves_s`` is the time between checkpoints, ``None``: there are none; ``most_s`` is the
        most that is lost.
        """
        kept_s = self._kept.get(key, 0)
        lost_s = ran_s if most_s is None else min(ran_s, most_s)
        if saves_s is not None:
            # Checkpoints are counted from the beginning of the work, through all interruptions;
            # no more is lost than this run has made.
            lost_s = min(lost_s, (kept_s + ran_s) % saves_s)
        self._kept[key] = kept_s + ran_s - lost_s
        self._agenda.call_off(Due.FINISH, key)
        return lost_s

    def left_out(self, known: Sequence[Uncovered]) -> tuple[Uncovered, ...]:
        """Return what this simulation leaves out, of all that is known not to be modelled."""
        return tuple(known)

    @abstractmethod
    def enter(self, tally: Tally) -> None:
        """Open the accounts of all workloads that are there, or arrive later."""

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
        """Return how much of each resource is in use, in the order of ``use``."""

    @abstractmethod
    def use(self, shares: Sequence[float]) -> tuple[Use, ...]:
        """Return the use of each resource; ``shares`` are the amounts used on average."""
