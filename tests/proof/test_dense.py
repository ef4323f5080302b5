"""The simplex for small programs: on random ones its duals prove that its point is the best."""

import numpy as np
import pytest

import planner
from planner.problem.array import FloatArray
from planner.solver.proving import dense, program
from planner.solver.proving.dense import Solved, minimise
from planner.solver.proving.settle import Settling
from tests.conftest import QUICKSTART, TEST_ALL

PROGRAMS = 20_000 if TEST_ALL else 1_200
CLOSE = 1e-6


def bound(
    duals: FloatArray, costs: FloatArray, rows: FloatArray, least: FloatArray, most: FloatArray
) -> float:
    """Return what any point costs at least, by weak duality: each dual has to be from 0 to 1."""
    assert (duals >= 0).all()
    assert (duals <= 1 + CLOSE).all()
    return float(duals @ least + np.minimum(0, costs - rows.T @ duals) @ most)


def assert_optimal(
    solved: Solved, costs: FloatArray, rows: FloatArray, least: FloatArray, most: FloatArray
) -> None:
    assert (solved.point >= -CLOSE).all()
    assert (solved.point <= most + CLOSE).all()
    assert (solved.missed >= 0).all()
    assert (rows @ solved.point + solved.missed >= least - CLOSE).all()
    assert solved.least == pytest.approx(costs @ solved.point + solved.missed.sum(), abs=CLOSE)
    assert solved.least == pytest.approx(bound(solved.duals, costs, rows, least, most), abs=CLOSE)


def test_duals_prove_the_point() -> None:
    chance = np.random.default_rng(1)
    missed = met = 0
    for _ in range(PROGRAMS):
        height, width = chance.integers(1, 15), chance.integers(1, 20)
        rows = np.where(
            chance.random((height, width)) < 0.6, chance.integers(-5, 9, (height, width)), 0
        ).astype(float)
        # Whole numbers, so that many points and bases are equally good.
        least = chance.integers(-6, 20, height).astype(float)
        most = chance.integers(0, 4, width).astype(float)
        costs = np.where(chance.random(width) < 0.5, 0.0, chance.random(width) * 1e-3)
        solved = minimise(costs, rows, least, most)
        assert solved is not None
        assert_optimal(solved, costs, rows, least, most)
        missed += solved.missed.sum() > CLOSE
        met += solved.missed.sum() <= CLOSE
    assert missed > PROGRAMS // 4
    assert met > PROGRAMS // 20


def test_by_hand() -> None:
    """3 are needed of at most 2 at a cost of 0.1 each: 1 is missed."""
    solved = minimise(np.array([0.1]), np.array([[1.0]]), np.array([3.0]), np.array([2.0]))
    assert solved is not None
    assert solved.point.tolist() == [2.0]
    assert solved.missed.tolist() == [1.0]
    assert solved.duals.tolist() == [1.0]
    assert solved.least == pytest.approx(1.2)


def test_a_program_that_takes_too_many_steps_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.array([[1.0]])
    monkeypatch.setattr(dense, "_STEPS", 0)
    assert minimise(np.zeros(1), one, np.ones(1), np.ones(1)) is None
    state = planner.read(QUICKSTART)
    plan = planner.solve(state)  # the tree is longer, and no sum shows `queues`
    assert plan.status == "optimal"
    assert plan.certificate is not None
    assert planner.check(state, plan).accepted
    assert "queues" not in {one.term for one in plan.certificate.sums}


@pytest.mark.parametrize("small", [0, program.SMALL])
def test_the_other_solver_suggests_as_much(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same levels are proved by one sum, whichever of the two solves the programs."""
    monkeypatch.setattr(program, "SMALL", small)
    monkeypatch.setattr(Settling, "at_once", lambda _: None)
    plan = planner.solve(planner.read(QUICKSTART))
    assert plan.certificate is not None
    assert [one.term for one in plan.certificate.sums] == [
        "highest_priority",
        "workloads",
        "priority_weight",
        "queues",
        "victims",
    ]
