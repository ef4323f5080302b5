"""A question about a pending workload to its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planner.commands.explain import DEFAULT_LIMIT
from planner.commands.explain.counterfactual import alternative, necessary
from planner.commands.explain.inquiry import Answer, ClashT, Explainer, ExplanationT, StandingT
from planner.commands.explain.optima import count_optima
from planner.commands.explain.record import Question
from planner.commands.explain.words import (
    about_alternative,
    about_nothing,
    about_plan,
    about_standing,
)
from planner.errors import SchemaError
from planner.scheduler import Part

INQUIRY: Final = Part[Callable[..., Explainer[Any, Any, Any]]]("explanation")
"""What asks about a plan of a scheduler: made of a state, what is given, a profile, costs and a
deadline."""


def answered(
    inquiry: Explainer[StandingT, ClashT, ExplanationT],
    victim: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> ExplanationT:
    """Explain what is asked about: something running, or else the plan.

    Raises
    ------
    InputError
        If nothing of that name is in the state, or the limit is below 1.
    """
    if limit < 1:
        raise SchemaError("limit", f"{limit} cannot be used", "1 or more")
    return explain_plan(inquiry, limit) if victim is None else explain_victim(inquiry, victim)


def explain_plan(
    inquiry: Explainer[StandingT, ClashT, ExplanationT], limit: int = DEFAULT_LIMIT
) -> ExplanationT:
    """Explain the plan for a pending workload: each victim, and all plans that are as good.

    Where there is no plan, the minimal set of clashing laws says why, and single changes say
    what would make one exist. ``limit`` is how many optimal plans to list.
    """
    if inquiry.plan.status == "infeasible":
        clash = inquiry.clash()
        text = about_nothing(inquiry.plan, clash)
        return inquiry.explanation(Answer("why-nothing", text, clash=clash))
    needed = necessary(inquiry, inquiry.plan.keys)
    standings = tuple(
        inquiry.standing(key).model_copy(update={"necessary": needed[key]})
        for key in inquiry.plan.keys
    )
    optima = count_optima(inquiry, limit)
    text = about_plan(inquiry.plan, standings, optima)
    return inquiry.explanation(Answer("why-this-plan", text, standings, optima=optima))


def explain_victim(inquiry: Explainer[StandingT, ClashT, ExplanationT], name: str) -> ExplanationT:
    """Explain why something running is a victim of the optimal plan, or why it is not.

    For a victim: the law that made it a candidate, whether it is in every optimal plan, and the
    best plan that spares it. For another: the first law that excludes it or, if it is a
    candidate, the best plan that takes it.

    Raises
    ------
    LookupFailed
        If nothing of that name is in the state.
    """
    key = inquiry.find(name)
    place = inquiry.standing(key)
    question: Question = "why-this-victim" if place.by_plan else "why-not-that-one"
    if place.by_plan:
        place = place.model_copy(update={"necessary": necessary(inquiry, [key])[key]})
    text = about_standing(inquiry, key, place)
    position = inquiry.position(key)
    if inquiry.plan.status == "infeasible":
        clash = inquiry.clash()
        text = f"{text}. {about_nothing(inquiry.plan, clash)}"
        return inquiry.explanation(Answer(question, text, (place,), clash=clash))
    other = None
    asked = inquiry.searched and inquiry.plan.status in {"optimal", "feasible"}
    if position is not None and asked and inquiry.may_be_taken(position):
        other = alternative(inquiry, position, "sparing" if place.by_plan else "taking")
        text = f"{text}. {about_alternative(inquiry.profile, other)}"
    return inquiry.explanation(Answer(question, text, (place,), other=other))
