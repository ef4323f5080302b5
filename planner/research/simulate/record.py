"""The records of a simulation: its events, what became of each workload, and its loops."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal

from planner.plan.base import Published, Record, Told, Uncovered
from planner.plan.label import Label
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

Phase = Literal["to come", "pending", "running", "leaving", "finished"]
"""leaving: it is evicted, and keeps what it held for a while."""
AFTER: Final[Mapping[Kind, Phase]] = {
    "arrived": "pending",
    "requeued": "pending",
    "admitted": "running",
    "preempted": "leaving",
    "finished": "finished",
}
"""The phase that an event begins."""


class Event(Record):
    """Something that happened, so many whole seconds after the start.

    ``cycle`` counts the scheduling cycles until then. ``workload`` is namespace/name, or the key
    of an allocation of YuniKorn. ``by`` is who preempted it, from the queue ``by_queue``,
    ``reason`` the scheduler's own code; ``lost_s`` are the seconds of its run that an eviction
    lost, ``lost_work`` the same in accelerator-seconds. ``node`` is where an allocation runs.
    """

    at_s: Annotated[int, Label("Second", "code")]
    cycle: Annotated[int, Label("Cycle", rank=1)]
    kind: Annotated[Kind, Label("What", "code", tones={"preempted": "bad"})]
    workload: Annotated[str, Label("Workload", "key")]
    queue: Annotated[str, Label("Queue", "name", below="workload")]
    by: Annotated[str | None, Label("By", "name", below="workload")] = None
    by_queue: str | None = None
    reason: Annotated[str | None, Label("Why")] = None
    lost_s: Annotated[int | None, Label()] = None
    lost_work: int | None = None
    node: Annotated[str | None, Label()] = None


class Fate(Record):
    """What became of a workload or an allocation.

    Times are in whole seconds after the start; what was there at the start arrived at 0.
    ``waiting_s`` is how long it was pending, ``running_s`` how long it ran; ``lost_s`` is what
    evictions lost of its run, that before the start included, and ``lost_work`` the same in
    accelerator-seconds.
    """

    workload: Annotated[str, Label("Workload", "key")]
    queue: Annotated[str, Label("Queue", "name", below="workload")]
    priority: Annotated[int, Label("Priority", unit="rank", rank=1)]
    standing: Annotated[Standing, Label("At the end")]
    arrived_s: int
    admitted_s: int | None = None
    finished_s: int | None = None
    admissions: int = 0
    evictions: Annotated[int, Label("Evictions", unit="times")] = 0
    waiting_s: Annotated[int, Label("Waited", unit="s")] = 0
    running_s: Annotated[int, Label("Ran", unit="s", rank=3)] = 0
    lost_s: Annotated[int, Label("Lost", unit="s", rank=2)] = 0
    lost_work: Annotated[int, Label("Lost work")] = 0


class Use(Record):
    """How much of a resource was in use on average, from 0 to 1, of ``capacity`` units.

    The unit is milli-cores for cpu and vcore, and whole units for the rest. ``flavor`` is empty
    for YuniKorn. Without a capacity, or with an unlimited one, there is no share.
    """

    flavor: Annotated[str, Label("Flavor", "key")]
    resource: Annotated[str, Label("Resource", "key")]
    capacity: Annotated[int | None, Label("Capacity")]
    share: Annotated[float | None, Label("In use", unit="%")]


class Loop(Record):
    """A round that repeats: a state that comes back, with evictions in between.

    The state is all that decides: who holds what, in which order they were admitted, who waits
    and where; not the clock. ``first_s`` is when the first round began, ``period_s`` and
    ``cycles`` say how long a round takes, ``rounds`` how often it was seen. ``endless`` says that
    what is to come from outside (arrivals, ends of runs) is the same as well: it goes on for
    ever. ``events`` are those of one round, ``story`` tells it in words.
    """

    first_s: Annotated[int, Label()]
    period_s: Annotated[int, Label()]
    cycles: Annotated[int, Label()]
    rounds: Annotated[int, Label()]
    endless: Annotated[bool, Label()]
    evictions: Annotated[int, Label()]
    workloads: tuple[str, ...]
    events: tuple[Event, ...]
    story: Annotated[tuple[str, ...], Label(role="steps")]


class Feud(Record):
    """Two that evicted each other, and how often each went for the other."""

    first: Annotated[str, Label(role="key")]
    second: Annotated[str, Label(role="key")]
    first_evicted: Annotated[int, Label()]
    second_evicted: Annotated[int, Label()]


class Storm(Record):
    """One that was evicted more often than the limit, and by whom how often."""

    workload: Annotated[str, Label(role="key")]
    evictions: Annotated[int, Label()]
    by: dict[str, int]


class Totals(Record):
    """Sums over everybody; ``lost_work`` in accelerator-seconds."""

    workloads: Annotated[int, Label()]
    finished: Annotated[int, Label()]
    admissions: Annotated[int, Label()]
    evictions: Annotated[int, Label()]
    evicted: Annotated[int, Label()]
    waiting_s: Annotated[int, Label()]
    running_s: Annotated[int, Label()]
    lost_s: Annotated[int, Label()]
    lost_work: Annotated[int, Label()]


class Simulation(Published, Told):
    """What happened cycle after cycle.

    ``start`` is the clock of the state, ``duration_s`` how long was simulated, until it settled or
    a limit was reached. ``eviction_s`` is how long a victim kept what it held, ``apart_s`` how
    much longer each victim of a decision did than the one before, ``storm`` how many evictions are
    no storm yet. ``names`` are the pods of YuniKorn's allocations, by their keys, where the state
    tells. ``unproved`` counts plans that were not proved best in time, ``endless_runs`` those that
    ran and whose run time nothing tells: they run for ever. Loops are sorted by the length of their
    rounds, the shortest first; storms by evictions, the most first. ``coverage`` is what the state
    holds that is not modelled, ``notes`` what there is to know of it besides.
    """

    scheduler: Annotated[SchedulerId, Label()]
    decider: Annotated[SchedulerId | Literal["optimum", "stable", "boost"], Label()]
    objective: Annotated[str | None, Label()] = None
    digest: str
    start: Annotated[datetime, Label()]
    duration_s: Annotated[int, Label()]
    cycles: Annotated[int, Label()]
    ended: Annotated[Ended, Label()]
    eviction_s: int
    apart_s: int = 0
    storm: int
    unproved: Annotated[int, Label()] = 0
    endless_runs: Annotated[int, Label()] = 0
    totals: Annotated[Totals, Label(plain="total", role="totals")]
    names: Annotated[dict[str, str], Label(plain="name")] = {}
    use: Annotated[tuple[Use, ...], Label()]
    loops: Annotated[tuple[Loop, ...], Label(role="numbered")]
    feuds: Annotated[tuple[Feud, ...], Label()]
    storms: Annotated[tuple[Storm, ...], Label()]
    workloads: Annotated[tuple[Fate, ...], Label()]
    timeline: Annotated[tuple[Event, ...], Label(plain="event")]
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()
    notes: tuple[str, ...] = ()

    @property
    def _in_a_line(self) -> str:
        """How it ended, after how long, and how often somebody was evicted."""
        evictions = plural(self.totals.evictions, "eviction")
        return f"{self.decider}: {self.ended} after {self.duration_s:,} s, {evictions}"

    def called(self, key: str) -> str:
        """Return the name of a workload or an allocation, or its key if it has no other name."""
        return self.names.get(key, key)
