"""A linear program that is solved again with other bounds, against one that is new each time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from planner.models.shared.classes import Row
from planner.solver.mathopt import Simplex, Solved

PRICE = 1000.0


def row(coefficients: list[int], bound: int, *slack: tuple[int, int]) -> Row:
    return Row.of("", np.array(coefficients, dtype=np.int64), bound, tuple(slack))


def value(solved: Solved, costs: list[float]) -> float | None:
    return None if solved.solution is None else float(np.dot(costs, solved.solution))


@pytest.mark.parametrize("seed", range(20))
def test_a_branch_is_what_a_new_program_finds(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    costs = [float(chance.randint(1, 9)) for _ in range(6)]
    most = [float(chance.randint(1, 4)) for _ in costs]
    rows = [row([chance.randint(0, 3) for _ in costs], chance.randint(1, 14)) for _ in range(3)]
    warm, solvable = Simplex(costs, most, rows, PRICE), 0
    for _ in range(8):
        bounds = []
        for upper in most:
            low, high = sorted((chance.uniform(0, upper), chance.uniform(0, upper)))
            bounds.append((low, upper) if chance.random() < 0.7 else (low, high))
        cold = Simplex(costs, most, rows, PRICE)
        for program in (warm, cold):
            for column, (low, high) in enumerate(bounds):
                program.bound(column, low, high)
        again, anew = warm.solve(), cold.solve()
        assert again.impossible == anew.impossible
        assert value(again, costs) == pytest.approx(value(anew, costs))
        solvable += again.solution is not None
    assert solvable or seed not in {0, 1, 2}


def test_by_hand() -> None:
    """Three of a and b, a at 2 and b at 5, of a at most two: 2 + 2 + 5. A unit more costs 5."""
    program = Simplex([2.0, 5.0], [2.0, 9.0], [row([1, 1], 3)], PRICE)
    solved = program.solve()
    assert solved.solution is not None
    assert solved.duals is not None
    assert solved.solution.tolist() == pytest.approx([2, 1])
    assert solved.duals.tolist() == pytest.approx([5])


def test_a_witness_stands_after_the_other_columns() -> None:
    """What costs 1 and four times the witness are at least 4."""
    program = Simplex([1.0, 0.0], [9.0, 1.0], [row([1], 4, (0, 4))], PRICE, 1)
    assert value(program.solve(), [1.0, 0.0]) == pytest.approx(0)
    program.bound(1, 0.0, 0.0)
    assert value(program.solve(), [1.0, 0.0]) == pytest.approx(4)


def test_rows_are_missed_at_a_price_only_if_they_may() -> None:
    """Five are needed of four; the row may be missed by units of its largest coefficient."""
    program = Simplex([1.0], [4.0], [row([2], 10)], PRICE)
    assert program.solve().impossible
    program.allow_misses(missed=True)
    missed = program.solve()
    assert not missed.impossible
    assert missed.duals is not None
    assert missed.duals.tolist() == pytest.approx([PRICE / 2])
    program.allow_misses(missed=False)
    assert program.solve().impossible
