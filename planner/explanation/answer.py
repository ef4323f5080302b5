"""A question about a pending workload to its answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from planner.assignment import Assignment
from planner.errors import SchemaError
from planner.explanation.candidacy import standing
from planner.explanation.change import smallest_changes
from planner.explanation.clash import clash_in_words, minimal_clash, shortfalls
from planner.explanation.counterfactual import alternative, necessary
from planner.explanation.inquiry import Case, Inquiry, find_running
from planner.explanation.optima import count_optima
from planner.explanation.record import Alternative, Clash, Explanation, Question, Standing
from planner.explanation.words import about_alternative, about_nothing, about_plan, about_standing
from planner.objective.profiles import Profile
from planner.solver.engine import Deadline
from planner.state import State

DEFAULT_LIMIT: Final = 10
"""How many optimal plans are listed unless said."""


def explain_plan(  # noqa: PLR0913 - the public signature
    state: State,
    pending: str,
    profile: Profile,
    *,
    costs: Mapping[str, int] | None = None,
    assignment: Assignment | None = None,
    now: datetime | None = None,
    time_limit: float | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Explanation:
    """Explain the plan for a pending workload: each victim, and all plans that are as good.

    Where there is no plan, the minimal set of clashing laws says why, and single changes say
    what would make one exist.

    Parameters
    ----------
    pending
        The pending workload as ``namespace/name``.
    profile, costs, assignment, now
        As for ``planner.solve``.
    time_limit
        Seconds for everything together.
    limit
        How many optimal plans to list, at least 1.

    Raises
    ------
    InputError
        If the workload, a cost or the assignment cannot be used.
    """
    if limit < 1:
        raise SchemaError("limit", f"{limit} cannot be used", "1 or more")
    case = Case(pending, profile, costs, assignment, now)
    inquiry = Inquiry(state, case, Deadline.after(time_limit))
    if inquiry.plan.status == "infeasible":
        clash = _clash(inquiry)
        return _explanation(inquiry, "why-nothing", about_nothing(inquiry.plan, clash), clash=clash)
    needed = necessary(inquiry, inquiry.plan.keys)
    standings = tuple(
        standing(inquiry, key).model_copy(update={"necessary": needed[key]})
        for key in inquiry.plan.keys
    )
    optima = count_optima(inquiry, limit)
    answer = about_plan(inquiry.plan, standings, optima)
    return _explanation(inquiry, "why-this-plan", answer, workloads=standings).model_copy(
        update={"optima": optima}
    )


def explain_workload(  # noqa: PLR0913 - the public signature
    state: State,
    pending: str,
    victim: str,
    profile: Profile,
    *,
    costs: Mapping[str, int] | None = None,
    assignment: Assignment | None = None,
    now: datetime | None = None,
    time_limit: float | None = None,
) -> Explanation:
    """Explain why a running workload is a victim of the optimal plan, or why it is not.

    For a victim: the law that made it a candidate, whether it is in every optimal plan, and the
    best plan that spares it. For another: the first law that excludes it or, if it is a
    candidate, the best plan that takes it.

    Parameters
    ----------
    victim
        The workload to explain as ``namespace/name``.
    pending, profile, costs, assignment, now, time_limit
        As for `explain_plan`.

    Raises
    ------
    InputError
        If a workload is not in the state, or something else cannot be used.
    """
    find_running(state, victim)
    case = Case(pending, profile, costs, assignment, now)
    inquiry = Inquiry(state, case, Deadline.after(time_limit))
    place = standing(inquiry, victim)
    position = inquiry.position(victim)
    other: Alternative | None = None
    question: Question = "why-this-victim" if place.by_plan else "why-not-that-one"
    if place.by_plan:
        place = place.model_copy(update={"necessary": necessary(inquiry, [victim])[victim]})
    asked = inquiry.searched and inquiry.plan.status in {"optimal", "feasible"}
    if place.candidate and position is not None and asked:
        other = alternative(inquiry, position, "sparing" if place.by_plan else "taking")
    clash = _clash(inquiry) if inquiry.plan.status == "infeasible" else None
    answer = about_standing(inquiry.plan, place)
    if other is not None:
        answer = f"{answer}. {about_alternative(inquiry.case.profile, other)}"
    elif clash is not None:
        answer = f"{answer}. {about_nothing(inquiry.plan, clash)}"
    return _explanation(inquiry, question, answer, workloads=(place,), other=other, clash=clash)


def _clash(inquiry: Inquiry) -> Clash:
    """Return why there is no plan, and what would change that."""
    problem = inquiry.planning.problem
    ids, proved = minimal_clash(problem, inquiry.deadline) if inquiry.searched else (set(), True)
    changes, tried_all = smallest_changes(inquiry)
    return Clash(
        laws=clash_in_words(problem, ids),
        proved=proved,
        shortfalls=shortfalls(inquiry),
        changes=changes,
        tried_all=tried_all,
    )


def _explanation(  # noqa: PLR0913 - the parts of an answer
    inquiry: Inquiry,
    question: Question,
    answer: str,
    *,
    workloads: tuple[Standing, ...] = (),
    other: Alternative | None = None,
    clash: Clash | None = None,
) -> Explanation:
    plan = inquiry.plan
    return Explanation(
        rules=plan.rules,
        question=question,
        answer=answer,
        preemptor=plan.preemptor,
        cluster_queue=plan.cluster_queue,
        priority=plan.priority,
        objective=plan.objective,
        status=plan.status,
        victims=plan.keys,
        workloads=workloads,
        alternative=other,
        clash=clash,
    )
