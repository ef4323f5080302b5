"""Do rows contradict one another in a box? A linear program suggests multipliers, or a point.

Every row may be missed at a price, so the program always has an optimum: if something has to be
missed, its duals are multipliers that make the rows contradict one another. They are doubles and
prove nothing: whoever uses them rounds them to integers and checks the sum exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, lcm
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from planner.proof.box import Box, Row

if TYPE_CHECKING:
    from ortools.math_opt.model_pb2 import ModelProto

Floats = NDArray[np.float64]

GUIDE: Final = 1e-4
"""What the measure counts beside a row that is missed: it only chooses among points."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Multipliers per row, in doubles; what is missed in all; a point where that is least: (K,)."""

    multipliers: Mapping[str, float]
    missed: float
    point: Floats


def suggest(
    rows: Mapping[str, Row], box: Box, ranges: Mapping[str, tuple[int, int]], better: str | None
) -> Suggestion | None:
    """Miss rows by as little as possible; ``None`` if the solver gives up.

    ``better`` names the row of the measure that leads to a good point.
    """
    program = _Program(rows, box, ranges, better)
    if not program.names:
        return Suggestion({}, 0.0, box.least.astype(float))
    return program.solve()


class _Program:
    """The program: columns are the classes left open, further quantities, and what is missed."""

    def __init__(
        self,
        rows: Mapping[str, Row],
        box: Box,
        ranges: Mapping[str, tuple[int, int]],
        better: str | None,
    ) -> None:
        self.box = box
        self.open = np.flatnonzero(box.least < box.most)
        column = np.full(box.least.size, -1, dtype=np.int64)
        column[self.open] = np.arange(self.open.size)
        self.quantities = sorted({name for row in rows.values() for name in row.extra})
        self.scale = [float(max(1, *map(abs, ranges[name]))) for name in self.quantities]
        of_quantity = {name: self.open.size + i for i, name in enumerate(self.quantities)}
        self.ranges = [ranges[name] for name in self.quantities]
        self.names: list[str] = []
        self.units: list[float] = []
        self.least: list[float] = []
        self.entries: list[tuple[NDArray[np.int64], Floats]] = []
        for name, row in rows.items():
            fixed = column[row.classes] < 0
            done = row.amounts[fixed] * box.least[row.classes[fixed]]
            least = row.least - sum(done.tolist())
            where = [column[row.classes[~fixed]]]
            amounts = [row.amounts[~fixed].astype(float)]
            if row.extra:
                where.append(np.array([of_quantity[q] for q in row.extra], dtype=np.int64))
                scales = (self.scale[of_quantity[q] - self.open.size] for q in row.extra)
                parts = zip(row.extra.values(), scales, strict=True)
                amounts.append(np.array([c * scale for c, scale in parts]))
            columns, values = np.concatenate(where), np.concatenate(amounts)
            largest = float(np.abs(values).max(initial=0.0))
            if largest == 0.0:
                continue
            self.names.append(name)
            self.units.append(largest)
            self.least.append(float(least) / largest)
            self.entries.append((columns, values / largest))
        self.better = self.names.index(better) if better in self.names else -1

    def solve(self) -> Suggestion | None:
        from ortools.math_opt.callback_pb2 import CallbackRegistrationProto  # noqa: PLC0415
        from ortools.math_opt.core.python import solver  # noqa: PLC0415
        from ortools.math_opt.model_parameters_pb2 import ModelSolveParametersProto  # noqa: PLC0415
        from ortools.math_opt.parameters_pb2 import (  # noqa: PLC0415
            SOLVER_TYPE_GLOP,
            SolveParametersProto,
            SolverInitializerProto,
        )

        result = solver.solve(
            self._model(),
            SOLVER_TYPE_GLOP,
            SolverInitializerProto(),
            SolveParametersProto(),
            ModelSolveParametersProto(),
            None,
            CallbackRegistrationProto(),
            None,
            None,
        )
        best = result.solutions[0] if result.solutions else None
        if best is None or not best.HasField("dual_solution"):
            return None
        values = np.zeros(self.open.size + len(self.quantities) + len(self.names))
        values[list(best.primal_solution.variable_values.ids)] = list(
            best.primal_solution.variable_values.values
        )
        duals = np.zeros(len(self.names))
        duals[list(best.dual_solution.dual_values.ids)] = list(
            best.dual_solution.dual_values.values
        )
        if self.better >= 0:
            duals[self.better] += GUIDE
        point = self.box.least.astype(float)
        point[self.open] = values[: self.open.size]
        missed = float(values[self.open.size + len(self.quantities) :].sum())
        multipliers = {
            name: float(dual) / unit
            for name, dual, unit in zip(self.names, duals, self.units, strict=True)
            if dual > 0
        }
        return Suggestion(multipliers, missed, point)

    def _model(self) -> ModelProto:
        from ortools.math_opt.model_pb2 import ModelProto  # noqa: PLC0415

        model, classes, quantities = ModelProto(), self.open.size, len(self.quantities)
        width, height = classes + quantities, len(self.names)
        least = self.box.least[self.open].astype(float).tolist()
        most = self.box.most[self.open].astype(float).tolist()
        for (low, high), scale in zip(self.ranges, self.scale, strict=True):
            least.append(low / scale)
            most.append(high / scale)
        costs = np.zeros(width + height)
        costs[width:] = 1.0
        if self.better >= 0:
            columns, values = self.entries[self.better]
            costs[columns] -= GUIDE * values
        model.variables.ids.extend(range(width + height))
        model.variables.lower_bounds.extend([*least, *[0.0] * height])
        model.variables.upper_bounds.extend([*most, *[inf] * height])
        model.variables.integers.extend([False] * (width + height))
        nonzero = np.flatnonzero(costs).tolist()
        model.objective.linear_coefficients.ids.extend(nonzero)
        model.objective.linear_coefficients.values.extend(costs[nonzero].tolist())
        model.linear_constraints.ids.extend(range(height))
        model.linear_constraints.lower_bounds.extend(self.least)
        model.linear_constraints.upper_bounds.extend([inf] * height)
        matrix = model.linear_constraint_matrix
        for number, (columns, values) in enumerate(self.entries):
            order = np.argsort(columns)
            matrix.row_ids.extend([number] * (columns.size + 1))
            matrix.column_ids.extend([*columns[order].tolist(), width + number])
            matrix.coefficients.extend([*values[order].tolist(), 1.0])
        return model


def integers(multipliers: Sequence[float]) -> list[list[int]]:
    """Return integers in about the proportions of doubles, small ones first."""
    from fractions import Fraction  # noqa: PLC0415

    largest = max(multipliers, default=0.0)
    if largest <= 0:
        return []
    found = []
    for denominator in (1000, 10**6):
        parts = [Fraction(m / largest).limit_denominator(denominator) for m in multipliers]
        common = 1
        for part in parts:
            common = lcm(common, part.denominator)
        found.append([int(part * common) for part in parts])
    smallest = min(m for m in multipliers if m > 0)
    found.append([round(Fraction(m) / Fraction(smallest) * 2**40) for m in multipliers])
    return found
