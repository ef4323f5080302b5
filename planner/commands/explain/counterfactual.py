"""Other plans: the best that spares a victim or takes one, and all that are as good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb, prod
from typing import Literal

from planner.commands.explain.inquiry import Asked, Bounds, Inquiry
from planner.commands.explain.record import Alternative, Optima, TermDifference
from planner.models.shared.builder import Linear
from planner.models.shared.classes import Classes
from planner.plan import AnyPlan
from planner.solver.deadline import OutOfTime
from planner.solver.engine import Outcome
from planner.solver.levels import solve_levels
from planner.solver.tie_break import find_equal
from planner.term import find_term

Condition = Literal["sparing", "taking"]


def necessary(inquiry: Inquiry, victims: Sequence[str]) -> dict[str, bool | None]:
    """Say of victims of an optimal plan whether all optimal plans have them.

    A victim is necessary if no plan without it equals the optimum in every level. Of a class of
    workloads that nothing tells apart, all are necessary or none: none where not all must go.
    Every optimal plan found clears all victims that it lacks; when there is none that lacks any
    of the others, those are necessary. ``None`` says that time was up.
    """
    if inquiry.plan.status != "optimal" or not inquiry.searched:
        return dict.fromkeys(victims)
    search = inquiry.among_optima()
    chosen = set(inquiry.plan.keys)
    left: dict[int, list[str]] = {}
    for k, members in enumerate(search.classes.members):
        keys = [inquiry.key(position) for position in members]
        if chosen.issuperset(keys) and not set(victims).isdisjoint(keys):
            left[k] = keys
    outcome: Outcome = "optimal"
    while left and outcome == "optimal":
        others = search.fork()
        fewer = (Linear(dict.fromkeys(left, -1)), 1 - sum(map(len, left.values())))
        outcome = find_equal(others, [fewer])
        if outcome == "optimal":
            left = {k: keys for k, keys in left.items() if others.answer[k] == len(keys)}
    verdict = True if outcome == "infeasible" else None
    held = {key for keys in left.values() for key in keys}
    return {key: verdict if key in held else False for key in victims}


def alternative(inquiry: Inquiry, position: int, condition: Condition) -> Alternative:
    """Return the best plan that spares or takes a candidate, verified.

    It keeps to the caps of the objective, and spares the last tier, if any such plan does.
    """
    try:
        bounds, asked, outcome = _first_solved(inquiry, position, condition)
    except OutOfTime:  # what the objective counts was not found out
        key = inquiry.key(position)
        return Alternative(condition=condition, victim=key, status="unknown", within_caps=True)
    base = Alternative(
        condition=condition,
        victim=inquiry.key(position),
        status="infeasible" if outcome == "infeasible" else "unknown",
        within_caps=bounds.capped,
        last_resort=bounds.last_resort,
    )
    found = asked.search.incumbent
    if found is None:
        return base
    plan = asked.plan_of(found, outcome == "optimal")
    ours, theirs = inquiry.plan.keys, plan.keys
    return base.model_copy(
        update={
            "status": plan.status,
            "victims": theirs,
            "more": tuple(key for key in theirs if key not in ours),
            "fewer": tuple(key for key in ours if key not in theirs),
            "terms": differences(inquiry, plan),
        }
    )


def differences(inquiry: Inquiry, other: AnyPlan) -> tuple[TermDifference, ...]:
    """Return every term of the plan beside the same term of another one."""
    levels = inquiry.profile.levels
    place = {term: n for n, level in reversed([*enumerate(levels, 1)]) for term in level}
    return tuple(
        TermDifference(
            term=term,
            title=find_term(term).title,
            unit=find_term(term).unit,
            plan=value,
            other=other.terms[term],
            level=place.get(term),
        )
        for term, value in inquiry.plan.terms.items()
    )


def _first_solved(
    inquiry: Inquiry, position: int, condition: Condition
) -> tuple[Bounds, Asked, Outcome]:
    """Solve within the strictest bounds that permit a plan, or else within the last ones."""
    *strict, last = inquiry.bounds
    for bounds in strict:
        asked, outcome = _solved(inquiry, position, condition, bounds)
        if outcome != "infeasible":
            return bounds, asked, outcome
    return last, *_solved(inquiry, position, condition, last)


def _solved(
    inquiry: Inquiry, position: int, condition: Condition, bounds: Bounds
) -> tuple[Asked, Outcome]:
    """Solve all levels with one victim spared or taken."""
    asked = inquiry.asked(bounds, [position])
    search = asked.search
    k = next((k for k, each in enumerate(search.classes.members) if position in each), None)
    taken = search.incumbent is not None and k is not None and bool(search.incumbent[k])
    if condition == "sparing":
        search.active = [other for other in search.active if other != k]
    elif k is None or k not in search.active:
        search.incumbent = None
        return asked, "infeasible"
    else:
        search.lower[k] = 1
    # The plan that is known is a start only if it keeps to the condition.
    if taken != (condition == "taking"):
        search.incumbent = None
    return asked, solve_levels(search, inquiry.profile.levels).outcome


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
        count += prod(comb(search.classes.count(k), n) for k, n in enumerate(found))
        sets = (
            tuple(map(inquiry.key, inquiry.in_candidate_order(one)))
            for one in _expanded(search.classes, found)
        )
        fresh = (keys for keys in sets if keys != inquiry.plan.keys)
        listed += islice(fresh, max(0, limit - len(listed)))
        if len(listed) >= limit and count > limit:
            return Optima(count=count, complete=False, plans=tuple(listed[:limit]))
        # Cut off by its counts: with it go all plans that were just counted.
        search.cut.append(found)
        outcome = find_equal(search)
        found = search.incumbent if outcome == "optimal" else None
    return Optima(count=count, complete=outcome == "infeasible", plans=tuple(listed[:limit]))


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
