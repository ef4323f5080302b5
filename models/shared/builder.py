"""Linear expressions and constraints over CP-SAT's own proto.

Rows are written into the proto directly, which is an order of magnitude faster than operator
sums (solver-performance.md, section 2). Variables are integers: their index in the proto. The
module ``cp_model`` is left alone: it loads pandas, which takes as long as a small plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from ortools.sat.python.cp_model_helper import CpModelProto

from planner.errors import UnsupportedError

_NO_LOWER = -(2**63)
_NO_UPPER = 2**63 - 1
_LARGEST = 2**61
"""Beyond it the sums inside CP-SAT could leave 64 bits."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear expression: coefficient per variable, plus a constant."""

    terms: Mapping[int, int]
    constant: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Return self + factor * other."""
        terms = dict(self.terms)
        for variable, coefficient in other.terms.items():
            terms[variable] = terms.get(variable, 0) + factor * coefficient
        return Linear(terms, self.constant + factor * other.constant)

    def shifted(self, amount: int) -> Linear:
        """Return self + amount."""
        return Linear(self.terms, self.constant + amount)

    def negated(self) -> Linear:
        """Return -self."""
        return Linear({v: -c for v, c in self.terms.items()}, -self.constant)

    @property
    def unit(self) -> int:
        """The largest integer of which every value of the expression is a multiple, at least 1."""
        return gcd(self.constant, *self.terms.values()) or 1

    def value(self, solution: Sequence[int]) -> int:
        """Return the value in a solution, given by variable index."""
        return self.constant + sum(c * solution[v] for v, c in self.terms.items())


ZERO = Linear({})


def constant(value: int) -> Linear:
    """Return an expression without variables."""
    return Linear({}, value)


def variable(index: int) -> Linear:
    """Return the expression that is one variable."""
    return Linear({index: 1})


def negation(literal: int) -> int:
    """Return the literal that is true when the given one is false."""
    return -literal - 1


class Builder:
    """A CP-SAT model under construction; knows the bounds of every variable."""

    def __init__(self) -> None:
        self.proto = CpModelProto()
        self.lower: list[int] = []
        self.upper: list[int] = []

    def new(self, lower: int, upper: int) -> int:
        """Create an integer variable with inclusive bounds, and return its index."""
        self.proto.variables.add().domain.extend([lower, upper])
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.lower) - 1

    def new_bool(self) -> int:
        """Create a Boolean variable, and return its index, which is also its literal."""
        return self.new(0, 1)

    def is_positive(self, variables: Iterable[int]) -> bool:
        """Say whether some variable is above 0 whatever happens."""
        return any(self.lower[index] > 0 for index in variables)

    def bounds(self, linear: Linear) -> tuple[int, int]:
        """Return the least and the largest value an expression can take by its bounds alone."""
        low = high = linear.constant
        lower, upper = self.lower, self.upper
        for index, coefficient in linear.terms.items():
            if coefficient > 0:
                low += coefficient * lower[index]
                high += coefficient * upper[index]
            else:
                low += coefficient * upper[index]
                high += coefficient * lower[index]
        return low, high

    def at_most(self, linear: Linear, bound: int, when: Iterable[int] = ()) -> None:
        """Add ``linear <= bound``, enforced only if all literals of ``when`` are true."""
        self._row(linear, None, bound, when)

    def at_least(self, linear: Linear, bound: int, when: Iterable[int] = ()) -> None:
        """Add ``linear >= bound``, enforced only if all literals of ``when`` are true."""
        self._row(linear, bound, None, when)

    def equal(self, linear: Linear, value: int, when: Iterable[int] = ()) -> None:
        """Add ``linear == value``, enforced only if all literals of ``when`` are true."""
        self._row(linear, value, value, when)

    def any_of(self, literals: Iterable[int], when: Iterable[int] = ()) -> None:
        """Require that at least one literal is true."""
        row = self.proto.constraints.add()
        row.bool_or.literals.extend(list(literals))
        row.enforcement_literal.extend(list(when))

    def positive_part(self, linear: Linear) -> Linear:
        """Return max(0, linear), with a new variable only where the sign is not known.

        The variable counts units of the expression, so that amounts in bytes stay small.
        """
        low, high = self.bounds(linear)
        if low >= 0:
            return linear
        if high <= 0:
            return ZERO
        unit = linear.unit
        refuse_overflow(linear, low // unit, high // unit)
        result = self.new(0, high // unit)
        row = self.proto.constraints.add().lin_max
        row.target.vars.append(result)
        row.target.coeffs.append(1)
        inside = row.exprs.add()
        inside.vars.extend(list(linear.terms))
        inside.coeffs.extend([c // unit for c in linear.terms.values()])
        inside.offset = linear.constant // unit
        row.exprs.add().offset = 0
        return Linear({result: unit})

    def witnesses(self, conditions: Iterable[tuple[Linear, int]]) -> list[int]:
        """Return a literal per different condition ``linear >= bound``; true only if it holds.

        Conditions that say the same get one literal: CP-SAT 9.15 has been seen to call a model
        infeasible that had several such rows.
        """
        different = {
            (tuple(sorted(linear.terms.items())), bound - linear.constant): (linear, bound)
            for linear, bound in conditions
        }
        literals = []
        for linear, bound in different.values():
            literals.append(self.new_bool())
            self.at_least(linear, bound, when=literals[-1:])
        return literals

    def minimize(self, linear: Linear) -> None:
        """Set the objective; its constant is left out of the model."""
        self.proto.clear_objective()
        terms = {index: c for index, c in linear.terms.items() if c}
        self.proto.objective.vars.extend(list(terms))
        self.proto.objective.coeffs.extend(list(terms.values()))

    def hint(self, values: Sequence[int]) -> None:
        """Give the solver a complete starting point: a value for every variable."""
        self.proto.clear_solution_hint()
        self.proto.solution_hint.vars.extend(list(range(len(values))))
        self.proto.solution_hint.values.extend(list(values))

    def _row(
        self, linear: Linear, least: int | None, most: int | None, when: Iterable[int]
    ) -> None:
        low, high = self.bounds(linear)
        if (least is None or least <= low) and (most is None or high <= most):
            return
        terms = {index: c for index, c in linear.terms.items() if c}
        # Scaling keeps bytes and the like within what the solver can add up.
        unit = gcd(*terms.values()) or 1
        refuse_overflow(linear, low // unit, high // unit)
        row = self.proto.constraints.add()
        written = row.linear
        written.vars.extend(list(terms))
        written.coeffs.extend([c // unit for c in terms.values()])
        lower = _NO_LOWER if least is None else -((linear.constant - least) // unit)
        upper = _NO_UPPER if most is None else (most - linear.constant) // unit
        written.domain.extend([lower, upper])
        literals = list(when)
        if literals:
            row.enforcement_literal.extend(literals)


def refuse_overflow(linear: Linear, low: int, high: int) -> None:
    """Refuse an expression whose values, between two bounds, are too large to be added up.

    Raises
    ------
    UnsupportedError
        If they are.
    """
    if max(abs(low), abs(high)) > _LARGEST:
        raise UnsupportedError(
            "the model",
            f"a sum over {len(linear.terms)} variables leaves 64 bits",
            hint="quantities are too large or too finely divided to be added up exactly",
        )
