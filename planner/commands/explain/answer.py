"""From a question about a pending workload to its answer, in a few sentences.

An answer shows other plans too: the best that spares a victim or takes a candidate, and all optima.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb, prod
from typing import Any, Literal

from planner.commands.explain import DEFAULT_LIMIT
from planner.commands.explain.inquiry import Bounds, Explainer
from planner.commands.explain.record import (
    Alternative,
    CommonClash,
    CommonExplanation,
    CommonStanding,
    Optima,
    Question,
    TermDifference,
)
from planner.errors import SchemaError
from planner.models.shared.builder import Linear
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.solver.deadline import OutOfTime
from planner.solver.finder import find_equal, solve_levels
from planner.solver.search import Outcome
from planner.term import find_term

Condition = Literal["sparing", "taking"]
AnyInquiry = Explainer[Any, Any]


def necessary(inquiry: AnyInquiry, victims: Sequence[str]) -> dict[str, bool | None]:
    """Return for each victim of an optimal plan whether it is in all optimal plans.

    A victim is necessary if no plan without it equals the optimum in every level. Of a class, all
    members are necessary or none: none where an optimal plan may spare any of them. Every optimal
    plan that is found shows that the victims it lacks are not necessary; once no optimal plan
    lacks any of the rest, these are necessary. ``None`` says that this is not proved in time.
    """
    if inquiry.plan.status != "optimal" or not inquiry.searched:
        return dict.fromkeys(victims)
    search = inquiry.among_optima()
    chosen = set(inquiry.plan.keys)
    left: dict[int, list[str]] = {}
    for k, members in enumerate(search.classes.members):
        keys = [inquiry.keys[position] for position in members]
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


def alternative(inquiry: AnyInquiry, position: int, condition: Condition) -> Alternative:
    """Return the best plan that spares or takes a candidate, verified.

    It keeps to the caps of the objective, and spares the last tier, if any such plan does.
    """
    key, (bounds, *looser) = inquiry.keys[position], inquiry.bounds
    try:
        found, outcome = _solved(inquiry, position, condition, bounds)
        while outcome == "infeasible" and looser:  # try looser bounds until a plan is possible
            bounds = looser.pop(0)
            found, outcome = _solved(inquiry, position, condition, bounds)
    except OutOfTime:  # time was up before what the objective counts was known
        return Alternative(condition=condition, victim=key, status="unknown", within_caps=True)
    base = Alternative(
        condition=condition,
        victim=key,
        status="infeasible" if outcome == "infeasible" else "unknown",
        within_caps=bounds.capped,
        last_resort=bounds.last_resort,
    )
    if found is None:
        return base
    plan = inquiry.plan_of(found, proved=outcome == "optimal")
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


def differences(inquiry: AnyInquiry, other: AnyPlan) -> tuple[TermDifference, ...]:
    """Return every term of the plan beside the same term of another plan."""
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


def _solved(
    inquiry: AnyInquiry, position: int, condition: Condition, bounds: Bounds
) -> tuple[Sequence[int] | None, Outcome]:
    """Return the best victims, as positions, with one candidate spared or taken."""
    search = inquiry.search_within(bounds, [position])
    k = next((k for k, each in enumerate(search.classes.members) if position in each), None)
    taken = search.incumbent is not None and k is not None and bool(search.incumbent[k])
    if condition == "sparing":
        search.active = [other for other in search.active if other != k]
    elif k is None or k not in search.active:
        return None, "infeasible"
    else:
        search.conditions.append((Linear({k: 1}), 1))
    # The search starts from the plan that is known only if it keeps to the condition.
    if taken != (condition == "taking"):
        search.incumbent = None
    outcome = solve_levels(search, inquiry.profile.levels).outcome
    return search.incumbent and search.classes.take(search.incumbent), outcome


def count_optima(inquiry: AnyInquiry, limit: int) -> Optima | None:
    """Count the plans that equal the optimum in every level, and list up to ``limit`` of them.

    The members of a class are counted by arithmetic: choosing 2 victims of 5 members is ten plans.
    The solver runs once for every choice of how many victims each class has, and stops as soon as
    ``limit`` plans are listed; the count is then a lower bound. ``None`` where the plan is not
    proved optimal.
    """
    if inquiry.plan.status != "optimal":
        return None
    if not inquiry.searched:
        return Optima(count=1, complete=True, plans=((),))
    search = inquiry.among_optima()
    found = search.classes.counts(
        inquiry.positions[key] for key in inquiry.plan.keys if key in inquiry.positions
    )
    count, listed = 0, [inquiry.plan.keys]
    outcome: Outcome = "optimal"
    while found is not None:
        count += prod(comb(search.classes.count(k), n) for k, n in enumerate(found))
        sets = (
            tuple(map(inquiry.keys.__getitem__, inquiry.planning.in_candidate_order(one)))
            for one in _chosen([*zip(search.classes.members, found, strict=True)])
        )
        fresh = (keys for keys in sets if keys != inquiry.plan.keys)
        listed += islice(fresh, max(0, limit - len(listed)))
        if len(listed) >= limit and count > limit:
            return Optima(count=count, complete=False, plans=tuple(listed[:limit]))
        # Cutting off the counts of its classes excludes all plans that were just counted.
        search.cut.append(found)
        outcome = find_equal(search)
        found = search.incumbent if outcome == "optimal" else None
    return Optima(count=count, complete=outcome == "infeasible", plans=tuple(listed[:limit]))


def _chosen(classes: Sequence[tuple[Sequence[int], int]]) -> Iterator[tuple[int, ...]]:
    """Yield every choice of the given number of members of each class, the canonical one first."""
    whole = [position for members, n in classes if n == len(members) for position in members]
    # Only these classes are recursed into: there may be a great many classes in all.
    some = [(members, n) for members, n in classes if 0 < n < len(members)]
    if not some:
        yield tuple(whole)
        return
    (members, n), *rest = some
    for first in combinations(members, n):
        for others in _chosen(rest):
            yield (*whole, *first, *others)


def about_plan(plan: AnyPlan, standings: Sequence[CommonStanding], optima: Optima | None) -> str:
    """Say what the plan is, how many of its victims are necessary, and how many plans equal it."""
    unknown = plan.status == "unknown" or any(place.necessary is None for place in standings)
    if unknown or not standings or optima is None:
        return plan.explanation
    needed, count = sum(bool(place.necessary) for place in standings), len(standings)
    are = f"{needed} of {count} victims {'is' if needed == 1 else 'are'}"
    if count == 1:
        are = "the victim is" if needed else "the victim is not"
    text = f"{plan.explanation}; {are} in every optimal plan"
    if optima.count == 1 and optima.complete:
        return f"{text}, which is the only one"
    least = "" if optima.complete else "at least "
    return f"{text}, of which there are {least}{optima.count:,}"


def about_standing(inquiry: AnyInquiry, key: str, place: CommonStanding) -> str:
    """Say why a running workload or allocation is a victim, or is none."""
    name, law, plan = inquiry.name(key), place.law, inquiry.plan
    taken, preemptor = f"{inquiry.words.verb}ed", plan.about.name
    if not place.candidate:
        text = f"{name} may not be {taken} for {preemptor}"
        if plan.status == "optimal" and not inquiry.searched:
            fits = f"{preemptor} fits as it is: nobody is {taken} for it"
            text = f"{fits}, and {name} could not be"
        return f"{text}: {'; '.join(f'{one.law} {one.text}' for one in (law, *place.others))}"
    where = place.place
    if not plan.victims:
        return f"{name} is a candidate ({where})"
    if not place.by_plan:
        return f"{name} is a candidate ({where}), but the plan does without it"
    text = f"{name} is a candidate because {law.text} ({law.law}, {where})"
    if place.necessary is None:
        return text
    if place.necessary:
        return f"{text}; it is necessary: every optimal plan has it"
    return f"{text}; it is not necessary: another plan without it is as good"


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

    A level that is a sum of terms is returned as its first term, with the sums as values.
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
    """Say which laws clash, and which change is the first that makes a plan exist."""
    text = plan.explanation
    if clash.laws:
        text = "No plan exists: " + "; ".join(f"{law.law} {law.text}" for law in clash.laws)
    if clash.changes:
        return f"{text}. A plan would exist with {clash.changes[0].text}"
    none = ". No single change of those tried would make a plan exist"
    return f"{text}{none if clash.tried_all else ''}"


def answered(
    inquiry: AnyInquiry, victim: str | None = None, limit: int = DEFAULT_LIMIT
) -> CommonExplanation:
    """Explain ``victim``, a running workload or allocation, or else the plan as a whole.

    For the plan, each victim is explained, and all plans that are as good are counted: ``limit`` is
    how many of them to list. Where there is no plan, the minimal set of clashing laws says why, and
    single changes say what would make a plan exist.

    Raises ``InputError`` if nothing of that name is in the state, or the limit is below 1.
    """
    if limit < 1:
        raise SchemaError("limit", f"{limit} cannot be used", "1 or more")
    if victim is not None:
        return explain_victim(inquiry, victim)
    if inquiry.plan.status == "infeasible":
        clash = inquiry.clash()
        text = about_nothing(inquiry.plan, clash)
        return inquiry.composed("why-nothing", text, clash=clash)
    needed = necessary(inquiry, inquiry.plan.keys)
    standings = tuple(
        inquiry.standing(key).model_copy(update={"necessary": needed[key]})
        for key in inquiry.plan.keys
    )
    optima = count_optima(inquiry, limit)
    text = about_plan(inquiry.plan, standings, optima)
    standings += tuple(map(inquiry.standing, inquiry.others))
    return inquiry.composed("why-this-plan", text, standings, optima=optima)


def explain_victim(inquiry: AnyInquiry, name: str) -> CommonExplanation:
    """Explain why a running workload or allocation is a victim of the optimal plan, or is not.

    For a victim: the law that made it a candidate, whether it is in every optimal plan, and the
    best plan that spares it. Otherwise: the first law that excludes it or, if it is a candidate,
    the best plan that takes it. `Explainer.key_named` says what is raised.
    """
    key = inquiry.key_named(name)
    place = inquiry.standing(key)
    question: Question = "why-this-victim" if place.by_plan else "why-not-that-one"
    if place.by_plan:
        place = place.model_copy(update={"necessary": necessary(inquiry, [key])[key]})
    text = about_standing(inquiry, key, place)
    if inquiry.plan.status == "infeasible":
        clash = inquiry.clash()
        text = f"{text}. {about_nothing(inquiry.plan, clash)}"
        return inquiry.composed(question, text, (place,), clash=clash)
    other, position = None, inquiry.positions.get(key)
    asked = inquiry.searched and inquiry.plan.status in {"optimal", "feasible"}
    # Only where no law excludes it by itself; it may be a last resort.
    if position is not None and asked and inquiry.excluded_by(inquiry.planning, position) is None:
        other = alternative(inquiry, position, "sparing" if place.by_plan else "taking")
        text = f"{text}. {about_alternative(inquiry.profile, other)}"
    return inquiry.composed(question, text, (place,), alternative=other)
