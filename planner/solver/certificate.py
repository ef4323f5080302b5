"""What the certificate says: a value and a bound per level, and bounds that need no solver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.models.kueue.relaxation import Row
from planner.objective.profiles import Measure, measure_id, measure_title
from planner.objective.terms import TERMS, TermTable
from planner.plan import Level, Multiplier, SolverFreeBound
from planner.problem import BoolArray, IntArray
from planner.quantity import format_units
from planner.solver.bound import best_single_row
from planner.solver.levels import LevelResult


def describe_levels(levels: Sequence[LevelResult]) -> tuple[Level, ...]:
    """Return the levels of an answer as records."""
    return tuple(
        Level(
            term=measure_id(level.measure),
            title=measure_title(level.measure),
            unit=TERMS[level.measure[0]].unit,
            value=level.least.value,
            bound=level.least.bound,
        )
        for level in levels
    )


def solver_free_bounds(
    table: TermTable, eligible: BoolArray, levels: Sequence[LevelResult]
) -> tuple[SolverFreeBound, ...]:
    """Return a bound that can be checked by hand for every separable level that has one."""
    bounds = (_solver_free_bound(table, eligible, level.measure) for level in levels)
    return tuple(bound for bound in bounds if bound is not None)


def _solver_free_bound(
    table: TermTable, eligible: BoolArray, measure: Measure
) -> SolverFreeBound | None:
    """Weigh the one flavor-resource that bounds the measure best.

    Removing a workload frees at most what it holds, so every legal set holds at least the
    request minus what is available.
    """
    if not all(term in table.separable for term in measure):
        return None
    problem = table.problem
    candidates = np.flatnonzero(eligible)
    frs = [fr for fr in problem.requested if problem.request[fr] > problem.available[fr]]
    rows = [
        Row("", problem.holding[candidates, fr], problem.request[fr] - problem.available[fr])
        for fr in frs
    ]
    costs: IntArray = np.zeros(len(candidates), dtype=np.int64)
    for term in measure:
        costs += table.separable[term][candidates]
    bound, position = best_single_row(rows, costs, [1] * len(candidates))
    if position < 0:
        return None
    flavor, resource = problem.frs[frs[position]]
    need = rows[position].bound
    multiplier = Multiplier(
        flavor=flavor, resource=resource, numerator=bound.multipliers[0], need=need
    )
    return SolverFreeBound(
        term=measure_id(measure),
        denominator=bound.denominator,
        multipliers=(multiplier,),
        bound=bound.whole,
        statement=(
            f"{format_units(need, resource)} {resource} in flavor {flavor} must be freed, so "
            f"{measure_title(measure)} is at least {bound.whole}"
        ),
    )
