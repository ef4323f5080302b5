"""All optimal plans: solved, cut off, solved again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb, prod

from planner.commands.explain.inquiry import Inquiry
from planner.commands.explain.record import Optima
from planner.models.shared.classes import Classes
from planner.solver.engine import Outcome
from planner.solver.tie_break import find_equal


def count_optima(inquiry: Inquiry, limit: int) -> Optima | None:
    """Count the plans that equal the optimum in every level, and list up to ``limit`` of them.

    Workloads that nothing tells apart are counted by arithmetic: choosing 2 of 5 equal ones is
    ten plans. The solver runs once for every choice of how many go of each kind, and stops as
    soon as ``limit`` plans are listed; the count is then how many there are at least.
    ``None`` where the plan is not proved optimal.
    """
    if inquiry.plan.status != "optimal":
        return None
    if not inquiry.searched:
        return Optima(count=1, complete=True, plans=((),))
    search = inquiry.among_optima()
    found = search.classes.counts(
        position for key in inquiry.plan.keys if (position := inquiry.position(key)) is not None
    )
    count, listed = 0, [inquiry.plan.keys]
    outcome: Outcome = "optimal"
    while found is not None:
        count += _ways(search.classes, found)
        sets = (_keys(inquiry, one) for one in _expanded(search.classes, found))
        fresh = (keys for keys in sets if keys != inquiry.plan.keys)
        listed += islice(fresh, max(0, limit - len(listed)))
        if len(listed) >= limit and count > limit:
            return Optima(count=count, complete=False, plans=tuple(listed[:limit]))
        search.cut.append(found)
        outcome = find_equal(search)
        found = search.incumbent if outcome == "optimal" else None
    return Optima(count=count, complete=outcome == "infeasible", plans=tuple(listed[:limit]))


def _ways(classes: Classes, counts: Sequence[int]) -> int:
    """Return how many victim sets class counts stand for."""
    return prod(comb(classes.count(k), n) for k, n in enumerate(counts))


def _expanded(classes: Classes, counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every victim set that class counts stand for, the canonical one first."""
    whole: list[int] = []
    partial: list[tuple[Sequence[int], int]] = []
    for members, n in zip(classes.members, counts, strict=True):
        if n == len(members):
            whole += members
        elif n:
            partial.append((members, n))
    for chosen in _chosen(partial):
        yield (*whole, *chosen)


def _chosen(parts: Sequence[tuple[Sequence[int], int]]) -> Iterator[tuple[int, ...]]:
    """Yield every choice of so many members from each part, one at a time."""
    if not parts:
        yield ()
        return
    (members, n), *rest = parts
    for first in combinations(members, n):
        for others in _chosen(rest):
            yield (*first, *others)


def _keys(inquiry: Inquiry, positions: Sequence[int]) -> tuple[str, ...]:
    return tuple(map(inquiry.key, inquiry.in_candidate_order(positions)))
