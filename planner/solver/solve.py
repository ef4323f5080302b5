"""A planned workload to its proven optimum."""

from __future__ import annotations

import time
from collections.abc import Mapping

from planner.errors import InternalError
from planner.models.kueue.candidates import attempts, restricted_while_borrowing
from planner.models.kueue.columns import Columns, build_columns
from planner.objective.profiles import Measure, Profile, measure_id
from planner.plan import Certificate, Plan, Status
from planner.problem import IntArray
from planner.solver.certificate import describe_levels, solver_free_bounds
from planner.solver.core import find_any
from planner.solver.engine import SEED, Deadline, solver_name
from planner.solver.explanation import explain_infeasible, victims_in_words
from planner.solver.levels import Answer, solve_levels
from planner.solver.planning import Planning
from planner.solver.search import Search


def solve_planning(planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises
    ------
    InternalError
        If a plan fails its verification, or the optimum is worse than Kueue's own plan.
    """
    started = time.monotonic()
    greedy = planning.greedy_plan()
    settled = _settled(planning)
    if settled is not None:
        return _without_solver(planning, profile, greedy, *settled)
    search = _search(planning, deadline, profile, greedy)
    dropped = _cap(search, profile, greedy)
    answer = solve_levels(search, profile.levels)
    certificate = Certificate(
        digest=planning.state.digest,
        levels=describe_levels(answer.levels),
        bounds=solver_free_bounds(planning.table, planning.candidates, answer.levels),
        cut_off=len(search.cut),
        solver=solver_name(),
        seed=SEED,
        wall_time_s=round(time.monotonic() - started, 6),
    )
    if search.incumbent is None:
        return _no_plan(planning, profile, answer, certificate, greedy)
    positions = planning.in_candidate_order(search.columns.take(search.incumbent))
    terms = planning.table.evaluate(positions)
    if greedy.victims and not greedy.outside_rules:
        _refuse_worse(profile, terms, greedy.terms)
    proved = answer.outcome == "optimal"
    plan = planning.subject.plan(
        "optimum",
        "optimal" if proved else "feasible",
        f"evicting {victims_in_words(len(positions))} makes room; "
        + ("proved best" if proved else "not proved best within the time limit")
        + dropped,
        objective=profile.name,
        victims=planning.describe_in_order(positions),
        borrowing=search.attempt(),
        terms=terms,
        certificate=certificate,
        greedy=greedy,
    )
    return planning.accepted(plan)


def _settled(planning: Planning) -> tuple[Status, str] | None:
    """Return the answer where no search is needed: nothing has to go, or nothing can."""
    assignment = planning.decision.assignment
    if assignment.mode == "NoFit":
        return "infeasible", planning.why_no_flavor()
    if len(assignment.pod_sets) < len(planning.preemptor.pod_sets):
        return "infeasible", (
            "a podset asks for nothing but zero amounts of resources the queue does not cover; "
            "Kueue stops assigning flavors there and cannot go on"
        )
    if planning.fits_at_once:
        return "optimal", "it fits as it is: no eviction needed"
    if assignment.mode == "Fit":
        return "infeasible", (
            "Kueue takes it for fitting, which it does not, and so never looks for victims "
            "(flavorFungibility.preference PreemptionOverBorrowing)"
        )
    return None


def _without_solver(
    planning: Planning, profile: Profile, greedy: Plan, status: Status, explanation: str
) -> Plan:
    plan = planning.subject.plan(
        "optimum",
        status,
        explanation,
        objective=profile.name,
        terms=planning.table.evaluate(()),
        certificate=Certificate(digest=planning.state.digest, levels=()),
        greedy=greedy,
    )
    return planning.accepted(plan) if status == "optimal" else plan


def _no_plan(
    planning: Planning, profile: Profile, answer: Answer, certificate: Certificate, greedy: Plan
) -> Plan:
    infeasible = answer.outcome == "infeasible"
    return planning.subject.plan(
        "optimum",
        "infeasible" if infeasible else "unknown",
        explain_infeasible(planning.problem, planning.eligible)
        if infeasible
        else "nothing found within the time limit, and nothing proved",
        objective=profile.name,
        certificate=certificate,
        greedy=greedy,
    )


def _cap(search: Search, profile: Profile, greedy: Plan) -> str:
    """Bound the capped measures by Kueue's own; say in words which caps were dropped.

    None is dropped where Kueue's answer is within its own rules, because it meets them itself.
    Elsewhere each cap is kept if an answer is found that meets it and the caps kept before.
    """
    if not greedy.victims:
        return ""
    impossible: list[str] = []
    undecided: list[str] = []
    for cap in profile.caps:
        value = sum(greedy.terms[term] for term in cap)
        trial = search.fork()
        trial.limit(cap, value)
        outcome = find_any(trial, trial.alive) if greedy.outside_rules else "optimal"
        if outcome == "optimal":
            search.limit(cap, value)
        else:
            (impossible if outcome == "infeasible" else undecided).append(measure_id(cap))
    text = f"; caps not decided in time: {', '.join(undecided)}" if undecided else ""
    if impossible:
        text += (
            "; Kueue's own answer is outside its own rules, and no legal one that keeps the caps "
            f"before it keeps its value of {', '.join(impossible)}"
        )
    return text


def _search(planning: Planning, deadline: Deadline, profile: Profile, greedy: Plan) -> Search:
    """Set up the search: classes, attempts, and Kueue's own answer to start from."""
    problem, table = planning.problem, planning.table
    permitted = attempts(problem, planning.eligible)
    restricted = restricted_while_borrowing(problem)
    allowed = planning.eligible & ~restricted if permitted == (True,) else planning.eligible
    columns = build_columns(problem, allowed, restricted, _costs(planning, profile))
    every_class = list(range(len(columns)))
    search = Search(problem, table, columns, permitted, deadline, planning.is_lawful, every_class)
    if greedy.victims and not greedy.outside_rules:
        search.incumbent = _class_counts(columns, planning.greedy_positions())
    return search


def _costs(planning: Planning, profile: Profile) -> list[IntArray]:
    terms = {term for measure in (*profile.levels, *profile.caps) for term in measure}
    separable = planning.table.separable
    arrays = [separable[term] for term in sorted(terms & separable.keys())]
    return [*arrays, planning.table.rank] if "D1" in terms else arrays


def _class_counts(columns: Columns, positions: list[int]) -> list[int]:
    counts = columns.counts(positions)
    if counts is None:
        message = "the model has no candidate for one of Kueue's own victims"
        raise InternalError(message)
    return counts


def _refuse_worse(
    profile: Profile, terms: Mapping[str, int], greedy_terms: Mapping[str, int]
) -> None:
    """Cross-check: lexicographically, the optimum is never worse than Kueue's own plan."""

    def values(of: Mapping[str, int], measures: tuple[Measure, ...]) -> list[int]:
        return [sum(of[term] for term in measure) for measure in measures]

    worse = values(terms, profile.levels) > values(greedy_terms, profile.levels)
    broken = [
        measure_id(cap)
        for cap, ours, theirs in zip(
            profile.caps,
            values(terms, profile.caps),
            values(greedy_terms, profile.caps),
            strict=True,
        )
        if ours > theirs
    ]
    if worse or broken:
        message = f"the {profile.name} plan is worse than Kueue's own in {broken or 'its levels'}"
        raise InternalError(message)
