"""A box with its rows in doubles: what may close it, and what it leaves open.

What is found in doubles proves nothing: the caller checks it exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress
from math import inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.problem.array import FloatArray
from planner.proof.box import Box, Row, is_contradiction
from planner.proof.question import Layers, Question

FRACTION: Final = 1e-6
"""Numbers that are less than this away from a whole number count as whole."""

_NONE: Final = np.zeros(0, dtype=np.int64)

NO_LEAST: Final = -1.0
"""The right side of a row without entries that always holds."""

EQUAL: Final = 0.5
"""Whole numbers that differ by less are equal."""

_DOUBT: Final = 1e-9
"""The error that sums in doubles may have, as a part of the largest number in them."""


class Entries(NamedTuple):
    """Rows one after the other: the number of the row, the class and the amount of each entry.

    ``names`` are the names of rows by number, rows that are gone included: these have no entries.
    ``least`` is the right side of each row; ``extra_row``, ``extra_names`` and ``extra_amounts``
    are the number of the row, the name and the coefficient of each further quantity. Classes that
    give nobody are left out: ``most`` (K,) is the most victims of each class. ``own`` are rows of a
    box besides ``rows``; boxes within it have them, too.
    """

    rows: Mapping[str, Row]
    names: Sequence[str]
    row_of: NDArray[np.int64]
    classes: NDArray[np.int64]
    amounts: FloatArray
    least: FloatArray
    extra_row: NDArray[np.int64]
    extra_names: Sequence[str]
    extra_amounts: FloatArray
    most: NDArray[np.int64] | None = None
    own: Mapping[str, Row] = {}

    @classmethod
    def of(cls, rows: Mapping[str, Row], most: NDArray[np.int64] | None = None) -> Entries:
        """Write rows down, without the entries of classes of which ``most`` is 0."""
        listed = list(rows.values())
        row_of = np.repeat(np.arange(len(listed)), [row.classes.size for row in listed])
        classes = np.concatenate([_NONE, *(row.classes for row in listed)]).astype(np.int64)
        amounts = np.concatenate([_NONE, *(row.amounts for row in listed)]).astype(float)
        if most is not None:
            open_ = most[classes] > 0
            row_of, classes, amounts = row_of[open_], classes[open_], amounts[open_]
        least = np.array([float(row.least) for row in listed])
        extra = [
            (i, name, float(c))
            for i, row in enumerate(listed)
            if row.extra
            for name, c in row.extra.items()
        ]
        extra_row = np.array([i for i, _, _ in extra], dtype=np.int64)
        further = np.array([c for _, _, c in extra], dtype=float)
        names = [name for _, name, _ in extra]
        given = rows, [*rows], row_of, classes, amounts, least, extra_row, names, further
        return cls(*given, most)

    def updated(self, rows: Mapping[str, Row]) -> Entries:
        """Return the entries of other rows: those that are written down here are kept."""
        if rows is self.rows:
            return self
        kept = {name for name, row in self.rows.items() if rows.get(name) is row}
        _, names, row_of, classes, amounts, least, extra_row, extra_names, further, most, own = self
        if len(kept) < len(self.rows):
            left = kept | own.keys()
            stale = np.array([name not in left for name in names], dtype=np.bool_)
            fresh, fresh_extra = ~stale[row_of], ~stale[extra_row]
            row_of, classes, amounts = row_of[fresh], classes[fresh], amounts[fresh]
            least = np.where(stale, NO_LEAST, least)
            extra_row, further = extra_row[fresh_extra], further[fresh_extra]
            extra_names = [*compress(extra_names, fresh_extra.tolist())]
        entries = row_of, classes, amounts, least, extra_row, extra_names, further
        written = Entries(rows, names, *entries, most, own)
        return written.beside({name: row for name, row in rows.items() if name not in kept})

    def beside(self, more: Mapping[str, Row]) -> Entries:
        """Return these entries and those of more rows, which are not among ``rows``."""
        if not more:
            return self
        new, already = Entries.of(more, self.most), len(self.names)
        return self._replace(
            names=[*self.names, *new.names],  # one can be there already, of a row in another form
            row_of=np.concatenate([self.row_of, new.row_of + already]),
            classes=np.concatenate([self.classes, new.classes]),
            amounts=np.concatenate([self.amounts, new.amounts]),
            least=np.concatenate([self.least, new.least]),
            extra_row=np.concatenate([self.extra_row, new.extra_row + already]),
            extra_names=[*self.extra_names, *new.extra_names],
            extra_amounts=np.concatenate([self.extra_amounts, new.extra_amounts]),
        )

    def within(self, own: Mapping[str, Row]) -> Entries:
        """Return these entries and those of a box's ``own`` rows, as far as they are not there."""
        more = {name: row for name, row in own.items() if self.own.get(name) is not row}
        return self.beside(more)._replace(own={**self.own, **more}) if more else self


_NOTHING_KNOWN: Final = Entries.of({})


def binding_rows(question: Question, box: Box) -> Layers:
    """Return the rows of a question in a box that a set may break at all, by name."""
    own, common = question.layers(box)
    own = {name: row for name, row in own.items() if row.says_something}
    if not own.keys().isdisjoint(common):
        common = {name: row for name, row in common.items() if name not in own}
    return Layers(own, common)


class BoxRows:
    """The rows of one question in one box.

    ``known`` are rows that were written down before, for a box around this one: only rows that are
    not among them are written down here.
    """

    def __init__(self, question: Question, box: Box, known: Entries | None = None) -> None:
        self.box = box
        self.layers = binding_rows(question, box)
        self.ranges = question.ranges(box)
        common = (_NOTHING_KNOWN if known is None else known).updated(self.layers.common)
        part = common.within(self.layers.own)
        self.names = part.names
        self.row_of, self.classes, self.amounts = part.row_of, part.classes, part.amounts
        self.least: FloatArray = part.least
        self.extra_row, self.extra_amount = part.extra_row, part.extra_amounts
        self.quantities = list(dict.fromkeys(part.extra_names))
        number = {name: q for q, name in enumerate(self.quantities)}
        self.extra_quantity = np.array([number[n] for n in part.extra_names], dtype=np.int64)
        ends = [self.ranges[name] for name in self.quantities]
        self.extra_ends: FloatArray = np.array(ends, dtype=float).reshape(len(ends), 2)

    def row(self, name: str) -> Row:
        """Return the row with a name, which is there."""
        found = self.layers.find(name)
        if found is None:
            raise KeyError(name)
        return found

    @cached_property
    def _reach(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the left side of each row is at most and at least in the box, and their error."""
        rows = len(self.names)
        least = self.amounts * self.box.least[self.classes]
        most = self.amounts * self.box.most[self.classes]
        upper: FloatArray = np.bincount(self.row_of, np.maximum(least, most), rows).astype(float)
        lower: FloatArray = np.bincount(self.row_of, np.minimum(least, most), rows).astype(float)
        if self.extra_row.size:
            ends = self.extra_amount[:, None] * self.extra_ends[self.extra_quantity]
            upper += np.bincount(self.extra_row, ends.max(axis=1), rows)
            lower += np.bincount(self.extra_row, ends.min(axis=1), rows)
        doubt = _DOUBT * (np.abs(upper) + np.abs(lower) + np.abs(self.least) + 1.0)
        return upper, lower, doubt

    def closing_row(self) -> str | None:
        """Return a row that no set in the box satisfies, if there is one."""
        upper, _, doubt = self._reach
        # All numbers are whole: where doubles are that close, equal sides are no contradiction.
        least = self.least - np.where(doubt < EQUAL, EQUAL, -doubt)
        for i in (upper < least).nonzero()[0].tolist():
            if self.contradict({self.names[i]: 1}):
                return self.names[i]
        return None

    def narrowing_row(self) -> str | None:
        """Return the row that by itself leaves least of the box; ``None`` if each leaves all."""
        upper, _, doubt = self._reach
        free = (self.box.most - self.box.least)[self.classes]
        spare = (upper - self.least + doubt)[self.row_of]
        # No more members can leave the end at which they help a row than it has to spare.
        movable = np.full(free.size, inf)
        np.divide(spare, np.abs(self.amounts), out=movable, where=self.amounts != 0)
        left_out = free - np.minimum(free, np.floor(movable + FRACTION))
        gone = np.bincount(self.row_of, left_out, len(self.names))
        most = int(gone.argmax()) if gone.size else 0
        return self.names[most] if gone.size and gone[most] > 0 else None

    @cached_property
    def binding(self) -> Sequence[int]:
        """The rows that a set in the box may break, by their numbers."""
        _, lower, doubt = self._reach
        found: list[int] = (lower < self.least + doubt).nonzero()[0].tolist()
        return found

    @cached_property
    def open(self) -> NDArray[np.int64]:
        """The classes left open that may help a binding row: others need not give victims."""
        helps = np.zeros(self.box.least.size, dtype=np.bool_)
        helps[self.classes[self.binds[self.row_of] & (self.amounts > 0)]] = True
        return np.flatnonzero(helps & (self.box.least < self.box.most))

    @cached_property
    def binds(self) -> NDArray[np.bool_]:
        """Whether a set in the box may break a row, by its number."""
        binds = np.zeros(len(self.names), dtype=np.bool_)
        binds[self.binding] = True
        return binds

    @cached_property
    def size(self) -> int:
        """How many entries a program over the classes left open has."""
        return int((self.binds[self.row_of] & np.isin(self.classes, self.open)).sum())

    def entries(self, row: int) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the classes of a row and their amounts, by its number."""
        part = slice(self._begins[row], self._begins[row + 1])
        return self.classes[part], self.amounts[part]

    @cached_property
    def _begins(self) -> Sequence[int]:
        """Where the entries of each row begin, and where those of the last one end."""
        found: list[int] = np.searchsorted(self.row_of, np.arange(len(self.names) + 1)).tolist()
        return found

    def contradict(self, multipliers: Mapping[str, int]) -> bool:
        """Say whether rows contradict one another with these multipliers, exactly."""
        pairs = [(self.row(name), m) for name, m in multipliers.items()]
        return is_contradiction(pairs, self.box, self.ranges)
