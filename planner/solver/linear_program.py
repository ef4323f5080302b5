"""The bound of a relaxation: linear programs, branching where a law leaves a choice.

A node that must stay over its quota in some resource leaves a choice of the resource. One linear
program blurs it; here every choice that matters is made both ways, and the bound is the least of
the branches. Each branch is bounded in exact integers from the duals of its program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from math import gcd
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.models.shared.classes import Classes
from planner.models.shared.row import Relaxation, Row
from planner.problem.array import FloatArray, IntArray
from planner.solver.bound import SCALE, Bound, lagrangian_bound, trivial_bound

if TYPE_CHECKING:
    # MathOpt takes a tenth of a second to load; small problems never come here.
    from planner.solver.simplex import Simplex

PROGRAMS: Final = 200
"""Linear programs for one bound at most."""

_CLOSE: Final = 1e-7
"""What a linear program may miss a row by, of the row's largest coefficient."""


def linear_programming_bound(
    relaxation: Relaxation, classes: Classes, costs: IntArray, limits: Sequence[Row]
) -> Bound:
    """Return the bound that the relaxation's duals prove, with its choices made.

    ``limits`` are rows that hold besides, such as measures that earlier levels fixed.
    """
    program = _Program(relaxation, classes, costs, limits)
    root = program.solve(frozenset())
    ahead, programs = [(root.bound.value, 0, root)], 1
    while programs < PROGRAMS:
        choice = program.open_choice(ahead[0][2])
        if choice is None:
            break
        chosen = heappop(ahead)[2].chosen
        for witness in choice:
            branch = program.solve(chosen | {witness})
            heappush(ahead, (branch.bound.value, programs, branch))
            programs += 1
    return _least(
        [branch.bound for _, _, branch in sorted(ahead, key=lambda one: one[:2])], classes
    )


@dataclass(frozen=True, slots=True)
class _Branch:
    """Some witnesses chosen, what that bounds, and a solution if the program has one."""

    chosen: frozenset[int]
    bound: Bound
    solution: FloatArray | None


@dataclass(frozen=True)
class _Program:
    """A relaxation as a linear program."""

    relaxation: Relaxation
    classes: Classes
    costs: IntArray
    limits: Sequence[Row]

    @cached_property
    def rows(self) -> Sequence[Row]:
        """All rows, in readable numbers."""
        return [_scaled(row) for row in (*self.relaxation.rows, *self.limits)]

    @cached_property
    def counts(self) -> Sequence[int]:
        """(K,) the members of each class."""
        return [*self.classes.sizes.tolist()]

    @cached_property
    def out_of_reach(self) -> int:
        """A cost above that of any set."""
        total: int = sum(c * n for c, n in zip(self.costs.tolist(), self.counts, strict=True))
        return total + 1

    @cached_property
    def simplex(self) -> Simplex:
        """The program in doubles, over classes and witnesses."""
        from planner.solver.simplex import Simplex  # noqa: PLC0415

        witnesses = self.relaxation.witnesses
        return Simplex(
            [*self.costs.astype(float).tolist(), *[0.0] * witnesses],
            [*map(float, self.counts), *[1.0] * witnesses],
            self.rows,
            10.0 * float(self.out_of_reach),
        )

    def solve(self, chosen: frozenset[int]) -> _Branch:
        """Bound the cost with some witnesses chosen.

        A program without a solution is solved again with rows that may be missed at a price, so
        that there are duals: they prove a bound that no legal set can pay. Where its solver
        gives up the bound is the trivial one: floating-point verdicts prove nothing here.
        """
        simplex = self.simplex
        for witness in range(self.relaxation.witnesses):
            simplex.bound(len(self.classes) + witness, float(witness in chosen), 1.0)
        solved = simplex.solve()
        if solved.impossible:
            simplex.relent(missed=True)
            solved = replace(simplex.solve(), solution=None)
            simplex.relent(missed=False)
        if solved.duals is None:
            return _Branch(chosen, trivial_bound(self.costs), None)
        multipliers = [max(0, round(dual * SCALE)) for dual in solved.duals.tolist()]
        bound = lagrangian_bound(self.rows, multipliers, self.costs, self.counts, chosen=chosen)
        return _Branch(chosen, bound, solved.solution)

    def open_choice(self, branch: _Branch) -> Sequence[int] | None:
        """Return a choice, by its witnesses, of which the solution of a branch keeps none."""
        if branch.solution is None:
            return None
        taken = branch.solution[: len(self.classes)]
        for choice in self.relaxation.choices:
            if not any(self._keeps(taken, witness) for witness in choice):
                return choice
        return None

    def _keeps(self, taken: FloatArray, witness: int) -> bool:
        row, coefficient = self._of_witness[witness]
        missing = row.bound - coefficient - float(row.coefficients @ taken)
        return missing <= _CLOSE * abs(row.bound)

    @cached_property
    def _of_witness(self) -> dict[int, tuple[Row, int]]:
        """The row that each witness of a choice makes bind, and its coefficient there."""
        return {
            witness: (row, coefficient)
            for row in self.rows
            for witness, coefficient in row.slack
            if coefficient < 0
        }


def _least(bounds: Sequence[Bound], classes: Classes) -> Bound:
    """Return what holds whichever of some branches is taken; the least bound comes first.

    A member more or less of a class adds what it adds in the branch where that is least.
    """
    first, *others = bounds
    if not others:
        return first
    reduced = list(first.reduced)
    for other in others:
        above = other.value - first.value
        for k, (cost, there) in enumerate(zip(reduced, other.reduced, strict=True)):
            # Spread over all members: several may deviate, and pay for the branch once.
            spread = above // classes.count(k)
            if cost > 0:
                reduced[k] = min(cost, spread + max(0, there))
            elif cost < 0:
                reduced[k] = max(cost, -spread + min(0, there))
    return Bound(first.value, reduced, first.denominator)


def _scaled(row: Row) -> Row:
    """Divide a row by the common divisor of its coefficients; bytes become readable numbers."""
    unit = int(np.gcd.reduce(row.coefficients)) if row.coefficients.any() else 1
    for _, coefficient in row.slack:
        unit = gcd(unit, coefficient)
    if unit <= 1:
        return row
    slack = tuple((witness, coefficient // unit) for witness, coefficient in row.slack)
    return Row(row.name, row.coefficients // unit, -(-row.bound // unit), slack)
