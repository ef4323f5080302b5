"""What a CP-SAT model says of a point, in Python's integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ortools.sat.python.cp_model_helper import ConstraintProto, CpModelProto


def satisfies(model: CpModelProto, point: Sequence[int]) -> bool:
    """Say whether a point is a solution of a model: a value for every variable, by index."""
    within = all(
        v.domain[0] <= value <= v.domain[1] for v, value in zip(model.variables, point, strict=True)
    )
    return within and all(_holds(row, point) for row in model.constraints)


def is_true(literal: int, point: Sequence[int]) -> bool:
    """Say whether a literal is true; a negative one is the negation of variable -literal - 1."""
    return point[literal] == 1 if literal >= 0 else point[-literal - 1] == 0


def value_of(variables: Iterable[int], coefficients: Iterable[int], point: Sequence[int]) -> int:
    """Return the value of a linear expression."""
    return sum(c * point[v] for v, c in zip(variables, coefficients, strict=True))


def _holds(row: ConstraintProto, point: Sequence[int]) -> bool:
    if not all(is_true(literal, point) for literal in row.enforcement_literal):
        return True
    if row.has_linear():
        value = value_of(row.linear.vars, row.linear.coeffs, point)
        return bool(row.linear.domain[0] <= value <= row.linear.domain[1])
    if row.has_bool_or():
        return any(is_true(literal, point) for literal in row.bool_or.literals)
    if row.has_lin_max():
        target, *exprs = (
            value_of(e.vars, e.coeffs, point) + e.offset
            for e in (row.lin_max.target, *row.lin_max.exprs)
        )
        return bool(target == max(exprs))
    raise NotImplementedError(f"a row that the builder does not make: {row}")
