"""Every order in which Kueue could be made to look at the candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from math import factorial, prod

from planner.commands.boost.pool import Candidate


def count_orders(pool: Sequence[Candidate]) -> int:
    """Return how many orders there are, candidates of one kind not told apart."""
    return prod(
        factorial(len(group)) // prod(map(factorial, Counter(c.kind for c in group).values()))
        for group in _lists(pool)
    )


def every_order(pool: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Yield every order of the pool that keeps the lists apart, one of each by kinds.

    Parameters
    ----------
    pool
        The candidates in Kueue's order of today.
    """
    yield from _joined(_lists(pool))


def _lists(pool: Sequence[Candidate]) -> list[list[Candidate]]:
    return [list(group) for _, group in groupby(pool, key=lambda one: one.list_number)]


def _joined(lists: Sequence[list[Candidate]]) -> Iterator[tuple[Candidate, ...]]:
    if not lists:
        yield ()
        return
    for head in _arranged(lists[0]):
        for tail in _joined(lists[1:]):
            yield (*head, *tail)


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
        last = (False, lowest - 1)
        before: Candidate | None = None
        for one in group:
            value = _next(one, before, last[1], lowest)
            if not one.permits(value):
                return None
            values[one.key] = value
            before, last = one, (True, value)
    return values


def _next(one: Candidate, before: Candidate | None, last: int, lowest: int) -> int:
    """Return the smallest priority that puts a candidate behind the one before it."""
    start = lowest if one.least is None else one.least
    if before is not None and before.place(0) > one.place(0):
        last += 1
    return max(start, last)
