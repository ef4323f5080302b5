"""Do rows contradict one another in a box? A linear program suggests multipliers, or a point.

Every row may be missed at a price, so the program always has an optimum: if something has to be
missed, its duals are multipliers that make the rows contradict one another. They are doubles and
prove nothing: whoever uses them rounds them to integers and checks the sum exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from planner.solver.proving.look import Floats, Look

if TYPE_CHECKING:
    from ortools.math_opt.model_pb2 import ModelProto
    from ortools.math_opt.solution_pb2 import SolutionProto

GUIDE: Final = 1e-4
"""What the measure counts beside a row that is missed: it only chooses among points."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Multipliers per row, in doubles; what is missed in all; a point where that is least: (K,)."""

    multipliers: Mapping[str, float]
    missed: float
    point: Floats


def suggest(look: Look, guide: str) -> Suggestion | None:
    """Miss rows by as little as possible; ``None`` if the solver gives up.

    ``guide`` names the row of the measure that leads to a good point.
    """
    program = _Program(look, guide)
    if not program.rows:
        return Suggestion({}, 0.0, look.box.least.astype(float))
    return program.solve()


class _Program:
    """The program: columns are the classes left open, further quantities, and what is missed.

    Each row is divided by its largest coefficient, each quantity by the largest it can be.
    """

    def __init__(self, look: Look, guide: str) -> None:
        self.look, box = look, look.box
        self.open = np.flatnonzero(box.least < box.most)
        column = np.full(box.least.size, -1, dtype=np.int64)
        column[self.open] = np.arange(self.open.size)
        used = [look.rows[look.names[row]] for row in look.binding]
        self.quantities = sorted({name for row in used for name in row.extra})
        self.scale = [float(max(1, *map(abs, look.ranges[name]))) for name in self.quantities]
        number = {name: self.open.size + i for i, name in enumerate(self.quantities)}
        scale = dict(zip(self.quantities, self.scale, strict=True))
        self.rows: list[str] = []
        self.units: list[float] = []
        self.least: list[float] = []
        self.entries: list[tuple[NDArray[np.int64], Floats]] = []
        for row in look.binding:
            classes, amounts = look.entries(row)
            fixed = column[classes] < 0
            least = look.least[row] - float((amounts[fixed] * box.least[classes[fixed]]).sum())
            columns, values = column[classes[~fixed]], amounts[~fixed]
            extra = look.rows[look.names[row]].extra
            if extra:
                columns = np.concatenate([columns, [number[name] for name in extra]])
                scaled = [c * scale[name] for name, c in extra.items()]
                values = np.concatenate([values, scaled])
            unit = float(np.abs(values).max(initial=0.0))
            if unit > 0.0:
                self.rows.append(look.names[row])
                self.units.append(unit)
                self.least.append(least / unit)
                self.entries.append((columns, values / unit))
        self.guide = self.rows.index(guide) if guide in self.rows else -1

    def solve(self) -> Suggestion | None:
        """Solve with GLOP, which MathOpt takes a tenth of a second to load for the first time."""
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
        return self._read(best)

    def _read(self, best: SolutionProto) -> Suggestion:
        classes, width = self.open.size, self.open.size + len(self.quantities)
        primal, dual = best.primal_solution.variable_values, best.dual_solution.dual_values
        values = np.zeros(width + len(self.rows))
        values[list(primal.ids)] = list(primal.values)
        duals = np.zeros(len(self.rows))
        duals[list(dual.ids)] = list(dual.values)
        if self.guide >= 0:
            # The measure is in the objective, too: together they are its multiplier.
            duals[self.guide] += GUIDE
        point = self.look.box.least.astype(float)
        point[self.open] = values[:classes]
        told = zip(self.rows, duals.tolist(), self.units, strict=True)
        multipliers = {name: value / unit for name, value, unit in told if value > 0}
        return Suggestion(multipliers, float(values[width:].sum()), point)

    def _model(self) -> ModelProto:
        from ortools.math_opt.model_pb2 import ModelProto  # noqa: PLC0415

        model, width, height = ModelProto(), self.open.size + len(self.quantities), len(self.rows)
        ranges = [self.look.ranges[name] for name in self.quantities]
        least = self.look.box.least[self.open].astype(float).tolist()
        most = self.look.box.most[self.open].astype(float).tolist()
        least += [low / scale for (low, _), scale in zip(ranges, self.scale, strict=True)]
        most += [high / scale for (_, high), scale in zip(ranges, self.scale, strict=True)]
        costs = np.zeros(width + height)
        costs[width:] = 1.0
        if self.guide >= 0:
            columns, values = self.entries[self.guide]
            costs[columns] -= GUIDE * values
        model.variables.ids.extend(range(width + height))
        model.variables.lower_bounds.extend([*least, *[0.0] * height])
        model.variables.upper_bounds.extend([*most, *[inf] * height])
        model.variables.integers.extend([False] * (width + height))
        nonzero = np.flatnonzero(costs)
        model.objective.linear_coefficients.ids.extend(nonzero.tolist())
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
    """Return integers in about the proportions of doubles: readable ones, then exact ones."""
    largest = max(multipliers, default=0.0)
    if largest <= 0:
        return []
    parts = [Fraction(m / largest).limit_denominator(1000) for m in multipliers]
    common = lcm(*(part.denominator for part in parts))
    smallest = Fraction(min(m for m in multipliers if m > 0))
    return [
        [int(part * common) for part in parts],
        [round(Fraction(m) / smallest * 2**30) for m in multipliers],
    ]
