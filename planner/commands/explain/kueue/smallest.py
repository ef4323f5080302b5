"""The fewest workloads whose eviction gives pods a place in a domain: exact for small searches.

Only places count here, neither quota nor who may be preempted. To evict one workload more never
takes room away, so victim sets are tried by size: from a lower bound up to the better of two greedy
answers, by the workloads that free most, and by the leaves on which a slot costs the fewest.

Source: docs/semantics/kueue-topology.md §7: room is monotone for one podset or group.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from planner.commands.explain.kueue.record import Opening
from planner.reference.kueue.topology.slots import Gauge, Wanted, columns

MOST_STEPS: Final = 10_000
"""The most updates of leaves in the search for one set."""
MOST_IN_ALL: Final = 60_000
"""The most updates of leaves in all searches of one answer."""
MOST_BOUNDED: Final = 100_000
"""The most leaves times missing slots for which leaves are looked at one by one."""
MOST_SEARCHED: Final = 100
"""The largest size of sets that is searched; beyond it, a greedy set is the answer."""

Freed = Mapping[int, tuple[tuple[int, int], ...]]
"""What an eviction frees: for each leaf, amounts with their columns of the tree."""


class Movable(NamedTuple):
    """A workload that runs, and what it would free in the domain."""

    key: str
    freed: Freed


@dataclass(slots=True)
class Steps:
    """The updates of leaves that are left for an answer; ``late`` says whether time is up."""

    late: Callable[[], bool]
    left: int = MOST_IN_ALL


class _OutOfSteps(Exception):  # noqa: N818 - says what happened
    """The search was too long."""


def smallest_set(
    wanted: Wanted, rows: Sequence[Sequence[int]], running: Sequence[Movable], steps: Steps
) -> Opening:
    """Return the fewest of ``running`` whose eviction makes room.

    ``rows`` is what is left on the leaves now. Of several smallest sets it is always the same one.
    """
    return _Search(wanted, rows, running, steps).found()


class Gains:
    """How many slots each workload can add at most, by each resource that is asked for.

    ``rows`` is what is left on the leaves now.
    """

    def __init__(
        self, wanted: Wanted, rows: Sequence[Sequence[int]], running: Sequence[Movable]
    ) -> None:
        asked = columns(wanted.tree, wanted.workers.amounts)
        self.known: Final = [(column, one) for column, one in asked if column is not None]
        self.possible: Final = len(self.known) == len(asked)
        self.need: Final = wanted.slices * wanted.aim.size
        self.qualified: Final = wanted.qualified
        usable = [row for row, ok in zip(rows, self.qualified, strict=True) if ok]
        self.base: Final = [
            sum(max(0, row[column]) // one for row in usable) for column, one in self.known
        ]
        self.of: Final[list[tuple[int, ...]]] = []
        for each in running:
            gain = [0] * len(self.known)
            for leaf, amounts in each.freed.items():
                there = dict(amounts) if self.qualified[leaf] else {}
                for place, (column, one) in enumerate(self.known):
                    gain[place] += -(-there.get(column, 0) // one)
            self.of.append(tuple(gain))

    def least(self) -> int | None:
        """Return a lower bound on the evictions needed; ``None`` if not even all are enough."""
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


_WHOLE: Final = 720_720
"""The weight of one workload: on several leaves, each has an equal part of it, rounded down."""


class _Leaves:
    """What slots cost on each leaf: how many workloads to evict for one or more slots more."""

    def __init__(
        self, gains: Gains, rows: Sequence[Sequence[int]], running: Sequence[Movable]
    ) -> None:
        self.known: Final = gains.known
        self.rows: Final = rows
        self.on: Final[dict[int, list[int]]] = {}
        for place, one in enumerate(running):
            for leaf in one.freed:
                if gains.qualified[leaf]:
                    self.on.setdefault(leaf, []).append(place)
        self.running: Final = running
        open_now = (self.slots(row) for row, ok in zip(rows, gains.qualified, strict=True) if ok)
        self.lacking: Final = gains.need - sum(open_now)
        self.worth_it: Final = self.lacking * len(self.on) <= MOST_BOUNDED

    def slots(self, row: Sequence[int]) -> int:
        """Return how many pods fit into what is left of a leaf."""
        return min((max(0, row[column]) // one for column, one in self.known), default=0)

    def least(self) -> int:
        """Return a lower bound on the evictions needed, by all leaves together; 0 if unknown."""
        if not self.worth_it or self.lacking <= 0:
            return 0
        best: list[int | None] = [0] + [None] * self.lacking
        for leaf in self.on:
            costs = self._costs(leaf)
            for total in range(self.lacking, 0, -1):
                for more, cost in enumerate(costs, start=1):
                    before = best[max(0, total - more)]
                    if before is None:
                        continue
                    now = best[total]
                    if now is None or before + cost < now:
                        best[total] = before + cost
        found = best[self.lacking]
        return 0 if found is None else -(-found // _WHOLE)

    def _costs(self, leaf: int) -> list[int]:
        """Return the least weight to evict for 1, 2, ... slots more on a leaf, while possible."""
        row = self.rows[leaf]
        here = [
            (dict(self.running[place].freed[leaf]), _WHOLE // len(self.running[place].freed))
            for place in self.on[leaf]
        ]
        now, found = self.slots(row), list[int]()
        while len(found) < self.lacking:
            wanted = now + len(found) + 1
            most = 0
            for column, one in self.known:
                cost = _cover(wanted * one - row[column], [(f.get(column, 0), w) for f, w in here])
                if cost is None:
                    return found
                most = max(most, cost)
            found.append(most)
        return found

    def cheapest(self, rows: Sequence[Sequence[int]], gone: Collection[int]) -> list[int] | None:
        """Return roughly the fewest workloads to evict for one slot more on any one leaf."""
        best: list[int] | None = None
        for leaf, places in self.on.items():
            row, taken = list(rows[leaf]), list[int]()
            wanted = self.slots(row) + 1
            left = [place for place in places if place not in gone]
            there = {place: dict(self.running[place].freed[leaf]) for place in left}
            while self.slots(row) < wanted and there and (best is None or len(taken) < len(best)):
                scarce = min((row[column] // one, column) for column, one in self.known)[1]
                _, place = max((freed.get(scarce, 0), -place) for place, freed in there.items())
                taken.append(-place)
                for column, amount in there.pop(-place).items():
                    row[column] += amount
            if self.slots(row) >= wanted and (best is None or len(taken) < len(best)):
                best = taken
        return best


def _cover(need: int, some: Sequence[tuple[int, int]]) -> int | None:
    """Return the least weight of amounts (with weights) that add up to a need.

    A part of an amount weighs its part, but where all weights are the same only whole amounts
    count. ``None`` if all are not enough.
    """
    if need <= 0:
        return 0
    cost, whole = 0, len({weight for _, weight in some}) == 1
    for amount, weight in sorted(some, key=lambda one: one[0] / max(1, one[1]), reverse=True):
        if amount >= need:
            return cost + (weight if whole else weight * need // amount)
        need, cost = need - amount, cost + weight
    return None


class _Search:
    def __init__(
        self,
        wanted: Wanted,
        rows: Sequence[Sequence[int]],
        running: Sequence[Movable],
        steps: Steps,
    ) -> None:
        gains = Gains(wanted, rows, running)
        alike: dict[object, int] = {}
        first = [alike.setdefault(frozenset(one.freed.items()), n) for n, one in enumerate(running)]
        least = [-min(gain, default=0) for gain in gains.of]
        order = sorted(range(len(running)), key=lambda n: (least[n], first[n], n))
        self._wanted: Final = wanted
        self._running: Final = [running[n] for n in order]
        self._gains: Final = [gains.of[n] for n in order]
        self._leaves: Final = _Leaves(gains, rows, self._running)
        least_of_all = gains.least()
        by_leaves = 0 if least_of_all is None else self._leaves.least()
        self._least: Final = None if least_of_all is None else max(least_of_all, by_leaves)
        self._need, self._base = gains.need, gains.base
        self._steps: Final = steps
        self._rows: Final = [list(row) for row in rows]
        self._counts: Final = wanted.counts(self._rows)
        self._gauge: Final = Gauge(wanted.tree, wanted.aim, self._counts, wanted.workers.count)
        # For each place the most slots that any one workload from there on adds, by resource.
        ahead = [(0,) * len(self._base)]
        for gain in reversed(self._gains):
            ahead.append(tuple(map(max, gain, ahead[-1])))
        self._best_ahead: Final = ahead[::-1]
        # For each place the next workload that frees something else.
        self._unlike: Final = [len(self._running)] * len(self._running)
        for place in range(len(self._running) - 2, -1, -1):
            same = self._running[place].freed == self._running[place + 1].freed
            self._unlike[place] = self._unlike[place + 1] if same else place + 1
        self._left = MOST_STEPS

    def found(self) -> Opening:
        if self._fits():
            return self._named(())
        upper = None if self._least is None else self._greedy(range(len(self._running)))
        if self._least is None or upper is None:
            return Opening(victims=None, proved=True)
        if len(upper) > max(1, self._least) and self._leaves.worth_it:
            other = self._greedy(self._leaf_by_leaf())
            upper = other if other is not None and len(other) < len(upper) else upper
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

    def _named(self, chosen: Sequence[int], *, proved: bool = True) -> Opening:
        return Opening(victims=tuple(sorted(self._running[n].key for n in chosen)), proved=proved)

    def _leaf_by_leaf(self) -> Iterator[int]:
        """Yield the workloads of the cheapest slot, again and again as the rows change."""
        gone: set[int] = set()
        while chosen := self._leaves.cheapest(self._rows, gone):
            gone.update(chosen)
            yield from chosen

    def _greedy(self, order: Iterable[int]) -> list[int] | None:
        """Return victims that make room: taken in an order, without those not needed after all."""
        taken: list[int] = []
        for place in order:
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
        """Return ``left`` workloads, from place ``start`` on, whose eviction makes room, if any."""
        if left == 0:
            return [] if self._fits() else None
        place = start
        while place + left <= len(self._running):
            ahead = self._best_ahead[place]
            if any(b + left * a < self._need for b, a in zip(base, ahead, strict=True)):
                return None
            count = len(self._running[place].freed)
            self._left -= count
            self._steps.left -= count
            if self._left < 0 or self._steps.left < 0 or self._steps.late():
                raise _OutOfSteps
            self._move(place, 1)
            gain = self._gains[place]
            more = [b + g for b, g in zip(base, gain, strict=True)]
            rest = self._of_size(left - 1, place + 1, more)
            self._move(place, -1)
            if rest is not None:
                return [place, *rest]
            place = self._unlike[place]
        return None

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
