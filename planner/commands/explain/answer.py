"""A question about a pending workload to its answer, in a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from planner.commands.explain import DEFAULT_LIMIT
from planner.commands.explain.counterfactual import alternative, count_optima, necessary
from planner.commands.explain.inquiry import Answer, ClashT, Explainer, ExplanationT, StandingT
from planner.commands.explain.record import (
    Alternative,
    CommonClash,
    CommonStanding,
    Optima,
    Question,
    TermDifference,
)
from planner.errors import SchemaError
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.scheduler import Part


def about_plan(plan: AnyPlan, standings: Sequence[CommonStanding], optima: Optima | None) -> str:
    """Say what the plan is, how many of its victims are necessary, and how many plans equal it."""
    if plan.status == "unknown" or not standings:
        return plan.explanation
    if optima is None or any(place.necessary is None for place in standings):
        return plan.explanation
    needed = sum(bool(place.necessary) for place in standings)
    text = f"{plan.explanation}; {needed} of {len(standings)} victims are in every optimal plan"
    if optima.count == 1 and optima.complete:
        return f"{text}, which is the only one"
    least = "" if optima.complete else "at least "
    return f"{text}, of which there are {least}{optima.count:,}"


def about_standing(inquiry: Explainer[StandingT, Any, Any], key: str, place: StandingT) -> str:
    """Say why something running is a victim, or is none."""
    name, law = inquiry.name(key), place.law
    if not place.candidate:
        return f"{name} may not be {inquiry.taken} for {inquiry.preemptor}: {law.law} {law.text}"
    where = inquiry.place(place)
    if not inquiry.plan.victims:
        return f"{name} is a candidate ({where})"
    if not place.by_plan:
        return f"{name} is a candidate ({where}), but the plan does without it"
    text = f"{name} is a candidate because {law.text} ({law.law}, {where})"
    if place.necessary is None:
        return text
    return f"{text}; " + (
        "it is necessary: every optimal plan has it"
        if place.necessary
        else "it is not necessary: another plan without it is as good"
    )


def about_alternative(profile: Profile, other: Alternative) -> str:
    """Say what the best plan that spares or takes a victim costs."""
    what = "without it" if other.condition == "sparing" else "with it"
    if other.status == "infeasible":
        return f"There is no legal plan {what}"
    if other.status == "unknown":
        return f"No plan {what} was found in time"
    best = "The best plan" if other.status == "optimal" else "The best plan found in time"
    caps = "" if other.within_caps else f", outside the caps of {profile.name},"
    caps += ", a last resort that YK-01 does not permit," if other.last_resort else ""
    worse = first_difference(profile, other.terms)
    if worse is None:
        cost = "equals the plan in every level"
    else:
        cost = f"differs first in {worse.title}: {worse.other:,} instead of {worse.plan:,}"
        cost += "" if worse.unit in worse.title else f" {worse.unit}"
    return f"{best} {what}{caps} {cost}"


def first_difference(profile: Profile, terms: Sequence[TermDifference]) -> TermDifference | None:
    """Return the first level in which two plans differ, ``None`` if there is none.

    Of a level that is a sum of terms, its first term stands for all, with the sums as values.
    """
    by_id = {term.term: term for term in terms}
    for level in profile.levels:
        parts = [by_id[term] for term in level]
        ours, theirs = sum(t.plan for t in parts), sum(t.other for t in parts)
        if ours != theirs:
            title = " and ".join(part.title for part in parts)
            return parts[0].model_copy(update={"plan": ours, "other": theirs, "title": title})
    return None


def about_nothing(plan: AnyPlan, clash: CommonClash[Any]) -> str:
    """Say what clashes, and which change is the first that helps."""
    text = plan.explanation
    if clash.laws:
        text = "No plan exists: " + "; ".join(f"{law.law} {law.text}" for law in clash.laws)
    if clash.changes:
        return f"{text}. A plan would exist with {clash.changes[0].text}"
    return (
        f"{text}. No single change of those tried would make a plan exist"
        if (clash.tried_all)
        else text
    )


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
