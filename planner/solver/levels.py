"""Lexicographic levels: minimise a measure, prove it, fix it, go on to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.objective.profiles import Measure
from planner.solver.core import Least, find_any, minimise, minimise_whole
from planner.solver.engine import Outcome
from planner.solver.search import Search
from planner.solver.tie_break import break_ties

NAMED: Measure = ("count",)
"""The first part of the tie-break: name no workload without need."""


@dataclass(frozen=True, slots=True)
class LevelResult:
    """One level of an answer."""

    measure: Measure
    least: Least


@dataclass(frozen=True, slots=True)
class Answer:
    """All levels, the class counts of the answer, and whether everything is proved."""

    outcome: Outcome
    levels: tuple[LevelResult, ...]


def solve_levels(search: Search, levels: Sequence[Measure]) -> Answer:
    """Solve the levels in order; the last one makes the answer canonical."""
    done: list[LevelResult] = []
    if search.incumbent is None:
        outcome = find_any(search, search.alive)
        if outcome in ("infeasible", "unknown"):
            return Answer(outcome, ())
    proved = True
    named = () if NAMED in levels else (NAMED,)
    for measure in (*levels, *named):
        least = _solve_level(search, measure)
        proved = proved and least.outcome == "optimal"
        done.append(LevelResult(measure, least))
    proved = break_ties(search) and proved
    return Answer("optimal" if proved else "feasible", tuple(done))


def _solve_level(search: Search, measure: Measure) -> Least:
    if measure == ("D1",):
        return _lowest_rank(search)
    if search.is_separable(measure):
        return minimise(search, measure)
    return minimise_whole(search, measure)


def _lowest_rank(search: Search) -> Least:
    """Lower the highest priority hit, rank by rank, until a rank is proved to be needed."""
    while True:
        value = search.value(("D1",), search.answer)
        # Nothing is below rank 0.
        outcome: Outcome = "infeasible"
        if value:
            outcome = find_any(search, search.up_to_rank(value - 1))
        if outcome != "optimal":
            break
    search.limit(("D1",), value)
    if outcome == "infeasible":
        return Least("optimal", value, value)
    return Least("feasible", value, 0)
