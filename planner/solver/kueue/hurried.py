"""What is answered of D11 once time is up: nothing that was not found out.

Whether a victim would preempt again takes a decision of Kueue, and a large plan thousands of them.
Where time ends before, a plan stands without the term, and says so; a demand for D11 that nobody
could check makes an answer unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Final

from planner.objective.cascading import CASCADE
from planner.objective.profiles import Measure, Profile
from planner.plan import Plan
from planner.solver.engine import Deadline, OutOfTime
from planner.solver.kueue.planning import Planning
from planner.term import RATED

NOT_KNOWN: Final = (
    "which victims would preempt again was not found out within the time limit: Kueue decides "
    "that, victim by victim"
)


Solve = Callable[[Planning, Profile, Deadline], Plan]


def in_time(solve: Solve) -> Solve:
    """Return a way to solve that answers without D11 where time is up before it is known."""

    @wraps(solve)
    def answer(planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
        planning.deadline = deadline
        try:
            return solve(planning, profile, deadline)
        except OutOfTime:
            known = solve(planning, without_cascades(profile), deadline)
            planning.adopt(profile)
            return unproved(known, profile)

    return answer


def without_cascades(profile: Profile) -> Profile:
    """Return an objective without everything that only D11 tells; its wishes of it are dropped."""
    lost = {*CASCADE, *({RATED} if CASCADE[0] in profile.rates else ())}

    def kept(measure: Measure) -> bool:
        return lost.isdisjoint(measure)

    levels = tuple(filter(kept, profile.levels)) or (("D2",),)
    wishes = replace(profile.wishes, most=_without(profile.wishes.most))
    caps = tuple(filter(kept, profile.caps))
    rates = {} if RATED in lost else profile.rates
    return replace(profile, levels=levels, caps=caps, wishes=wishes, rates=rates)


def _without(most: Mapping[Measure, int]) -> Mapping[Measure, int]:
    return {measure: value for measure, value in most.items() if measure != CASCADE}


def unproved(plan: Plan, profile: Profile) -> Plan:
    """Return a plan that another objective gave as the best known: nothing is proved of D11.

    A plan that is demanded to be stable is none, if nobody knows whether it is.
    """
    if plan.status not in {"optimal", "feasible"} or not plan.victims:
        return plan
    if CASCADE in profile.wishes.most:
        return unanswered(plan)
    return plan.model_copy(
        update={
            "status": "feasible",
            "explanation": f"{plan.explanation.partition(';')[0]}; not proved best: {NOT_KNOWN}",
            "certificate": None,
        }
    )


def unanswered(plan: Plan) -> Plan:
    """Return that no plan is known that keeps to what is demanded of D11."""
    return plan.model_copy(
        update={
            "status": "unknown",
            "explanation": f"nothing found within the time limit, and nothing proved: {NOT_KNOWN}",
            "certificate": None,
            "victims": (),
            "terms": {},
            "borrowing": None,
            "shares": (),
            "tree": (),
            "stability": None,
        }
    )
