"""The smallest boosts that make Kueue take exactly the planned victims, or why no boosts do.

Boosts are smallest if they touch the fewest workloads and, of boosts that touch equally many, if
the sum of the changes of priorities is the smallest.

A boost must not change what a rule says of a candidate: the policy that permits the candidate today
still permits it, and Kueue may take it while borrowing if and only if it may today. This bounds the
priority of each candidate. Within these bounds priorities only decide in which order Kueue looks at
the candidates of one list (docs/semantics/kueue.md §5.4), so their order matters, not their values.

So for k touched workloads it is enough to try priorities at most k away from a priority that an
untouched candidate has, or from a bound, or from where the 32 bits of a boost end: a priority
further away can be moved towards today's value without changing the order, until it meets another
value, and a row of k touched priorities reaches no further than k.

Past use comes before priorities between some candidates (docs/semantics/kueue-features.md §3.4):
then Kueue's order may not be determined, and is none of the orders that are looked through. Nor are
these all where a 32-bit boost cannot lift a workload over all others, or below them. In both cases
choices are tried one by one.

Workloads that are no candidates have no part in the search for victims.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush, merge
from itertools import chain, combinations, groupby, product, takewhile
from math import factorial, inf, prod

from msgspec import Struct

from planner.commands.boost.kueue.trial import Trial
from planner.quota.kueue.assignment import contested, total_request
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.past_use import Contender, Contest
from planner.reference.kueue.classical import collect_candidates
from planner.reference.kueue.context import Context
from planner.reference.kueue.fair_sharing import fair_candidates
from planner.solver.deadline import Deadline

LEAST_BOOST, LARGEST_BOOST = -(2**31), 2**31 - 1
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
        """The priority without any boost."""
        return self.workload.workload.priority

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the highest effective priority that a boost can lead to."""
        return self.own + LEAST_BOOST, self.own + LARGEST_BOOST

    def permits(self, priority: int) -> bool:
        """Say whether the priority is within the bounds."""
        enough = self.least is None or priority >= self.least
        return enough and (self.most is None or priority <= self.most)

    def order_key(self, priority: int) -> tuple[tuple[bool, int], int, float, str]:
        """Return the key by which Kueue orders candidates, if this one had the priority given.

        It decides between two candidates where their past use does not.
        """
        held = self.workload
        return self.list_number, priority, -held.reserved_s, held.uid

    def contender(self, priority: int) -> Contender:
        """Return this candidate as one to be put in order, if it had the priority given."""
        held = self.workload
        return Contender(self.order_key(priority), held.queue, held.local_queue, held.past)


def candidates_of(trial: Trial) -> Sequence[Candidate]:
    """Return the candidates of Kueue's search, in the order in which it looks at them today."""
    snapshot, preemptor = trial.snapshot, trial.preemptor
    request = total_request(trial.assignment, preemptor, snapshot)
    wanted = contested(trial.assignment, snapshot)
    context = Context(snapshot, snapshot.usage.copy(), preemptor, request, wanted)
    lca_of, found = dict[int, int](), list[tuple[Admitted, str]]()
    if snapshot.configuration.fair_sharing_on:
        # Of the own queue, and of queues that borrow (docs/semantics/kueue.md §6.2).
        for one in fair_candidates(context):
            found.append((one, _FAIR_OWN if one.queue == context.queue else _FAIR_OTHER))
    else:
        candidates = collect_candidates(context)
        lca_of = dict(candidates.lca)
        found += ((one, candidates.variant(one)) for one in candidates.ordered)
    pool = []
    for workload, variant in found:
        least, most = _bounds(context, workload, variant)
        is_victim, usage = workload.key in trial.victims, tuple(sorted(workload.usage.items()))
        # Bounds on both sides may forbid some orders of equals: each of them is a kind by itself.
        alone = workload.key if least is not None and most is not None else ""
        past = None if workload.past is None else (workload.local_queue, workload.past)
        group = workload.queue, usage, variant, lca_of.get(workload.queue), workload.evicted, past
        kind = (*group, _places(context, workload), least, most, is_victim, alone)
        place = not workload.evicted, _LISTS[variant]
        pool.append(Candidate(workload, place, least, most, is_victim, kind))
    return arranged(pool, {one.key: one.priority for one in pool})[0]


def _places(context: Context, workload: Admitted) -> Hashable:
    """Return what a candidate would give back on nodes; nothing where quota alone decides."""
    topologies, queue = context.snapshot.topologies, context.snapshot.queues[workload.queue]
    if not topologies.on:
        return ()
    moved = topologies.moved_by(workload.workload, queue)
    return tuple((one.flavor, one.leaf, tuple(sorted(one.amounts.items()))) for one in moved)


def _bounds(context: Context, workload: Admitted, variant: str) -> tuple[int | None, int | None]:
    """Return bounds of the priority within which each rule says the same.

    Source: docs/semantics/kueue.md §5.2, §5.3.
    """
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


def arranged(pool: Sequence[Candidate], priorities: Choice) -> tuple[Sequence[Candidate], bool]:
    """Return the candidates in Kueue's order under priorities, and whether it is the only one.

    It is not where past use makes circles.
    """
    ordered = sorted(pool, key=lambda one: one.order_key(priorities[one.key]))
    if not _dated(pool):
        return ordered, True
    found: list[Candidate] = []
    only = True
    for group in _lists(ordered):
        contest = Contest([one.contender(priorities[one.key]) for one in group])
        found += [group[position] for position in contest.order()]
        only = only and contest.is_total
    return found, only


def _dated(pool: Iterable[Candidate]) -> bool:
    """Say whether past use may decide between some candidates."""
    return any(one.workload.past is not None for one in pool)


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
    the bounds of the candidates, or their past use, do not permit the order.
    """
    dated = _dated(order)
    known = [c.priority for c in order]
    known += [bound for c in order for bound in (c.least, c.most) if bound is not None]
    lowest = min(known, default=0) - len(order) - 1
    values: dict[str, int] = {}
    for _, group in groupby(order, key=lambda one: one.list_number):
        before: list[Candidate] = []
        for one in group:
            # The smallest priority that puts it behind those before; where priorities decide
            # between all, it is enough to be behind the last.
            value = lowest if one.least is None else one.least
            for other in before if dated else before[-1:]:
                earlier, later = other.contender(0), one.contender(0)
                if not earlier.by_past_use(later):
                    value = max(value, values[other.key] + later.precedes(earlier))
                elif later.precedes(earlier):
                    return None
            if not one.permits(value):
                return None
            values[one.key] = value
            before.append(one)
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
        self._answers: dict[tuple[bool, tuple[int, ...]], bool] = {}
        self._refused = 0

    @property
    def orders(self) -> int:
        """How many orders were put to the replay so far."""
        return len(self._answers)

    @property
    def complete(self) -> bool:
        """Whether every choice that failed did so by the order of the candidates alone.

        Otherwise Kueue chose other flavors for some choice, which depend on more than the order, or
        left the victims to chance.
        """
        return not self._refused

    def find_smallest(self) -> Found:
        """Search for the smallest choice that works; once time is up, no other is tried."""
        found = self.some()
        if found.proved or self.deadline.passed:
            return found
        return self._smallest(found.choice and self._shrunk(found.choice))

    def quick(self) -> Found:
        """Search for a choice that works, and take out of it what is not needed; none is proved."""
        found = self.some()
        if not found.choice or self.deadline.passed:
            return found
        return Found(self._shrunk(found.choice), proved=False)

    def some(self) -> Found:
        """Search for any choice that works; proved only if it is empty, or if there is none."""
        if self.deadline.passed:
            return Found(None, proved=False)
        if self.works({}):
            return Found({}, proved=True)
        witness = self._witness()
        few = len(self.pool) <= MAX_POOL and count_orders(self.pool) <= MAX_ORDERS
        if witness is not None or not few or self._ends:
            return Found(witness, proved=False)
        for order in every_order(self.pool):
            if self.deadline.passed:
                return Found(None, proved=False)
            priorities = priorities_for(order)
            if priorities is not None and self.works(choice := self._changed(priorities)):
                return Found(choice, proved=False)
        return Found(None, proved=self.complete and not self._circles)

    def works(self, choice: Choice) -> bool:
        """Say whether Kueue takes exactly the planned victims under the priorities of a choice."""
        values = {**self.today, **choice}
        order, only = arranged(self.pool, values)
        # Only the order of kinds matters: choices that lead to one order have the same answer.
        seen = self._kind if only else values
        asked = only, tuple(seen[one.key] for one in (order if only else self.pool))
        if asked not in self._answers:
            self._answers[asked] = self.trial.targets(values) == self.trial.victims
        if not self._answers[asked]:
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
            {
                one.key: max(lowest if one.least is None else one.least, one.reach[0])
                for one in victims
            }
        )
        for choice in chain((lowered,), map(self._raised, ({}, lowered))):
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
                {
                    one.key: min(highest if one.most is None else one.most, one.reach[1])
                    for one in last
                }
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
    def _known(self) -> frozenset[int]:
        """Today's priorities and all bounds."""
        bounds = (bound for one in self.pool for bound in (one.least, one.most))
        return frozenset({*self.today.values(), *(bound for bound in bounds if bound is not None)})

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The ends of what boosts can lead to that lie among today's priorities and all bounds.

        Almost always there are none: boosts of 32 bits reach beyond all of them.
        """
        more = len(self.pool) + 1
        least, most = min(self._known, default=0) - more, max(self._known, default=0) + more
        ends = chain.from_iterable(one.reach for one in self.pool)
        return frozenset(end for end in ends if least <= end <= most)

    @cached_property
    def _circles(self) -> bool:
        """Whether past use may make circles: it decides between some of a list, not between all."""
        for group in _lists(self.pool):
            held = [one.workload for one in group]
            places = {(one.queue, one.local_queue, one.past) for one in held}
            pairs = combinations([one.contender(0) for one in group], 2)
            # In one ClusterQueue, with one past use for each name, it comes before all else.
            alone = len({one.queue for one in held}) == 1
            plain = alone and len({one.local_queue for one in held}) == len(places)
            if not plain and any(one.by_past_use(other) for one, other in pairs):
                return True
        return False

    @cached_property
    def _levels(self) -> tuple[Sequence[int], Sequence[int]]:
        """All priorities, bounds and ends, lowest first; and their negatives, lowest first."""
        levels = sorted(self._known | self._ends)
        return levels, [-level for level in reversed(levels)]

    def _values(self, one: Candidate, steps: int) -> Iterator[int]:
        """Yield the priorities at most ``steps`` from a level, those closest to today's first."""
        # By the argument at the head of this file: k touched priorities are enough that lie at
        # most k away from a level.
        today, (least, most) = one.priority, one.reach
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
