"""Flat cohorts with one resource under classical preemption, solved by dynamic programming.

Written from docs/semantics/kueue.md §5, over plain numbers: nothing of the planner is used.
Per queue a table says what it costs at least to free an amount; tables are joined queue by queue.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.state.kueue import State
from tests.cluster import Object, cohort, pending, queue, running, state_of

OWN = 0
"""The preemptor's queue."""

_NEVER = np.int64(2**62)
"""The cost of what cannot be freed; twice as much does not leave 64 bits."""

Table = NDArray[np.int64]
"""(C + 1,) the least cost of freeing exactly 0, 1, ... and, last, C or more."""


@dataclass(frozen=True, slots=True)
class Held:
    """A workload that holds GPUs, at least one, in a queue; ``cost`` is what evicting it costs."""

    name: str
    queue: int
    gpus: int
    priority: int
    cost: int


@dataclass(frozen=True, slots=True)
class FlatCase:
    """Queues with nominal quotas in one cohort, what they run, and a preemptor for queue 0.

    The policies are those of queue 0; ``limit`` is its borrowingLimit.
    """

    nominal: Sequence[int]
    held: Sequence[Held]
    request: int
    priority: int
    within: Literal["Never", "LowerPriority"]
    reclaim: Literal["Never", "LowerPriority", "Any"]
    borrow: Literal["Never", "LowerPriority"]
    threshold: int | None
    limit: int | None

    def state(self) -> State:
        """Return it as a dump that was read; workloads are ``ns/NAME``."""
        parts: list[Object] = [*cohort("org")]
        for number, nominal in enumerate(self.nominal):
            mine = number == OWN
            parts += queue(
                f"q{number}",
                nominal,
                "org",
                borrowing=self.limit if mine else None,
                within=self.within,
                reclaim=self.reclaim,
                borrow=self.borrow,
                threshold=self.threshold if self.borrow != "Never" else None,
            )
        for one in self.held:
            parts += running(one.name, f"q{one.queue}", one.gpus, one.priority)
        return state_of(parts, pending(f"q{OWN}", self.request, self.priority))

    def least(self, cost_of: Callable[[Held], int]) -> int | None:
        """Return the least sum of costs of a legal victim set; None if there is none."""
        missing = self.missing(borrowing=True)
        if max(missing) <= 0:
            return 0
        costs = [_cheapest(self, cost_of, borrowing=attempt) for attempt in self._attempts()]
        return min((cost for cost in costs if cost is not None), default=None)

    def used(self, number: int) -> int:
        """Return what a queue uses."""
        return sum(one.gpus for one in self.held if one.queue == number)

    def is_borrowing(self, number: int) -> bool:
        """Say whether a queue uses more than its nominal quota."""
        return self.used(number) > self.nominal[number]

    def missing(self, *, borrowing: bool) -> tuple[int, int]:
        """Return what an attempt must free in the whole cohort, and in the preemptor's queue."""
        wanted = self.used(OWN) + self.request
        in_all = sum(one.gpus for one in self.held) + self.request - sum(self.nominal)
        if not borrowing:
            return in_all, wanted - self.nominal[OWN]
        return in_all, 0 if self.limit is None else wanted - self.nominal[OWN] - self.limit

    def _attempts(self) -> tuple[bool, ...]:
        """5.5: whether Kueue tries with borrowing, without, or both."""
        forbidden = self.borrow == "Never"
        under = self.used(OWN) < self.nominal[OWN]
        others = any(one.queue != OWN and self.is_candidate(one) for one in self.held)
        return (True,) if not others or (forbidden and not under) else (True, False)

    def is_candidate(self, one: Held) -> bool:
        """5.2 and 5.3: say whether policies permit a victim at all."""
        if one.queue == OWN:
            return self.within == "LowerPriority" and one.priority < self.priority
        permitted = self.reclaim == "Any" or (
            self.reclaim == "LowerPriority" and one.priority < self.priority
        )
        return permitted and self.is_borrowing(one.queue)

    def is_candidate_in(self, one: Held, *, borrowing: bool) -> bool:
        """5.3 and 5.6: the same in an attempt; without advantage some need one without borrowing.

        The preemptor has advantage over the cohort if the request fits in its own nominal quota.
        """
        if not self.is_candidate(one):
            return False
        advantage = self.used(OWN) + self.request <= self.nominal[OWN]
        if one.queue == OWN or advantage or not borrowing:
            return True
        allowed = self.threshold is None or one.priority <= self.threshold
        return self.borrow != "Never" and one.priority < self.priority and allowed


def _cheapest(case: FlatCase, cost_of: Callable[[Held], int], *, borrowing: bool) -> int | None:
    in_all, in_own = case.missing(borrowing=borrowing)
    most = max(in_all, in_own, 1)
    sizes: list[list[tuple[int, int]]] = [[] for _ in case.nominal]
    for one in case.held:
        if case.is_candidate_in(one, borrowing=borrowing):
            sizes[one.queue].append((one.gpus, cost_of(one)))
    own = _any_of(sizes[OWN], most)
    own[: max(0, in_own)] = _NEVER
    total = own
    for number, candidates in enumerate(sizes):
        if number != OWN and candidates:
            excess = case.used(number) - case.nominal[number]
            total = _joined(total, _over_quota(sorted(candidates), excess, most))
    cost = total[max(0, in_all) :].min()
    return None if cost >= _NEVER else int(cost)


def _any_of(candidates: Iterable[tuple[int, int]], most: int) -> Table:
    """Return the table of a queue whose victims are always valid: a knapsack."""
    table = np.full(most + 1, _NEVER)
    table[0] = 0
    for gpus, cost in candidates:
        table = np.minimum(table, _raised(table, gpus, most) + cost)
    return np.minimum(table, _NEVER)


def _over_quota(candidates: Iterable[tuple[int, int]], excess: int, most: int) -> Table:
    """Return the table of a queue of which every victim must find it over its quota (§5.6).

    That holds in some order if it does with the largest victim last: all before it free less
    than the excess. Candidates come by size; what is before each is a knapsack of smaller ones.
    """
    table = np.full(most + 1, _NEVER)
    table[0] = 0
    before = np.full(min(excess, most), _NEVER)
    before[0] = 0
    for gpus, cost in candidates:
        table = np.minimum(table, _raised(before, gpus, most) + cost)
        before[gpus:] = np.minimum(before[gpus:], before[: max(0, before.size - gpus)] + cost)
    return np.minimum(table, _NEVER)


def _raised(table: Table, gpus: int, most: int) -> Table:
    """Return a table with so many GPUs more freed, the last place meaning ``most`` or more."""
    raised = np.full(most + 1, _NEVER)
    places = np.minimum(np.arange(table.size) + gpus, most)
    np.minimum.at(raised, places, table)
    return raised


def _joined(one: Table, other: Table) -> Table:
    """Return the table of two groups of queues together."""
    joined = np.full(one.size, _NEVER)
    for amount, cost in enumerate(one.tolist()):
        if cost < _NEVER:
            joined = np.minimum(joined, _raised(other, amount, one.size - 1) + cost)
    return np.minimum(joined, _NEVER)


def random_case(seed: int, workloads: int, share: int = 10) -> FlatCase:
    """Draw a case: the queues use about what there is, some more than theirs and some less.

    The preemptor needs at most one ``share``-th of what is used, and a little.
    """
    chance = random.Random(seed)  # noqa: S311 - test data
    queues = chance.randint(2, 3 + workloads // 8)
    held = [
        Held(
            name=f"w{number}",
            queue=chance.randrange(queues),
            gpus=chance.choice([1, 1, 2, 2, 3, 4, 8]),
            priority=chance.choice([0, 0, 5, 5, 10, 20]),
            cost=chance.randint(0, 9),
        )
        for number in range(workloads)
    ]
    used = [sum(one.gpus for one in held if one.queue == number) for number in range(queues)]
    nominal = [max(0, amount * chance.randint(6, 13) // 10) for amount in used]
    free = max(0, sum(nominal) - sum(used))
    return FlatCase(
        nominal=nominal,
        held=held,
        request=free + chance.randint(1, 4 + sum(used) // share),
        priority=10,
        within=chance.choice(["Never", "LowerPriority", "LowerPriority"]),
        reclaim=chance.choice(["Never", "LowerPriority", "Any", "Any"]),
        borrow=chance.choice(["Never", "LowerPriority", "LowerPriority"]),
        threshold=chance.choice([None, None, 0, 5]),
        limit=chance.choice([None, None, None, chance.randint(0, 9)]),
    )
