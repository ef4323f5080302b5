"""Storms and loops: states that come back, workloads that evict each other, and too often.

A loop is a state that comes back after evictions. What decides is compared, not the clock: see
``Mark``. Whoever finishes or arrives never stands in an earlier state, so nothing from outside
happens within a round; histories begin anew with every such event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from planner.commands.simulate.record import Event, Feud, Loop, Storm
from planner.commands.simulate.story import story
from planner.commands.simulate.world import Mark

OUTSIDE: Final = frozenset({"arrived", "finished"})

_Step = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class _Visit:
    """When a state was seen: how many events of its tree there were, cycles, and the clock."""

    events: int
    cycle: int
    at_s: int
    mark: Mark


@dataclass(slots=True)
class _History:
    """What was seen of a tree since something came from outside."""

    events: list[Event] = field(default_factory=list)
    visits: dict[bytes, _Visit] = field(default_factory=dict)
    anchor: bytes = b""
    round: tuple[_Step, ...] = ()


class Watch:
    """Looks on, event by event, and state by state."""

    def __init__(self) -> None:
        self._histories: dict[int, _History] = {}
        self._loops: dict[tuple[_Step, ...], Loop] = {}
        self._by: dict[str, Counter[str]] = {}
        self.endless: Final[set[int]] = set()

    def see(self, tree: int, event: Event) -> None:
        """Note what happened in a tree."""
        if event.kind in OUTSIDE:
            self._histories.pop(tree, None)
            self.endless.discard(tree)
            return
        self._histories.setdefault(tree, _History()).events.append(event)
        if event.kind == "preempted" and event.by is not None:
            self._by.setdefault(event.workload, Counter())[event.by] += 1

    def look(self, tree: int, mark: Mark, cycle: int, at_s: int) -> None:
        """Look at a tree after a cycle that evicted somebody in it."""
        history = self._histories.setdefault(tree, _History())
        visit = _Visit(len(history.events), cycle, at_s, mark)
        before = history.visits.get(mark.state)
        history.visits[mark.state] = visit
        if before is None:
            return
        if not history.anchor:
            history.anchor = mark.state
            self._begin(history, before, visit)
        elif history.anchor == mark.state:
            found = self._loops[history.round]
            self._loops[history.round] = found.model_copy(update={"rounds": found.rounds + 1})
        if before.mark.to_come == mark.to_come:
            self.endless.add(tree)
            found = self._loops[history.round]
            self._loops[history.round] = found.model_copy(update={"endless": True})

    def _begin(self, history: _History, before: _Visit, visit: _Visit) -> None:
        """Note a loop that was closed for the first time since something came from outside."""
        events = tuple(history.events[before.events : visit.events])
        steps = [(event.kind, event.workload, event.by) for event in events]
        history.round = min(tuple(steps[i:] + steps[:i]) for i in range(len(steps)))
        known = self._loops.get(history.round)
        if known is not None:
            self._loops[history.round] = known.model_copy(update={"rounds": known.rounds + 1})
            return
        period_s = visit.at_s - before.at_s
        self._loops[history.round] = Loop(
            first_s=before.at_s,
            period_s=period_s,
            cycles=visit.cycle - before.cycle,
            rounds=1,
            endless=False,
            evictions=sum(event.kind == "preempted" for event in events),
            workloads=tuple(sorted({event.workload for event in events})),
            events=events,
            story=story(events, before.at_s, period_s),
        )

    def loops(self) -> tuple[Loop, ...]:
        """Return the loops, those with the shortest rounds first."""
        found = self._loops.values()
        return tuple(sorted(found, key=lambda one: (len(one.events), one.first_s, one.workloads)))

    def feuds(self) -> tuple[Feud, ...]:
        """Return who evicted each other, those who did it most first."""
        found = [
            Feud(
                first=first,
                second=second,
                first_evicted=count,
                second_evicted=self._by[second][first],
            )
            for first, by in self._by.items()
            for second, count in by.items()
            if first < second and self._by.get(second, Counter())[first]
        ]
        return tuple(sorted(found, key=lambda one: (-one.first_evicted, one.first, one.second)))

    def storms(self, limit: int) -> tuple[Storm, ...]:
        """Return who was evicted more often than the limit, those most often first."""
        found = [
            Storm(workload=key, evictions=by.total(), by=dict(by.most_common()))
            for key, by in self._by.items()
            if by.total() > limit
        ]
        return tuple(sorted(found, key=lambda one: (-one.evictions, one.workload)))


def evicting_trees(trees: Sequence[int], events: Sequence[Event]) -> set[int]:
    """Return the trees, given one for each event, in which somebody was evicted."""
    pairs = zip(trees, events, strict=True)
    return {tree for tree, event in pairs if event.kind == "preempted"}
