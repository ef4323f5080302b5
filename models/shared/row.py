"""Linear rows that every legal victim set satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

import numpy as np

from planner.problem.array import IntArray


class Row(NamedTuple):
    """``amounts . take[classes] + slack . z >= bound``; z are witness variables in 0..1.

    ``amounts`` are those of the classes that are named, in ascending order, and not 0: of ten
    thousand queues each has its rows, and few of all classes. ``slack`` maps witness positions to
    their coefficient.
    """

    name: str
    classes: IntArray
    amounts: IntArray
    bound: int
    slack: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls, name: str, coefficients: IntArray, bound: int, slack: tuple[tuple[int, int], ...] = ()
    ) -> Row:
        """Return a row by the coefficients of all classes: (K,)."""
        classes = np.flatnonzero(coefficients)
        return cls(name, classes, coefficients[classes], bound, slack)

    def value(self, taken: IntArray) -> int:
        """Return the left side without witnesses for so many of each class, exactly: (K,)."""
        return sum(map(mul, self.amounts.tolist(), taken[self.classes].tolist()))


class Relaxation(NamedTuple):
    """Rows over the classes and ``witnesses`` additional continuous variables in 0..1.

    In every legal set at least one witness of each of the ``choices`` is 1; it has a negative
    coefficient in one row, and none in the others of that sign.
    """

    rows: Sequence[Row]
    witnesses: int
    choices: Sequence[Sequence[int]] = ()
