"""Boxes of victim sets, inequalities over them, and when these contradict one another.

A victim set is given by the number of its victims in each of K classes. A box holds all sets
between a least and a most number per class that have certain further properties. A row is an
inequality that every set would satisfy whose existence the claim denies; a box is empty of such
sets if non-negative multiples of rows add up to a row that no set in the box satisfies.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import mul
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from planner.plan.proof import Rounding
from planner.quota.classes import IntArray

_INT64: Final = 2**62


def numbered(keys: Iterable[Hashable]) -> IntArray:
    """Return a number for each key, the same for equal keys: (C,)."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


Numbers = NDArray[Any]
"""Integers of 64 bits, or Python's own where these could overflow."""


def exact(values: Sequence[int] | IntArray, reach: int) -> Numbers:
    """Return integers as an array in which sums of absolute value ``reach`` are exact."""
    return np.array(values, dtype=np.int64 if reach < _INT64 else object)


_HALF: Final = 2**31


class Row(Struct, frozen=True, dict=True):
    """``sum(amounts * x[classes]) + sum(extra) >= least``.

    ``extra`` are coefficients of further quantities, such as what a queue passes up, by name:
    other rows define these quantities, and ``Rules.ranges`` bounds them.
    """

    classes: IntArray
    amounts: Numbers
    least: int
    extra: Mapping[str, int] = field(default_factory=dict)

    def rounded(self) -> Row:
        """Return the row in units of its common divisor.

        Numbers of victims are whole: the sum is a multiple of the divisor, and so at least the
        first multiple from ``least`` on. Further quantities need not be whole.
        """
        if self.extra or not self.amounts.size:
            return self
        unit = int(np.gcd.reduce(self.amounts))
        if unit <= 1:
            return self
        return Row(self.classes, self.amounts // unit, -(-self.least // unit))

    @cached_property
    def largest(self) -> int:
        """The largest of its amounts, at least 1."""
        return max(1, _largest(self.amounts))

    @property
    def says_something(self) -> bool:
        """Whether a set may break the row at all."""
        return bool(self.classes.size or self.extra) or self.least > 0

    def without(self, nothing: Collection[str]) -> Row:
        """Return the same row without further quantities that are 0."""
        if self.extra.keys().isdisjoint(nothing):
            return self
        extra = {name: c for name, c in self.extra.items() if name not in nothing}
        return Row(self.classes, self.amounts, self.least, extra).rounded()

    def among(self, most: IntArray) -> Row:
        """Return the same row without classes that give nobody: ``most`` victims of each, (K,)."""
        going = most[self.classes] > 0
        if np.count_nonzero(going) == going.size:
            return self
        return Row(self.classes[going], self.amounts[going], self.least, self.extra)

    def within(self, box: Box) -> Row:
        """Return the same row over the classes that a box leaves open.

        Of other classes every set of the box has the same victims: a constant on the right side.
        """
        least = box.least[self.classes]
        open_ = least < box.most[self.classes]
        if np.count_nonzero(open_) == open_.size:  # mostly both are 0
            return self
        certain = sum_of_products(self.amounts[~open_], least[~open_])
        return Row(self.classes[open_], self.amounts[open_], self.least - certain, self.extra)


class Box(Struct, frozen=True):
    """All victim sets that have at least ``least`` and at most ``most`` of each class: (K,).

    ``attempt`` says whether the attempt may borrow, if that is fixed; ``touched`` are nodes
    with a victim at or below them; ``over`` the flavor-resource in which a node is over its
    quota when its last victim goes; ``dominant`` the resource that decides the share of a node;
    ``host`` the node that is to hold the ask; ``domain`` the domain that is to hold each group of
    podsets; ``sums`` are rows that bound the victims of several classes together. ``known`` has by
    name what the rows of a box around this one, written for what victims must free, say within
    it: only a shorter way to write them.
    """

    least: IntArray
    most: IntArray
    attempt: bool | None = None
    touched: frozenset[int] = frozenset()
    over: Mapping[int, int] = field(default_factory=dict)
    dominant: Mapping[int, str] = field(default_factory=dict)
    host: int | None = None
    domain: Mapping[str, int] = field(default_factory=dict)
    sums: Mapping[str, Row] = field(default_factory=dict)
    known: Mapping[tuple[int, ...], Mapping[str, Row]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is no set in it."""
        return bool(np.count_nonzero(self.least > self.most))

    @property
    def is_single(self) -> bool:
        """Whether there is one set in it."""
        return not np.count_nonzero(self.least != self.most)

    def at_most(self, k: int, count: int) -> Box:
        """Return the part with at most ``count`` victims of class ``k``."""
        most = self.most.copy()
        most[k] = min(most[k], count)
        return replace(self, most=most)

    def at_least(self, k: int, count: int) -> Box:
        """Return the part with at least ``count`` victims of class ``k``."""
        least = self.least.copy()
        least[k] = max(least[k], count)
        return replace(self, least=least)

    def summing(self, classes: Sequence[int], most: int) -> tuple[Box, Box]:
        """Return the parts with at most ``most`` victims of classes together, and with more."""
        these = np.array(sorted({*classes}), dtype=np.int64)
        summed = ((name, row) for name, row in self.sums.items() if name.startswith("sum "))
        known = [name for name, row in summed if np.array_equal(row.classes, these)]
        # A sum that was split before keeps its number, and the later row takes the place of the
        # earlier one. Were it the looser of the two, the part would only hold more sets.
        number = known[0].split()[1] if known else str(1 + len(self.sums))
        return self.halves(f"sum {number}", these, {}, most)

    def halves(
        self, name: str, these: IntArray, extra: Mapping[str, int], most: int
    ) -> tuple[Box, Box]:
        """Return the parts with at most ``most`` of a sum, and with more.

        It is of the classes ``these`` and of further quantities that are whole.
        """
        ones, negated = np.ones_like(these), {quantity: -c for quantity, c in extra.items()}
        at_most, more = Row(these, -ones, -most, negated), Row(these, ones, most + 1, extra)
        return (
            replace(self, sums={**self.sums, f"{name} at most": at_most}),
            replace(self, sums={**self.sums, f"{name} at least": more}),
        )

    def without(self, classes: IntArray) -> Box:
        """Return the part without victims of some classes."""
        most = self.most.copy()
        most[classes] = 0
        return replace(self, most=most)


class Sum(NamedTuple):
    """Rows, each times a multiplier, added up: ``sum(amounts * x[classes]) + extra >= needed``.

    The left side is largest in a box, at ``reached``, with ``upper`` victims of the classes and the
    values ``ends`` of further quantities, by name.
    """

    classes: IntArray
    amounts: Numbers
    upper: IntArray
    extra: Mapping[str, int]
    ends: Mapping[str, int]
    needed: int

    @property
    def reached(self) -> int:
        """What the left side is at most in the box."""
        further = sum(c * self.ends[name] for name, c in self.extra.items())
        return sum_of_products(self.amounts, self.upper) + further

    @property
    def spare(self) -> int:
        """``reached`` less the right side: below 0, no set in the box satisfies all rows."""
        return self.reached - self.needed

    def narrowed(self, box: Box) -> Box:
        """Return the part of the box in which the sum, of rows times at least 0, can hold.

        Each member by which a class leaves the end at which it helps the sum costs its coefficient:
        all such members of a class can cost no more than there is to spare.
        """
        least, most = box.least.copy(), box.most.copy()
        # ``spare`` can be beyond 64 bits where amounts are not: then Python's own integers.
        spare, each = self.spare, np.abs(self.amounts)
        if abs(spare) >= _INT64:
            each = each.astype(object)
        # No class has so many members; and with less than nothing to spare no set is left.
        moved = np.clip(spare // each, -1, _INT64 - 1).astype(np.int64)
        helps, of = self.amounts > 0, self.classes
        least[of] = np.where(helps, np.maximum(least[of], most[of] - moved), least[of])
        most[of] = np.where(helps, most[of], np.minimum(most[of], box.least[of] + moved))
        return replace(box, least=least, most=most)


def add_up(rows: Sequence[tuple[Row, int]], box: Box, ranges: Mapping[str, tuple[int, int]]) -> Sum:
    """Add rows up, exactly.

    The left side of the sum is largest where every x with a positive coefficient is at its upper
    bound in the box and every other at its lower bound; further quantities likewise.
    """
    alone = rows[0][0] if len(rows) == 1 and rows[0][1] == 1 else None
    if alone is not None and alone.amounts.all():  # mostly so; a row has no class twice
        classes, total, needed, extra = alone.classes, alone.amounts, alone.least, alone.extra
    else:
        # Nothing may leave 64 bits on the way: Python's own integers are exact, if slower.
        largest = sum(abs(m) * row.largest for row, m in rows)
        kind = np.int64 if largest < _INT64 else object
        everywhere: Numbers = np.zeros(box.most.size, dtype=kind)
        needed, extra = 0, dict[str, int]()
        for row, multiplier in rows:
            everywhere[row.classes] += multiplier * row.amounts.astype(kind, copy=False)
            needed += multiplier * row.least
            for name, coefficient in row.extra.items():
                extra[name] = extra.get(name, 0) + multiplier * coefficient
        classes = everywhere.nonzero()[0]
        total = everywhere[classes]
    upper = np.where(total > 0, box.most[classes], box.least[classes])
    # A range is (least, most), so the sign of the coefficient picks the end.
    ends = {name: ranges[name][c > 0] for name, c in extra.items()}
    return Sum(classes, total, upper, extra, ends, needed)


def is_contradiction(
    rows: Sequence[tuple[Row, int]], box: Box, ranges: Mapping[str, tuple[int, int]]
) -> bool:
    """Say whether rows, each with a multiplier of at least 0, cannot hold together in a box."""
    return all(m >= 0 for _, m in rows) and add_up(rows, box, ranges).spare < 0


def rounded_sum(
    rows: Sequence[tuple[Row, int]],
    step: Rounding,
    box: Box,
    ranges: Mapping[str, tuple[int, int]],
    whole: AbstractSet[str] = frozenset(),
) -> Row:
    """Return a row that all sets of a box satisfy that satisfy some rows: their sum, rounded.

    Let t be the victims of each class beyond its least number, or, of ``step.down``, those that are
    missing from its most; y what each further quantity is away from the end at which it gives the
    sum least, or, of ``step.out``, most; s what each row, with the multiplier m, has to spare.
    All of these are at least 0, and the rows say

        sum(a * t) + sum(c * y) + sum(-m * s) >= b  with b = by * q + r and 0 < r < by.

    The t are whole, so are the y of ``whole`` quantities, and so are the s of rows without others.
    Of each factor of these the multiples of by go into a whole number z, and the rest, too, where
    it is more than r: rounded up, so that the left side only grows. The other rests are an amount
    e >= 0, as are the other y and s, with 0 for a factor below 0; and by * z + e >= b. Then
    r * z + e >= r * (q + 1), mixed-integer rounding: where z > q by z alone, and else as
    e >= b - by * z = by * (q - z) + r >= r * (q - z) + r.

    Raises ``ValueError`` if it divides b: there is nothing to round.
    """
    added, by = add_up(rows, box, ranges), step.by
    of, names = added.classes, [*added.extra]
    given = np.array([*added.amounts.tolist(), *added.extra.values()], dtype=object)
    ends = [*zip(box.least[of].tolist(), box.most[of].tolist(), strict=True)]
    ends += [ranges[name] for name in names]
    falling = np.isin(of, np.array(step.down, dtype=np.int64)).tolist()
    falling += [(c < 0) != (name in step.out) for name, c in added.extra.items()]
    base = np.array([end[down] for end, down in zip(ends, falling, strict=True)], dtype=object)
    sign = np.where(falling, -1, 1)
    above, rest = divmod(added.needed - int((given * base).sum()), by)
    if not rest:
        raise ValueError("there is nothing to round")
    amounts = given * sign
    are_whole = [True] * of.size + [name in whole for name in names]
    rounded = amounts // by * rest + np.minimum(amounts % by, rest)
    each = np.where(are_whole, rounded, np.maximum(amounts, 0)) * sign
    needed = rest * (above + 1) + int((each * base).sum())
    parts = (
        # Amounts are whole: so is what a row has to spare, if all quantities of it are.
        (row, -m // by * rest + min(-m % by, rest) if row.extra.keys() <= whole else max(0, -m))
        for row, m in rows
    )
    spared = [(row, part) for row, part in parts if part]
    kept = {name: c for name, c in zip(names, each[of.size :].tolist(), strict=True) if c}
    total = add_up([(Row(of, each[: of.size], needed, kept), 1), *spared], box, ranges)
    return Row(
        total.classes, exact(total.amounts, _largest(total.amounts)), total.needed, total.extra
    ).rounded()


def sum_of_products(amounts: Numbers, counts: IntArray) -> int:
    """Return ``sum(amounts * counts)`` exactly; counts are not negative."""
    number = int(counts.sum())
    if not number:
        return 0
    if amounts.dtype == object or number >= _HALF:
        return sum(map(mul, amounts.tolist(), counts.tolist()))
    if _largest(amounts) * number < _INT64:
        return int(amounts @ counts)
    # The sum of either half of the digits stays within 64 bits.
    high, low = amounts // _HALF, amounts % _HALF
    return int((high * counts).sum()) * _HALF + int((low * counts).sum())


def _largest(amounts: Numbers) -> int:
    return max(abs(int(amounts.max())), abs(int(amounts.min()))) if amounts.size else 0
