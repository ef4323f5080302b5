"""The records of a simulation: its events, what became of each workload, and its loops."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from planner.plan.base import Published, Record, Told, Uncovered
from planner.plan.record import SchedulerId
from planner.quantity import plural

Kind = Literal["arrived", "admitted", "preempted", "requeued", "finished"]
"""arrived: it is pending for the first time. admitted: it gets its quota (Kueue) or its node
(YuniKorn). preempted: it is evicted. requeued: it gave that back, and is pending again.
finished: it ran to its end."""

Ended = Literal["settled", "loop", "until", "cycles"]
"""settled: nothing moves, and nothing is to come. loop: only loops are left, and they never end.
until, cycles: the limit of seconds, or of cycles, was reached."""

Standing = Literal["to come", "pending", "running", "finished"]


class Event(Record):
    """Something that happened, so many whole seconds after the start.

    ``cycle`` counts the scheduling cycles until then. ``workload`` is namespace/name, or the key
    of an allocation of YuniKorn. ``by`` is who preempted it, from the queue ``by_queue``,
    ``reason`` the scheduler's own code; ``lost_s`` are the seconds of its run that an eviction
    lost, ``lost_work`` the same in accelerator-seconds. ``node`` is where an allocation runs.
    """

    at_s: int
    cycle: int
    kind: Kind
    workload: str
    queue: str
    by: str | None = None
    by_queue: str | None = None
    reason: str | None = None
    lost_s: int | None = None
    lost_work: int | None = None
    node: str | None = None


class Fate(Record):
    """What became of a workload or an allocation.

    Times are in whole seconds after the start; what was there at the start arrived at 0.
    ``waiting_s`` is how long it was pending, ``running_s`` how long it ran; ``lost_s`` is what
    evictions lost of its run, that before the start included, and ``lost_work`` the same in
    accelerator-seconds.
    """

    workload: str
    queue: str
    priority: int
    standing: Standing
    arrived_s: int
    admitted_s: int | None = None
    finished_s: int | None = None
    admissions: int = 0
    evictions: int = 0
    waiting_s: int = 0
    running_s: int = 0
    lost_s: int = 0
    lost_work: int = 0


class Use(Record):
    """How much of a resource was in use on average, from 0 to 1, of ``capacity`` units.

    The unit is milli-cores for cpu and vcore, and whole units for the rest. ``flavor`` is empty
    for YuniKorn. Without a capacity, or with an unlimited one, there is no share.
    """

    flavor: str
    resource: str
    capacity: int | None
    share: float | None


class Loop(Record):
    """A round that repeats: a state that comes back, with evictions in between.

    The state is all that decides: who holds what, in which order they were admitted, who waits
    and where; not the clock. ``first_s`` is when the first round began, ``period_s`` and
    ``cycles`` say how long a round takes, ``rounds`` how often it was seen. ``endless`` says that
    what is to come from outside (arrivals, ends of runs) is the same as well: it goes on for
    ever. ``events`` are those of one round, ``story`` tells it in words.
    """

    first_s: int
    period_s: int
    cycles: int
    rounds: int
    endless: bool
    evictions: int
    workloads: tuple[str, ...]
    events: tuple[Event, ...]
    story: tuple[str, ...]


class Feud(Record):
    """Two that evicted each other, and how often each went for the other."""

    first: str
    second: str
    first_evicted: int
    second_evicted: int


class Storm(Record):
    """One that was evicted more often than the limit, and by whom how often."""

    workload: str
    evictions: int
    by: dict[str, int]


class Totals(Record):
    """Sums over everybody; ``lost_work`` in accelerator-seconds."""

    workloads: int
    finished: int
    admissions: int
    evictions: int
    evicted: int
    waiting_s: int
    running_s: int
    lost_s: int
    lost_work: int


class Simulation(Published, Told):
    """What happened cycle after cycle.

    ``start`` is the clock of the state, ``duration_s`` how long was simulated, until it settled or
    a limit was reached. ``eviction_s`` is how long a victim kept what it held, ``apart_s`` how
    much longer each victim of a decision did than the one before, ``storm`` how many evictions are
    no storm yet. ``names`` are the pods of YuniKorn's allocations, by their keys, where the state
    tells. ``unproved`` counts plans that were not proved best in time, ``endless_runs`` those that
    ran and whose run time nothing tells: they run for ever. Loops are sorted by the length of their
    rounds, the shortest first; storms by evictions, the most first. ``coverage`` is what the state
    holds that is not modelled.
    """

    scheduler: SchedulerId
    decider: SchedulerId | Literal["optimum", "stable", "boost"]
    objective: str | None = None
    digest: str
    start: datetime
    duration_s: int
    cycles: int
    ended: Ended
    eviction_s: int
    apart_s: int = 0
    storm: int
    unproved: int = 0
    endless_runs: int = 0
    totals: Totals
    names: dict[str, str] = {}
    use: tuple[Use, ...]
    loops: tuple[Loop, ...]
    feuds: tuple[Feud, ...]
    storms: tuple[Storm, ...]
    workloads: tuple[Fate, ...]
    timeline: tuple[Event, ...]
    coverage: tuple[Uncovered, ...] = ()

    @property
    def _in_a_line(self) -> str:
        """How it ended, after how long, and how often somebody was evicted."""
        evictions = plural(self.totals.evictions, "eviction")
        return f"{self.decider}: {self.ended} after {self.duration_s:,} s, {evictions}"

    def called(self, key: str) -> str:
        """Return the name of a workload or an allocation, or its key if it has no other name."""
        return self.names.get(key, key)
