"""Lower bounds from linear-programming duals, recomputed in exact integers.

A dual vector is only a suggestion: rounded to integers it still gives a valid bound, because
every step below is integer arithmetic on rows that hold for every legal victim set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import gcd

import numpy as np

from planner.models.shared.classes import Classes
from planner.models.shared.row import Relaxation, Row
from planner.problem.array import IntArray

SCALE = 10**12
"""Duals become integers over this denominator."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A proven lower bound on a separable cost, and what each class would add to it.

    All over ``denominator``: ``value``, and ``reduced`` (K,) as Python integers.
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

        Each member taken of a class with positive reduced cost adds that; each member left of a
        class with negative reduced cost adds its absolute value.
        """
        return limit * self.denominator - self.value


def trivial_bound(costs: IntArray) -> Bound:
    """Return the bound that needs no row: costs are not negative."""
    return Bound(0, costs.tolist(), 1)


def lagrangian_bound(
    rows: Sequence[Row],
    multipliers: Sequence[int],
    costs: IntArray,
    counts: Sequence[int],
    denominator: int = SCALE,
) -> Bound:
    """Return the bound that integer multipliers prove.

    With m_i >= 0 over the denominator: sum(m_i * bound_i) + sum over classes and witnesses of
    min(0, reduced cost) * count, where the reduced cost is cost - sum(m_i * coefficient_i).
    """
    reduced = [cost * denominator for cost in costs.tolist()]
    value = 0
    slack: dict[int, int] = {}
    for row, multiplier in zip(rows, multipliers, strict=True):
        if multiplier <= 0:
            continue
        value += multiplier * row.bound
        coefficients = row.coefficients.tolist()
        for k in np.flatnonzero(row.coefficients).tolist():
            reduced[k] -= multiplier * coefficients[k]
        for witness, coefficient in row.slack:
            slack[witness] = slack.get(witness, 0) - multiplier * coefficient
    value += sum(r * n for r, n in zip(reduced, counts, strict=True) if r < 0)
    value += sum(r for r in slack.values() if r < 0)
    return Bound(value, reduced, denominator, tuple(multipliers))


def best_single_row(
    rows: Sequence[Row], costs: IntArray, counts: Sequence[int]
) -> tuple[Bound, int]:
    """Return the best bound that one row alone proves, and the position of the row (or -1).

    For one row the optimal multiplier is known: the cost per unit of the class at which a
    fractional cover, cheapest first, is complete.
    """
    best, position = trivial_bound(costs), -1
    for index, row in enumerate(rows):
        useful = np.flatnonzero(row.coefficients > 0)
        if row.slack or row.bound <= 0 or useful.size == 0:
            continue
        ratio = costs[useful] / row.coefficients[useful]
        cheapest_first = useful[np.argsort(ratio, kind="stable")].tolist()
        covered = list(accumulate(int(row.coefficients[k]) * counts[k] for k in cheapest_first))
        last = next((i for i, sum_ in enumerate(covered) if sum_ >= row.bound), -1)
        k = cheapest_first[last]
        cost, unit = int(costs[k]), int(row.coefficients[k])
        common = gcd(cost, unit) or 1
        found = lagrangian_bound([row], [cost // common], costs, counts, unit // common)
        if found.whole > best.whole:
            best, position = found, index
    return best, position


def linear_programming_bound(
    relaxation: Relaxation, classes: Classes, costs: IntArray, limits: Sequence[Row]
) -> Bound:
    """Return the bound that the relaxation's duals prove.

    ``limits`` are rows that hold besides, such as measures that earlier levels fixed. Where the
    linear program gives no duals (it has no solution, or its solver gave up), the bound is the
    trivial one: floating-point verdicts prove nothing here.
    """
    # SciPy takes a third of a second to load; small problems never come here.
    from scipy.optimize import linprog  # noqa: PLC0415
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    rows = [_scaled(row) for row in (*relaxation.rows, *limits)]
    counts = [classes.count(k) for k in range(len(classes))]
    width = len(classes) + relaxation.witnesses
    data, indices, indptr = [], [], [0]
    for row in rows:
        nonzero = np.flatnonzero(row.coefficients)
        data.extend((-row.coefficients[nonzero]).tolist())
        indices.extend(nonzero.tolist())
        data.extend(-coefficient for _, coefficient in row.slack)
        indices.extend(len(classes) + witness for witness, _ in row.slack)
        indptr.append(len(data))
    matrix = csr_matrix((np.array(data, dtype=float), indices, indptr), shape=(len(rows), width))
    objective = np.concatenate([costs.astype(float), np.zeros(relaxation.witnesses)])
    bounds = [(0, n) for n in counts] + [(0, 1)] * relaxation.witnesses
    result = linprog(  # type: ignore[call-overload]  # its stubs know no sparse matrices
        objective,
        A_ub=matrix,  # pyright: ignore[reportArgumentType]
        b_ub=[-row.bound for row in rows],
        bounds=bounds,
        method="highs",
    )
    if result.status != 0:
        return trivial_bound(costs)
    multipliers = [max(0, round(-float(dual) * SCALE)) for dual in result.ineqlin.marginals]
    return lagrangian_bound(rows, multipliers, costs, counts)


def _scaled(row: Row) -> Row:
    """Divide a row by the common divisor of its coefficients; bytes become readable numbers."""
    unit = int(np.gcd.reduce(row.coefficients)) if row.coefficients.any() else 1
    for _, coefficient in row.slack:
        unit = gcd(unit, coefficient)
    if unit <= 1:
        return row
    slack = tuple((witness, coefficient // unit) for witness, coefficient in row.slack)
    return Row(row.name, row.coefficients // unit, -(-row.bound // unit), slack)
