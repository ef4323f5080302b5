"""The smallest boosts that work, or why none do.

Smallest means: the fewest workloads touched, and among those the smallest sum of the amounts by
which their boosts change.

Only the order of the candidates matters (see pool.py). So for k touched workloads it is enough to
try priorities at most k away from some priority that an untouched candidate has, or from a bound:
whatever lies further off can be moved towards today's value without changing the order, until it
touches another value, and k of them reach no further than k.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations

from planner.commands.boost.orders import count_orders, every_order, priorities_for
from planner.commands.boost.pool import Candidate, candidates_of
from planner.commands.boost.trial import LARGEST_BOOST, Trial

MAX_ORDERS = 20_000
MAX_POOL = 200
"""More orders than these, or orders of more candidates, are not gone through one by one."""

Choice = Mapping[str, int]
"""Effective priorities of the workloads that are touched."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    ``choice`` is ``None`` if nothing was found; ``proved`` says that there is nothing smaller
    then, or nothing at all.
    """

    choice: Choice | None
    proved: bool


class Search:
    """The search for the boosts of one trial, until a moment of ``time.monotonic``."""

    def __init__(self, trial: Trial, until: float | None) -> None:
        self.trial = trial
        self.until = until
        self.pool: Sequence[Candidate] = candidates_of(
            trial.snapshot, trial.preemptor, trial.assignment, trial.victims
        )
        self.today = {one.key: one.priority for one in self.pool}
        self._own = {one.key: one.workload.workload.spec.priority or 0 for one in self.pool}
        numbers: dict[Hashable, int] = {}
        self._kind = {one.key: numbers.setdefault(one.kind, len(numbers)) for one in self.pool}
        self._answers: dict[tuple[int, ...], bool] = {}
        self._refused = 0

    @property
    def orders(self) -> int:
        """How many orders were put to the replay so far."""
        return len(self._answers)

    @property
    def complete(self) -> bool:
        """Whether every choice that failed did so by the order of the candidates alone.

        Else Kueue would have chosen other flavors, which depends on more than that order.
        """
        return not self._refused

    def run(self) -> Found:
        """Search the smallest choice."""
        if self.works({}):
            return Found({}, proved=True)
        witness = self._witness()
        few = len(self.pool) <= MAX_POOL and count_orders(self.pool) <= MAX_ORDERS
        if witness is None and few:
            witness, finished = self._any_order()
            if witness is None:
                return Found(None, proved=finished and self.complete)
        return self._smallest(witness)

    def works(self, choice: Choice) -> bool:
        """Say whether Kueue takes exactly the planned victims at some priorities."""
        values = {**self.today, **choice}
        order = sorted(self.pool, key=lambda one: one.place(values[one.key]))
        kinds = tuple(self._kind[one.key] for one in order)
        if kinds not in self._answers:
            self._answers[kinds] = self.trial.targets(values) == self.trial.victims
        if not self._answers[kinds]:
            return False
        if self.trial.holds(self.boosts(choice)):
            return True
        self._refused += 1
        return False

    def boosts(self, choice: Choice) -> dict[str, int]:
        """Return the annotations for a choice: what is added to the workload's own priority."""
        return {key: value - self._own[key] for key, value in choice.items()}

    def size(self, choice: Choice) -> tuple[int, int]:
        """Return how many workloads a choice touches, and by how much in all."""
        return len(choice), sum(abs(value - self.today[key]) for key, value in choice.items())

    def _late(self) -> bool:
        return self.until is not None and time.monotonic() > self.until

    def _witness(self) -> Choice | None:
        """Return a choice that works, of those that are likely to, made small."""
        lowered = self._lowered()
        raised = self._raised({})
        for choice in (lowered, raised, self._raised(lowered)):
            if choice and self.works(choice):
                return self._shrunk(choice)
        return None

    def _lowered(self) -> dict[str, int]:
        """Put all victims before all others of their lists."""
        lowest = min(self.today.values(), default=0) - 1
        return self._changed(
            {
                one.key: lowest if one.least is None else one.least
                for one in self.pool
                if one.is_victim
            }
        )

    def _raised(self, start: Choice) -> dict[str, int]:
        """Put everyone whom Kueue takes instead behind all others, again and again."""
        highest = max(self.today.values(), default=0) + 1
        choice = dict(start)
        spared = {one.key: one for one in self.pool if not one.is_victim}
        while not self._late():
            wrong = (self.trial.targets(choice) & spared.keys()) - choice.keys()
            news = self._changed(
                {
                    key: highest if (most := spared[key].most) is None else most
                    for key in sorted(wrong)
                }
            )
            if not news:
                break
            choice |= news
        return choice

    def _changed(self, choice: Choice) -> dict[str, int]:
        """Leave out what is as it is today."""
        return {key: value for key, value in choice.items() if value != self.today[key]}

    def _any_order(self) -> tuple[Choice | None, bool]:
        """Go through all orders; return a choice that works, and whether all were seen."""
        for order in every_order(self.pool):
            if self._late():
                return None, False
            priorities = priorities_for(order)
            if priorities is not None and self.works(choice := self._changed(priorities)):
                return self._shrunk(choice), True
        return None, True

    def _shrunk(self, choice: Choice) -> Choice:
        """Touch fewer workloads, and those by less, as long as it works."""
        for key in list(choice):
            fewer = {other: value for other, value in choice.items() if other != key}
            if not self._late() and self.works(fewer):
                choice = fewer
        steps = len(choice)
        for one in self.pool:
            if one.key not in choice:
                continue
            for value in self._values(one, steps):
                closer = {**choice, one.key: value}
                if self._late() or self.size(closer) >= self.size(choice):
                    break
                if self.works(closer):
                    choice = closer
                    break
        return choice

    def _smallest(self, best: Choice | None) -> Found:
        """Try all choices from the smallest number of workloads up."""
        most = len(self.pool) if best is None else len(best)
        for touched in range(1, most + 1):
            columns = {one.key: self._values(one, touched) for one in self.pool}
            for some in combinations(columns, touched):
                for choice in self._choices({key: columns[key] for key in some}, best):
                    if self._late():
                        return Found(best, proved=False)
                    if self.works(choice):
                        best = choice
                        break
            if best is not None and len(best) == touched:
                break
        return Found(best, proved=self.complete)

    def _choices(
        self, columns: Mapping[str, Sequence[int]], best: Choice | None
    ) -> Iterator[Choice]:
        """Yield the choices of some workloads' values, the smallest first, all below the best."""
        limit = None if best is None else self.size(best)
        if limit is not None and len(columns) == limit[0]:
            # The others change by at least 1 each.
            room = limit[1] - len(columns)
            columns = {
                key: [value for value in column if abs(value - self.today[key]) <= room]
                for key, column in columns.items()
            }
        today = [self.today[key] for key in columns]
        for values in _cheapest_first(list(columns.values()), today):
            choice = dict(zip(columns, values, strict=True))
            if limit is not None and self.size(choice) >= limit:
                return
            yield choice

    def _values(self, one: Candidate, steps: int) -> list[int]:
        """Return the priorities to try for a candidate, the closest to today's first."""
        levels = set(self.today.values())
        levels |= {
            bound for other in self.pool for bound in (other.least, other.most) if bound is not None
        }
        own = self._own[one.key]
        values = {level + step for level in levels for step in range(-steps, steps + 1)}
        values.discard(one.priority)
        fitting = [
            v for v in values if one.permits(v) and -LARGEST_BOOST <= v - own <= LARGEST_BOOST
        ]
        return sorted(fitting, key=lambda value: (abs(value - one.priority), value))


def _cheapest_first(
    columns: Sequence[Sequence[int]], today: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Yield all ways to take a value of each column, those closest to today's values first.

    Every column has its own closest first. A way comes from the one before it by a step in one
    column, in or after the one of the last step, so that each is met once.
    """
    if not all(columns):
        return

    def entry(steps: tuple[int, ...], last: int) -> tuple[int, tuple[int, ...], int]:
        taken = zip(columns, steps, today, strict=True)
        return sum(abs(column[step] - now) for column, step, now in taken), steps, last

    ahead = [entry((0,) * len(columns), 0)]
    while ahead:
        _, steps, last = heappop(ahead)
        yield tuple(column[step] for column, step in zip(columns, steps, strict=True))
        for i in range(last, len(columns)):
            if steps[i] + 1 < len(columns[i]):
                heappush(ahead, entry((*steps[:i], steps[i] + 1, *steps[i + 1 :]), i))
