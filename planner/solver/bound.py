"""Lower bounds from linear-programming duals, recomputed in exact integers.

A dual vector is only a suggestion: rounded to integers it still gives a valid bound, because
every step below is integer arithmetic on rows that hold for every legal victim set.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import gcd

import numpy as np

from planner.models.shared.row import Row
from planner.problem.array import IntArray

SCALE = 10**12
"""Duals become integers over this denominator."""

_INT64 = 2**62
"""Up to here sums are added up in arrays, beyond it as Python's own integers."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A proven lower bound on a separable cost, and what each class would add to it.

    All over ``denominator``: ``value``, and ``reduced`` (K,) as Python integers. What classes
    add holds for each of them by itself: it may not be summed over classes.
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


def lagrangian_bound(  # noqa: PLR0913 - what a bound is made of
    rows: Sequence[Row],
    multipliers: Sequence[int],
    costs: IntArray,
    counts: Sequence[int],
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
    slack: dict[int, int] = {}
    for row, multiplier in binding:
        for witness, coefficient in row.slack:
            slack[witness] = slack.get(witness, 0) - multiplier * coefficient
    value += sum(r * n for r, n in zip(reduced, counts, strict=True) if r < 0)
    value += sum(r for witness, r in slack.items() if r < 0 or witness in chosen)
    return Bound(value, reduced, denominator, tuple(multipliers))


def _reduced_costs(
    binding: Sequence[tuple[Row, int]], costs: IntArray, denominator: int
) -> list[int]:
    """Return denominator * cost - sum(multiplier * coefficient) of each class, exactly: (K,)."""
    weighed = [(row.coefficients, m) for row, m in binding if row.coefficients.any()]
    largest = denominator * _largest(costs) + sum(m * _largest(each) for each, m in weighed)
    if largest <= _INT64:
        total = costs * denominator
        for coefficients, multiplier in weighed:
            total -= multiplier * coefficients
        return [*total.tolist()]
    reduced = [cost * denominator for cost in costs.tolist()]
    for coefficients, multiplier in weighed:
        listed = coefficients.tolist()
        for k in np.flatnonzero(coefficients).tolist():
            reduced[k] -= multiplier * listed[k]
    return reduced


def _largest(values: IntArray) -> int:
    return int(np.abs(values).max(initial=0))


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
        held = row.coefficients[cheapest_first].tolist()
        covered = accumulate(n * counts[k] for n, k in zip(held, cheapest_first, strict=True))
        complete = (k for k, sum_ in zip(cheapest_first, covered, strict=True) if sum_ >= row.bound)
        k = next(complete, cheapest_first[-1])
        cost, unit = int(costs[k]), int(row.coefficients[k])
        common = gcd(cost, unit) or 1
        found = lagrangian_bound([row], [cost // common], costs, counts, denominator=unit // common)
        if found.whole > best.whole:
            best, position = found, index
    return best, position
