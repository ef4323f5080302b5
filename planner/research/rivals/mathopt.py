"""Mixed-integer programs for SCIP and HiGHS, engines of OR-Tools MathOpt.

A CP-SAT model becomes a mixed-integer program with the same solutions in exact arithmetic: every
row that the builder makes is linear, except for its literals, which become big-M rows whose
constants are the exact bounds of the expressions. Engines calculate in doubles: their solutions
are judged by the laws, and "infeasible" is only believed where the numbers are short enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import gcd, inf
from typing import Final, Literal, NamedTuple

from ortools.math_opt.python.mathopt import (
    Model,
    SolveParameters,
    SolveResult,
    SolverType,
    TerminationReason,
    Variable,
    solve,
)
from ortools.sat.python.cp_model_helper import ConstraintProto, CpModelProto

from planner.models.shared.builder import Linear
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
_IMPOSSIBLE: Final = {TerminationReason.INFEASIBLE, TerminationReason.INFEASIBLE_OR_UNBOUNDED}
"""All columns are bounded: "infeasible or unbounded" means infeasible."""


class Said(NamedTuple):
    """An engine's answer: a value for each column, if any, and whether it claims a proof.

    Without a value that is a proof that there is no solution.
    """

    point: Sequence[float] = ()
    proved: bool = False


class Milp:
    """The program of a model, a column for each of its variables, its objective included.

    ``longest`` is the largest absolute value of a bound or coefficient: it tells whether the
    program is exact in doubles, and short enough for SCIP to keep its time limit.

    Raises `NotImplementedError` if a row is of a kind that the builder does not make.
    """

    def __init__(self, model: CpModelProto) -> None:
        self.program = Model()
        self.columns: list[Variable] = []
        self.longest = 1
        self._bounds: list[tuple[int, int]] = []
        for variable in model.variables:
            low, high = variable.domain
            self._bounds.append((low, high))
            self._note(low, high)
            whole = high - low <= _WIDE
            self.columns.append(self.program.add_variable(lb=low, ub=high, is_integer=whole))
        for row in model.constraints:
            self._add_row(row)
        for v, c in zip(model.objective.vars, model.objective.coeffs, strict=True):
            self.program.objective.set_linear_coefficient(self.columns[v], c)
            self._note(c)

    def _note(self, *numbers: int) -> None:
        self.longest = max(self.longest, *map(abs, numbers))

    def _add_row(self, row: ConstraintProto) -> None:
        """Add a row, which binds if all of its enforcement literals are true.

        The number of false literals, times the most that the row could be missed by, is its slack.
        """
        low: int | None = None
        if row.has_linear():
            # Each access by way of the wrapper of the proto costs as much as a short list.
            written = zip(list(row.linear.vars), list(row.linear.coeffs), strict=True)
            linear, (least_, most_) = Linear(dict(written)), row.linear.domain
            low = None if least_ < -_FOREVER else least_
            high = None if most_ > _FOREVER else most_
        elif row.has_bool_or():
            # At least one literal is true: not all of them are false.
            literals = row.bool_or.literals
            linear, high = _false(literals), len(literals) - 1
        else:
            raise NotImplementedError(f"a row that the builder does not make: {row}")
        least = most = linear.constant
        for v, c in linear.terms.items():
            ends = [c * bound for bound in self._bounds[v]]
            least, most = least + min(ends), most + max(ends)
        when = _false(row.enforcement_literal)
        if low is not None and least < low:
            self._add(linear + (low - least) * when, low, None)
        if high is not None and most > high:
            self._add(linear + (high - most) * when, None, high)

    def _add(self, linear: Linear, low: int | None, high: int | None) -> None:
        """Add the row ``low <= linear <= high``, in units of its coefficients' common divisor."""
        # Sides are rounded to whole units: the variables of the model are whole, even where columns
        # of the program may have fractions.
        unit, constant = gcd(*linear.terms.values()) or 1, linear.constant
        low = None if low is None else -((constant - low) // unit)
        high = None if high is None else (high - constant) // unit
        row = self.program.add_linear_constraint(
            lb=-inf if low is None else low, ub=inf if high is None else high
        )
        self._note(low or 0, high or 0)
        for v, c in linear.terms.items():
            row.set_coefficient(self.columns[v], c // unit)
            self._note(c // unit)

    def ask(self, kind: Kind, seconds: float | None, nodes: int | None = None) -> Said:
        """Let an engine look for a solution; its values are rounded and may break rows.

        "Infeasible" is not passed on where the program is not exact in doubles; SCIP is not asked
        where numbers are long. ``nodes`` are the most nodes of the search tree.
        """
        if kind == "SCIP" and self.longest > _SHORT:
            return Said()
        parameters = SolveParameters(random_seed=SEED, node_limit=nodes)
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
        engine = SolverType.GSCIP if kind == "SCIP" else SolverType.HIGHS
        result = self._solved(engine, parameters, seconds)
        exact = self.longest <= _EXACT
        if result is None:
            return Said()
        reason = result.termination.reason
        if reason in _IMPOSSIBLE or not result.has_primal_feasible_solution():
            return Said(proved=exact and reason in _IMPOSSIBLE)
        point = [round(value) for value in result.variable_values(self.columns)]
        return Said(point, exact and reason == TerminationReason.OPTIMAL)

    def relaxed(self, seconds: float | None) -> Sequence[float]:
        """Return an optimum with fractions allowed in all columns; empty if none is found.

        It is calculated in doubles. A program that takes too many iterations, or more ``seconds``,
        is stopped: what it had by then is no optimum.
        """
        for column in self.columns:
            column.integer = False
        size = len(self.columns) + self.program.get_num_linear_constraints()
        parameters = SolveParameters(iteration_limit=ITERATIONS * size)
        result = self._solved(SolverType.GLOP, parameters, seconds)
        if result is None or result.termination.reason != TerminationReason.OPTIMAL:
            return ()
        found: list[float] = result.variable_values(self.columns)
        return found

    def _solved(
        self, engine: SolverType, parameters: SolveParameters, seconds: float | None
    ) -> SolveResult | None:
        """Solve with an engine; ``None`` if it gives up with an error.

        Nothing ends it early: HiGHS heeds no interrupter, and with one SCIP writes of errors.
        """
        parameters.time_limit = None if seconds is None else timedelta(seconds=seconds)
        try:
            return waited_for(
                lambda: solve(self.program, engine, params=parameters), seconds=seconds
            )
        except (RuntimeError, ValueError, OutOfTime):
            return None


def _false(literals: Sequence[int]) -> Linear:
    """Return how many literals are false."""
    terms: dict[int, int] = {}
    for literal in literals:
        v, sign = (literal, -1) if literal >= 0 else (-literal - 1, 1)
        terms[v] = terms.get(v, 0) + sign
    return Linear(terms, sum(literal >= 0 for literal in literals))
