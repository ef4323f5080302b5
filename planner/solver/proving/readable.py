"""Multipliers that a reader can add up: few rows, small numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import lcm
from typing import Final

from planner.proof.claims import BETTER
from planner.solver.proving.look import Look

SIZES: Final = (1, 2, 3, 4, 6, 10, 30, 100, 300, 1000)
"""How finely multipliers are rounded, beside the largest of them or beside the smallest."""


def readable(look: Look, multipliers: Mapping[str, int]) -> dict[str, int]:
    """Return multipliers by which rows contradict one another, as these do, as short as they go.

    A linear program gives rows weight that the sum does without, and doubles are no round numbers.
    """
    kept = dict(multipliers)
    for name in multipliers:
        fewer = {other: m for other, m in kept.items() if other != name}
        if look.contradict(fewer):
            kept = fewer
    shorter = (rounded for rounded in _rounded(kept) if _digits(rounded) < _digits(kept))
    closing = (each for each in sorted(shorter, key=_digits) if look.contradict(each))
    return next(closing, kept)


def _rounded(multipliers: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield multipliers of about the same proportions, none of them 0, and plain guesses.

    Often many multipliers would do, and a program returns a blend of them.
    """
    smallest, largest = min(multipliers.values()), max(multipliers.values())
    for size in SIZES:
        yield {name: size if name == BETTER else 1 for name in multipliers}
        yield {name: 1 if name == BETTER else size for name in multipliers}
        parts = {n: Fraction(m, largest).limit_denominator(size) for n, m in multipliers.items()}
        common = lcm(*(part.denominator for part in parts.values()))
        if all(parts.values()):
            yield {name: int(part * common) for name, part in parts.items()}
        yield {name: round(Fraction(m * size, smallest)) for name, m in multipliers.items()}


def _digits(multipliers: Mapping[str, int]) -> int:
    return sum(len(str(m)) for m in multipliers.values())
