"""Whether a plan is stable, beside the same of Kueue's own plan: the field and the term D11."""

from __future__ import annotations

from planner.objective.terms import TERMS
from planner.plan import Cascade, Plan
from planner.solver.kueue.cascade import cascades
from planner.solver.kueue.planning import Planning


def cascades_of(planning: Planning, plan: Plan) -> tuple[Cascade, ...]:
    """Return which victims of a plan would preempt again.

    Raises
    ------
    LookupFailed
        If a victim's LocalQueue or ClusterQueue is not in the dump.
    """
    if plan.assignment == planning.decision.assignment:
        return planning.cascades(plan.keys)
    snapshot = planning.snapshot
    held = {one.key: one for workloads in snapshot.admitted.values() for one in workloads}
    victims = [(held[victim.workload], victim.reason) for victim in plan.victims]
    return cascades(planning.state, snapshot, planning.preemptor, plan.assignment, victims)


def with_stability(planning: Planning, plan: Plan) -> Plan:
    """Return a plan, and Kueue's own beside it, with the victims that would preempt again.

    A plan that makes no room stays as it is.

    Raises
    ------
    LookupFailed
        If a victim's LocalQueue or ClusterQueue is not in the dump.
    """
    update: dict[str, object] = {}
    if plan.status in {"optimal", "feasible"}:
        found = cascades_of(planning, plan)
        terms = {**plan.terms, "D11": len(found)}
        ordered = {term: terms[term] for term in TERMS if term in terms}
        update = {"stability": found, "terms": ordered}
    if plan.greedy is not None:
        update["greedy"] = with_stability(planning, plan.greedy)
    return plan.model_copy(update=update)
