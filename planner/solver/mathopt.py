"""Programs for engines of OR-Tools MathOpt: linear ones solved again and again, and mixed-integer.

A CP-SAT model becomes a mixed-integer program with the same solutions in exact arithmetic: every
row that the builder makes is linear but for its literals, and but for max(...), and both become
big-M rows whose constants are the exact bounds of the expressions. Engines calculate in doubles:
what they find is judged by `Exact`, and that they find nothing is only believed where the numbers
are short enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, inf
from typing import Final, Literal

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
    SOLVER_TYPE_GSCIP,
    SOLVER_TYPE_HIGHS,
    SolveParametersProto,
    SolverInitializerProto,
    SolverTypeProto,
)
from ortools.math_opt.result_pb2 import (
    TERMINATION_REASON_INFEASIBLE,
    TERMINATION_REASON_INFEASIBLE_OR_UNBOUNDED,
    TERMINATION_REASON_OPTIMAL,
    SolveResultProto,
)
from ortools.math_opt.sparse_containers_pb2 import SparseDoubleVectorProto
from ortools.sat.python.cp_model_helper import ConstraintProto, CpModelProto
from pybind11_abseil.status import StatusNotOk  # type: ignore[import-untyped]

from planner.errors import InternalError
from planner.models.shared.classes import Row
from planner.problem.array import FloatArray
from planner.solver.deadline import waited_for
from planner.solver.engine import SEED

_FOREVER = 2**62
"""Bounds beyond it bind nothing: CP-SAT writes 64-bit extremes there."""

_EXACT: Final = 2**50
"""Up to here the numbers of a row, and sums of a few of them, are integers in doubles, too."""

_SHORT: Final = 2**31
"""SCIP can go on beyond any limit of time where numbers of a row are longer (seen at 2^39)."""

_TOLERANCE: Final = 1e-9
"""The least that the engines accept: rows are large integers, and literals are exact."""

_ROUNDS: Final = 10
"""Of SCIP's presolve, which can tighten the bounds of long numbers by 1 for hours."""

_WIDE: Final = 2**10
"""Columns with more values than this may have fractions.

That nothing is left then says more, not less. They are amounts that whole numbers make up, and
carries: neither can help a fraction to an answer, and engines are slow to see it.
"""

Terms = Mapping[int, int]
"""A coefficient per variable."""

Kind = Literal["SCIP", "HiGHS"]


class Milp(Struct, frozen=True):
    """A program, whose first columns are the variables of the model it says the same as.

    ``exact`` tells whether all of its numbers are short enough for doubles, ``short`` whether
    they are so for SCIP to end.
    """

    proto: ModelProto
    exact: bool
    short: bool


class MipAnswer(Struct, frozen=True):
    """What an engine says of a program: whether it has no solution, or a value per column.

    ``best`` is its word that no other solution has less of the objective.
    """

    infeasible: bool
    point: Sequence[int] = ()
    best: bool = False


def ask(milp: Milp, kind: Kind, seconds: float | None, nodes: int | None = None) -> MipAnswer:
    """Let an engine look for a solution; the values are rounded and may be none.

    "Infeasible" is not passed on where the program is not exact in doubles; SCIP is not asked
    where numbers are long. ``nodes`` are the most of its search tree.
    """
    if kind == "SCIP" and not milp.short:
        return MipAnswer(infeasible=False)
    parameters = SolveParametersProto(random_seed=SEED, node_limit=nodes)
    if seconds is not None:
        parameters.time_limit.FromNanoseconds(int(seconds * 1e9))
    if kind == "SCIP":
        # With more of them the answer would depend on the machine.
        parameters.threads = 1
        # Or it would keep Ctrl-C for itself.
        parameters.gscip.bool_params["misc/catchctrlc"] = False
        parameters.gscip.real_params["numerics/feastol"] = _TOLERANCE
        parameters.gscip.int_params["presolving/maxrounds"] = _ROUNDS
    else:
        parameters.highs.string_options["parallel"] = "off"
        for name in ("primal_feasibility_tolerance", "mip_feasibility_tolerance"):
            parameters.highs.double_options[name] = _TOLERANCE
    engine = SOLVER_TYPE_GSCIP if kind == "SCIP" else SOLVER_TYPE_HIGHS
    result = _solve(milp.proto, engine, parameters)
    if result is None:
        return MipAnswer(infeasible=False)
    # All columns are bounded: what may be unbounded is infeasible.
    impossible = {TERMINATION_REASON_INFEASIBLE, TERMINATION_REASON_INFEASIBLE_OR_UNBOUNDED}
    if result.termination.reason in impossible:
        return MipAnswer(infeasible=milp.exact)
    found = next(
        (s.primal_solution for s in result.solutions if s.HasField("primal_solution")), None
    )
    if found is None:
        return MipAnswer(infeasible=False)
    point = [0] * len(milp.proto.variables.ids)
    values = found.variable_values
    for column, value in zip(values.ids, values.values, strict=True):
        point[column] = round(value)
    proved = milp.exact and result.termination.reason == TERMINATION_REASON_OPTIMAL
    return MipAnswer(infeasible=False, point=point, best=proved)


def relaxed(milp: Milp) -> Sequence[float]:
    """Return an optimum of a program whose columns may all have fractions; none if there is none.

    It is calculated in doubles.
    """
    program = ModelProto()
    program.CopyFrom(milp.proto)
    del program.variables.integers[:]
    program.variables.integers.extend([False] * len(program.variables.ids))
    result = _solve(program, SOLVER_TYPE_GLOP, SolveParametersProto())
    if result is None or result.termination.reason != TERMINATION_REASON_OPTIMAL:
        return ()
    values = result.solutions[0].primal_solution.variable_values
    dense: list[float] = _dense(values, len(program.variables.ids)).tolist()
    return dense


def _solve(
    program: ModelProto, engine: SolverTypeProto.ValueType, parameters: SolveParametersProto
) -> SolveResultProto | None:
    """Solve, or return ``None`` if the engine gives up with an error.

    Nothing ends it early: HiGHS does not listen, and SCIP writes of errors as soon as it could.
    """
    try:
        return waited_for(
            lambda: solver.solve(
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
        )
    except StatusNotOk:
        return None


@dataclass(slots=True)
class _Program:
    """A program under construction; columns have the numbers of the model's variables.

    Columns that max(...) needs come after those.
    """

    lower: list[int]
    upper: list[int]
    row_lower: list[int | None] = field(default_factory=list)
    row_upper: list[int | None] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    coefficients: list[int] = field(default_factory=list)

    def bounds(self, terms: Terms, constant: int = 0) -> tuple[int, int]:
        """Return the least and the largest value of an expression, variable by variable."""
        low = high = constant
        for v, c in terms.items():
            ends = (c * self.lower[v], c * self.upper[v])
            low, high = low + min(ends), high + max(ends)
        return low, high

    def binary(self) -> int:
        """Create a column that is 0 or 1."""
        self.lower.append(0)
        self.upper.append(1)
        return len(self.lower) - 1

    def add(self, terms: Terms, low: int | None, high: int | None) -> None:
        """Add the row ``low <= terms <= high``, in units of its coefficients' common divisor."""
        row = len(self.row_lower)
        # Sides are rounded to whole units: the variables of the model are whole, even where columns
        # of the program may have fractions.
        unit = gcd(*terms.values()) or 1
        self.row_lower.append(None if low is None else -(-low // unit))
        self.row_upper.append(None if high is None else high // unit)
        for v in sorted(terms):
            if terms[v]:
                self.rows.append(row)
                self.columns.append(v)
                self.coefficients.append(terms[v] // unit)

    def add_if(self, when: Sequence[int], terms: Terms, low: int | None, high: int | None) -> None:
        """Add a row that binds if all literals of ``when`` are true.

        The number of false ones, times what the row could be missed by, makes it slack.
        """
        least, most = self.bounds(terms)
        if low is not None and least < low:
            false, count = _false(when)
            row = _plus(terms, false, low - least)
            self.add(row, low - (low - least) * count, None)
        if high is not None and most > high:
            false, count = _false(when)
            row = _plus(terms, false, high - most)
            self.add(row, None, high - (high - most) * count)

    def is_within(self, largest: int, objective: Terms) -> bool:
        """Say whether no number is larger."""
        numbers = (
            *self.lower,
            *self.upper,
            *self.row_lower,
            *self.row_upper,
            *self.coefficients,
            *objective.values(),
        )
        return all(number is None or abs(number) <= largest for number in numbers)

    def proto(self, objective: Terms) -> ModelProto:
        """Return the program that minimises an expression."""
        program = ModelProto()
        variables, limits = program.variables, program.linear_constraints
        variables.ids.extend(range(len(self.lower)))
        variables.lower_bounds.extend(map(float, self.lower))
        variables.upper_bounds.extend(map(float, self.upper))
        widths = (high - low for low, high in zip(self.lower, self.upper, strict=True))
        variables.integers.extend(width <= _WIDE for width in widths)
        limits.ids.extend(range(len(self.row_lower)))
        limits.lower_bounds.extend(-inf if low is None else float(low) for low in self.row_lower)
        limits.upper_bounds.extend(inf if high is None else float(high) for high in self.row_upper)
        matrix = program.linear_constraint_matrix
        matrix.row_ids.extend(self.rows)
        matrix.column_ids.extend(self.columns)
        matrix.coefficients.extend(map(float, self.coefficients))
        costs = sorted((v, c) for v, c in objective.items() if c)
        program.objective.linear_coefficients.ids.extend(v for v, _ in costs)
        program.objective.linear_coefficients.values.extend(float(c) for _, c in costs)
        return program


def translate(model: CpModelProto) -> Milp:
    """Return the program of a model, its objective included.

    Raises
    ------
    NotImplementedError
        If a row is of a kind that the builder does not make.
    """
    program = _Program(
        lower=[v.domain[0] for v in model.variables], upper=[v.domain[1] for v in model.variables]
    )
    for row in model.constraints:
        _translate_row(program, row)
    objective = _terms(model.objective.vars, model.objective.coeffs)
    exact, short = (program.is_within(most, objective) for most in (_EXACT, _SHORT))
    return Milp(program.proto(objective), exact, short)


def _translate_row(program: _Program, row: ConstraintProto) -> None:
    when = list(row.enforcement_literal)
    if row.has_linear():
        low, high = row.linear.domain[0], row.linear.domain[1]
        program.add_if(
            when,
            _terms(row.linear.vars, row.linear.coeffs),
            None if low < -_FOREVER else low,
            None if high > _FOREVER else high,
        )
    elif row.has_bool_or():
        # The number of false literals is not all of them.
        false, count = _false(row.bool_or.literals)
        most = len(row.bool_or.literals) - 1 - count
        program.add_if(when, false, None, most)
    elif row.has_lin_max() and not when:
        # At least each of them, and at most the one that is chosen.
        target = _terms(row.lin_max.target.vars, row.lin_max.target.coeffs)
        chosen = []
        for expr in row.lin_max.exprs:
            more = _plus(target, _terms(expr.vars, expr.coeffs), -1)
            least = expr.offset - row.lin_max.target.offset
            program.add(more, least, None)
            chosen.append(program.binary())
            program.add_if(chosen[-1:], more, None, least)
        program.add(dict.fromkeys(chosen, 1), 1, None)
    else:
        raise NotImplementedError(f"a row that the builder does not make: {row}")


def _terms(variables: Iterable[int], coefficients: Iterable[int]) -> dict[int, int]:
    terms: dict[int, int] = {}
    for v, c in zip(variables, coefficients, strict=True):
        terms[v] = terms.get(v, 0) + c
    return terms


def _plus(terms: Terms, other: Terms, factor: int) -> dict[int, int]:
    total = dict(terms)
    for v, c in other.items():
        total[v] = total.get(v, 0) + factor * c
    return total


def _false(literals: Iterable[int]) -> tuple[dict[int, int], int]:
    """Return how many literals are false, as an expression and its constant."""
    terms: dict[int, int] = {}
    constant = 0
    for literal in literals:
        if literal >= 0:
            terms[literal] = terms.get(literal, 0) - 1
            constant += 1
        else:
            v = -literal - 1
            terms[v] = terms.get(v, 0) + 1
    return terms, constant


_PARAMETERS: Final = SolveParametersProto(
    presolve=EMPHASIS_OFF, lp_algorithm=LP_ALGORITHM_DUAL_SIMPLEX
)


class Solved(Struct, frozen=True):
    """What came out, in doubles: nothing is proved by it.

    ``duals`` is (rows,), if there are any; ``solution`` (columns,) where an optimum was found.
    """

    impossible: bool
    duals: FloatArray | None
    solution: FloatArray | None


class Simplex:
    """Minimise ``costs . x`` where every row holds and ``0 <= x <= most``.

    Each row can be missed by units of its largest coefficient, at first by none (`allow_misses`).

    Parameters
    ----------
    costs, most
        (columns,) each.
    rows
        Rows over these columns: classes, and ``witnesses`` after those.
    price
        What missing a row by a unit costs.
    """

    def __init__(
        self,
        costs: Sequence[float],
        most: Sequence[float],
        rows: Sequence[Row],
        price: float,
        witnesses: int = 0,
    ) -> None:
        self._columns, self._rows = len(costs), len(rows)
        self._changed: dict[int, tuple[float, float]] = {}
        model = _model(costs, most, rows, price, witnesses)
        self._solver = solver.new(SOLVER_TYPE_GLOP, model, SolverInitializerProto())

    def bound(self, column: int, least: float, most: float) -> None:
        """Bound a column from now on."""
        self._changed[column] = (least, most)

    def allow_misses(self, *, missed: bool) -> None:
        """Say whether rows may be missed at the price, from now on."""
        for row in range(self._rows):
            self.bound(self._columns + row, 0.0, inf if missed else 0.0)

    def solve(self) -> Solved:
        """Solve with the bounds of now."""
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


def _model(
    costs: Sequence[float], most: Sequence[float], rows: Sequence[Row], price: float, witnesses: int
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
        # The columns that are not 0, ascending.
        slack = sorted((width - witnesses + witness, float(c)) for witness, c in row.slack)
        columns = [*row.classes.tolist(), *(column for column, _ in slack)]
        coefficients = [*row.amounts.astype(float).tolist(), *(c for _, c in slack)]
        largest = max(map(abs, coefficients), default=1.0)
        matrix.row_ids.extend([number] * (len(columns) + 1))
        matrix.column_ids.extend([*columns, width + number])
        matrix.coefficients.extend([*coefficients, largest])
    return model


def _dense(vector: SparseDoubleVectorProto, size: int) -> FloatArray:
    dense = np.zeros(size)
    dense[list(vector.ids)] = list(vector.values)
    return dense
