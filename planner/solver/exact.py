"""What a CP-SAT model says of a point, in Python's integers.

An engine's solution is believed once every row of the model has been added up here, one by one:
the rows that `Builder` writes, as they stand in the proto that the engine is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ortools.sat.python.cp_model_helper import (
    ConstraintProto,
    CpModelProto,
    LinearExpressionProto,
)


class _Sum(NamedTuple):
    """A linear expression of a row."""

    variables: Sequence[int]
    coefficients: Sequence[int]
    offset: int = 0

    def value(self, point: Sequence[int]) -> int:
        return self.offset + value_of(self.variables, self.coefficients, point)


class _Row(NamedTuple):
    """What a row requires where all literals of ``when`` are true; just one of the others is set.

    The first of ``largest`` is the largest of the rest of them.
    """

    when: Sequence[int]
    within: tuple[_Sum, int, int] | None = None
    some: Sequence[int] | None = None
    largest: Sequence[_Sum] | None = None

    def holds(self, point: Sequence[int]) -> bool:
        if not all(is_true(literal, point) for literal in self.when):
            return True
        if self.within is not None:
            linear, lower, upper = self.within
            return lower <= linear.value(point) <= upper
        if self.some is not None:
            return any(is_true(literal, point) for literal in self.some)
        target, *others = (each.value(point) for each in self.largest or ())
        return target == max(others)


@dataclass(slots=True)
class Exact:
    """A model as it was read: asking again costs only what was added to it since."""

    model: CpModelProto
    _domains: list[tuple[int, int]] = field(default_factory=list)
    _rows: list[_Row] = field(default_factory=list)

    def admits(self, point: Sequence[int]) -> bool:
        """Say whether a point is a solution: a value for every variable, by index."""
        variables, constraints = self.model.variables, self.model.constraints
        for index in range(len(self._domains), len(variables)):
            domain = variables[index].domain
            self._domains.append((domain[0], domain[1]))
        for index in range(len(self._rows), len(constraints)):
            self._rows.append(_read(constraints[index]))
        return (
            len(point) == len(self._domains)
            and all(low <= x <= high for x, (low, high) in zip(point, self._domains, strict=True))
            and all(row.holds(point) for row in self._rows)
        )


def satisfies(model: CpModelProto, point: Sequence[int]) -> bool:
    """Say whether a point is a solution of a model."""
    return Exact(model).admits(point)


def is_true(literal: int, point: Sequence[int]) -> bool:
    """Say whether a literal is true; a negative one is the negation of variable -literal - 1."""
    return point[literal] == 1 if literal >= 0 else point[-literal - 1] == 0


def value_of(variables: Iterable[int], coefficients: Iterable[int], point: Sequence[int]) -> int:
    """Return the value of a linear expression."""
    return sum(c * point[v] for v, c in zip(variables, coefficients, strict=True))


def _read(row: ConstraintProto) -> _Row:
    enforced = row.enforcement_literal
    when = list(enforced) if len(enforced) else ()
    if row.has_linear():
        linear = row.linear
        domain = linear.domain
        terms = _Sum(list(linear.vars), list(linear.coeffs))
        return _Row(when, within=(terms, domain[0], domain[1]))
    if row.has_bool_or():
        return _Row(when, some=list(row.bool_or.literals))
    if row.has_lin_max():
        target, others = row.lin_max.target, row.lin_max.exprs
        return _Row(when, largest=[_sum(each) for each in (target, *others)])
    raise NotImplementedError(f"a row that the builder does not make: {row}")


def _sum(expression: LinearExpressionProto) -> _Sum:
    return _Sum(list(expression.vars), list(expression.coeffs), expression.offset)
