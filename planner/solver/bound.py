"""Lower bounds from linear-programming duals, recomputed in exact integers.

A dual vector is only a suggestion: rounded to integers it still gives a valid bound, because
every step below is integer arithmetic on rows that hold for every legal victim set.

A node that must stay over its quota in some resource leaves open in which. One linear program
blurs such a choice; here a choice that matters is split into a branch for each resource, and the
bound is the least of the branches. Each is bounded in exact integers from the duals of its program.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate
from math import gcd
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from planner.models.shared.classes import Classes, Relaxation, Row
from planner.problem.array import FloatArray, IntArray
from planner.proof.box import sum_of_products
from planner.solver.deadline import Deadline

if TYPE_CHECKING:
    # MathOpt takes a tenth of a second to load; small problems never come here.
    from planner.solver.glop import Simplex

SCALE = 10**12
"""Duals become integers over this denominator."""

_INT64 = 2**62
"""Up to here sums are added up in arrays, beyond it as Python's own integers."""


class Bound(NamedTuple):
    """A proven lower bound on a separable cost, and what each class would add to it.

    ``value`` and ``reduced``, (K,) as Python integers, are over ``denominator``. A reduced cost is
    what one class adds by itself: reduced costs may not be summed over classes.
    """

    value: int
    reduced: list[int]
    denominator: int
    multipliers: tuple[int, ...] = ()

    @property
    def whole(self) -> int:
        """The bound as an integer: no legal set costs less."""
        return max(0, -(-self.value // self.denominator))

    def room(self, limit: int) -> int:
        """Return what deviations may cost in a legal set that costs at most ``limit``.

        Each member taken of a class with positive reduced cost adds that cost; each member left
        out of a class with negative reduced cost adds its absolute value.
        """
        return limit * self.denominator - self.value


def trivial_bound(costs: IntArray) -> Bound:
    """Return the bound 0, which needs no row: costs are not negative."""
    return Bound(0, costs.tolist(), 1)


def lagrangian_bound(  # noqa: PLR0913 - what a bound is made of
    rows: Sequence[Row],
    multipliers: Sequence[int],
    costs: IntArray,
    counts: Sequence[int] | IntArray,
    *,
    denominator: int = SCALE,
    chosen: Collection[int] = (),
) -> Bound:
    """Return the bound that integer multipliers prove.

    With m_i >= 0 over the denominator: sum(m_i * bound_i) + sum over classes and witnesses of
    min(0, reduced cost) * count, where the reduced cost is cost - sum(m_i * coefficient_i). The
    witnesses ``chosen`` are 1, whatever their reduced cost.
    """
    binding = [(row, m) for row, m in zip(rows, multipliers, strict=True) if m > 0]
    value = sum(m * row.bound for row, m in binding)
    reduced = _reduced_costs(binding, costs, denominator)
    counts = np.asarray(counts, dtype=np.int64)
    slack: dict[int, int] = {}
    for row, multiplier in binding:
        for witness, coefficient in row.slack:
            slack[witness] = slack.get(witness, 0) - multiplier * coefficient
    # All members of classes that cost less than the rows pay for count as victims, which lowers
    # the bound; members of other classes do not.
    paying = reduced < 0
    value += sum_of_products(reduced[paying], counts[paying])
    # A chosen witness is 1 even where that raises the value; any other only where it lowers it.
    value += sum(r for witness, r in slack.items() if r < 0 or witness in chosen)
    return Bound(value, reduced.tolist(), denominator, tuple(multipliers))


def _reduced_costs(
    binding: Sequence[tuple[Row, int]], costs: IntArray, denominator: int
) -> NDArray[Any]:
    """Return denominator * cost - sum(multiplier * coefficient) of each class, exactly: (K,)."""
    weighed = [(row, m) for row, m in binding if row.amounts.size]
    largest = denominator * _largest(costs) + sum(m * _largest(row.amounts) for row, m in weighed)
    # Python's own integers where 64 bits are not enough.
    total: NDArray[Any] = (costs if largest <= _INT64 else costs.astype(object)) * denominator
    for row, multiplier in weighed:
        total[row.classes] -= multiplier * row.amounts.astype(total.dtype, copy=False)
    return total


def _largest(values: IntArray) -> int:
    return int(np.abs(values).max(initial=0))


def best_single_row(
    rows: Sequence[Row], costs: IntArray, counts: Sequence[int] | IntArray
) -> tuple[Bound, int]:
    """Return the best bound that one row alone proves, and the position of the row (or -1).

    For one row the optimal multiplier is known: the cost per unit of the class at which a
    fractional cover, cheapest first, is complete.
    """
    best, position = trivial_bound(costs), -1
    sizes = np.asarray(counts, dtype=np.int64)
    for index, row in enumerate(rows if costs.any() else ()):
        useful = np.flatnonzero(row.amounts > 0)
        if row.slack or row.bound <= 0 or useful.size == 0:
            continue
        order = np.argsort(costs[row.classes[useful]] / row.amounts[useful], kind="stable")
        cheapest_first, held = row.classes[useful[order]], row.amounts[useful[order]]
        members = sizes[cheapest_first]
        if _largest(held) * int(members.sum()) <= _INT64:
            complete = int(np.searchsorted(np.cumsum(held * members), row.bound))
        else:
            covered = accumulate(map(mul, held.tolist(), members.tolist()))
            complete = next((i for i, sum_ in enumerate(covered) if sum_ >= row.bound), held.size)
        last = min(complete, held.size - 1)
        cost, unit = int(costs[cheapest_first[last]]), int(held[last])
        common = gcd(cost, unit) or 1
        found = lagrangian_bound([row], [cost // common], costs, sizes, denominator=unit // common)
        if found.whole > best.whole:
            best, position = found, index
    return best, position


PROGRAMS: Final = 200
"""Linear programs for one bound at most."""

_CLOSE: Final = 1e-7
"""A point keeps a row that it misses by no more than this share of the row's bound."""


def linear_programming_bound(
    relaxation: Relaxation,
    classes: Classes,
    costs: IntArray,
    limits: Sequence[Row],
    deadline: Deadline,
) -> Bound:
    """Return the bound that the duals of a relaxation prove, branching on its choices.

    ``limits`` are further rows that hold, such as those of measures that earlier levels fixed. When
    time is up, what was proved until then counts.
    """
    program = _Program(relaxation, classes, costs, limits, deadline)
    root = program.solve(frozenset())
    ahead, programs = [(root.bound.value, 0, root)], 1
    while programs < PROGRAMS and not deadline.passed:
        choice = program.open_choice(ahead[0][2])
        if choice is None:
            break
        # The branch of the least bound: that is the bound of all, and only splitting it raises it.
        chosen = heappop(ahead)[2].chosen
        for witness in choice:
            branch = program.solve(chosen | {witness})
            heappush(ahead, (branch.bound.value, programs, branch))
            programs += 1
    # What holds in every branch: the least of the bounds, and that a member more or less of a class
    # adds what it adds in the branch where that is least.
    first, *others = [branch.bound for _, _, branch in sorted(ahead, key=lambda one: one[:2])]
    if not others:
        return first
    reduced = list(first.reduced)
    for other in others:
        above = other.value - first.value
        for k, (cost, there) in enumerate(zip(reduced, other.reduced, strict=True)):
            # Spread over all members of the class: several may deviate, and pay for it once.
            spread = above // classes.count(k)
            if cost > 0:
                reduced[k] = min(cost, spread + max(0, there))
            elif cost < 0:
                reduced[k] = max(cost, -spread + min(0, there))
    return Bound(first.value, reduced, first.denominator)


class _Branch(NamedTuple):
    """A program in which the witnesses ``chosen`` are 1: its bound, and its solution if any."""

    chosen: frozenset[int]
    bound: Bound
    solution: FloatArray | None


class _Program(Struct, frozen=True, dict=True):
    """A relaxation as a linear program."""

    relaxation: Relaxation
    classes: Classes
    costs: IntArray
    limits: Sequence[Row]
    deadline: Deadline

    @cached_property
    def rows(self) -> Sequence[Row]:
        """All rows, each divided by the common divisor of its coefficients."""
        return [_scaled(row) for row in (*self.relaxation.rows, *self.limits)]

    @cached_property
    def counts(self) -> Sequence[int]:
        """(K,) the members of each class."""
        return [*self.classes.sizes.tolist()]

    @cached_property
    def simplex(self) -> Simplex:
        """The program in doubles, over classes and witnesses."""
        from planner.solver.glop import Simplex  # noqa: PLC0415

        witnesses = self.relaxation.witnesses
        # A price above the cost of any set.
        beyond: int = sum(c * n for c, n in zip(self.costs.tolist(), self.counts, strict=True)) + 1
        return Simplex(
            [*self.costs.astype(float).tolist(), *[0.0] * witnesses],
            [*map(float, self.counts), *[1.0] * witnesses],
            self.rows,
            10.0 * float(beyond),
            witnesses,
        )

    def solve(self, chosen: frozenset[int]) -> _Branch:
        """Bound the cost of sets in which the witnesses ``chosen`` are 1.

        A program without a solution is solved again with rows that may be missed at a price, so
        that there are duals: they prove a bound that no legal set can pay. Where the solver gives
        up, the bound is the trivial one: floating-point verdicts prove nothing here. Duals of a
        program that was stopped on its way are as good as others: the bound is added up exactly.
        """
        simplex = self.simplex
        for witness in range(self.relaxation.witnesses):
            simplex.bound(len(self.classes) + witness, float(witness in chosen), 1.0)
        solved = simplex.solve(self.deadline.left())
        if solved.impossible:
            simplex.allow_misses(missed=True)
            solved = replace(simplex.solve(self.deadline.left()), solution=None)
            simplex.allow_misses(missed=False)
        if solved.duals is None:
            return _Branch(chosen, trivial_bound(self.costs), None)
        # Rounding makes a bound weaker at worst: any multipliers of at least 0 give a valid one.
        multipliers = [max(0, round(dual * SCALE)) for dual in solved.duals.tolist()]
        bound = lagrangian_bound(self.rows, multipliers, self.costs, self.counts, chosen=chosen)
        return _Branch(chosen, bound, solved.solution)

    def open_choice(self, branch: _Branch) -> Sequence[int] | None:
        """Return a choice, by its witnesses, of whose rows the solution of a branch keeps none."""
        if branch.solution is None:
            return None
        taken = branch.solution[: len(self.classes)]

        def keeps(witness: int) -> bool:
            row, coefficient = self._of_witness[witness]
            missing = row.bound - coefficient - float(row.amounts @ taken[row.classes])
            return missing <= _CLOSE * abs(row.bound)

        # A choice that the solution keeps anyway would branch into the same bound.
        return next((one for one in self.relaxation.choices if not any(map(keeps, one))), None)

    @cached_property
    def _of_witness(self) -> dict[int, tuple[Row, int]]:
        """The row that each witness of a choice makes bind, and its coefficient there."""
        return {
            witness: (row, coefficient)
            for row in self.rows
            for witness, coefficient in row.slack
            if coefficient < 0
        }


def _scaled(row: Row) -> Row:
    """Divide a row by the common divisor of its coefficients; bytes become readable numbers."""
    unit = int(np.gcd.reduce(row.amounts)) if row.amounts.size else 1
    for _, coefficient in row.slack:
        unit = gcd(unit, coefficient)
    if unit <= 1:
        return row
    slack = tuple((witness, coefficient // unit) for witness, coefficient in row.slack)
    return Row(row.name, row.classes, row.amounts // unit, -(-row.bound // unit), slack)
