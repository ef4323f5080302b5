"""A CP-SAT model as a mixed-integer linear program for OR-Tools MathOpt.

Every row that the builder makes is linear but for its literals, and but for max(...). Both become
big-M rows whose constants are the exact bounds of the expressions, so that the program has the
same solutions as the model in exact arithmetic. Engines calculate in doubles: what they answer is
judged by `planner.solver.exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from ortools.math_opt import model_pb2
from ortools.sat.python.cp_model_helper import ConstraintProto, CpModelProto

_FOREVER = 2**62
"""Bounds beyond it bind nothing: CP-SAT writes 64-bit extremes there."""

Terms = Mapping[int, int]
"""A coefficient per variable."""


@dataclass(slots=True)
class _Program:
    """A program under construction; columns have the numbers of the model's variables.

    Columns that max(...) needs come after those.
    """

    lower: list[int]
    upper: list[int]
    row_lower: list[float] = field(default_factory=list)
    row_upper: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)

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

    def add(self, terms: Terms, low: float, high: float) -> None:
        """Add the row ``low <= terms <= high``."""
        row = len(self.row_lower)
        self.row_lower.append(low)
        self.row_upper.append(high)
        for v in sorted(terms):
            if terms[v]:
                self.rows.append(row)
                self.columns.append(v)
                self.coefficients.append(float(terms[v]))

    def add_if(self, when: Sequence[int], terms: Terms, low: int | None, high: int | None) -> None:
        """Add a row that binds if all literals of ``when`` are true.

        The number of false ones, times what the row could be missed by, makes it slack.
        """
        least, most = self.bounds(terms)
        if low is not None and least < low:
            false, count = _false(when)
            row = _plus(terms, false, low - least)
            self.add(row, float(low - (low - least) * count), inf)
        if high is not None and most > high:
            false, count = _false(when)
            row = _plus(terms, false, high - most)
            self.add(row, -inf, float(high - (high - most) * count))

    def proto(self, objective: Terms) -> model_pb2.ModelProto:
        """Return the program that minimises an expression."""
        program = model_pb2.ModelProto()
        variables, limits = program.variables, program.linear_constraints
        variables.ids.extend(range(len(self.lower)))
        variables.lower_bounds.extend(map(float, self.lower))
        variables.upper_bounds.extend(map(float, self.upper))
        variables.integers.extend([True] * len(self.lower))
        limits.ids.extend(range(len(self.row_lower)))
        limits.lower_bounds.extend(self.row_lower)
        limits.upper_bounds.extend(self.row_upper)
        matrix = program.linear_constraint_matrix
        matrix.row_ids.extend(self.rows)
        matrix.column_ids.extend(self.columns)
        matrix.coefficients.extend(self.coefficients)
        costs = sorted((v, c) for v, c in objective.items() if c)
        program.objective.linear_coefficients.ids.extend(v for v, _ in costs)
        program.objective.linear_coefficients.values.extend(float(c) for _, c in costs)
        return program


def translate(model: CpModelProto) -> model_pb2.ModelProto:
    """Return the program of a model, its objective included.

    The first columns are the model's variables, in order.

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
    return program.proto(_terms(model.objective.vars, model.objective.coeffs))


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
        _translate_max(program, row)
    else:
        raise NotImplementedError(f"a row that the builder does not make: {row}")


def _translate_max(program: _Program, row: ConstraintProto) -> None:
    """State target = max(exprs): at least each of them, and at most the one that is chosen."""
    target = _terms(row.lin_max.target.vars, row.lin_max.target.coeffs)
    chosen = []
    for expr in row.lin_max.exprs:
        more = _plus(target, _terms(expr.vars, expr.coeffs), -1)
        least = expr.offset - row.lin_max.target.offset
        program.add(more, float(least), inf)
        chosen.append(program.binary())
        program.add_if(chosen[-1:], more, None, least)
    program.add(dict.fromkeys(chosen, 1), 1.0, inf)


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
