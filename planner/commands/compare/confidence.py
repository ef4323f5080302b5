"""How far a share, a mean or a median of a sample of states can be from that of all states.

The intervals say how much depends on which states were drawn, given how they are drawn, but not
whether the drawn states are like somebody's cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import lgamma
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL: Final = 0.95
RESAMPLES: Final = 5000
_VALUES_AT_ONCE: Final = 2_000_000
_NORMAL: Final = NormalDist()


class Interval(NamedTuple):
    """An estimate, and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


def share(count: int, of: int, level: float = LEVEL) -> Interval:
    """Return the share of states that have a property, with its exact binomial interval.

    Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case
    of the binomial" (1934). The interval holds for any number of states, and is never too narrow.

    Raises ``ValueError`` if there is no state, or there are fewer than have the property.
    """
    if not 0 <= count <= of or not of:
        raise ValueError(f"{count} of {of} states is no share")
    outside = (1 - level) / 2
    low, high = _least_chance(count, of, outside), 1 - _least_chance(of - count, of, outside)
    return Interval(count / of, low, high)


def mean(values: Sequence[float], seed: int = 0, level: float = LEVEL) -> Interval:
    r"""Return the mean of a measure, with its bias-corrected and accelerated bootstrap interval.

    A draw takes as many values as there are from them, with replacement; there are 5000 draws. The
    bounds are quantiles of the means of the draws, but not those at the level itself: with z of
    the level, z0 from the share of draws below the mean, and the acceleration a, a sixth of the
    skewness of a mean,

        quantile = Phi(z0 + (z0 + z) / (1 - a (z0 + z))).

    Lost work is skewed: some states lose a hundred times the mean. Plain quantiles lie too low
    there, and cover the mean less often than the level says; the corrected ones do so, too, but
    less. Source: Efron, "Better Bootstrap Confidence Intervals" (1987); Efron and Tibshirani, "An
    Introduction to the Bootstrap" (1993), chapter 14. There is a value for each state, and states
    are drawn independently of one another.

    Raises ``ValueError`` if there are no values.
    """
    sample = _array(values)
    centre = float(sample.mean())
    acceleration = _acceleration(sample - centre)
    if acceleration is None:
        return Interval(centre, centre, centre)
    means = _resampled(sample, np.ones_like(sample), seed)
    return _accelerated(centre, means, acceleration, level)


def clustered(
    values: Sequence[float], clusters: Sequence[Hashable], seed: int = 0, level: float = LEVEL
) -> Interval:
    """Return the mean of a measure, with an interval that draws whole clusters of states.

    States that have something in common, such as two moments of one day at which the same
    workloads run, are not independent. So clusters are drawn with replacement, as many as there
    are, each with all its states; the mean of a draw is over its states. The bounds are
    bias-corrected and accelerated as those of ``mean``, the acceleration by leaving out one
    cluster at a time. Source: Davison and Hinkley, "Bootstrap Methods and their Application"
    (1997), section 3.8. There is a value for each state, 0 or 1 for a share, and the cluster to
    which it belongs; clusters are drawn independently of one another.

    Raises ``ValueError`` if there are no values, or there is not one cluster for each value.
    """
    sample = _array(values)
    if len(clusters) != sample.size:
        raise ValueError(f"{sample.size} values are in {len(clusters)} clusters")
    numbers: dict[Hashable, int] = {}
    of = np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters])
    centre = float(sample.mean())
    if len(numbers) == 1 or not sample.std():
        return Interval(centre, centre, centre)
    sums, sizes = np.bincount(of, weights=sample), np.bincount(of)
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    acceleration = _acceleration(without.mean() - without) or 0.0
    return _accelerated(centre, _resampled(sums, sizes, seed), acceleration, level)


def _acceleration(away: NDArray[np.float64]) -> float | None:
    """Return a sixth of the skewness of a mean, from distances to it; ``None`` if all are 0."""
    squares = float((away**2).sum())
    return float((away**3).sum()) / (6 * squares**1.5) if squares else None


def _accelerated(
    centre: float, means: NDArray[np.float64], acceleration: float, level: float
) -> Interval:
    """Return the quantiles of the means of draws, bias-corrected and accelerated."""
    below = float((means < centre).mean() + (means == centre).mean() / 2)
    bias = _NORMAL.inv_cdf(min(max(below, 1 / RESAMPLES), 1 - 1 / RESAMPLES))
    ends = (_NORMAL.inv_cdf(end) for end in ((1 - level) / 2, (1 + level) / 2))
    moved = ((bias + end) / (1 - acceleration * (bias + end)) for end in ends)
    low, high = np.quantile(means, [_NORMAL.cdf(bias + end) for end in moved])
    return Interval(centre, float(low), float(high))


def median(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the median of a measure, with the exact interval between two of the values.

    The k-th smallest and the k-th largest value have the median between them unless fewer than k
    of n values fall on one side of it: a binomial count, however the measure is distributed. With
    five values or fewer even the smallest and the largest do so less often than 95%.

    Raises ``ValueError`` if there are no values.
    """
    sample = np.sort(_array(values))
    at_most = _binomial(_log_ways(sample.size), 0.5).cumsum()
    outside = max(int(np.searchsorted(at_most, (1 - level) / 2)) - 1, 0)
    low, high = sample[outside], sample[sample.size - 1 - outside]
    return Interval(float(np.median(sample)), float(low), float(high))


def _least_chance(count: int, of: int, tail: float) -> float:
    """Return the chance of the property with which P(``count`` of them or more) is ``tail``."""
    low, high, ways = 0.0, count / of, _log_ways(of)
    while low < (middle := (low + high) / 2) < high:
        if _binomial(ways, middle)[count:].sum() < tail:
            low = middle
        else:
            high = middle
    return high


def _binomial(log_ways: NDArray[np.float64], chance: float) -> NDArray[np.float64]:
    """Return the probabilities that 0, 1, ... and all states have a property."""
    have = np.arange(log_ways.size)
    lack = have[::-1]
    density: NDArray[np.float64] = np.exp(
        log_ways + have * np.log(chance) + lack * np.log1p(-chance)
    )
    return density


def _log_ways(of: int) -> NDArray[np.float64]:
    """Return the logarithms of the numbers of ways to choose 0, 1, ... and all states."""
    factorials = np.array([lgamma(count + 1) for count in range(of + 1)])
    ways: NDArray[np.float64] = factorials[-1] - factorials - factorials[::-1]
    return ways


def _array(values: Sequence[float]) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    if not sample.size:
        raise ValueError("there are no values")
    return sample


def _resampled(sums: NDArray[Any], sizes: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """Return the means of the draws of clusters with such sums and sizes: (RESAMPLES,)."""
    generator = np.random.default_rng(seed)
    left, means = RESAMPLES, []
    while left:
        now = min(left, max(1, _VALUES_AT_ONCE // sums.size))
        drawn = generator.integers(sums.size, size=(now, sums.size))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
        left -= now
    return np.concatenate(means)
