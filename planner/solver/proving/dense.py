"""The simplex algorithm for programs of a few rows, in dense arrays.

To load a solver of linear programs takes longer than a small plan, and to state a program for it
longer than to solve it here. What comes out only suggests multipliers and a point: nobody relies
on it.
"""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

import numpy as np

from planner.problem.array import FloatArray

_STEPS: Final = 4
"""Steps for each row and column after which columns are taken in order, which never goes round in
circles, and not by what they gain; after as many again the program is given up."""

_ZERO: Final = 1e-9
"""Prices and coefficients that are nearer to 0 count as 0."""


class Solved(NamedTuple):
    """The best point (N,), what each row is missed by (M,), the duals (M,), and the optimum."""

    point: FloatArray
    missed: FloatArray
    duals: FloatArray
    least: float


def minimise(
    costs: FloatArray, rows: FloatArray, least: FloatArray, most: FloatArray
) -> Solved | None:
    """Minimise ``costs @ x`` and what rows are missed by, where ``rows @ x >= least``.

    - ``costs``: (N,), each at least 0.
    - ``rows``: (M, N).
    - ``least``: (M,); what is missing to it costs 1.
    - ``most``: (N,) the most of each x, of which the least is 0.

    ``None`` if it takes too many steps.
    """
    height, width = rows.shape
    # After the columns of x one of each row for what it is missed by, and one for what is to spare.
    # Whichever of the two has the sign of the right side begins in the basis.
    short = least > 0
    sign = np.where(short, 1.0, -1.0)
    unit = np.eye(height)
    table = np.concatenate([rows, unit, -unit], axis=1) * sign[:, None]
    cost = np.concatenate([costs, np.ones(height), np.zeros(height)])
    upper = np.concatenate([most, np.full(2 * height, inf)])
    basis = np.arange(width, width + height) + np.where(short, 0, height)
    value, price = np.abs(least), cost - cost[basis] @ table
    full = np.zeros(cost.size, dtype=np.bool_)
    patience = _STEPS * (height + width)
    for step in range(2 * patience):
        gain = np.where(full, price, -price)
        gain[basis] = 0.0
        enter = int(gain.argmax() if step < patience else (gain > _ZERO).argmax())
        if gain[enter] <= _ZERO:
            point = np.where(full, upper, 0.0)
            point[basis] = np.maximum(0.0, value)
            duals = np.maximum(0.0, price[width + height :])
            missed = point[width : width + height]
            optimum = float(cost[:-height] @ point[:-height])
            return Solved(point[:width], missed, duals, optimum)
        change = -table[:, enter] if full[enter] else table[:, enter].copy()
        falls, rises = change > _ZERO, change < -_ZERO
        room = np.full(height, inf)
        room[falls] = value[falls] / change[falls]
        room[rises] = (value[rises] - upper[basis[rises]]) / change[rises]
        leave = int(room.argmin())
        moved = min(float(room[leave]), float(upper[enter]))
        value = value - change * moved
        if moved < room[leave]:  # from one of its ends to the other
            full[enter] = not full[enter]
            continue
        full[basis[leave]] = bool(rises[leave])
        value[leave] = upper[enter] - moved if full[enter] else moved
        full[enter] = False
        row = table[leave] / table[leave, enter]
        table = table - np.outer(table[:, enter], row)
        table[leave] = row
        price = price - price[enter] * row
        basis[leave] = enter
    return None
