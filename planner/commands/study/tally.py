"""What is measured of any answer, and how the values of many are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple


class Spread(NamedTuple):
    """How values are distributed; at least nine tenths of them do not exceed ``p90``."""

    mean: float
    median: float
    p90: float
    max: float


def spread(values: Sequence[float]) -> Spread:
    """Return how some values, at least one, are distributed."""
    ordered = sorted(values)
    p90 = ordered[-(-9 * len(ordered) // 10) - 1]
    return Spread(fmean(ordered), median(ordered), p90, ordered[-1])
