"""Lexicographic levels: minimise a measure, prove it, fix it, go on to the next."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from planner.errors import InternalError
from planner.objective.cascading import CASCADE
from planner.objective.profiles import Measure, with_names
from planner.plan import Proof
from planner.solver.core import Least, find_any, find_within, minimise, minimise_whole
from planner.solver.engine import Outcome, OutOfTime
from planner.solver.search import Search
from planner.solver.tie_break import break_ties

_SHARE: Final = 3 / 4
"""Of the time that is left, what one level may take."""


@dataclass(frozen=True, slots=True)
class LevelResult:
    """One level of an answer; ``proof`` says what its bound rests on besides the search."""

    measure: Measure
    least: Least
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """All levels, the class counts of the answer, and whether everything is proved."""

    outcome: Outcome
    levels: tuple[LevelResult, ...]


def solve_levels(search: Search, levels: Sequence[Measure]) -> Answer:
    """Solve the levels in order; the last one makes the answer canonical."""
    search.levels = with_names(levels)
    if search.incumbent is None:
        outcome = find_any(search, search.alive)
        if outcome in ("infeasible", "unknown"):
            return Answer(outcome, ())
    if levels and levels[0] == CASCADE:
        stable = None
        with suppress(OutOfTime):  # what is known by then is where the levels start
            stable = _stable_anyway(search, levels[1:])
        if stable is not None:
            return stable
    return _settle(search, _solve_in_turn(search, levels))


def _stable_anyway(search: Search, levels: Sequence[Measure]) -> Answer | None:
    """Solve without D11: if nobody preempts again in a best answer, it is best with D11, too.

    Otherwise the search has a start: that answer, or the best of workloads that could preempt
    nobody. Time is left for what comes then.
    """
    free = search.fork()
    free.deadline, free.levels = search.deadline.half(), with_names(levels)
    done = _solve_in_turn(free, levels)
    best = free.answer
    free.deadline = search.deadline.half().half()
    if find_within(free, CASCADE, 0) == "optimal" and _all_proved(done):
        free.deadline = search.deadline
        answer = _settle(free, done)
        search.incumbent = free.incumbent
        return replace(answer, levels=(LevelResult(CASCADE, Least("optimal")), *answer.levels))
    best = free.incumbent or best
    if search.value(CASCADE, best) <= search.value(CASCADE, search.answer):
        search.incumbent = best
    steady = search.fork()
    steady.deadline, steady.incumbent = search.deadline.half(), None
    steady.alive = _steady(search)
    if search.value(CASCADE, best) and find_any(steady, steady.alive) == "optimal":
        for measure in levels:
            _solve_level(steady, measure)
        search.incumbent = steady.incumbent
    return None


def _solve_in_turn(search: Search, levels: Sequence[Measure]) -> list[LevelResult]:
    """Solve levels one after the other, each within a share of the time that is left.

    A level that is too hard to prove leaves the others time to improve the plan.
    """
    deadline = search.deadline
    done: list[LevelResult] = []
    for measure in with_names(levels):
        search.deadline = deadline.part(_SHARE)
        _solve_next(search, measure, done)
    search.deadline = deadline
    return done


def _solve_next(search: Search, measure: Measure, done: list[LevelResult]) -> None:
    """Solve the level after those that are done."""
    least = _solve_level(search, measure)
    done.append(LevelResult(measure, least))
    if least.outcome != "optimal":
        search.unproved.append(measure)
    if least.bound and search.is_separable(measure):
        search.bounds[measure] = least.bound


def _in_the_end(search: Search, level: LevelResult) -> LevelResult:
    """Return a level with its value in the answer, which a later level may have improved."""
    if level.least.outcome == "optimal":
        return level
    value, bound = search.value(level.measure, search.answer), level.least.bound
    return replace(level, least=Least("optimal" if value == bound else "feasible", value, bound))


def _steady(search: Search) -> list[int]:
    """Return the classes alive of workloads that could preempt nobody again."""
    cascades, first = search.rules.table.cascades, search.classes.first.tolist()
    if cascades is None:
        message = "an objective counts D11, but nothing answers it"
        raise InternalError(message)
    return [k for k in search.alive if cascades.is_steady(first[k])]


def solve_below(search: Search, levels: Sequence[Measure], best: Sequence[int]) -> Answer:
    """Solve the levels in order, as long as the answer may be better than one that is known.

    ``best`` are its values, level by level, the number of names included. The outcome is
    infeasible as soon as it is proved that no answer is better.
    """
    search.levels = with_names(levels)
    done: list[LevelResult] = []
    equal = True
    for measure, most in zip(with_names(levels), best, strict=True):
        outcome = find_within(search, measure, most) if equal else "optimal"
        if outcome in ("infeasible", "unknown"):
            # A level before that is not proved might still be better.
            return Answer(outcome if _all_proved(done) else "unknown", ())
        _solve_next(search, measure, done)
        equal = equal and done[-1].least.value == most
    if equal:
        return Answer("infeasible" if _all_proved(done) else "unknown", ())
    return _settle(search, done)


def _settle(search: Search, done: Sequence[LevelResult]) -> Answer:
    """Make the answer of solved levels canonical, if it is proved best.

    It is not, where another might keep a cap of which time did not tell.
    """
    levels = tuple(_in_the_end(search, level) for level in done)
    proved = _all_proved(levels) and break_ties(search) and not search.undecided
    return Answer("optimal" if proved else "feasible", levels)


def _all_proved(done: Sequence[LevelResult]) -> bool:
    return all(level.least.outcome == "optimal" for level in done)


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
    value = search.value(("D1",), search.answer)
    search.limit(("D1",), value)
    if outcome == "infeasible":
        return Least("optimal", value, value)
    return Least("feasible", value, 0)
