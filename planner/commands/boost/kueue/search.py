"""The smallest boosts that make Kueue take exactly the planned victims, or why no boosts do.

Boosts are smallest if they touch the fewest workloads and, of boosts that touch equally many, if
the sum of the changes of priorities is the smallest.

A boost must not change what a rule says of a candidate: the policy that permits the candidate today
still permits it, and Kueue may take it while borrowing if and only if it may today. This bounds the
priority of each candidate. Within these bounds priorities only decide in which order Kueue looks at
the candidates of one list (docs/semantics/kueue.md §5.4), so their order matters, not their values.

So for k touched workloads it is enough to try priorities at most k away from a priority that an
untouched candidate has, or from a bound: a priority further away can be moved towards today's value
without changing the order, until it meets another value, and a row of k touched priorities reaches
no further than k.

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
"""The place of each variant's list among the lists, which Kueue looks at one after the other."""


class Candidate(Struct, frozen=True):
    """A workload that Kueue may take as a victim.

    ``list_number`` is the place of its list; Kueue looks at the lists one after the other,
    whatever the priorities. ``least`` and ``most`` bound its effective priority; ``None`` is no
    bound. Candidates of one ``kind`` are interchangeable: swapping two of them does not change
    whether Kueue takes exactly the planned victims.
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
        """The priority without any boost; this reads the whole workload."""
        return self.workload.workload.spec.priority or 0

    def permits(self, priority: int) -> bool:
        """Say whether the priority is within the bounds."""
        enough = self.least is None or priority >= self.least
        return enough and (self.most is None or priority <= self.most)

    def place(self, priority: int) -> tuple[tuple[bool, int], float, int, float, str]:
        """Return the key by which Kueue orders candidates, if this one had the priority given."""
        held = self.workload
        return self.list_number, -(held.past or 0.0), priority, -held.reserved_s, held.uid


def candidates_of(trial: Trial) -> Sequence[Candidate]:
    """Return the candidates of Kueue's search, in the order in which it looks at them today."""
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
        # Bounds on both sides may forbid some orders of equals: each of them is a kind by itself.
        alone = workload.key if least is not None and most is not None else ""
        group = workload.queue, usage, variant, lca, workload.evicted
        kind = (*group, least, most, is_victim, alone)
        place = not workload.evicted, _LISTS[variant]
        pool.append(Candidate(workload, place, least, most, is_victim, kind))
    return sorted(pool, key=lambda one: one.place(one.priority))


def _fair(context: Context) -> Iterator[tuple[Admitted, str, int]]:
    """Yield the candidates of fair sharing (§6.2): of the own queue, and of queues that borrow."""
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
    """Return bounds of the priority within which each rule says the same (§5.2, §5.3)."""
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
    """Return how many orders `every_order` yields: candidates of one kind are interchangeable."""
    return prod(
        factorial(len(group)) // prod(map(factorial, Counter(c.kind for c in group).values()))
        for group in _lists(pool)
    )


def every_order(pool: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Yield the orders of the pool that keep the lists in sequence, once for each order of kinds.

    The pool itself is in the order in which Kueue looks at candidates today.
    """
    for parts in product(*map(_arranged, _lists(pool))):
        yield tuple(chain.from_iterable(parts))


def _lists(pool: Sequence[Candidate]) -> list[list[Candidate]]:
    return [list(group) for _, group in groupby(pool, key=lambda one: one.list_number)]


def _arranged(group: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Yield the arrangements of one list in which candidates of one kind keep their order."""
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
    """Return priorities that put the candidates into an order, by their keys.

    In each list they start below all priorities and bounds there are. They rise only to meet a
    bound, or by one where Kueue would order two equal priorities the other way round. ``None`` if
    the bounds of the candidates do not permit the order.
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
"""Orders are tried one by one up to this number of them, and up to this number of candidates."""
Choice = Mapping[str, int]
"""Effective priorities of the touched workloads, by their keys."""


class Found(Struct, frozen=True):
    """What a search found.

    ``choice`` is ``None`` if no choice that works was found; ``proved`` says that no smaller
    choice works, or, where ``choice`` is ``None``, that none does.
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

        Otherwise Kueue chose other flavors for some choice; these depend on more than the order.
        """
        return not self._refused

    def run(self) -> Found:
        """Search for the smallest choice that works; once time is up, no other is tried."""
        found = self.some()
        if found.proved or self.deadline.passed:
            return found
        return self._smallest(found.choice and self._shrunk(found.choice))

    def some(self) -> Found:
        """Search for any choice that works; proved only if it is empty, or if there is none."""
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
        """Say whether Kueue takes exactly the planned victims under the priorities of a choice."""
        values = {**self.today, **choice}
        order = sorted(self.pool, key=lambda one: one.place(values[one.key]))
        # Only the order of kinds matters: choices that lead to one order have the same answer.
        kinds = tuple(self._kind[one.key] for one in order)
        if kinds not in self._answers:
            self._answers[kinds] = self.trial.targets(values) == self.trial.victims
        if not self._answers[kinds]:
            return False
        # So far the flavors were given; boosts can change them, so now Kueue decides all anew.
        if self.trial.holds(self.boosts(choice)):
            return True
        self._refused += 1
        return False

    def boosts(self, choice: Choice) -> dict[str, int]:
        """Return the annotations for a choice: what they add to the workloads' own priorities."""
        return {key: value - self._candidate[key].own for key, value in choice.items()}

    def size(self, choice: Choice) -> tuple[int, int]:
        """Return how many workloads a choice touches, and by how much in all."""
        return len(choice), sum(abs(value - self.today[key]) for key, value in choice.items())

    def _witness(self) -> Choice | None:
        """Return a choice that works, out of a few likely ones; ``None`` if none of them does."""
        # A choice that works bounds all further search from above, so likely choices come first.
        lowest = min(self.today.values(), default=0) - 1
        victims = [one for one in self.pool if one.is_victim]
        # All victims before all spared candidates of their lists.
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
        """Put spared candidates that Kueue takes behind all others, until it takes no more."""
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
        """Return a choice without the priorities that are as they are today."""
        return {key: value for key, value in choice.items() if value != self.today[key]}

    def _shrunk(self, choice: Choice) -> Choice:
        """Return a choice that still works with fewer workloads touched, and these by less."""
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
                # Values nearest to today's come first, so no later value gives a smaller choice.
                if self.deadline.passed or self.size(closer) >= self.size(choice):
                    break
                if self.works(closer):
                    choice = closer
                    break
        return choice

    def _smallest(self, best: Choice | None) -> Found:
        """Try all choices smaller than the best known, from the fewest touched workloads up."""
        most = len(self.pool) if best is None else len(best)
        for touched in range(1, most + 1):
            for some in combinations(self.pool, touched):
                for choice in self._choices(some, best):
                    if self.deadline.passed:
                        return Found(best, proved=False)
                    if self.works(choice):
                        best = choice
                        break
                # Checked here as well: workloads without any choice never reach the check above.
                if self.deadline.passed:
                    return Found(best, proved=False)
            if best is not None and len(best) == touched:
                break
        return Found(best, proved=self.complete)

    def _choices(self, some: Sequence[Candidate], best: Choice | None) -> Iterator[Choice]:
        """Yield the choices that touch just these workloads and are below the best, smallest first.

        Values are looked for only as far from today's as the best leaves room.
        """
        limit = (inf, inf) if best is None else self.size(best)
        # Each of the other workloads changes by at least 1.
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
        """Today's priorities and all bounds, lowest first; and their negatives, lowest first."""
        bounds = (bound for one in self.pool for bound in (one.least, one.most))
        levels = sorted({*self.today.values(), *(bound for bound in bounds if bound is not None)})
        return levels, [-level for level in reversed(levels)]

    def _values(self, one: Candidate, steps: int) -> Iterator[int]:
        """Yield the priorities at most ``steps`` from a level, those closest to today's first."""
        # By the argument at the head of this file: k touched priorities are enough that lie at
        # most k away from a level.
        own, today = one.own, one.priority
        least, most = own - LARGEST_BOOST, own + LARGEST_BOOST
        least = least if one.least is None else max(least, one.least)
        most = most if one.most is None else min(most, one.most)
        levels, mirrored = self._levels
        below = _upwards(mirrored, steps, 1 - today, -least)
        above = _upwards(levels, steps, today + 1, most)
        return merge((-v for v in below), above, key=lambda v: (abs(v - today), v))


def _upwards(levels: Sequence[int], steps: int, least: int, most: int) -> Iterator[int]:
    """Yield the numbers from least to most that are at most ``steps`` from a level, in order."""
    for place in range(bisect_left(levels, least - steps), len(levels)):
        if least > most:
            return
        end = min(levels[place] + steps, most)
        yield from range(max(least, levels[place] - steps), end + 1)
        least = max(least, end + 1)


def _cheapest_first(
    columns: Sequence[Sequence[int]], today: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Yield all combinations of a value of each column, those closest to today's values first.

    Every column has its closest values first. A combination leads to others by one step in one
    column, the column of the last step or a later one, so that each of them comes once.
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
        # No step in an earlier column: only one sequence of steps leads to each combination.
        for i in range(last, len(columns)):
            if steps[i] + 1 < len(columns[i]):
                heappush(ahead, entry((*steps[:i], steps[i] + 1, *steps[i + 1 :]), i))
