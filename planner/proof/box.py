"""Boxes of victim sets, inequalities over them, and when these contradict one another.

A victim set is a number of victims per class, K of them, of workloads that nothing tells apart.
A box holds all sets between two of them that have some properties besides. A row is an inequality
that every set which the claim denies would satisfy; a box is empty of such sets if non-negative
multiples of rows add up to something that no set in the box satisfies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import mul
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
"""Integers of 64 bits, or Python's own where these could overflow."""

_INT64: Final = 2**62
_HALF: Final = 2**31


@dataclass(frozen=True, slots=True)
class Row:
    """``sum(amounts * x[classes]) + sum(extra) >= least``.

    ``extra`` are coefficients of further quantities, such as what a queue passes up, by name:
    the rows that define them are rows, too, and ``Rules.ranges`` bounds them.
    """

    classes: NDArray[np.int64]
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

    @property
    def says_something(self) -> bool:
        """Whether a set may break it at all."""
        return bool(self.classes.size or self.extra) or self.least > 0

    def without(self, nothing: Collection[str]) -> Row:
        """Return the same row without further quantities that are 0."""
        if self.extra.keys().isdisjoint(nothing):
            return self
        extra = {name: c for name, c in self.extra.items() if name not in nothing}
        return Row(self.classes, self.amounts, self.least, extra).rounded()

    def within(self, box: Box) -> Row:
        """Return the same row over the classes that a box leaves open.

        Of any other class every set of the box has the same number: a constant, to the right.
        """
        least = box.least[self.classes]
        open_ = least < box.most[self.classes]
        if open_.all():
            return self
        fixed = np.flatnonzero(~open_ & (least != 0))
        amounts, counts = self.amounts[fixed].tolist(), least[fixed].tolist()
        certain = sum(amount * count for amount, count in zip(amounts, counts, strict=True))
        return Row(self.classes[open_], self.amounts[open_], self.least - certain, self.extra)


@dataclass(frozen=True, slots=True)
class Box:
    """All victim sets that have at least ``least`` and at most ``most`` of each class: (K,).

    ``attempt`` says whether the attempt may borrow, if that is fixed; ``touched`` are nodes
    with a victim at or below them; ``over`` the flavor-resource in which a node is over its
    quota when its last victim goes; ``dominant`` the resource that decides the share of a node;
    ``host`` the node that is to hold the ask; ``domain`` the one that is to hold each group of
    podsets; ``sums`` are rows that say how many of some classes go together. ``known`` are rows
    as they are within a box around this one, each by what it was: only a shorter way to write
    them.
    """

    least: NDArray[np.int64]
    most: NDArray[np.int64]
    attempt: bool | None = None
    touched: frozenset[int] = frozenset()
    over: Mapping[int, int] = field(default_factory=dict)
    dominant: Mapping[int, str] = field(default_factory=dict)
    host: int | None = None
    domain: Mapping[str, int] = field(default_factory=dict)
    sums: Mapping[str, Row] = field(default_factory=dict)
    known: Mapping[str, tuple[Row, Row]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is no set in it."""
        return bool((self.least > self.most).any())

    @property
    def is_single(self) -> bool:
        """Whether there is one set in it."""
        return bool((self.least == self.most).all())

    def at_most(self, k: int, count: int) -> Box:
        """Return the part with at most so many of a class."""
        most = self.most.copy()
        most[k] = min(most[k], count)
        return replace(self, most=most)

    def at_least(self, k: int, count: int) -> Box:
        """Return the part with at least so many of a class."""
        least = self.least.copy()
        least[k] = max(least[k], count)
        return replace(self, least=least)

    def summing(self, classes: Sequence[int], most: int) -> tuple[Box, Box]:
        """Return the parts with at most so many of some classes together, and with more."""
        these = np.array(sorted({*classes}), dtype=np.int64)
        summed = ((name, row) for name, row in self.sums.items() if name.startswith("sum "))
        known = [name for name, row in summed if np.array_equal(row.classes, these)]
        # A sum that was split before keeps its number, and the later row takes the place of the
        # earlier one. Were it the looser of the two, the part would only hold more sets.
        number = known[0].split()[1] if known else str(1 + len(self.sums))
        at_most = Row(these, -np.ones_like(these), -most)
        more = Row(these, np.ones_like(these), most + 1)
        return (
            replace(self, sums={**self.sums, f"sum {number} at most": at_most}),
            replace(self, sums={**self.sums, f"sum {number} at least": more}),
        )

    def dividing(self, quantity: str, most: int) -> tuple[Box, Box]:
        """Return the parts with at most so much of a further quantity that is whole, and more."""
        nobody = self.least[:0]
        at_most = Row(nobody, nobody, -most, {quantity: -1})
        more = Row(nobody, nobody, most + 1, {quantity: 1})
        return (
            replace(self, sums={**self.sums, f"{quantity} at most": at_most}),
            replace(self, sums={**self.sums, f"{quantity} at least": more}),
        )

    def without(self, classes: NDArray[np.int64]) -> Box:
        """Return the part with nobody of some classes."""
        most = self.most.copy()
        most[classes] = 0
        return replace(self, most=most)


class Sum(NamedTuple):
    """Rows, each times a multiplier, added up: ``sum(amounts * x[classes]) + extra >= needed``.

    ``upper`` is the number of each of the classes, and ``ends`` the value of each further quantity,
    by name, with which the left side is largest in a box: it is ``reached`` then.
    """

    classes: NDArray[np.int64]
    amounts: Numbers
    upper: NDArray[np.int64]
    extra: Mapping[str, int]
    ends: Mapping[str, int]
    needed: int

    @property
    def reached(self) -> int:
        """What the left side is at most in the box."""
        further = sum(c * self.ends[name] for name, c in self.extra.items())
        return _sum_of_products(self.amounts, self.upper) + further

    @property
    def spare(self) -> int:
        """By how much that is above the right side: below 0, no set in the box satisfies all."""
        return self.reached - self.needed


def add_up(rows: Sequence[tuple[Row, int]], box: Box, ranges: Mapping[str, tuple[int, int]]) -> Sum:
    """Add rows up, exactly.

    The left side of the sum is largest where every x with a positive coefficient is at its upper
    bound in the box and every other at its lower bound; further quantities likewise.
    """
    # Nothing may leave 64 bits on the way: Python's own integers are exact, if slower.
    largest = sum(abs(m) * max(1, _largest(row.amounts)) for row, m in rows)
    kind = np.int64 if largest < _INT64 else object
    total: Numbers = np.zeros(box.most.size, dtype=kind)
    for row, multiplier in rows:
        total[row.classes] += multiplier * row.amounts.astype(kind, copy=False)
    classes = np.flatnonzero(total)
    total = total[classes]
    needed, extra = 0, dict[str, int]()
    for row, multiplier in rows:
        needed += multiplier * row.least
        for name, coefficient in row.extra.items():
            extra[name] = extra.get(name, 0) + multiplier * coefficient
    upper = np.where(total > 0, box.most[classes], box.least[classes])
    # A range is (least, most), so the sign of the coefficient picks the end.
    ends = {name: ranges[name][c > 0] for name, c in extra.items()}
    return Sum(classes, total, upper, extra, ends, needed)


def is_contradiction(
    rows: Sequence[tuple[Row, int]], box: Box, ranges: Mapping[str, tuple[int, int]]
) -> bool:
    """Say whether rows, each with a multiplier of at least 0, cannot hold together in a box."""
    return all(m >= 0 for _, m in rows) and add_up(rows, box, ranges).spare < 0


def narrowed(
    rows: Sequence[tuple[Row, int]], box: Box, ranges: Mapping[str, tuple[int, int]]
) -> Box:
    """Return the part of a box in which the sum of rows, times multipliers of at least 0, can hold.

    Each member by which a class leaves the side on which it helps the sum costs its coefficient:
    there can be no more of them than there is to spare.
    """
    added = add_up(rows, box, ranges)
    least, most = box.least.copy(), box.most.copy()
    # What is to spare can be beyond 64 bits where amounts are not: then Python's own integers.
    spare, each = added.spare, np.abs(added.amounts)
    if abs(spare) >= _INT64:
        each = each.astype(object)
    moved = np.minimum(spare // each, _INT64).astype(np.int64)
    helps, of = added.amounts > 0, added.classes
    least[of] = np.where(helps, np.maximum(least[of], most[of] - moved), least[of])
    most[of] = np.where(helps, most[of], np.minimum(most[of], box.least[of] + moved))
    return replace(box, least=least, most=most)


def _sum_of_products(amounts: Numbers, counts: NDArray[np.int64]) -> int:
    """Return ``sum(amounts * counts)`` exactly; counts are not negative."""
    if amounts.dtype == object or int(counts.sum()) >= _HALF:
        return sum(map(mul, amounts.tolist(), counts.tolist()))
    # What either half of the digits adds up to stays within 64 bits.
    high, low = amounts // _HALF, amounts % _HALF
    return int((high * counts).sum()) * _HALF + int((low * counts).sum())


def _largest(amounts: Numbers) -> int:
    return max(abs(int(amounts.max())), abs(int(amounts.min()))) if amounts.size else 0
