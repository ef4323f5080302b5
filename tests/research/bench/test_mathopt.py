"""Programs for other engines: what becomes one, how long they work, and Ctrl-C."""

import random
import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest
from ortools.math_opt.python.mathopt import Model, SolveParameters, SolveResult, SolverType, solve
from ortools.sat.python import cp_model

from planner.models.shared.builder import Builder, Linear
from planner.research.rivals import mathopt
from planner.research.rivals.mathopt import Kind, Milp, Said
from planner.solver.proving.program import ITERATIONS
from planner.stage import progress_to
from tests.solver.test_waiting import User, split_markets


@pytest.fixture(autouse=True)
def _ctrl_c() -> Iterator[None]:
    """Let Python handle it, wherever the tests run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


COLUMNS, ROWS = 40, 5


def program() -> Milp:
    """Return a program that takes more than one iteration: of each column some are needed."""
    chance = random.Random(1)  # noqa: S311 - test data
    builder = Builder()
    columns = [builder.new(0, 3) for _ in range(COLUMNS)]
    for _ in range(ROWS):
        builder.add(Linear({column: chance.randint(0, 9) for column in columns}) >= 200)
    builder.minimize(Linear({column: chance.randint(1, 99) for column in columns}))
    return Milp(builder.proto)


def test_other_rows_are_refused() -> None:
    model = cp_model.CpModel()
    model.add_all_different([model.new_int_var(0, 2, "") for _ in range(2)])
    with pytest.raises(NotImplementedError, match="all_diff"):
        Milp(model.proto)


@pytest.mark.parametrize("kind", ["SCIP", "HiGHS"])
def test_ctrl_c_does_not_wait_for_an_engine(kind: Kind) -> None:
    with progress_to(User(patience=2)), pytest.raises(KeyboardInterrupt):
        Milp(split_markets().proto).ask(kind, seconds=3.0)


@pytest.mark.parametrize("seconds", [None, 3600.0])
def test_every_relaxation_has_a_limit(
    seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of iterations, always, by its rows and columns; and of time, where there is one."""
    given: list[SolveParameters] = []

    def watched(program: Model, engine: SolverType, params: SolveParameters) -> SolveResult:
        given.append(params)
        return solve(program, engine, params=params)

    monkeypatch.setattr(mathopt, "solve", watched)
    assert program().relaxed(seconds)
    (limits,) = given
    assert limits.iteration_limit == ITERATIONS * (COLUMNS + ROWS)
    assert limits.time_limit == (seconds and timedelta(seconds=seconds))


def test_a_relaxation_that_is_stopped_claims_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(program: Model, engine: SolverType, params: SolveParameters) -> SolveResult:
        params.iteration_limit = 1
        return solve(program, engine, params=params)

    monkeypatch.setattr(mathopt, "solve", stopped)
    assert not program().relaxed(None)


@pytest.mark.parametrize("engine", ["SCIP", "HiGHS"])
def test_an_engine_that_gives_up_has_no_answer(
    engine: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gives_up(*_: object, **__: object) -> None:
        raise RuntimeError("as a status of MathOpt that is not OK")

    monkeypatch.setattr(mathopt, "solve", gives_up)
    assert program().ask(engine, 3.0) == Said()
    assert not program().relaxed(3.0)
