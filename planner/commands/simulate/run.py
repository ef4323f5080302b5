"""The loop of a simulation: what is due happens, the scheduler runs, the clock goes on.

A scheduling cycle takes a second. While a cycle would do the same as the one before, the clock
goes on to the next thing that happens by itself.

A loop is a state that comes back after evictions. What decides is compared, not the clock: see
``Mark``. Whoever finishes or arrives never stands in an earlier state, so nothing from outside
happens within a round; histories begin anew with every such event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from planner.commands.simulate.record import Ended, Event, Feud, Loop, Storm
from planner.commands.simulate.world import Mark, Tally, World


def story(
    events: Sequence[Event], start_s: int, period_s: int, names: Mapping[str, str]
) -> tuple[str, ...]:
    """Tell what happens in a round; seconds count from when it begins.

    ``names`` are what people call those whose keys are no names.

    A round ends with the evictions of its last cycle, and so did the one before: they are told
    first, at 0 s.
    """
    end_s = start_s + period_s
    last = [event for event in events if event.at_s == end_s and event.kind == "preempted"]
    rest = [event for event in events if event not in last]
    sentences = (*_sentences(last, end_s, names), *_sentences(rest, start_s, names))
    return (*sentences, f"after {period_s} s everything is as it was at the beginning of the round")


def _sentences(events: Sequence[Event], start_s: int, names: Mapping[str, str]) -> Iterator[str]:
    for event in events:
        after = f"at {event.at_s - start_s} s"
        who = names.get(event.workload, event.workload)
        match event.kind:
            case "admitted":
                where = f" on node {event.node}" if event.node else ""
                yield f"{after} {who} is admitted by {event.queue}{where}"
            case "preempted":
                why = f" ({event.reason})" if event.reason else ""
                lost = f" and loses {event.lost_s} s of its run" if event.lost_s else ""
                by = names.get(event.by or "", event.by)
                yield (
                    f"{after} {by} of {event.by_queue} preempts {who} of "
                    f"{event.queue}{why}, which goes{lost}"
                )
            case "requeued":
                yield f"{after} {who} waits again in {event.queue}"
            case _:
                yield f"{after} {who} has {event.kind}"


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

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
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
        # The last visit counts: a round is from there, not from when the state was seen first.
        history.visits[mark.state] = visit
        if before is None:
            return
        # One state is enough to count rounds by; the others of the round come back as often.
        if not history.anchor:
            history.anchor = mark.state
            self._begin(history, before, visit)
        elif history.anchor == mark.state:
            found = self._loops[history.round]
            self._loops[history.round] = found.model_copy(update={"rounds": found.rounds + 1})
        # The same to come after the same time as well: nothing can lead out of it any more.
        if before.mark.to_come == mark.to_come:
            self.endless.add(tree)
            found = self._loops[history.round]
            self._loops[history.round] = found.model_copy(update={"endless": True})

    def _begin(self, history: _History, before: _Visit, visit: _Visit) -> None:
        """Note a loop that was closed for the first time since something came from outside."""
        events = tuple(history.events[before.events : visit.events])
        steps = [(event.kind, event.workload, event.by) for event in events]
        # A round may be entered anywhere: of all its rotations the smallest names it.
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
            story=story(events, before.at_s, period_s, self._names),
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


CYCLE_S: Final = 1

Report = Callable[[int, int], None]
"""Is told the clock in seconds after the start, and the number of cycles."""


class Limits(NamedTuple):
    """When a simulation ends at the latest: by its clock, and by the number of its cycles."""

    until_s: int
    cycles: int
    storm: int


class Outcome(NamedTuple):
    """What a run gives, before it is put in words; ``shares`` are amounts used on average."""

    ended: Ended
    at_s: int
    timeline: Sequence[Event]
    tally: Tally
    shares: Sequence[float]
    loops: tuple[Loop, ...]
    feuds: tuple[Feud, ...]
    storms: tuple[Storm, ...]


class _Run:
    """A run as far as it has come."""

    def __init__(self, world: World, limits: Limits) -> None:
        self.world = world
        self.limits = limits
        self.at_s = 0
        self.timeline: list[Event] = []
        self.tally = Tally()
        self.watch = Watch(world.names)
        self.sums = [0] * len(world.used())
        world.enter(self.tally)

    def step(self) -> bool:
        """Let happen what is due now, and the scheduler run; say whether it would run again."""
        self._note(self.world.happen(self.at_s))
        events, moved = self.world.cycle(self.at_s)
        trees = self._note(events)
        pairs = zip(trees, events, strict=True)
        for tree in sorted({tree for tree, event in pairs if event.kind == "preempted"}):
            mark = self.world.mark(tree, self.at_s)
            self.watch.look(tree, mark, self.world.cycles, self.at_s)
        return moved

    def _note(self, events: Sequence[Event]) -> list[int]:
        trees = []
        for event in events:
            self.timeline.append(event)
            self.tally.add(event)
            trees.append(self.world.tree_of(event))
            self.watch.see(trees[-1], event)
        return trees

    def ended(self, next_s: int | None) -> Ended | None:
        """Say why the run is over, if it is; ``next_s`` is when it would go on."""
        if next_s is None:
            return "settled"
        # As long as another tree is busy the run goes on: what happens there is still to be told.
        if self.watch.endless and self.watch.endless.issuperset(self.world.busy()):
            return "loop"
        if next_s > self.limits.until_s:
            return "until"
        return "cycles" if self.world.cycles >= self.limits.cycles else None

    def go_on(self, next_s: int) -> None:
        """Set the clock forward."""
        passed = next_s - self.at_s
        self.sums = [
            total + used * passed for total, used in zip(self.sums, self.world.used(), strict=True)
        ]
        self.at_s = next_s


def run(world: World, limits: Limits, report: Report) -> Outcome:
    """Let a world run until nothing moves, nothing but loops, or a limit is reached."""
    going = _Run(world, limits)
    ended: Ended | None = None
    while ended is None:
        moved = going.step()
        next_s = going.at_s + CYCLE_S if moved else world.next_s()
        ended = going.ended(next_s)
        if ended is None and next_s is not None:
            going.go_on(next_s)
        elif ended == "until":
            going.go_on(limits.until_s)
        report(going.at_s, world.cycles)
    watch, at_s = going.watch, going.at_s
    return Outcome(
        ended=ended,
        at_s=at_s,
        timeline=going.timeline,
        tally=going.tally,
        shares=[total / at_s for total in going.sums] if at_s else world.used(),
        loops=watch.loops(),
        feuds=watch.feuds(),
        storms=watch.storms(limits.storm),
    )
