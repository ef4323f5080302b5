"""How far a share or a mean of a sample of states can be from that of all of them.

The intervals are about which states were drawn, given how states are drawn. They do not say
whether the drawn states are like somebody's cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

LEVEL: Final = 0.95
RESAMPLES: Final = 5000
_VALUES_AT_ONCE: Final = 2_000_000


class Interval(NamedTuple):
    """An estimate, and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


def share(count: int, of: int, level: float = LEVEL) -> Interval:
    """Return the share of states that have a property, with its exact binomial interval.

    Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case
    of the binomial" (1934), as SciPy has it. It holds for any number of states, and is never too
    narrow.

    Raises
    ------
    ValueError
        If there is no state, or there are fewer than have the property.
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - it takes a second to load

    found = binomtest(count, of).proportion_ci(level, method="exact")
    return Interval(count / of, float(found.low), float(found.high))


def mean(values: Sequence[float], seed: int = 0, level: float = LEVEL) -> Interval:
    """Return the mean of a measure, with its bootstrap percentile interval.

    As many values are drawn from the values themselves with replacement, 5000 times; the bounds
    are quantiles of the means of the draws. Source: Efron and Tibshirani, "An Introduction to the
    Bootstrap" (1993), chapter 13.

    Parameters
    ----------
    values
        One for each state; states are drawn independently of one another.

    Raises
    ------
    ValueError
        If there are no values.
    """
    sample = np.asarray(values, dtype=np.float64)
    if not sample.size:
        raise ValueError("there are no values")
    generator = np.random.default_rng(seed)
    left, means = RESAMPLES, []
    while left:
        now = min(left, max(1, _VALUES_AT_ONCE // sample.size))
        drawn = generator.integers(sample.size, size=(now, sample.size))
        means.append(sample[drawn].mean(axis=1))
        left -= now
    low, high = np.quantile(np.concatenate(means), ((1 - level) / 2, (1 + level) / 2))
    return Interval(float(sample.mean()), float(low), float(high))
