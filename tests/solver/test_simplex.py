"""Linear programs: one that is solved again with other bounds, and ones that are stopped."""

from __future__ import annotations

import random

import numpy as np
import pytest
from ortools.math_opt.parameters_pb2 import SolveParametersProto

from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Relaxation, Row
from planner.solver import mathopt
from planner.solver.attempt import ITERATIONS
from planner.solver.bound import linear_programming_bound
from planner.solver.deadline import Deadline
from planner.solver.mathopt import Simplex, Solved, relaxed, translate
from tests.solver.test_linear_program import classes_of

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


WIDE = 40
"""Columns of a program that takes more than one iteration."""


def wide() -> tuple[list[int], list[int], list[Row]]:
    """Return costs, the most of each column, and rows: of each column some are needed."""
    chance = random.Random(1)  # noqa: S311 - test data
    costs = [chance.randint(1, 99) for _ in range(WIDE)]
    rows = [row([chance.randint(0, 9) for _ in costs], 200) for _ in range(5)]
    return costs, [3] * WIDE, rows


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[SolveParametersProto]:
    """Return the parameters of the linear programs that are solved from now on."""
    seen: list[SolveParametersProto] = []
    limited = mathopt._limited  # noqa: SLF001 - watched

    def watched(size: int, seconds: float | None) -> SolveParametersProto:
        seen.append(limited(size, seconds))
        return seen[-1]

    monkeypatch.setattr(mathopt, "_limited", watched)
    return seen


@pytest.fixture
def _one_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop each linear program after its first iteration."""
    parameters = SolveParametersProto(iteration_limit=1)
    monkeypatch.setattr(mathopt, "_limited", lambda _size, _seconds: parameters)


def program() -> Builder:
    """Return the wide program as a model."""
    costs, most, rows = wide()
    builder = Builder()
    columns = [builder.new(0, upper) for upper in most]
    for each in rows:
        terms = {columns[k]: int(c) for k, c in zip(each.classes, each.amounts, strict=True)}
        builder.add(Linear(terms) >= each.bound)
    builder.minimize(Linear(dict(zip(columns, costs, strict=True))))
    return builder


@pytest.mark.parametrize("seconds", [None, 3600.0])
def test_every_program_has_a_limit(
    given: list[SolveParametersProto], seconds: float | None
) -> None:
    """Of iterations, always, by its rows and columns (of which one says what a row is missed by).

    And of time, where there is one.
    """
    costs, most, rows = wide()
    assert (
        Simplex([*map(float, costs)], [*map(float, most)], rows, PRICE).solve(seconds).solution
        is not None
    )
    assert relaxed(translate(program().proto), seconds)
    sizes = WIDE + 2 * len(rows), WIDE + len(rows)
    assert [each.iteration_limit for each in given] == [ITERATIONS * size for size in sizes]
    assert all(each.HasField("time_limit") == (seconds is not None) for each in given)


@pytest.mark.usefixtures("_one_iteration")
def test_a_program_that_is_stopped_claims_no_optimum() -> None:
    """Nor that there is none."""
    costs, most, rows = wide()
    stopped = Simplex([*map(float, costs)], [*map(float, most)], rows, PRICE).solve()
    assert stopped.solution is None
    assert not stopped.impossible
    assert not relaxed(translate(program().proto), None)


def test_what_is_proved_by_a_stopped_program_holds(request: pytest.FixtureRequest) -> None:
    """It is below what the whole program proves, and no more than nothing after the time."""
    costs, most, rows = wide()

    def bound(deadline: Deadline) -> int:
        relaxation, counts = Relaxation(rows, 0), classes_of(most)
        array = np.array(costs, dtype=np.int64)
        return linear_programming_bound(relaxation, counts, array, [], deadline).whole

    whole = bound(Deadline())
    assert bound(Deadline(0.0)) == 0
    request.getfixturevalue("_one_iteration")
    assert 0 < bound(Deadline()) < whole
