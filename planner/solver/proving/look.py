"""A box with its rows, in arrays of doubles: what may close it, and what can bind in it.

Everything seen here is a suggestion; what comes of it is judged in integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.proof.box import Box, Row, is_contradiction
from planner.proof.question import Question

Floats = NDArray[np.float64]

_DOUBT: Final = 1e-9
"""What sums in doubles may be off by, of the largest number in them."""


class Look:
    """The rows of one question in one box."""

    def __init__(self, question: Question, box: Box) -> None:
        self.box = box
        self.rows: Mapping[str, Row] = question.rows(box)
        self.ranges = question.ranges(box)
        self.names: Sequence[str] = list(self.rows)
        listed = list(self.rows.values())
        sizes = [row.classes.size for row in listed]
        self.row_of = np.repeat(np.arange(len(listed)), sizes)
        self.classes = np.concatenate([row.classes for row in listed]).astype(np.int64)
        self.amounts: Floats = np.concatenate([row.amounts.astype(float) for row in listed])
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
