"""Random draws that are the same on every machine and every Python.

Only ``random.Random.random()`` is used: of all its methods it is the one whose numbers Python
promises to keep for a seed (docs.python.org, module random, "Notes on Reproducibility"). What is
drawn from it is integer arithmetic, so that no mathematical library matters either.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")


class Chance:
    """A stream of draws; another ``purpose`` is another stream, so that knobs do not interfere."""

    def __init__(self, seed: int, purpose: str) -> None:
        self._draw = Random(f"preemption-planner/{purpose}/{seed}").random  # noqa: S311 - no secret

    def below(self, bound: int) -> int:
        """Return an integer from 0 up to, but not including, a bound of at most 2^40."""
        return int(self._draw() * bound)

    def between(self, least: int, most: int) -> int:
        """Return an integer of a range, both ends included."""
        return least + self.below(most - least + 1)

    def pick(self, things: Sequence[Thing]) -> Thing:
        """Return one of some things."""
        return things[self.below(len(things))]

    def percent(self, share: int) -> bool:
        """Say yes in so many of a hundred cases."""
        return self.below(100) < share

    def spread(self, least: int, most: int) -> int:
        """Return an integer of a range, each doubling as likely as the others: many are small."""
        doublings = max(1, (most // least).bit_length())
        low = least << self.below(doublings)
        return min(most, self.between(low, 2 * low - 1))
