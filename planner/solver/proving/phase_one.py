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

from planner.solver.proving.look import Floats, Look

if TYPE_CHECKING:
    from ortools.math_opt.model_pb2 import ModelProto
    from ortools.math_opt.solution_pb2 import SolutionProto

GUIDE: Final = 1e-4
"""What the measure counts beside a row that is missed: it only chooses among points."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Multipliers per row, in doubles; what is missed in all; a point where that is least: (K,).

    ``least`` is what the program minimises: what is missed, and a little of the measure.
    """

    multipliers: Mapping[str, float]
    missed: float
    point: Floats
    least: float = 0.0


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
        self.look, box, rows = look, look.box, len(look.names)
        binding = np.zeros(rows, dtype=np.bool_)
        binding[look.binding] = True
        self.open = np.flatnonzero(box.least < box.most)
        column = np.full(box.least.size, -1, dtype=np.int64)
        column[self.open] = np.arange(self.open.size)
        # The quantities of binding rows are the columns after the classes.
        inside = binding[look.extra_row]
        used = np.unique(look.extra_quantity[inside])
        of_quantity = np.full(len(look.quantities), -1, dtype=np.int64)
        of_quantity[used] = self.open.size + np.arange(used.size)
        self.ends = look.extra_ends[used]
        self.scale: Floats = np.maximum(1.0, np.abs(look.extra_ends).max(axis=1, initial=1.0))
        free = column[look.classes] >= 0
        fixed = look.amounts[~free] * box.least[look.classes[~free]]
        least = look.least - np.bincount(look.row_of[~free], fixed, rows)
        free &= binding[look.row_of]
        row = np.concatenate([look.row_of[free], look.extra_row[inside]])
        quantity = look.extra_quantity[inside]
        columns = np.concatenate([column[look.classes[free]], of_quantity[quantity]])
        scaled = look.extra_amount[inside] * self.scale[quantity]
        values = np.concatenate([look.amounts[free], scaled])
        self.scale = self.scale[used]
        unit = np.zeros(rows)
        np.maximum.at(unit, row, np.abs(values))
        numbers = np.flatnonzero(unit > 0.0)
        self.rows = [look.names[i] for i in numbers.tolist()]
        self.units: Floats = unit[numbers]
        self.least: Floats = least[numbers] / self.units
        place = np.full(rows, -1, dtype=np.int64)
        place[numbers] = np.arange(numbers.size)
        order = np.lexsort((columns, row))
        order = order[values[order] != 0.0]
        self.row_of, self.columns = place[row[order]], columns[order]
        self.values: Floats = values[order] / unit[row[order]]
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
        classes, width = self.open.size, self.open.size + self.scale.size
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
        told = zip(self.rows, duals.tolist(), self.units.tolist(), strict=True)
        multipliers = {name: value / unit for name, value, unit in told if value > 0}
        objective = best.primal_solution.objective_value
        return Suggestion(multipliers, float(values[width:].sum()), point, objective)

    def _model(self) -> ModelProto:
        from ortools.math_opt.model_pb2 import ModelProto  # noqa: PLC0415

        model, height = ModelProto(), len(self.rows)
        width = self.open.size + self.scale.size
        ends = self.ends / self.scale[:, None]
        least = np.concatenate([self.look.box.least[self.open], ends[:, 0], np.zeros(height)])
        most = np.concatenate([self.look.box.most[self.open], ends[:, 1], np.full(height, inf)])
        costs = np.zeros(width + height)
        costs[width:] = 1.0
        if self.guide >= 0:
            mine = self.row_of == self.guide
            costs[self.columns[mine]] -= GUIDE * self.values[mine]
        model.variables.ids.extend(range(width + height))
        model.variables.lower_bounds.extend(least.astype(float).tolist())
        model.variables.upper_bounds.extend(most.astype(float).tolist())
        model.variables.integers.extend([False] * (width + height))
        nonzero = np.flatnonzero(costs)
        model.objective.linear_coefficients.ids.extend(nonzero.tolist())
        model.objective.linear_coefficients.values.extend(costs[nonzero].tolist())
        model.linear_constraints.ids.extend(range(height))
        model.linear_constraints.lower_bounds.extend(self.least.tolist())
        model.linear_constraints.upper_bounds.extend([inf] * height)
        # What a row is missed by is a column after all others, and so the last of its row.
        ends_of_rows = np.searchsorted(self.row_of, np.arange(1, height + 1))
        matrix, numbers = model.linear_constraint_matrix, np.arange(height)
        matrix.row_ids.extend(np.insert(self.row_of, ends_of_rows, numbers).tolist())
        matrix.column_ids.extend(np.insert(self.columns, ends_of_rows, width + numbers).tolist())
        matrix.coefficients.extend(np.insert(self.values, ends_of_rows, 1.0).tolist())
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
