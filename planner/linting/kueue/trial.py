"""What Kueue does in a small dump, by the replay of its own decisions and of whole cycles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from operator import itemgetter
from typing import Any, Final, NamedTuple

from planner.quota.holding import queue_order_time
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import take_snapshot
from planner.reader import read_kueue_objects
from planner.reference.cycle.record import Cycle
from planner.reference.cycle.run import run_cycle
from planner.reference.decision import decide
from planner.solver.kueue.aftermath import admit, evicted
from planner.state import State, Workload

MAX_CYCLES: Final = 24
"""Cycles after which a small cluster that has not repeated itself will not."""
AT_REST: Final = "nothing moves until something in the cohort changes"
_MINUTE: Final = timedelta(minutes=1)
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


Standing = tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]
"""Who runs, those last admitted first; everybody in queue order; and who is parked.

What follows depends on nothing else: of times, only their order matters.
"""


@dataclass(slots=True)
class _Play:
    """Cycle after cycle: targets go and wait again, what fits is admitted, the parked rest.

    The parked compete again when somebody was evicted, as in Kueue, and once nothing moves any
    more, as if something else in the cohort had changed.
    """

    state: State
    parked: frozenset[str] = frozenset()
    events: list[Event] = field(default_factory=list)

    @property
    def standing(self) -> Standing:
        by_name = sorted(self.state.workloads, key=lambda one: one.metadata.uid)
        since = {one.key: one.reserved_at for one in by_name}
        running = [(at, key) for key, at in since.items() if at is not None]
        running.sort(key=itemgetter(0), reverse=True)
        configuration = self.state.configuration
        queued = sorted(by_name, key=lambda one: queue_order_time(one, configuration))
        names = tuple(key for _, key in running)
        return names, tuple(one.key for one in queued), self.parked

    def step(self) -> bool:
        """Run a cycle, and say whether anything moved or was parked."""
        kept = tuple(one for one in self.state.workloads if one.key not in self.parked)
        cycle = run_cycle(self.state.model_copy(update={"workloads": kept}))
        changed = _changed(cycle)
        moved = [entry for entry in cycle.entries if entry.outcome in {"admitted", "preempting"}]
        for entry in moved:
            going = entry.targets if entry.outcome == "preempting" else ()
            names = tuple(one.workload.key for one in going)
            self.events.append(Event(entry.preemptor.key, names))
        workloads = tuple(changed.get(one.key, one) for one in self.state.workloads)
        later = {"workloads": workloads, "now": self.state.now + _MINUTE}
        self.state = self.state.model_copy(update=later)
        before, parked = self.parked, {key for keys in cycle.parked.values() for key in keys}
        self.parked = frozenset() if cycle.evicted else before | parked
        return bool(moved) or self.parked != before


def _changed(cycle: Cycle) -> dict[str, Workload]:
    """Return the workloads that a cycle admits or evicts, as they are after it."""
    snapshot = cycle.snapshot
    changed = {
        one.workload.key: evicted(one.workload, one.reason, snapshot.now) for one in cycle.evicted
    }
    for entry in cycle.entries:
        if entry.outcome == "admitted" and entry.assignment is not None:
            changed[entry.preemptor.key] = admit(
                snapshot, entry.preemptor, entry.assignment
            ).workload
    return changed


def loop(dump: Any) -> tuple[str, ...]:  # noqa: ANN401 - parsed JSON
    """Return the events that lead into a round of evictions, and the round; empty without one.

    A round leads from a standing to the same standing, and somebody is evicted in it: whoever
    that is was admitted again, and the round goes on for ever.
    """
    play = _Play(read_kueue_objects(dump, where=_WHERE))
    seen: dict[Standing, int] = {}
    for standing in _standings(play):
        since = seen.setdefault(standing, len(play.events))
        if any(event.evicts for event in play.events[since:]):
            told = [event.in_words for event in play.events]
            return (*told, f"and so on from step {since + 1}")
    return ()


def _standings(play: _Play) -> Iterator[Standing]:
    """Yield who stands where, cycle by cycle, until nothing moves although all compete."""
    rested: set[Standing] = set()
    for _ in range(MAX_CYCLES):
        yield play.standing
        if play.step():
            continue
        if not play.parked or play.standing in rested:
            return
        rested.add(play.standing)
        play.parked = frozenset()
        play.events.append(Event("", ()))
