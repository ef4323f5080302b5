"""The best plan that spares a victim, or that takes one; and who is in every optimal plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from planner.commands.explain.inquiry import Asked, Bounds, Inquiry
from planner.commands.explain.record import Alternative, TermDifference
from planner.models.shared.builder import Linear
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
    if taken != (condition == "taking"):
        search.incumbent = None
    return asked, solve_levels(search, inquiry.profile.levels).outcome
