"""GLOP, by OR-Tools MathOpt: linear programs, solved once or again and again with other bounds.

It takes a tenth of a second to load for the first time, and calculates in doubles: what comes out
only suggests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

import numpy as np
from msgspec import Struct
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
    SolverTypeProto,
)
from ortools.math_opt.result_pb2 import (
    TERMINATION_REASON_INFEASIBLE,
    TERMINATION_REASON_OPTIMAL,
    SolveResultProto,
)
from ortools.math_opt.sparse_containers_pb2 import SparseDoubleVectorProto
from pybind11_abseil.status import StatusNotOk  # type: ignore[import-untyped]

from planner.errors import InternalError
from planner.models.shared.classes import Row
from planner.problem.array import FloatArray
from planner.solver.attempt import ITERATIONS
from planner.solver.deadline import OutOfTime, undisturbed, waited_for


def glop(
    program: ModelProto, seconds: float | None, *, short: bool = False
) -> SolveResultProto | None:
    """Solve a linear program with GLOP within limits; ``short`` is as for `solve`."""
    size = len(program.variables.ids) + len(program.linear_constraints.ids)
    return solve(program, SOLVER_TYPE_GLOP, _limited(size, seconds), short=short)


def solve(
    program: ModelProto,
    engine: SolverTypeProto.ValueType,
    parameters: SolveParametersProto,
    *,
    short: bool = False,
) -> SolveResultProto | None:
    """Solve with an engine of MathOpt; ``None`` if it gives up with an error.

    A ``short`` program is solved in this thread, and signals are handled after it: MathOpt asks
    Python for the class of its result, and takes an error there for none.

    Nothing ends the engine early: HiGHS heeds no interrupter, and with one SCIP writes of errors.
    """
    limited = parameters.HasField("time_limit")
    seconds = parameters.time_limit.ToNanoseconds() / 1e9 if limited else None

    def call() -> SolveResultProto:
        return solver.solve(
            program,
            engine,
            SolverInitializerProto(),
            parameters,
            ModelSolveParametersProto(),
            None,
            CallbackRegistrationProto(),
            None,
            None,
        )

    try:
        return undisturbed(call) if short else waited_for(call, seconds=seconds)
    except (StatusNotOk, OutOfTime):
        return None


def without_rows(  # noqa: PLR0913, PLR0917 - columns, rows, costs
    lower: Iterable[float],
    upper: Iterable[float],
    integers: Sequence[bool],
    row_lower: Sequence[float],
    row_upper: Iterable[float],
    costs: Mapping[int, float],
) -> ModelProto:
    """Write a program without coefficients of rows; ``costs`` are by column, in order."""
    model = ModelProto()
    variables, limits = model.variables, model.linear_constraints
    variables.ids.extend(range(len(integers)))
    variables.lower_bounds.extend(map(float, lower))
    variables.upper_bounds.extend(map(float, upper))
    variables.integers.extend(integers)
    limits.ids.extend(range(len(row_lower)))
    limits.lower_bounds.extend(map(float, row_lower))
    limits.upper_bounds.extend(map(float, row_upper))
    model.objective.linear_coefficients.ids.extend(costs)
    model.objective.linear_coefficients.values.extend(map(float, costs.values()))
    return model


def _limited(size: int, seconds: float | None) -> SolveParametersProto:
    """Return parameters that end a linear program of ``size`` rows and columns, whatever it is."""
    parameters = SolveParametersProto(iteration_limit=ITERATIONS * size)
    if seconds is not None:
        parameters.time_limit.FromNanoseconds(int(seconds * 1e9))
    return parameters


class Solved(Struct, frozen=True):
    """The result of a linear program, in doubles: it proves nothing.

    ``duals`` is (rows,), if there are any, also of a program that was stopped; ``solution``
    (columns,) where an optimum was found.
    """

    impossible: bool
    duals: FloatArray | None
    solution: FloatArray | None


class Simplex:
    """Minimise ``costs . x`` where every row holds and ``0 <= x <= most``.

    ``costs`` and ``most`` are (columns,): the classes come first, the ``witnesses`` last. At first
    no row may be missed; where `allow_misses` permits it, to miss a row by one unit of its largest
    coefficient costs the ``price``.
    """

    def __init__(
        self,
        costs: Sequence[float],
        most: Sequence[float],
        rows: Sequence[Row],
        price: float,
        witnesses: int = 0,
    ) -> None:
        width = self._columns = len(costs)
        self._rows = len(rows)
        self._changed: dict[int, tuple[float, float]] = {}
        # A further column per row is for what it is missed by.
        missed = [0.0] * len(rows)
        model = without_rows(
            [0.0] * (width + len(rows)),
            [*most, *missed],
            [False] * (width + len(rows)),
            [row.bound for row in rows],
            [inf] * len(rows),
            dict(enumerate([*costs, *[price] * len(rows)])),
        )
        matrix = model.linear_constraint_matrix
        for number, row in enumerate(rows):
            # The columns that are not 0, ascending.
            slack = sorted((width - witnesses + witness, float(c)) for witness, c in row.slack)
            columns = [*row.classes.tolist(), *(column for column, _ in slack)]
            coefficients = [*row.amounts.astype(float).tolist(), *(c for _, c in slack)]
            largest = max(map(abs, coefficients), default=1.0)
            matrix.row_ids.extend([number] * (len(columns) + 1))
            matrix.column_ids.extend([*columns, width + number])
            matrix.coefficients.extend([*coefficients, largest])
        self._solver = solver.new(SOLVER_TYPE_GLOP, model, SolverInitializerProto())

    def bound(self, column: int, least: float, most: float) -> None:
        """Bound a column from now on."""
        self._changed[column] = (least, most)

    def allow_misses(self, *, missed: bool) -> None:
        """Say whether rows may be missed at the price, from now on."""
        for row in range(self._rows):
            self.bound(self._columns + row, 0.0, inf if missed else 0.0)

    def solve(self, seconds: float | None = None) -> Solved:
        """Solve with the present bounds, in so many iterations and ``seconds`` at most."""
        columns = sorted(self._changed)
        update = ModelUpdateProto()
        sides = update.variable_updates.lower_bounds, update.variable_updates.upper_bounds
        for side, bounds in enumerate(sides):
            bounds.ids.extend(columns)
            bounds.values.extend(self._changed[column][side] for column in columns)
        if columns and not self._solver.update(update):
            message = "GLOP cannot change bounds"
            raise InternalError(message)
        self._changed = {}
        nothing = ModelSolveParametersProto(), None, CallbackRegistrationProto(), None, None
        parameters = _limited(self._columns + 2 * self._rows, seconds)
        parameters.presolve = EMPHASIS_OFF
        parameters.lp_algorithm = LP_ALGORITHM_DUAL_SIMPLEX
        result = self._solver.solve(parameters, *nothing)
        reason = result.termination.reason
        best = result.solutions[0] if result.solutions else None
        duals = solution = None
        if best is not None and best.HasField("dual_solution"):
            duals = dense(best.dual_solution.dual_values, self._rows)
        if best is not None and reason == TERMINATION_REASON_OPTIMAL:
            values = dense(best.primal_solution.variable_values, self._columns + self._rows)
            solution = values[: self._columns]
        return Solved(reason == TERMINATION_REASON_INFEASIBLE, duals, solution)


def dense(vector: SparseDoubleVectorProto, size: int) -> FloatArray:
    """Return a vector with its zeros: (size,)."""
    found = np.zeros(size)
    found[list(vector.ids)] = list(vector.values)
    return found
