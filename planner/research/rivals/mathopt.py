"""Mixed-integer programs for SCIP and HiGHS, engines of OR-Tools MathOpt.

A CP-SAT model becomes a mixed-integer program with the same solutions in exact arithmetic: every
row that the builder makes is linear, except for its literals, which become big-M rows whose
constants are the exact bounds of the expressions. Engines calculate in doubles:
their solutions are judged by `Exact`, and "infeasible" is only believed where the numbers are short
enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, inf
from typing import Final, Literal
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct
from ortools.math_opt.callback_pb2 import CallbackRegistrationProto
from ortools.math_opt.core.python import solver
from ortools.math_opt.model_parameters_pb2 import ModelSolveParametersProto
from ortools.math_opt.model_pb2 import ModelProto
from ortools.math_opt.parameters_pb2 import (
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
from ortools.sat.python.cp_model_helper import (
    ConstraintProto,
    CpModelProto,
    LinearConstraintProto,
)
from pybind11_abseil.status import StatusNotOk  # type: ignore[import-untyped]

from planner.models.shared.builder import Builder, Linear
from planner.problem.array import FloatArray
from planner.solver.deadline import OutOfTime, waited_for
from planner.solver.proving.program import ITERATIONS
from planner.solver.search import SEED

_FOREVER = 2**62
"""Bounds beyond it bind nothing: CP-SAT writes 64-bit extremes there."""

_EXACT: Final = 2**50
"""Up to here the numbers of a row, and sums of a few of them, are integers in doubles, too."""

_SHORT: Final = 2**31
"""SCIP can go on beyond any limit of time where numbers of a row are longer (seen at 2^39)."""

_TOLERANCE: Final = 1e-9
"""The least tolerance that the engines accept: rows are large integers, and literals are exact."""

_ROUNDS: Final = 10
"""Rounds of SCIP's presolve, which can tighten the bounds of long numbers by 1 for hours."""

_WIDE: Final = 2**10
"""Columns with more values than this may have fractions.

"Infeasible" then says more, not less. Such columns are amounts that whole numbers make up, and
carries: a fraction in either leads to no answer, which engines are slow to see.
"""

Kind = Literal["SCIP", "HiGHS"]


class Milp(Struct, frozen=True):
    """The program of a model, whose variables are its first columns.

    ``exact`` tells whether all of its numbers are short enough for doubles, ``short`` whether
    they are short enough for SCIP to keep its time limit.
    """

    proto: ModelProto
    exact: bool
    short: bool


class MipAnswer(Struct, frozen=True):
    """What an engine says of a program: whether it has no solution, or a value per column.

    ``best`` is the engine's word that no other solution has less of the objective.
    """

    infeasible: bool
    point: Sequence[int] = ()
    best: bool = False


def ask(milp: Milp, kind: Kind, seconds: float | None, nodes: int | None = None) -> MipAnswer:
    """Let an engine look for a solution; its values are rounded and may break rows.

    "Infeasible" is not passed on where the program is not exact in doubles; SCIP is not asked
    where numbers are long. ``nodes`` are the most nodes of the search tree.
    """
    if kind == "SCIP" and not milp.short:
        return MipAnswer(infeasible=False)
    parameters = SolveParametersProto(random_seed=SEED, node_limit=nodes)
    if seconds is not None:
        parameters.time_limit.FromNanoseconds(int(seconds * 1e9))
    if kind == "SCIP":
        # With more threads the answer would depend on the machine.
        parameters.threads = 1
        # Otherwise SCIP would keep Ctrl-C for itself.
        parameters.gscip.bool_params["misc/catchctrlc"] = False
        parameters.gscip.real_params["numerics/feastol"] = _TOLERANCE
        parameters.gscip.int_params["presolving/maxrounds"] = _ROUNDS
    else:
        parameters.highs.string_options["parallel"] = "off"
        for name in ("primal_feasibility_tolerance", "mip_feasibility_tolerance"):
            parameters.highs.double_options[name] = _TOLERANCE
    engine = SOLVER_TYPE_GSCIP if kind == "SCIP" else SOLVER_TYPE_HIGHS
    result = solve(milp.proto, engine, parameters)
    if result is None:
        return MipAnswer(infeasible=False)
    # All columns are bounded: "infeasible or unbounded" means infeasible.
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


def relaxed(milp: Milp, seconds: float | None) -> Sequence[float]:
    """Return an optimum of a program with fractions allowed in all columns; empty if none is found.

    It is calculated in doubles. A program that takes too many iterations, or more ``seconds``, is
    stopped: what it had by then is no optimum.
    """
    program = ModelProto()
    program.CopyFrom(milp.proto)
    del program.variables.integers[:]
    program.variables.integers.extend([False] * len(program.variables.ids))
    size = len(program.variables.ids) + len(program.linear_constraints.ids)
    result = solve(program, SOLVER_TYPE_GLOP, _limited(size, seconds))
    if result is None or result.termination.reason != TERMINATION_REASON_OPTIMAL:
        return ()
    values = result.solutions[0].primal_solution.variable_values
    found: list[float] = dense(values, len(program.variables.ids)).tolist()
    return found


@dataclass(slots=True)
class _Program:
    """A program under construction; columns have the numbers of the model's variables.

    ``longest`` is the largest absolute value of a bound or coefficient, ``read`` how many rows of
    the model are in the program.
    """

    lower: list[int] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    row_lower: list[int | None] = field(default_factory=list)
    row_upper: list[int | None] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    coefficients: list[int] = field(default_factory=list)
    longest: int = 0
    read: int = 0

    def copy(self) -> _Program:
        """Return a program that begins with the columns and rows of this one."""
        return replace(
            self,
            lower=[*self.lower],
            upper=[*self.upper],
            row_lower=[*self.row_lower],
            row_upper=[*self.row_upper],
            rows=[*self.rows],
            columns=[*self.columns],
            coefficients=[*self.coefficients],
        )

    def read_on(self, model: CpModelProto) -> None:
        """Take the variables and rows of a model that are not yet in the program."""
        variables, constraints = model.variables, model.constraints
        for index in range(len(self.lower), len(variables)):
            low, high = variables[index].domain
            self.lower.append(low)
            self.upper.append(high)
            self.longest = max(self.longest, abs(low), abs(high))
        for index in range(self.read, len(constraints)):
            _translate_row(self, constraints[index])
        self.read = len(constraints)

    def add(self, linear: Linear, low: int | None, high: int | None) -> None:
        """Add the row ``low <= linear <= high``, in units of its coefficients' common divisor."""
        row, terms, constant = len(self.row_lower), linear.terms, linear.constant
        # Sides are rounded to whole units: the variables of the model are whole, even where columns
        # of the program may have fractions.
        unit = gcd(*terms.values()) or 1
        low = None if low is None else -((constant - low) // unit)
        high = None if high is None else (high - constant) // unit
        self.row_lower.append(low)
        self.row_upper.append(high)
        columns = sorted(v for v in terms if terms[v])
        coefficients = [terms[v] // unit for v in columns]
        self.rows += [row] * len(columns)
        self.columns += columns
        self.coefficients += coefficients
        self.longest = max(self.longest, abs(low or 0), abs(high or 0), *map(abs, coefficients))

    def add_if(
        self, when: Sequence[int], linear: Linear, low: int | None, high: int | None
    ) -> None:
        """Add a row that binds if all literals of ``when`` are true.

        The number of false literals, times the most that the row could be missed by, is its slack.
        """
        least = most = linear.constant
        for v, c in linear.terms.items():
            ends = (c * self.lower[v], c * self.upper[v])
            least, most = least + min(ends), most + max(ends)
        if low is not None and least < low:
            self.add(linear + (low - least) * _false(when), low, None)
        if high is not None and most > high:
            self.add(linear + (high - most) * _false(when), None, high)

    def proto(self, objective: Mapping[int, int]) -> ModelProto:
        """Return the program that minimises an expression."""
        widths = (high - low for low, high in zip(self.lower, self.upper, strict=True))
        program = without_rows(
            self.lower,
            self.upper,
            [width <= _WIDE for width in widths],
            [-inf if low is None else low for low in self.row_lower],
            [inf if high is None else high for high in self.row_upper],
            {v: c for v, c in sorted(objective.items()) if c},
        )
        matrix = program.linear_constraint_matrix
        matrix.row_ids.extend(self.rows)
        matrix.column_ids.extend(self.columns)
        matrix.coefficients.extend(map(float, self.coefficients))
        return program


# What is read of models that others are copies of; weak, so that it does not outlive them.
_ORIGINS: Final[WeakKeyDictionary[Builder, _Program]] = WeakKeyDictionary()


def translate(model: CpModelProto, origin: Builder | None = None) -> Milp:
    """Return the program of a model, its objective included.

    Rows that the model has from its ``origin`` are read once for all copies of that.

    Raises `NotImplementedError` if a row is of a kind that the builder does not make.
    """
    program = _Program() if origin is None else _read(origin).copy()
    program.read_on(model)
    objective = dict(zip(model.objective.vars, model.objective.coeffs, strict=True))
    longest = max(program.longest, *map(abs, objective.values()), 1)
    return Milp(program.proto(objective), longest <= _EXACT, longest <= _SHORT)


def _read(builder: Builder) -> _Program:
    if builder not in _ORIGINS:
        program = _ORIGINS[builder] = _Program()
        program.read_on(builder.proto)
    return _ORIGINS[builder]


def _translate_row(program: _Program, row: ConstraintProto) -> None:
    when = list(row.enforcement_literal)
    if row.has_linear():
        low, high = row.linear.domain[0], row.linear.domain[1]
        program.add_if(
            when,
            _linear(row.linear),
            None if low < -_FOREVER else low,
            None if high > _FOREVER else high,
        )
    elif row.has_bool_or():
        # At least one literal is true: not all of them are false.
        literals = row.bool_or.literals
        program.add_if(when, _false(literals), None, len(literals) - 1)
    else:
        raise NotImplementedError(f"a row that the builder does not make: {row}")


def _linear(written: LinearConstraintProto) -> Linear:
    # Each access by way of the wrapper of the proto costs as much as a short list.
    return Linear(dict(zip(list(written.vars), list(written.coeffs), strict=True)))


def _false(literals: Sequence[int]) -> Linear:
    """Return how many literals are false."""
    terms: dict[int, int] = {}
    for literal in literals:
        v, sign = (literal, -1) if literal >= 0 else (-literal - 1, 1)
        terms[v] = terms.get(v, 0) + sign
    return Linear(terms, sum(literal >= 0 for literal in literals))


def solve(
    program: ModelProto, engine: SolverTypeProto.ValueType, parameters: SolveParametersProto
) -> SolveResultProto | None:
    """Solve with an engine of MathOpt; ``None`` if it gives up with an error.

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
        return waited_for(call, seconds=seconds)
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


def dense(vector: SparseDoubleVectorProto, size: int) -> FloatArray:
    """Return a vector with its zeros: (size,)."""
    found = np.zeros(size)
    found[list(vector.ids)] = list(vector.values)
    return found
