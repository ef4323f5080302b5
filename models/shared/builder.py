"""Linear expressions and constraints over CP-SAT's own proto.

A law reads as it is written: ``builder.add(a + b <= c)``. Rows are written into the proto
directly, which is an order of magnitude faster than the sums of ``cp_model``
(docs/design/solver.md §2). A variable is an integer: its index in the proto. The
module ``cp_model`` is not imported: it loads pandas, which takes as long as a small plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from math import gcd
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, Self, TypeVar, cast
from weakref import ref

from msgspec import Struct

from planner.errors import UnsupportedError

if TYPE_CHECKING:
    from types import MethodType

    from ortools.sat.python.cp_model_helper import CpModelProto

Asked = ParamSpec("Asked")
Made = TypeVar("Made")


def made_once(method: Callable[Asked, Made]) -> Callable[Asked, Made]:
    """Return a method of an object as a function that makes each of its answers once.

    It is for an attribute of that object, and does not keep it: the two would be a circle, and a
    model would stay in memory until such are looked for.
    """
    bound = cast("MethodType", method)
    owner, function = ref(bound.__self__), bound.__func__
    return cast("Callable[Asked, Made]", cache(lambda *args: function(owner(), *args)))


_NO_LOWER = -(2**63)
_NO_UPPER = 2**63 - 1
_LARGEST = 2**61
"""Beyond this value the sums inside CP-SAT could leave 64 bits, whatever their order."""

_TOO_LARGE = "quantities are too large or too finely divided to be added up exactly"

_SPLIT = 2**31
"""On rows with coefficients from this size on CP-SAT 9.15 has been seen to give wrong answers."""

_BASE = 2**30
"""The base of the two digits that longer coefficients are split into."""


class Linear(Struct, frozen=True):
    """A linear expression: coefficient per variable, plus a constant."""

    terms: Mapping[int, int]
    constant: int = 0

    def __add__(self, other: Linear | int) -> Linear:
        return self._plus(other, 1)

    def __sub__(self, other: Linear | int) -> Linear:
        return self._plus(other, -1)

    def _plus(self, other: Linear | int, times: int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + times * other)
        if not other.terms:  # often so, and expressions have thousands of terms
            return Linear(self.terms, self.constant + times * other.constant)
        terms = dict(self.terms)
        for variable, coefficient in other.terms.items():
            terms[variable] = terms.get(variable, 0) + times * coefficient
        return Linear(terms, self.constant + times * other.constant)

    def __rmul__(self, factor: int) -> Linear:
        return Linear({v: factor * c for v, c in self.terms.items()}, factor * self.constant)

    def __neg__(self) -> Linear:
        return -1 * self

    def __le__(self, other: Linear | int) -> Constraint:
        return Constraint(self - other, None, 0)

    def __ge__(self, other: Linear | int) -> Constraint:
        return Constraint(self - other, 0, None)

    def equals(self, other: Linear | int) -> Constraint:
        """Return the constraint that both are equal; ``==`` compares expressions as values."""
        return Constraint(self - other, 0, 0)

    @property
    def unit(self) -> int:
        """The largest integer of which every value of the expression is a multiple, at least 1."""
        return gcd(self.constant, *self.terms.values()) or 1

    def value(self, solution: Sequence[int]) -> int:
        """Return the value in a solution, given by variable index."""
        return self.constant + sum(c * solution[v] for v, c in self.terms.items())


class Constraint(NamedTuple):
    """``least <= linear <= most``, where ``None`` bounds nothing; ``<=`` and ``>=`` make it."""

    linear: Linear
    least: int | None
    most: int | None


ZERO = Linear({})


def constant(value: int) -> Linear:
    """Return an expression without variables."""
    return Linear({}, value)


def total(parts: Iterable[Linear]) -> Linear:
    """Return the sum of many expressions, without making the partial sums."""
    terms: dict[int, int] = {}
    constant = 0
    for part in parts:
        constant += part.constant
        for index, coefficient in part.terms.items():
            terms[index] = terms.get(index, 0) + coefficient
    return Linear(terms, constant)


def variable(index: int) -> Linear:
    """Return the expression that is one variable."""
    return Linear({index: 1})


def negation(literal: int) -> int:
    """Return the literal that is true when the given one is false."""
    return -literal - 1


class Builder:
    """A CP-SAT model under construction; knows the bounds of every variable."""

    def __init__(self) -> None:
        # OR-Tools takes as long to load as a small plan, and many need no model.
        from ortools.sat.python.cp_model_helper import CpModelProto  # noqa: PLC0415

        self.proto = CpModelProto()
        self.lower: list[int] = []
        self.upper: list[int] = []
        self._parts: dict[tuple[frozenset[tuple[int, int]], int], Linear] = {}

    def copy(self) -> Self:
        """Return a model that begins with the variables and rows of this one."""
        twin = copy(self)
        twin.proto = type(self.proto)()
        twin.proto.copy_from(self.proto)
        twin.lower, twin.upper = [*self.lower], [*self.upper]
        twin._parts = dict(self._parts)  # noqa: SLF001 - of this class
        return twin

    def new(self, lower: int, upper: int) -> int:
        """Create an integer variable with inclusive bounds, and return its index.

        Raises ``UnsupportedError`` if a bound is beyond 64 bits.
        """
        if lower < _NO_LOWER or upper > _NO_UPPER:
            refuse_overflow(ZERO, lower, upper)
        self.proto.variables.add().domain.extend([lower, upper])
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.lower) - 1

    def new_bool(self) -> int:
        """Create a Boolean variable, and return its index, which is also its literal."""
        return self.new(0, 1)

    def is_positive(self, variables: Iterable[int]) -> bool:
        """Say whether at least one variable is above 0 in every solution, by its bounds."""
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

    def add(self, constraint: Constraint, when: Iterable[int] = ()) -> None:
        """Add a constraint such as ``a + b <= c``, enforced only if all literals are true."""
        linear, least, most = constraint
        free, literals = self._free(linear), list(when)
        low, high, constant = free.low, free.high, free.constant
        # The bounds of the variables imply the constraint.
        if (least is None or least <= low + constant) and (most is None or high + constant <= most):
            return
        # Scaling keeps large amounts, such as bytes, within what the solver can add up.
        unit = gcd(*free.terms.values()) or 1
        written = free.in_units(unit)
        # Rounded inwards: the terms are multiples of the unit, so nothing is cut off.
        lower = None if least is None else -((constant - least) // unit)
        upper = None if most is None else (most - constant) // unit
        if lower is not None and upper is not None and lower > upper:
            lower = upper = written.high + 1  # no multiple of the unit is between
        if written.reach >= _SPLIT and written.longest >= _SPLIT:
            if lower is not None:
                self._split(Linear(written.terms), lower, literals)
            if upper is not None:
                self._split(-Linear(written.terms), -upper, literals)
            return
        refuse_overflow(written, written.reach // 2, 0)
        row = self.proto.constraints.add()
        row.linear.vars.extend(list(written.terms))
        row.linear.coeffs.extend(list(written.terms.values()))
        lower = _NO_LOWER if lower is None else written.clamped(lower)
        row.linear.domain.extend([lower, _NO_UPPER if upper is None else written.clamped(upper)])
        if literals:
            row.enforcement_literal.extend(literals)

    def any_of(self, literals: Iterable[int], when: Iterable[int] = ()) -> None:
        """Require that at least one literal is true."""
        row = self.proto.constraints.add()
        row.bool_or.literals.extend(list(literals))
        row.enforcement_literal.extend(list(when))

    def positive_part(self, linear: Linear) -> Linear:
        """Return max(0, linear), with a new variable only where the sign is not known.

        The variable counts units of the expression, so that amounts in bytes stay small. It is made
        once, however often an equal expression is asked about.
        """
        key = frozenset(linear.terms.items()), linear.constant
        if key not in self._parts:
            self._parts[key] = self._positive_part(linear)
        return self._parts[key]

    def _positive_part(self, linear: Linear) -> Linear:
        low, high = self.bounds(linear)
        if low >= 0:
            return linear
        if high <= 0:
            return ZERO
        refuse_overflow(linear, low // linear.unit, high // linear.unit)
        free = self._free(linear)
        unit = gcd(free.constant, *free.terms.values())
        inside = free.in_units(unit)
        result = self.new(0, high // unit)
        # As rows, not as `lin_max`: of that presolve lists all values that a sum of many different
        # amounts can have, for minutes, and heeds no limit. As `Builder.add` makes them, no guard
        # applies.
        above = -Linear(inside.terms, inside.constant) + variable(result)
        positive = self.new_bool()
        Builder.add(self, above >= 0)
        Builder.add(self, above <= 0, (positive,))
        Builder.add(self, variable(result) <= 0, (negation(positive),))
        return Linear({result: unit})

    def outside(self, linear: Linear, least: int, most: int) -> list[tuple[Linear, int]]:
        """Return conditions ``linear >= bound``: one holds if an expression is outside a range.

        A condition that the bounds exclude is left out: its literal would always be false.
        """
        low, high = self.bounds(linear)
        return [(linear, most + 1)] * (high > most) + [(-linear, 1 - least)] * (low < least)

    def witnesses(self, conditions: Iterable[tuple[Linear, int]]) -> list[int]:
        """Return a literal per different condition ``linear >= bound``: if true, it holds.

        Conditions that say the same share one literal: CP-SAT 9.15 has been seen to call a model
        infeasible that had several such rows.
        """
        different = {
            (tuple(sorted(linear.terms.items())), bound - linear.constant): (linear, bound)
            for linear, bound in conditions
        }
        literals = []
        for linear, bound in different.values():
            literals.append(self.new_bool())
            self.add(linear >= bound, when=literals[-1:])
        return literals

    def minimize(self, linear: Linear) -> tuple[int, int]:
        """Set the objective, and return unit and constant.

        The value of the expression is ``constant + unit * value of the objective``: the part that
        is the same in every solution is left out of the model.
        """
        self.proto.clear_objective()
        free = self._free(linear)
        unit = gcd(*free.terms.values()) or 1
        written = free.in_units(unit)
        refuse_overflow(written, written.reach // 2, 0)
        self.proto.objective.vars.extend(list(written.terms))
        self.proto.objective.coeffs.extend(list(written.terms.values()))
        return unit, free.constant

    def hint(self, values: Mapping[int, int]) -> None:
        """Give the solver a starting point: values of some variables."""
        self.proto.clear_solution_hint()
        self.proto.solution_hint.vars.extend(list(values))
        self.proto.solution_hint.values.extend(list(values.values()))

    def _split(self, linear: Linear, least: int, when: Sequence[int]) -> None:
        """Add ``linear >= least`` as rows whose coefficients are shorter.

        With B the base, coefficients and bound are divided with a remainder:
        linear = B * high + low and least = B * h + l. As high - h is an integer,

            B * high + low >= B * h + l   if and only if   high + floor((low - l) / B) >= h.

        The carry is an integer that only has to satisfy ``B * carry <= low - l``. Its largest value
        is that quotient, and a smaller value makes the second row no easier, so that the second
        row holds for some carry exactly if it holds for the quotient. The first row may bind even
        if a literal is false: the lower bound of the carry always satisfies it. In the linear
        relaxation both rows together say what the one row said.
        """
        half = _BASE // 2
        # To the nearest multiple, so that the low digits are of both signs, and half as long.
        high = {index: (c + half) // _BASE for index, c in linear.terms.items()}
        low = Linear({index: c - _BASE * high[index] for index, c in linear.terms.items()})
        h, rest = divmod(least, _BASE)
        smallest, largest = ((end - rest) // _BASE for end in self.bounds(low))
        carry = self.new(smallest, largest)
        Builder.add(self, low - _BASE * variable(carry) >= rest)
        Builder.add(self, Linear(high) + variable(carry) >= h, when)

    def _free(self, linear: Linear) -> _Free:
        """Return an expression with its variables that have only one value added to the constant.

        Most time of building a model is spent here, so that even calls of ``max`` count.
        """
        lower, upper = self.lower, self.upper
        terms, constant = {}, linear.constant
        low = high = reach = 0
        for index, c in linear.terms.items():
            least, most = lower[index], upper[index]
            if least == most:
                constant += c * least
            elif c > 0:
                terms[index] = c
                low, high = low + c * least, high + c * most
                reach += c * (most if most >= -least else -least)  # noqa: FURB136
            elif c < 0:
                terms[index] = c
                low, high = low + c * most, high + c * least
                reach -= c * (most if most >= -least else -least)  # noqa: FURB136
        return _Free(terms, constant, low, high, reach)


class _Free(NamedTuple):
    """An expression over variables that are not fixed.

    ``low`` and ``high`` bound the sum of its terms without the constant; ``reach`` is the sum of
    the largest absolute values that its terms can have.
    """

    terms: Mapping[int, int]
    constant: int
    low: int
    high: int
    reach: int

    def in_units(self, unit: int) -> _Free:
        """Return the expression in units that divide all of its coefficients."""
        if unit == 1:
            return self
        terms = {index: c // unit for index, c in self.terms.items()}
        low, high, reach = self.low // unit, self.high // unit, self.reach // unit
        return _Free(terms, self.constant // unit, low, high, reach)

    @property
    def longest(self) -> int:
        """The largest absolute value of a coefficient."""
        return max(map(abs, self.terms.values()), default=0)

    def clamped(self, bound: int) -> int:
        """Return a bound on the terms that excludes the same values, at most one beyond theirs."""
        # One beyond what the terms can reach says as much as any larger number, and fits 64 bits.
        return min(max(bound, self.low - 1), self.high + 1)


def refuse_overflow(linear: Linear | _Free, low: int, high: int) -> None:
    """Raise ``UnsupportedError`` if values between two bounds are too large to be added up."""
    if max(abs(low), abs(high)) > _LARGEST:
        raise UnsupportedError(
            "the model",
            f"a sum over {len(linear.terms)} variables leaves 64 bits",
            hint=_TOO_LARGE,
        )


def refuse_wide(proto: CpModelProto) -> None:
    """Raise ``UnsupportedError`` if CP-SAT cannot add up the values of all variables of a model."""
    ends = ((min(0, *one.domain), max(0, *one.domain)) for one in proto.variables)
    if sum(most - least for least, most in ends) >= _NO_UPPER:
        raise UnsupportedError(
            "the model",
            f"the values of its {len(proto.variables)} variables leave 64 bits together",
            hint=_TOO_LARGE,
        )


class Guarded(Builder):
    """The model of another builder; rows and clauses added here are enforced by one more literal.

    Definitions of auxiliary variables (``positive_part``) hold whether that is true or not.
    """

    def __init__(self, builder: Builder, literal: int) -> None:
        # The same lists, not copies: a variable made here is one of the other builder's, too.
        self.proto, self.lower, self.upper = builder.proto, builder.lower, builder.upper
        self.literal, self._unguarded = literal, builder

    def positive_part(self, linear: Linear) -> Linear:
        """Return max(0, linear), as the other builder makes it."""
        return self._unguarded.positive_part(linear)

    def any_of(self, literals: Iterable[int], when: Iterable[int] = ()) -> None:
        """Require that at least one literal is true, if the guard is."""
        super().any_of(literals, (*when, self.literal))

    def add(self, constraint: Constraint, when: Iterable[int] = ()) -> None:
        """Add a constraint that is enforced only if the guard is true, too."""
        super().add(constraint, (*when, self.literal))
