"""Answers in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.commands.explain.inquiry import Explainer, StandingT
from planner.commands.explain.record import (
    Alternative,
    CommonClash,
    CommonStanding,
    Optima,
    TermDifference,
)
from planner.objective.profiles import Profile
from planner.plan import AnyPlan


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


def about_nothing(plan: AnyPlan, clash: CommonClash) -> str:
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
