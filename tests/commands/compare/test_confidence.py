"""Confidence intervals, against what can be worked out by hand, and printed tables."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import comb

import numpy as np
import pytest

from planner.commands.compare import confidence
from planner.commands.compare.confidence import clustered, mean, median, share
from planner.errors import InputError
from tests.told import told


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(1, 10, 0.0025, 0.4450), (3, 10, 0.0667, 0.6525), (5, 10, 0.1871, 0.8129)],
)
def test_share_is_that_of_the_tables(count: int, of: int, low: float, high: float) -> None:
    """Of Clopper and Pearson's limits, as printed in tables of the binomial distribution."""
    assert share(count, of) == pytest.approx((count / of, low, high), abs=5e-5)


def test_share_holds_at_least_as_often_as_it_says() -> None:
    """Whatever the true share is, by all outcomes of 12 draws, each with its chance."""
    bounds = [share(count, 12)[1:] for count in range(13)]
    for true in (n / 50 for n in range(51)):
        chances = (comb(12, k) * true**k * (1 - true) ** (12 - k) for k in range(13))
        held = (low <= true <= high for low, high in bounds)
        assert sum(c for c, is_held in zip(chances, held, strict=True) if is_held) >= 0.95


@pytest.mark.parametrize(("count", "of"), [(0, 0), (3, 2), (-1, 2)])
def test_share_of_nothing(count: int, of: int) -> None:
    with pytest.raises(ValueError, match=f"{count} of {of} states is no share"):
        share(count, of)


def test_mean_is_about_that_of_the_normal_distribution() -> None:
    """Of 0, 1, ..., 99, four times: 49.5, and 1.96 · 28.87 / √400 = 2.83 around it."""
    value, low, high = mean(list(range(100)) * 4)
    assert value == 49.5
    assert value - low == pytest.approx(2.83, rel=0.1)
    assert high - value == pytest.approx(2.83, rel=0.1)
    narrow = mean(list(range(100)) * 4, level=0.5)
    assert low < narrow.low < value < narrow.high < high


def test_mean_is_repeatable_however_it_is_calculated(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [(n * n % 37) / 10 for n in range(50)]
    once = mean(values, seed=1)
    assert mean(values, seed=1) == once
    assert mean(values, seed=2) != once
    monkeypatch.setattr(confidence, "_VALUES_AT_ONCE", 120)
    assert all(
        abs(one - other) < 0.2 for one, other in zip(mean(values, seed=1), once, strict=True)
    )
    assert all(low <= high for low, high in pairwise((once.low, once.value, once.high)))


def test_mean_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean([])


def test_mean_of_a_skewed_measure_is_covered_more_often_than_by_plain_quantiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 300 samples of 100, with a mean of exp(1.5² / 2)."""
    monkeypatch.setattr(confidence, "RESAMPLES", 800)
    generator, true = np.random.default_rng(1), float(np.exp(1.5**2 / 2))
    covered = plain = 0
    for trial in range(300):
        values = generator.lognormal(0, 1.5, 100)
        _, low, high = mean(values.tolist(), seed=trial)
        covered += low <= true <= high
        drawn = np.random.default_rng(trial).integers(100, size=(800, 100))
        low, high = np.quantile(values[drawn].mean(axis=1), (0.025, 0.975))
        plain += low <= true <= high
    assert plain < covered
    assert covered >= 0.85 * 300


@pytest.mark.parametrize("of", range(6, 60))
def test_median_is_between_two_values_as_often_as_it_says(of: int) -> None:
    """Of 1 to n: nearer values would hold it too seldom."""
    value, low, high = median(range(1, of + 1))
    assert value == (of + 1) / 2
    assert low + high == of + 1
    outside = [2 * sum(comb(of, k) for k in range(end)) / 2**of for end in (int(low), int(low) + 1)]
    assert outside[0] <= 0.05 < outside[1]


def test_median_of_few_is_between_the_smallest_and_the_largest() -> None:
    assert median([7]) == (7, 7, 7)
    assert median([4, 1, 2]) == (2, 1, 4)
    with pytest.raises(ValueError, match="no values"):
        median([])


def test_states_that_repeat_in_a_cluster_tell_nothing_more() -> None:
    """Five copies of each state in its cluster: the interval is that of the states once."""
    sample = np.random.default_rng(1).exponential(size=30)
    once = clustered([*sample], range(30))
    assert clustered([*np.repeat(sample, 5)], [*np.repeat(np.arange(30), 5)]) == pytest.approx(once)
    assert once == pytest.approx(mean([*sample]), rel=0.05)
    independent = mean([*np.repeat(sample, 5)])
    assert independent.high - independent.low < 0.6 * (once.high - once.low)


def test_every_value_has_its_cluster() -> None:
    with pytest.raises(ValueError, match="2 values are in 1 clusters"):
        clustered([1, 2], ["a"])


@pytest.mark.parametrize(
    "asked", [partial(share, 1, 2), partial(mean, [1, 2]), partial(median, [1, 2])]
)
def test_what_is_missing_is_said(
    asked: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(InputError) as caught:
        asked()
    told(caught.value)


def test_equal_means_of_clusters_are_certain() -> None:
    """Whichever clusters are drawn, half of the states have it."""
    assert clustered([0, 1, 0, 1], ["a", "a", "b", "b"]) == (0.5, 0.5, 0.5)
