"""An optimum beside the scheduler's own plan: caps, and what may not be worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.errors import InternalError
from planner.objective.profiles import Measure, Profile, measure_id
from planner.plan import AnyPlan
from planner.solver.core import find_any, find_within
from planner.solver.search import Search
from planner.solver.wishes import impose


def cap(search: Search, profile: Profile, greedy: AnyPlan) -> str:
    """Bound the capped measures by the scheduler's own; say in words which caps were dropped.

    The wishes of the profile come first: they are never dropped.

    None is dropped where the search starts from the scheduler's own answer, which meets them
    all. Elsewhere each cap is kept if an answer is found that meets it and the caps kept before.
    Where time does not tell, no answer of the search is proved best.

    Raises
    ------
    UnsupportedError
        If the state cannot tell a term of the profile.
    """
    bind(search, profile)
    if not greedy.victims:
        return ""
    impossible: list[str] = []
    for measure in profile.caps:
        value = sum(greedy.terms[term] for term in measure)
        trial = search.fork()
        outcome = find_within(trial, measure, value)
        if outcome == "optimal":
            search.limit(measure, value)
            search.caps.append((measure, value))
            search.incumbent = trial.incumbent
        else:
            dropped = impossible if outcome == "infeasible" else search.undecided
            dropped.append(measure_id(measure))
    return dropped_in_words(profile, impossible, search.undecided)


def bind(search: Search, profile: Profile) -> None:
    """Impose the wishes of a profile on a search that nothing has narrowed yet.

    Raises
    ------
    UnsupportedError
        If the state cannot tell a term of the profile.
    """
    search.rules.table.refuse_missing(profile.name, profile.terms)
    if profile.wishes:
        impose(search, profile.wishes)
    search.permitted = list(search.alive)


def dropped_in_words(profile: Profile, impossible: Sequence[str], undecided: Sequence[str]) -> str:
    """Say which caps were dropped, to go on a sentence; empty if none was."""
    text = f"; caps not decided in time: {', '.join(undecided)}" if undecided else ""
    if impossible:
        outside = "wishes of the objective" if profile.wishes else "rules"
        text += (
            f"; the scheduler's own answer is outside the {outside}, and no legal one that keeps "
            f"the caps before it keeps its value of {', '.join(impossible)}"
        )
    return text


def blame_wishes(search: Search, profile: Profile) -> str:
    """Say of a search without an answer that the wishes leave none; empty if the rules do."""
    if not profile.wishes:
        return ""
    free = Search(search.rules, search.classes, search.deadline, list(range(len(search.classes))))
    outcome = find_any(free, free.alive)
    if outcome == "infeasible":
        return ""
    permitted = "the rules permit a plan, but none" if outcome == "optimal" else "no plan"
    return f"{permitted} keeps the wishes of {profile.name}: {profile.wishes.in_words()}"


def refuse_worse(
    profile: Profile, terms: Mapping[str, int], greedy_terms: Mapping[str, int]
) -> None:
    """Cross-check: lexicographically, the optimum is never worse than the scheduler's own plan.

    Where the profile has wishes it may be: they do not bind the scheduler.

    Raises
    ------
    InternalError
        If it is.
    """
    if profile.wishes:
        return

    def values(of: Mapping[str, int], measures: tuple[Measure, ...]) -> list[int]:
        return [sum(of[term] for term in measure) for measure in measures]

    worse = values(terms, profile.levels) > values(greedy_terms, profile.levels)
    broken = [
        measure_id(measure)
        for measure, ours, theirs in zip(
            profile.caps,
            values(terms, profile.caps),
            values(greedy_terms, profile.caps),
            strict=True,
        )
        if ours > theirs
    ]
    if worse or broken:
        message = (
            f"the {profile.name} plan is worse than the scheduler's own in {broken or 'its levels'}"
        )
        raise InternalError(message)
