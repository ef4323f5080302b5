"""How far a share, a mean or a median of a sample of states can be from that of all states.

The intervals say how much depends on which states were drawn, given how they are drawn, but not
whether the drawn states are like somebody's cluster. SciPy works them out.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from planner.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL: Final = 0.95
RESAMPLES: Final = 5000
EXTRA: Final = "pip install 'preemption-planner[research]', or '.[research]' in a checkout"
_VALUES_AT_ONCE: Final = 2_000_000


class Interval(NamedTuple):
    """An estimate, and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


def share(count: int, of: int, level: float = LEVEL) -> Interval:
    """Return the share of states that have a property, with its exact binomial interval.

    Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case
    of the binomial" (1934). The interval holds for any number of states, and is never too narrow.

    Raises ``ValueError`` if there is no state, or there are fewer than have the property, and
    ``InputError`` if SciPy is not installed, as all of these do.
    """
    if not 0 <= count <= of or not of:
        raise ValueError(f"{count} of {of} states is no share")
    bounds = _stats().binomtest(count, of).proportion_ci(level, "exact")
    return Interval(count / of, float(bounds.low), float(bounds.high))


def mean(values: Sequence[float], seed: int = 0, level: float = LEVEL) -> Interval:
    """Return the mean of a measure, with its bias-corrected and accelerated bootstrap interval.

    A draw takes as many values as there are from them, with replacement; there are 5000 draws.
    Lost work is skewed: some states lose a hundred times the mean. Plain quantiles of the means of
    the draws lie too low there, and cover the mean less often than the level says; the corrected
    ones do so, too, but less. Source: Efron, "Better Bootstrap Confidence Intervals" (1987); Efron
    and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 14. There is a value for each
    state, and states are drawn independently of one another.

    Raises ``ValueError`` if there are no values.
    """
    return clustered(values, range(len(values)), seed, level)


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
    centre, sums, sizes = float(sample.mean()), np.bincount(of, weights=sample), np.bincount(of)
    if not np.ptp(sums / sizes):  # every draw has the same mean
        return Interval(centre, centre, centre)

    def means(sums: NDArray[Any], sizes: NDArray[Any], axis: int) -> NDArray[Any]:
        drawn: NDArray[Any] = sums.sum(axis) / sizes.sum(axis)
        return drawn

    found = _stats().bootstrap(
        (sums, sizes),
        means,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, _VALUES_AT_ONCE // sums.size),
        confidence_level=level,
        method="BCa",
        rng=seed,
    )
    return Interval(centre, *map(float, found.confidence_interval))


def median(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the median of a measure, with the exact interval between two of the values.

    The k-th smallest and the k-th largest value have the median between them unless fewer than k
    of n values fall on one side of it: a binomial count, however the measure is distributed. With
    five values or fewer even the smallest and the largest do so less often than 95%.

    Raises ``ValueError`` if there are no values.
    """
    sample = np.sort(_array(values))
    outside = max(int(_stats().binom.ppf((1 - level) / 2, sample.size, 0.5)) - 1, 0)
    return Interval(float(np.median(sample)), float(sample[outside]), float(sample[-1 - outside]))


def _array(values: Sequence[float]) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    if not sample.size:
        raise ValueError("there are no values")
    return sample


def _stats() -> ModuleType:
    try:
        from scipy import stats  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("confidence intervals", "scipy is not installed", hint=EXTRA) from None
    return stats
