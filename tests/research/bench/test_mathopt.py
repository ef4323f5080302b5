"""Programs for other engines: what becomes one, how long they work, and Ctrl-C."""

import random
import signal
from collections.abc import Iterator

import pytest
from ortools.math_opt.parameters_pb2 import SolveParametersProto
from ortools.sat.python import cp_model

from planner.models.shared.builder import Builder, Linear
from planner.research.rivals import mathopt
from planner.research.rivals.mathopt import Kind, Milp, ask, relaxed, translate
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
    return translate(builder.proto)


def test_other_rows_are_refused() -> None:
    model = cp_model.CpModel()
    model.add_all_different([model.new_int_var(0, 2, "") for _ in range(2)])
    with pytest.raises(NotImplementedError, match="all_diff"):
        translate(model.proto)


@pytest.mark.parametrize("kind", ["SCIP", "HiGHS"])
def test_ctrl_c_does_not_wait_for_an_engine(kind: Kind) -> None:
    with progress_to(User(patience=2)), pytest.raises(KeyboardInterrupt):
        ask(translate(split_markets().proto), kind, seconds=3.0)


@pytest.mark.parametrize("seconds", [None, 3600.0])
def test_every_relaxation_has_a_limit(
    seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of iterations, always, by its rows and columns; and of time, where there is one."""
    given: list[SolveParametersProto] = []
    limited = mathopt._limited  # noqa: SLF001 - watched

    def watched(size: int, seconds: float | None) -> SolveParametersProto:
        given.append(limited(size, seconds))
        return given[-1]

    monkeypatch.setattr(mathopt, "_limited", watched)
    assert relaxed(program(), seconds)
    (limits,) = given
    assert limits.iteration_limit == ITERATIONS * (COLUMNS + ROWS)
    assert limits.HasField("time_limit") == (seconds is not None)


def test_a_relaxation_that_is_stopped_claims_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = SolveParametersProto(iteration_limit=1)
    monkeypatch.setattr(mathopt, "_limited", lambda _size, _seconds: parameters)
    assert not relaxed(program(), None)
