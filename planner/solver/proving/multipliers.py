"""Multipliers in doubles, as a linear program has them, made integers: precise or short ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Final

from planner.proof.claims import BETTER
from planner.solver.proving.rows import BoxRows

_LONG: Final = 2**31
"""Amounts from this size on take more than half of the 64 bits."""


def plain(multipliers: Sequence[float]) -> list[int]:
    """Return short integers in about the proportions of doubles, the largest of which is not 0."""
    most = max(multipliers)
    parts = [Fraction(m / most).limit_denominator(1000) for m in multipliers]
    common = lcm(*(part.denominator for part in parts))
    return [int(part * common) for part in parts]


CLOSING: Final = 30
"""Bits of the smallest multiplier of a sum of rows that closes a box."""

NARROWING: Final = 20
"""Bits of that of one that narrows a box: later questions try it in wider ones, where amounts are
larger, and there, too, it is to stay within 64 bits."""


def precise(
    multipliers: Sequence[float], largest: Sequence[int], digits: int = CLOSING
) -> list[list[int]]:
    """Return integers in the proportions of doubles, of which one is not 0, the closest last.

    ``largest`` has the largest amount of each row. The smallest becomes 2^``digits``, if sums of
    rows stay within 64 bits so, in which they are added up ten times faster.
    """
    most = max(multipliers)
    relative = [m / most for m in multipliers]
    # Rounding moves none by more than half a part in 2^digits; a multiplier that 64 bits round to 0
    # is the noise of a linear program.
    in_all = sum(m * amount for m, amount in zip(relative, largest, strict=True))
    closest, small = 2**digits / min(m for m in relative if m > 0), 2**61 / in_all
    scales = [min(closest, small)]
    if max(largest) >= _LONG:  # amounts leave the multipliers few digits there
        scales.append(min(closest, small * max(largest)))
    return [[round(m * scale) for m in relative] for scale in scales]


SIZES: Final = (1, 2, 3, 4, 6, 10, 30, 100, 300, 1000)
"""How finely multipliers are rounded, beside the largest of them or beside the smallest."""


def readable(look: BoxRows, multipliers: Mapping[str, int]) -> dict[str, int]:
    """Return the shortest multipliers found by which some of the rows still contradict one another.

    A linear program also weighs rows that the sum does not need, and doubles are no round numbers.
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

    Often several choices of multipliers would do, and a program returns a blend of them.
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
