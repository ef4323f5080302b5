"""Bounds that can be checked by hand, for Kueue's certificates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.models.shared.row import Row
from planner.objective.profiles import Measure, measure_id, measure_title
from planner.objective.terms import TermTable
from planner.plan import Multiplier, SolverFreeBound
from planner.problem.array import BoolArray, IntArray
from planner.problem.kueue import Problem
from planner.quantity import format_units
from planner.solver.bound import best_single_row
from planner.solver.levels import LevelResult


def solver_free_bounds(
    problem: Problem, table: TermTable, eligible: BoolArray, levels: Sequence[LevelResult]
) -> tuple[SolverFreeBound, ...]:
    """Return a bound that can be checked by hand for every separable level that has one."""
    bounds = (_solver_free_bound(problem, table, eligible, level.measure) for level in levels)
    return tuple(bound for bound in bounds if bound is not None)


def _solver_free_bound(
    problem: Problem, table: TermTable, eligible: BoolArray, measure: Measure
) -> SolverFreeBound | None:
    """Weigh the one flavor-resource that bounds the measure best.

    Removing a workload frees at most what it holds, so every legal set holds at least the
    request minus what is available.
    """
    if not all(term in table.separable for term in measure):
        return None
    candidates = np.flatnonzero(eligible)
    frs = [fr for fr in problem.needed if problem.request[fr] > problem.available[fr]]
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
