"""A linear program that is solved again and again, each time with a few other bounds.

GLOP of OR-Tools keeps its basis from one solve to the next: a branch costs a tenth of a program
solved anew. It is asked in protos: making Python objects of the answers takes longer than the
simplex does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from ortools.math_opt.callback_pb2 import CallbackRegistrationProto
from ortools.math_opt.core.python import solver
from ortools.math_opt.model_parameters_pb2 import ModelSolveParametersProto
from ortools.math_opt.model_pb2 import ModelProto
from ortools.math_opt.model_update_pb2 import ModelUpdateProto
from ortools.math_opt.parameters_pb2 import (
    EMPHASIS_OFF,
    LP_ALGORITHM_DUAL_SIMPLEX,
    SOLVER_TYPE_GLOP,
    SolveParametersProto,
    SolverInitializerProto,
)
from ortools.math_opt.result_pb2 import (
    TERMINATION_REASON_INFEASIBLE,
    TERMINATION_REASON_OPTIMAL,
)
from ortools.math_opt.sparse_containers_pb2 import SparseDoubleVectorProto

from planner.errors import InternalError
from planner.models.shared.row import Row
from planner.problem.array import FloatArray

_PARAMETERS: Final = SolveParametersProto(
    presolve=EMPHASIS_OFF, lp_algorithm=LP_ALGORITHM_DUAL_SIMPLEX
)


@dataclass(frozen=True, slots=True)
class Solved:
    """What came out, in doubles: nothing is proved by it.

    ``duals`` is (rows,), if there are any; ``solution`` (columns,) where an optimum was found.
    """

    impossible: bool
    duals: FloatArray | None
    solution: FloatArray | None


class Simplex:
    """Minimise ``costs . x`` where every row holds and ``0 <= x <= most``.

    Each row can be missed by units of its largest coefficient, but at first by none: see `relent`.

    Parameters
    ----------
    costs, most
        (columns,) each.
    rows
        Rows over these columns: witnesses are columns after those of the coefficients.
    price
        What missing a row by a unit costs.
    """

    def __init__(
        self, costs: Sequence[float], most: Sequence[float], rows: Sequence[Row], price: float
    ) -> None:
        self._columns, self._rows = len(costs), len(rows)
        self._changed: dict[int, tuple[float, float]] = {}
        model = _model(costs, most, rows, price)
        self._solver = solver.new(SOLVER_TYPE_GLOP, model, SolverInitializerProto())

    def bound(self, column: int, least: float, most: float) -> None:
        """Bound a column from now on."""
        self._changed[column] = (least, most)

    def relent(self, *, missed: bool) -> None:
        """Say whether rows may be missed at the price, from now on."""
        for row in range(self._rows):
            self.bound(self._columns + row, 0.0, inf if missed else 0.0)

    def solve(self) -> Solved:
        """Solve with the bounds of now."""
        self._update()
        nothing = ModelSolveParametersProto(), None, CallbackRegistrationProto(), None, None
        result = self._solver.solve(_PARAMETERS, *nothing)
        reason = result.termination.reason
        best = result.solutions[0] if result.solutions else None
        duals = solution = None
        if best is not None and best.HasField("dual_solution"):
            duals = _dense(best.dual_solution.dual_values, self._rows)
        if best is not None and reason == TERMINATION_REASON_OPTIMAL:
            values = _dense(best.primal_solution.variable_values, self._columns + self._rows)
            solution = values[: self._columns]
        return Solved(reason == TERMINATION_REASON_INFEASIBLE, duals, solution)

    def _update(self) -> None:
        columns = sorted(self._changed)
        update = ModelUpdateProto()
        update.variable_updates.lower_bounds.ids.extend(columns)
        update.variable_updates.lower_bounds.values.extend(self._changed[c][0] for c in columns)
        update.variable_updates.upper_bounds.ids.extend(columns)
        update.variable_updates.upper_bounds.values.extend(self._changed[c][1] for c in columns)
        if columns and not self._solver.update(update):
            message = "GLOP cannot change bounds"
            raise InternalError(message)
        self._changed = {}


def _model(
    costs: Sequence[float], most: Sequence[float], rows: Sequence[Row], price: float
) -> ModelProto:
    """Write a program with a further column per row, for what it is missed by."""
    model, width = ModelProto(), len(costs)
    total = width + len(rows)
    model.variables.ids.extend(range(total))
    model.variables.lower_bounds.extend([0.0] * total)
    model.variables.upper_bounds.extend([*most, *[0.0] * len(rows)])
    model.variables.integers.extend([False] * total)
    model.objective.linear_coefficients.ids.extend(range(total))
    model.objective.linear_coefficients.values.extend([*costs, *[price] * len(rows)])
    model.linear_constraints.ids.extend(range(len(rows)))
    model.linear_constraints.lower_bounds.extend([float(row.bound) for row in rows])
    model.linear_constraints.upper_bounds.extend([inf] * len(rows))
    matrix = model.linear_constraint_matrix
    for number, row in enumerate(rows):
        columns, coefficients = _entries(row)
        largest = max(map(abs, coefficients), default=1.0)
        matrix.row_ids.extend([number] * (len(columns) + 1))
        matrix.column_ids.extend([*columns, width + number])
        matrix.coefficients.extend([*coefficients, largest])
    return model


def _entries(row: Row) -> tuple[list[int], list[float]]:
    """Return the columns of a row that are not 0, ascending, and their coefficients."""
    nonzero = np.flatnonzero(row.coefficients)
    slack = sorted((len(row.coefficients) + witness, float(c)) for witness, c in row.slack)
    columns = [*nonzero.tolist(), *(column for column, _ in slack)]
    return columns, [*row.coefficients[nonzero].astype(float).tolist(), *(c for _, c in slack)]


def _dense(vector: SparseDoubleVectorProto, size: int) -> FloatArray:
    dense = np.zeros(size)
    dense[list(vector.ids)] = list(vector.values)
    return dense
