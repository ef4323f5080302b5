"""Bounds in exact integers: the same in arrays and in Python's numbers, and right by hand."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from planner.models.shared.classes import Row
from planner.solver import bound
from planner.solver.bound import best_single_row, lagrangian_bound


def row(coefficients: list[int], least: int, *slack: tuple[int, int]) -> Row:
    return Row.of("", np.array(coefficients, dtype=np.int64), least, tuple(slack))


@pytest.mark.parametrize("seed", range(30))
def test_arrays_say_what_python_s_numbers_say(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    size = chance.randint(1, 8)
    costs = np.array([chance.randint(0, 10**6) for _ in range(size)], dtype=np.int64)
    counts = [chance.randint(1, 5) for _ in range(size)]
    rows = [row([chance.randint(-9, 9) for _ in range(size)], chance.randint(-20, 40), (0, -3))]
    rows += [row([0] * size, 1, (0, 1), (1, 1))]
    multipliers = [chance.randint(-5, 10**9), chance.choice([0, 10**30])]
    denominator = 10 ** chance.choice([0, 3, 12, 15])
    given = rows, multipliers, costs, counts
    by_arrays = lagrangian_bound(*given, denominator=denominator, chosen={1})
    monkeypatch.setattr(bound, "_INT64", -1)
    assert by_arrays == lagrangian_bound(*given, denominator=denominator, chosen={1})


def test_beyond_64_bits() -> None:
    """Each of 5 * 2^70 units is worth 2, and a member costs just what its units are worth."""
    costs = np.array([2**62 - 2], dtype=np.int64)
    found = lagrangian_bound([row([2**61 - 1], 5 * 2**70)], [2], costs, [2], denominator=1)
    assert (found.value, found.reduced) == (5 * 2**71, [0])


def test_one_row_by_hand() -> None:
    """Of 7 units: two for 1, three for 3, and the last two of four for 8 make 1 + 3 + 4."""
    costs = np.array([8, 1, 3, 9], dtype=np.int64)
    found, position = best_single_row(
        [row([1, 1, 1, 1], 2), row([4, 2, 3, 0], 7)], costs, [1, 1, 1, 1]
    )
    assert (found.whole, position) == (8, 1)
    assert found.multipliers == (2,)
    assert found.denominator == 1
    assert found.reduced == [0, -3, -3, 9]


def test_what_all_together_do_not_cover_is_bounded_all_the_same() -> None:
    found, position = best_single_row([row([2, 1], 9)], np.array([4, 3], dtype=np.int64), [1, 2])
    assert (found.whole, position) == (4 + 6 + 3 * (9 - 4), 0)


@pytest.mark.parametrize("seed", range(40))
def test_no_cover_costs_less(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    counts = [chance.randint(1, 3) for _ in range(4)]
    costs = np.array([chance.randint(0, 9) for _ in counts], dtype=np.int64)
    rows = [row([chance.randint(0, 5) for _ in counts], chance.randint(1, 9)) for _ in range(2)]
    found, _ = best_single_row(rows, costs, counts)
    for point in product(*(range(count + 1) for count in counts)):
        if all(one.value(np.array(point)) >= one.bound for one in rows):
            assert int(costs @ point) >= found.whole
