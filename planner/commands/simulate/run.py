"""The loop of a simulation: what is due happens, the scheduler runs, the clock goes on.

A scheduling cycle takes a second. While a cycle would do the same as the one before, the clock
goes on to the next thing that happens by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from planner.commands.simulate.record import Ended, Event, Feud, Loop, Storm
from planner.commands.simulate.tally import Tally
from planner.commands.simulate.watch import Watch, evicting_trees
from planner.commands.simulate.world import World

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
        self.watch = Watch()
        self.sums = [0] * len(world.used())
        world.enter(self.tally)

    def step(self) -> bool:
        """Let happen what is due now, and the scheduler run; say whether it would run again."""
        self._note(self.world.happen(self.at_s))
        events, moved = self.world.cycle(self.at_s)
        trees = self._note(events)
        for tree in sorted(evicting_trees(trees, events)):
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
