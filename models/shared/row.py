"""Linear rows that every legal victim set satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.problem.array import IntArray


@dataclass(frozen=True, slots=True)
class Row:
    """``coefficients . take + slack . z >= bound``; z are witness variables in 0..1.

    coefficients: (K,) per class. ``slack`` maps witness positions to their coefficient.
    """

    name: str
    coefficients: IntArray
    bound: int
    slack: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Rows over the classes and ``witnesses`` additional continuous variables in 0..1.

    In every legal set at least one witness of each of the ``choices`` is 1; it has a negative
    coefficient in one row, and none in the others of that sign.
    """

    rows: Sequence[Row]
    witnesses: int
    choices: Sequence[Sequence[int]] = ()
