"""The smallest boosts that work, or why none do.

Smallest means: the fewest workloads touched, and among those the smallest sum of the amounts by
which their boosts change.

Only the order of the candidates matters, see below. So for k touched workloads it is enough to try
priorities at most k away from some priority that an untouched candidate has, or from a bound:
whatever lies further off can be moved towards today's value without changing the order, until it
touches another value, and k of them reach no further than k.

A boost must not change what a rule says of a candidate: it stays permitted by the policy that
permits it today, and may be taken while borrowing just as today. Within these bounds priorities
only decide in which order Kueue looks at the candidates of one list (docs/semantics/kueue.md §5.4),
and so only the order of the priorities matters, not their values.

Workloads that are no candidates have no part in the search for victims.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush, merge
from itertools import chain, combinations, groupby, product, takewhile
from math import factorial, inf, prod

from msgspec import Struct

from planner.commands.boost.kueue.trial import Trial
from planner.quota.kueue.assignment import contested, total_request
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.tree import NO_PARENT
from planner.reference.kueue.candidates import collect_candidates, satisfies_policy
from planner.reference.kueue.context import Context
from planner.solver.deadline import Deadline

LARGEST_BOOST = 2**31 - 1
"""The annotation is a 32-bit integer."""


_FAIR_OTHER, _FAIR_OWN = "fair, other queue", "fair, own queue"
_LISTS: Mapping[str, int] = {
    "HierarchicalReclaim": 0,
    "ReclaimWithoutBorrowing": 1,
    "ReclaimWhileBorrowing": 1,
    "WithinCQ": 2,
    _FAIR_OTHER: 0,
    _FAIR_OWN: 1,
}
"""The place of each variant's list in the whole order."""


class Candidate(Struct, frozen=True):
    """A workload that Kueue may take.

    ``list_number`` says in which list it stands; lists are looked at one after the other,
    whatever the priorities. ``least`` and ``most`` bound its effective priority, ``None`` where
    nothing does. Candidates of one ``kind`` can stand in for one another: swapped, they change
    nothing about whether Kueue takes exactly the planned victims.
    """

    workload: Admitted
    list_number: tuple[bool, int]
    least: int | None
    most: int | None
    is_victim: bool
    kind: Hashable

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.workload.key

    @property
    def priority(self) -> int:
        """The effective priority today."""
        return self.workload.priority

    @property
    def own(self) -> int:
        """The priority without any boost; the whole workload is read for it."""
        return self.workload.workload.spec.priority or 0

    def permits(self, priority: int) -> bool:
        """Say whether the priority is within the bounds."""
        enough = self.least is None or priority >= self.least
        return enough and (self.most is None or priority <= self.most)

    def place(self, priority: int) -> tuple[tuple[bool, int], float, int, float, str]:
        """Return the key by which Kueue orders the candidates, for some priority of this one."""
        held = self.workload
        return self.list_number, -(held.past or 0.0), priority, -held.reserved_s, held.uid


def candidates_of(trial: Trial) -> Sequence[Candidate]:
    """Return the candidates of Kueue's search, in its order of today."""
    snapshot, preemptor = trial.snapshot, trial.preemptor
    request = total_request(trial.assignment, preemptor, snapshot)
    wanted = contested(trial.assignment, snapshot)
    context = Context(snapshot, snapshot.usage.copy(), preemptor, request, wanted)
    if snapshot.configuration.fair_sharing_on:
        found = _fair(context)
    else:
        candidates = collect_candidates(context)
        found = map(candidates.of, candidates.ordered)
    pool = []
    for workload, variant, lca in found:
        least, most = _bounds(context, workload, variant)
        is_victim, usage = workload.key in trial.victims, tuple(sorted(workload.usage.items()))
        # With bounds on both sides not every order of equals can be had: each is a kind by itself.
        alone = workload.key if least is not None and most is not None else ""
        group = workload.queue, usage, variant, lca, workload.evicted
        kind = (*group, least, most, is_victim, alone)
        place = not workload.evicted, _LISTS[variant]
        pool.append(Candidate(workload, place, least, most, is_victim, kind))
    return sorted(pool, key=lambda one: one.place(one.priority))


def _fair(context: Context) -> Iterator[tuple[Admitted, str, int]]:
    """Yield the candidates of fair sharing (§6.2): own ones, and of queues that borrow."""
    tree, policy = context.snapshot.tree, context.policy
    below = [tree.path(context.queue)[-1]]
    for node in below:
        below.extend(child for child in tree.children[node] if tree.nodes[child].active)
        own = node == context.queue
        is_queue = tree.nodes[node].is_queue
        if not is_queue or (not own and context.usage.within_nominal(node, context.contested)):
            continue
        rule = policy.within_cluster_queue if own else policy.reclaim_within_cohort
        for workload in context.snapshot.admitted[node]:
            concerned = not context.contested.isdisjoint(workload.names)
            if concerned and satisfies_policy(context.preemptor, workload, rule):
                yield workload, _FAIR_OWN if own else _FAIR_OTHER, NO_PARENT


def _bounds(context: Context, workload: Admitted, variant: str) -> tuple[int | None, int | None]:
    """Return between which priorities no rule says anything else of a candidate (§5.2, §5.3)."""
    preemptor, policy = context.preemptor, context.policy
    own, below = workload.queue == context.queue, preemptor.priority - 1
    rule = policy.within_cluster_queue if own else policy.reclaim_within_cohort
    newer = rule == "LowerOrNewerEqualPriority" and preemptor.queued_before(workload.queued_at)
    permitted = preemptor.priority if newer else below
    most = None if rule == "Any" else permitted
    borrow = policy.borrow_within_cohort
    threshold = borrow.max_priority_threshold
    highest = below if threshold is None else min(below, threshold)
    if variant == "ReclaimWhileBorrowing":
        return None, highest if most is None else min(most, highest)
    without = variant == "ReclaimWithoutBorrowing" and borrow.policy != "Never"
    return highest + 1 if without else None, most


def count_orders(pool: Sequence[Candidate]) -> int:
    """Return how many orders there are, candidates of one kind not told apart."""
    return prod(
        factorial(len(group)) // prod(map(factorial, Counter(c.kind for c in group).values()))
        for group in _lists(pool)
    )


def every_order(pool: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Yield every order of the pool that keeps the lists apart, one of each by kinds.

    The candidates of the pool are in Kueue's order of today.
    """
    for parts in product(*map(_arranged, _lists(pool))):
        yield tuple(chain.from_iterable(parts))


def _lists(pool: Sequence[Candidate]) -> list[list[Candidate]]:
    return [list(group) for _, group in groupby(pool, key=lambda one: one.list_number)]


def _arranged(group: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Yield the arrangements of one list; of candidates of one kind the first comes first."""
    if not group:
        yield ()
        return
    tried: set[Hashable] = set()
    for position, first in enumerate(group):
        if first.kind not in tried:
            tried.add(first.kind)
            for rest in _arranged((*group[:position], *group[position + 1 :])):
                yield (first, *rest)


def priorities_for(order: Sequence[Candidate]) -> dict[str, int] | None:
    """Return distinct priorities that put the candidates into an order, lowest first.

    They start below everything there is and go up by one. ``None`` if the bounds of the
    candidates do not permit the order, but for candidates that must have equal priorities: those
    stand in the order that Kueue gives them.
    """
    known = [c.priority for c in order]
    known += [bound for c in order for bound in (c.least, c.most) if bound is not None]
    lowest = min(known, default=0) - len(order) - 1
    values: dict[str, int] = {}
    for _, group in groupby(order, key=lambda one: one.list_number):
        last, before = lowest - 1, None
        for one in group:
            # The smallest priority that puts it behind the one before.
            least = lowest if one.least is None else one.least
            is_later = before is not None and before.place(0) > one.place(0)
            value = max(least, last + 1 if is_later else last)
            if not one.permits(value):
                return None
            values[one.key] = value
            before, last = one, value
    return values


MAX_ORDERS = 20_000
MAX_POOL = 200
"""More orders than these, or orders of more candidates, are not gone through one by one."""
Choice = Mapping[str, int]
"""Effective priorities of the workloads that are touched."""


class Found(Struct, frozen=True):
    """What a search found.

    ``choice`` is ``None`` if nothing was found; ``proved`` says that there is nothing smaller
    then, or nothing at all.
    """

    choice: Choice | None
    proved: bool


class Search:
    """The search for the boosts of one trial, until a deadline."""

    def __init__(self, trial: Trial, deadline: Deadline) -> None:
        self.trial, self.deadline = trial, deadline
        self.pool = candidates_of(trial)
        self.today = {one.key: one.priority for one in self.pool}
        self._candidate = {one.key: one for one in self.pool}
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
        """Search the smallest choice; once time is up, no other decision is tried."""
        found = self.some()
        if found.proved or self.deadline.passed:
            return found
        return self._smallest(found.choice and self._shrunk(found.choice))

    def some(self) -> Found:
        """Search a choice, of whatever size; it is proved if it is empty, or if there is none."""
        if self.deadline.passed:
            return Found(None, proved=False)
        if self.works({}):
            return Found({}, proved=True)
        witness = self._witness()
        few = len(self.pool) <= MAX_POOL and count_orders(self.pool) <= MAX_ORDERS
        if witness is not None or not few:
            return Found(witness, proved=False)
        for order in every_order(self.pool):
            if self.deadline.passed:
                return Found(None, proved=False)
            priorities = priorities_for(order)
            if priorities is not None and self.works(choice := self._changed(priorities)):
                return Found(choice, proved=False)
        return Found(None, proved=self.complete)

    def works(self, choice: Choice) -> bool:
        """Say whether Kueue takes exactly the planned victims at some priorities."""
        values = {**self.today, **choice}
        order = sorted(self.pool, key=lambda one: one.place(values[one.key]))
        # Only the order matters, and only by kinds: choices that lead to one order have one answer.
        kinds = tuple(self._kind[one.key] for one in order)
        if kinds not in self._answers:
            self._answers[kinds] = self.trial.targets(values) == self.trial.victims
        if not self._answers[kinds]:
            return False
        # The flavors were taken as given so far; a boost can change them, so all is decided anew.
        if self.trial.holds(self.boosts(choice)):
            return True
        self._refused += 1
        return False

    def boosts(self, choice: Choice) -> dict[str, int]:
        """Return the annotations for a choice: what is added to the workload's own priority."""
        return {key: value - self._candidate[key].own for key, value in choice.items()}

    def size(self, choice: Choice) -> tuple[int, int]:
        """Return how many workloads a choice touches, and by how much in all."""
        return len(choice), sum(abs(value - self.today[key]) for key, value in choice.items())

    def _witness(self) -> Choice | None:
        """Return a choice that works, of those that are likely to."""
        # Likely ones first: a choice that works bounds all further search from above.
        lowest = min(self.today.values(), default=0) - 1
        victims = [one for one in self.pool if one.is_victim]
        # All victims before all others of their lists.
        lowered = self._changed(
            {one.key: lowest if one.least is None else one.least for one in victims}
        )
        raised = self._raised({})
        for choice in (lowered, raised, self._raised(lowered)):
            if self.deadline.passed:
                break
            if choice and self.works(choice):
                return choice
        return None

    def _raised(self, start: Choice) -> dict[str, int]:
        """Put everyone whom Kueue takes instead behind all others, again and again."""
        highest = max(self.today.values(), default=0) + 1
        choice = dict(start)
        spared = {one.key: one for one in self.pool if not one.is_victim}
        while not self.deadline.passed:
            wrong = (self.trial.targets(choice) & spared.keys()) - choice.keys()
            last = [spared[key] for key in sorted(wrong)]
            news = self._changed(
                {one.key: highest if one.most is None else one.most for one in last}
            )
            if not news:
                break
            choice |= news
        return choice

    def _changed(self, choice: Choice) -> dict[str, int]:
        """Leave out what is as it is today."""
        return {key: value for key, value in choice.items() if value != self.today[key]}

    def _shrunk(self, choice: Choice) -> Choice:
        """Touch fewer workloads, and those by less, as long as it works."""
        for key in list(choice):
            fewer = {other: value for other, value in choice.items() if other != key}
            if not self.deadline.passed and self.works(fewer):
                choice = fewer
        steps = len(choice)
        for one in self.pool:
            if one.key not in choice:
                continue
            for value in self._values(one, steps):
                closer = {**choice, one.key: value}
                # Values come nearest to today's first, so that no later one is smaller.
                if self.deadline.passed or self.size(closer) >= self.size(choice):
                    break
                if self.works(closer):
                    choice = closer
                    break
        return choice

    def _smallest(self, best: Choice | None) -> Found:
        """Try all choices from the smallest number of workloads up."""
        most = len(self.pool) if best is None else len(best)
        for touched in range(1, most + 1):
            for some in combinations(self.pool, touched):
                for choice in self._choices(some, best):
                    if self.deadline.passed:
                        return Found(best, proved=False)
                    if self.works(choice):
                        best = choice
                        break
                # Most have values, but not all: whoever has none would go by unseen.
                if self.deadline.passed:
                    return Found(best, proved=False)
            if best is not None and len(best) == touched:
                break
        return Found(best, proved=self.complete)

    def _choices(self, some: Sequence[Candidate], best: Choice | None) -> Iterator[Choice]:
        """Yield the choices that touch just some workloads, the smallest first, all below the best.

        Only as far as the best leaves room, values are looked for.
        """
        limit = (inf, inf) if best is None else self.size(best)
        # The others change by at least 1 each.
        room = limit[1] - len(some) if len(some) == limit[0] else inf

        def column(one: Candidate) -> list[int]:
            reached = self._values(one, len(some))
            return list(takewhile(lambda value: abs(value - one.priority) <= room, reached))

        columns = [column(one) for one in some]
        for values in _cheapest_first(columns, [one.priority for one in some]):
            choice = {one.key: value for one, value in zip(some, values, strict=True)}
            if self.size(choice) >= limit:
                return
            yield choice

    @cached_property
    def _levels(self) -> tuple[Sequence[int], Sequence[int]]:
        """The priorities of today and all bounds of them, the lowest first; with signs turned."""
        bounds = (bound for one in self.pool for bound in (one.least, one.most))
        levels = sorted({*self.today.values(), *(bound for bound in bounds if bound is not None)})
        return levels, [-level for level in reversed(levels)]

    def _values(self, one: Candidate, steps: int) -> Iterator[int]:
        """Yield the priorities to try for a candidate, the closest to today's first."""
        # By the argument at the head of this file: k touched ones reach no further than k from a
        # level.
        own, today = one.own, one.priority
        least, most = own - LARGEST_BOOST, own + LARGEST_BOOST
        least = least if one.least is None else max(least, one.least)
        most = most if one.most is None else min(most, one.most)
        levels, mirrored = self._levels
        below = _upwards(mirrored, steps, 1 - today, -least)
        above = _upwards(levels, steps, today + 1, most)
        return merge((-v for v in below), above, key=lambda v: (abs(v - today), v))


def _upwards(levels: Sequence[int], steps: int, least: int, most: int) -> Iterator[int]:
    """Yield the numbers from least to most that are at most some steps from a level, in order."""
    for place in range(bisect_left(levels, least - steps), len(levels)):
        if least > most:
            return
        end = min(levels[place] + steps, most)
        yield from range(max(least, levels[place] - steps), end + 1)
        least = max(least, end + 1)


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
        # Steps in later columns only: every combination has one way to it, and comes once.
        for i in range(last, len(columns)):
            if steps[i] + 1 < len(columns[i]):
                heappush(ahead, entry((*steps[:i], steps[i] + 1, *steps[i + 1 :]), i))
