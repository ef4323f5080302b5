"""The fewest workloads without which pods have a place in a domain: exact as long as it is small.

Only places count here, neither quota nor who may be preempted. To take one away more never does
harm, so the sets are tried by their size, from a bound below which none can do.

Source: docs/semantics/kueue-topology.md §7: room is monotone for one podset or group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from planner.reference.kueue.topology.gauge import Gauge
from planner.reference.kueue.topology.room import Wanted
from planner.reference.kueue.topology.slots import columns

MOST_STEPS: Final = 10_000
"""Changes of leaves in the search for one set."""
MOST_IN_ALL: Final = 60_000
"""Changes of leaves in all searches of one answer."""
MOST_SEARCHED: Final = 100
"""Larger sets are not searched through: what goes until there is room is then the answer."""

Freed = Mapping[int, tuple[tuple[int, int], ...]]
"""What goes free on leaves: amounts by columns of the tree."""


class Movable(NamedTuple):
    """A workload that runs, and what it would free in the domain."""

    key: str
    freed: Freed


@dataclass(frozen=True, slots=True)
class Smallest:
    """Keys of workloads without which there is room; ``None`` if no set is enough.

    ``proved`` says that there is no smaller one.
    """

    keys: tuple[str, ...] | None
    proved: bool = True


@dataclass(slots=True)
class Steps:
    """What is left of the work that an answer is worth; ``late`` says when time is up."""

    late: Callable[[], bool]
    left: int = MOST_IN_ALL

    def take(self, count: int) -> None:
        """Take some for changes of so many leaves."""
        self.left -= count


class _OutOfSteps(Exception):  # noqa: N818 - says what happened
    """The search was too long."""


def smallest_set(
    wanted: Wanted,
    rows: Sequence[Sequence[int]],
    running: Sequence[Movable],
    steps: Steps,
) -> Smallest:
    """Return the fewest of ``running`` that must go before there is room.

    Of several sets as small, what frees most and stands first in ``running`` is taken. ``rows`` is
    what is left on the leaves now.
    """
    return _Search(wanted, rows, running, steps).found()


def least_number(
    wanted: Wanted, rows: Sequence[Sequence[int]], running: Sequence[Movable]
) -> int | None:
    """Return how many must go at least; ``None`` if all together cannot be enough."""
    return _Gains(wanted, rows, running).least()


class _Gains:
    """How many slots each workload can add at most, by each resource that is asked for."""

    def __init__(
        self, wanted: Wanted, rows: Sequence[Sequence[int]], running: Sequence[Movable]
    ) -> None:
        asked = columns(wanted.tree, wanted.workers.amounts)
        self.known: Final = [(column, one) for column, one in asked if column is not None]
        self.possible: Final = len(self.known) == len(asked)
        self.need: Final = wanted.slices * wanted.aim.size
        self.qualified: Final = wanted.qualified
        self.base: Final = [
            sum(
                max(0, row[column]) // one
                for row, ok in zip(rows, self.qualified, strict=True)
                if ok
            )
            for column, one in self.known
        ]
        self.of: Final = [self._gain(one.freed) for one in running]

    def _gain(self, freed: Freed) -> tuple[int, ...]:
        found = [0] * len(self.known)
        for leaf, amounts in freed.items():
            if self.qualified[leaf]:
                there = dict(amounts)
                for place, (column, one) in enumerate(self.known):
                    found[place] += -(-there.get(column, 0) // one)
        return tuple(found)

    def least(self) -> int | None:
        if not self.possible:
            return None
        most = 0
        for place, base in enumerate(self.base):
            lacking, count = self.need - base, 0
            for gain in sorted((one[place] for one in self.of), reverse=True):
                if lacking <= 0 or gain <= 0:
                    break
                lacking, count = lacking - gain, count + 1
            if lacking > 0:
                return None
            most = max(most, count)
        return most


class _Search:
    def __init__(
        self,
        wanted: Wanted,
        rows: Sequence[Sequence[int]],
        running: Sequence[Movable],
        steps: Steps,
    ) -> None:
        gains = _Gains(wanted, rows, running)
        alike: dict[object, int] = {}
        first = [alike.setdefault(frozenset(one.freed.items()), n) for n, one in enumerate(running)]
        least = [-min(gain, default=0) for gain in gains.of]
        order = sorted(range(len(running)), key=lambda n: (least[n], first[n], n))
        self._wanted: Final = wanted
        self._running: Final = [running[n] for n in order]
        self._gains: Final = [gains.of[n] for n in order]
        self._least: Final = gains.least()
        self._need, self._base = gains.need, gains.base
        self._steps: Final = steps
        self._rows: Final = [list(row) for row in rows]
        self._counts: Final = wanted.counts(self._rows)
        self._gauge: Final = Gauge(wanted.tree, wanted.aim, self._counts, wanted.workers.count)
        self._best_ahead: Final = self._suffixes()
        self._alike: Final = self._next_unlike()
        self._left = MOST_STEPS

    def _suffixes(self) -> list[tuple[int, ...]]:
        """Return for each place the most that one workload from there on adds, by resource."""
        ahead = [(0,) * len(self._base)]
        for gain in reversed(self._gains):
            ahead.append(tuple(map(max, gain, ahead[-1])))
        return ahead[::-1]

    def _next_unlike(self) -> list[int]:
        """Return for each place the next workload that frees something else."""
        following = [len(self._running)] * len(self._running)
        for place in range(len(self._running) - 2, -1, -1):
            same = self._running[place].freed == self._running[place + 1].freed
            following[place] = following[place + 1] if same else place + 1
        return following

    def found(self) -> Smallest:
        if self._fits():
            return Smallest(())
        if self._least is None:
            return Smallest(None)
        upper = self._greedy()
        if upper is None:
            return Smallest(None)
        try:
            for size in range(max(1, self._least), len(upper)):
                if size > MOST_SEARCHED:
                    raise _OutOfSteps  # noqa: TRY301 - as if it had been tried in vain
                chosen = self._of_size(size, 0, self._base)
                if chosen is not None:
                    return self._named(chosen)
        except _OutOfSteps:
            return self._named(upper, proved=False)
        return self._named(upper)

    def _named(self, chosen: Sequence[int], *, proved: bool = True) -> Smallest:
        return Smallest(tuple(sorted(self._running[n].key for n in chosen)), proved)

    def _greedy(self) -> list[int] | None:
        """Take away what frees most until there is room, then give back what is not needed."""
        taken: list[int] = []
        for place in range(len(self._running)):
            self._move(place, 1)
            taken.append(place)
            if self._fits():
                break
        enough = self._fits()
        kept: list[int] = []
        for place in reversed(taken) if enough else ():
            self._move(place, -1)
            if not self._fits():
                self._move(place, 1)
                kept.append(place)
        for place in kept if enough else taken:
            self._move(place, -1)
        return kept if enough else None

    def _of_size(self, left: int, start: int, base: Sequence[int]) -> list[int] | None:
        """Return so many more workloads, from a place on, without which there is room."""
        if left == 0:
            return [] if self._fits() else None
        place = start
        while place + left <= len(self._running):
            ahead = self._best_ahead[place]
            if any(b + left * a < self._need for b, a in zip(base, ahead, strict=True)):
                return None
            self._step(place)
            self._move(place, 1)
            gain = self._gains[place]
            rest = self._of_size(
                left - 1, place + 1, [b + g for b, g in zip(base, gain, strict=True)]
            )
            self._move(place, -1)
            if rest is not None:
                return [place, *rest]
            place = self._alike[place]
        return None

    def _step(self, place: int) -> None:
        count = len(self._running[place].freed)
        self._left -= count
        self._steps.take(count)
        if self._left < 0 or self._steps.left < 0 or self._steps.late():
            raise _OutOfSteps

    def _move(self, place: int, sign: int) -> None:
        for leaf, amounts in self._running[place].freed.items():
            for column, amount in amounts:
                self._rows[leaf][column] += sign * amount
            self._counts.refresh(leaf)
            self._gauge.refresh(leaf)

    def _fits(self) -> bool:
        if not self._gauge.may_fit:
            return False
        if self._wanted.leader is None:
            return True
        leads = any(self._counts.lead)
        return leads and self._wanted.held_in_all(self._counts) >= self._wanted.slices
