"""Rows for a law that bounds all victims but one: the last to go, or the first to be put back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.proof.box import Row

SIZES: Final = 40
"""Sizes of victims up to which each has a quantity of its own."""


class Holders(NamedTuple):
    """Classes, what a member of each holds, and the different sizes that may be the last's."""

    classes: NDArray[np.int64]
    held: NDArray[np.int64]
    sizes: Sequence[int]

    @property
    def unit(self) -> int:
        """Return the common divisor of all that is held, 1 if nothing is."""
        return unit_of(self.held)


def unit_of(held: NDArray[np.int64]) -> int:
    """Return the common divisor of amounts, 1 if all are zero.

    Whatever some of them hold together is a multiple of it: a bound is as good in whole units,
    and in a linear program far better.
    """
    return max(1, int(np.gcd.reduce(held)))


def all_but_last(
    law: str, what: str, holders: Holders, most: int, ranges: dict[str, tuple[int, int]]
) -> Iterator[tuple[str, Row]]:
    """Yield the rows of classes whose victims but one hold at most so much.

    The one is one of the victims: of each size s there is a quantity, at most 1 and at most the
    victims of that size, and together they are at most 1:

        sum(held * x) - sum(s * last_s) <= most

    all in units of their common divisor. Where there are many sizes it is taken to be of the
    largest, the last of ``sizes``.

    Parameters
    ----------
    law, what
        The name of the row, and of what is held, for the names of the quantities.
    ranges
        Gets the least and the largest value of each quantity.
    """
    classes, unit = holders.classes, holders.unit
    held, sizes, most = holders.held // unit, [s // unit for s in holders.sizes], most // unit
    # One size for all of them keeps fewer quantities: the largest permits the most, so the row
    # holds whichever victim is the last.
    if len(sizes) > SIZES:
        yield law, Row(classes, -held, -most - sizes[-1])
        return
    last = {f"last {size} {what}": size for size in sizes}
    ranges.update(dict.fromkeys(last, (0, 1)))
    yield law, Row(classes, -held, -most, last)
    # At most one, not one: the last victim may hold nothing of this, and then all of them count.
    yield f"one last {what}", Row(classes[:0], held[:0], -1, dict.fromkeys(last, -1))
    for name, size in last.items():
        these = classes[held == size]
        yield name, Row(these, np.ones_like(these), 0, {name: -1})
