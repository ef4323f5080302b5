"""A box with its rows, in arrays of doubles: what may close it, and what can bind in it.

Everything seen here is a suggestion; what comes of it is judged in integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.proof.box import Box, Row, is_contradiction
from planner.proof.question import Question

Floats = NDArray[np.float64]

FRACTION: Final = 1e-6
"""Less than this away from a whole number counts as whole."""

_NONE: Final = np.zeros(0, dtype=np.int64)
_NO_ROW: Final = Row(_NONE, _NONE, -1)

_DOUBT: Final = 1e-9
"""What sums in doubles may be off by, of the largest number in them."""


class Part(NamedTuple):
    """Rows one after the other: the number of the row, the class and the amount of each entry."""

    rows: Mapping[str, Row]
    row_of: NDArray[np.int64]
    classes: NDArray[np.int64]
    amounts: Floats

    @classmethod
    def of(cls, rows: Mapping[str, Row], most: NDArray[np.int64] | None = None) -> Part:
        """Write rows down, without the classes that give nobody: ``most`` bounds each, (K,)."""
        listed = list(rows.values())
        row_of = np.repeat(np.arange(len(listed)), [row.classes.size for row in listed])
        classes = np.concatenate([_NONE, *(row.classes for row in listed)]).astype(np.int64)
        amounts = np.concatenate([[], *(row.amounts.astype(float) for row in listed)])
        if most is None:
            return cls(rows, row_of, classes, amounts)
        alive = most[classes] > 0
        return cls(rows, row_of[alive], classes[alive], amounts[alive])


class Look:
    """The rows of one question in one box.

    ``known`` are rows that were written down before, for a box around this one: only rows that it
    has not are written again.
    """

    def __init__(self, question: Question, box: Box, known: Part | None = None) -> None:
        self.box = box
        rows = question.rows(box).items()
        self.rows: Mapping[str, Row] = {name: row for name, row in rows if _says_something(row)}
        self.ranges = question.ranges(box)
        part = Part.of({}) if known is None else known
        same = part.rows.items() if known is not None else ()
        kept = {name for name, row in same if self.rows.get(name) is row}
        new = Part.of({name: row for name, row in self.rows.items() if name not in kept})
        # A row of the known ones that does not hold here in just that form is left without entries.
        self.names: Sequence[str] = [*part.rows, *new.rows]
        stale = np.array([name not in kept for name in part.rows], dtype=np.bool_)
        fresh = ~stale[part.row_of] if stale.any() else slice(None)
        self.row_of = np.concatenate([part.row_of[fresh], new.row_of + len(part.rows)])
        self.classes = np.concatenate([part.classes[fresh], new.classes])
        self.amounts: Floats = np.concatenate([part.amounts[fresh], new.amounts])
        listed = [*(self.rows[n] if n in kept else _NO_ROW for n in part.rows), *new.rows.values()]
        self.least: Floats = np.array([float(row.least) for row in listed])
        extra = [
            (i, name, float(c)) for i, row in enumerate(listed) for name, c in row.extra.items()
        ]
        self.quantities = list(dict.fromkeys(name for _, name, _ in extra))
        number = {name: q for q, name in enumerate(self.quantities)}
        self.extra_row = np.array([i for i, _, _ in extra], dtype=np.int64)
        self.extra_quantity = np.array([number[name] for _, name, _ in extra], dtype=np.int64)
        self.extra_amount: Floats = np.array([c for _, _, c in extra], dtype=float)
        ends = [self.ranges[name] for name in self.quantities]
        self.extra_ends: Floats = np.array(ends, dtype=float).reshape(len(ends), 2)

    @cached_property
    def _reach(self) -> tuple[Floats, Floats, Floats]:
        """What the left side of each row is at most and at least in the box, and its doubt."""
        rows = len(self.names)
        least = self.amounts * self.box.least[self.classes]
        most = self.amounts * self.box.most[self.classes]
        ends = self.extra_amount[:, None] * self.extra_ends[self.extra_quantity]
        upper: Floats = np.bincount(self.row_of, np.maximum(least, most), rows).astype(float)
        lower: Floats = np.bincount(self.row_of, np.minimum(least, most), rows).astype(float)
        upper += np.bincount(self.extra_row, ends.max(axis=1, initial=-np.inf), rows)
        lower += np.bincount(self.extra_row, ends.min(axis=1, initial=np.inf), rows)
        doubt = _DOUBT * (np.abs(upper) + np.abs(lower) + np.abs(self.least) + 1.0)
        return upper, lower, doubt

    def closing_row(self) -> str | None:
        """Return a row that nothing in the box satisfies, if there is one."""
        upper, _, doubt = self._reach
        for i in np.flatnonzero(upper < self.least + doubt).tolist():
            if self.contradict({self.names[i]: 1}):
                return self.names[i]
        return None

    @cached_property
    def binding(self) -> Sequence[int]:
        """The rows that something in the box may break, by their numbers."""
        _, lower, doubt = self._reach
        found: list[int] = np.flatnonzero(lower < self.least + doubt).tolist()
        return found

    def entries(self, row: int) -> tuple[NDArray[np.int64], Floats]:
        """Return the classes of a row and their amounts, by its number."""
        part = slice(*np.searchsorted(self.row_of, [row, row + 1]).tolist())
        return self.classes[part], self.amounts[part]

    def contradict(self, multipliers: Mapping[str, int]) -> bool:
        """Say whether rows contradict one another with these multipliers, exactly."""
        pairs = [(self.rows[name], m) for name, m in multipliers.items()]
        return is_contradiction(pairs, self.box, self.ranges)


def _says_something(row: Row) -> bool:
    return bool(row.classes.size or row.extra) or row.least > 0
