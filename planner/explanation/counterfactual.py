"""The best plan that spares a workload, or that takes it; and who is in every optimal plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from planner.explanation.inquiry import Inquiry
from planner.explanation.record import Alternative, TermDifference
from planner.models.shared.builder import Linear
from planner.objective.terms import TERMS
from planner.plan import Plan
from planner.solver.engine import Outcome
from planner.solver.kueue.solve import Prepared
from planner.solver.levels import solve_levels

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
    search = inquiry.among_optima().search
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
        outcome = others.run_on(others.alive, rows=[fewer]).outcome
        if outcome == "optimal":
            left = {k: keys for k, keys in left.items() if others.answer[k] == len(keys)}
    verdict = True if outcome == "infeasible" else None
    held = {key for keys in left.values() for key in keys}
    return {key: verdict if key in held else False for key in victims}


def alternative(inquiry: Inquiry, position: int, condition: Condition) -> Alternative:
    """Return the best plan that spares or takes a candidate, verified.

    It keeps to the caps of the objective if any such plan does.
    """
    capped = True
    prepared, outcome = _solved(inquiry, position, condition, capped=True)
    if outcome == "infeasible" and inquiry.case.profile.caps:
        capped = False
        prepared, outcome = _solved(inquiry, position, condition, capped=False)
    found = prepared.search.incumbent
    if found is None:
        return Alternative(
            condition=condition,
            workload=inquiry.key(position),
            status="infeasible" if outcome == "infeasible" else "unknown",
            within_caps=capped,
        )
    plan = _verified(inquiry, prepared, found, proved=outcome == "optimal")
    ours, theirs = inquiry.plan.keys, plan.keys
    return Alternative(
        condition=condition,
        workload=inquiry.key(position),
        status=plan.status,
        within_caps=capped,
        victims=theirs,
        more=tuple(key for key in theirs if key not in ours),
        fewer=tuple(key for key in ours if key not in theirs),
        terms=differences(inquiry, plan),
    )


def differences(inquiry: Inquiry, other: Plan) -> tuple[TermDifference, ...]:
    """Return every term of the plan beside the same term of another one."""
    levels = inquiry.case.profile.levels
    place = {term: n for n, level in reversed([*enumerate(levels, 1)]) for term in level}
    return tuple(
        TermDifference(
            term=term,
            title=TERMS[term].title,
            unit=TERMS[term].unit,
            plan=value,
            other=other.terms[term],
            level=place.get(term),
        )
        for term, value in inquiry.plan.terms.items()
    )


def _solved(
    inquiry: Inquiry, position: int, condition: Condition, *, capped: bool
) -> tuple[Prepared, Outcome]:
    """Solve all levels with one workload spared or taken."""
    prepared = inquiry.prepared([position], capped=capped)
    search = prepared.search
    k = next((k for k, each in enumerate(search.classes.members) if position in each), None)
    taken = search.incumbent is not None and k is not None and bool(search.incumbent[k])
    if condition == "sparing":
        search.alive = [other for other in search.alive if other != k]
    elif k is None or k not in search.alive:
        search.incumbent = None
        return prepared, "infeasible"
    else:
        search.forced[k] = 1
    if taken != (condition == "taking"):
        search.incumbent = None
    return prepared, solve_levels(search, inquiry.case.profile.levels).outcome


def _verified(inquiry: Inquiry, prepared: Prepared, counts: Sequence[int], *, proved: bool) -> Plan:
    """Return class counts as a plan that the verifier accepted."""
    planning, search = inquiry.planning, prepared.search
    positions = planning.in_candidate_order(search.classes.take(counts))
    plan = planning.subject.plan(
        "optimum",
        "optimal" if proved else "feasible",
        "",
        objective=inquiry.case.profile.name,
        victims=planning.describe_in_order(positions),
        borrowing=prepared.rules.attempt_of(search.classes, list(counts)),
        terms=planning.table.evaluate(positions),
    )
    return planning.accepted(plan)
