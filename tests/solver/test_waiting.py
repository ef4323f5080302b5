"""Ctrl-C ends the longest call of a solver, and while it lasts progress is told."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model_helper as cp

import planner
from planner.models.shared.builder import Builder, Linear, total
from planner.solver.deadline import Deadline, OutOfTime, waited_for
from planner.solver.engine import run_engine
from planner.solver.proving import program
from planner.stage import progress_to
from tests.conftest import ROOT

LIMIT_S = 300.0
"""Far longer than a test takes; a run that is not interrupted ends then."""


@pytest.fixture(autouse=True)
def _ctrl_c() -> Iterator[None]:
    """Let Python handle it, wherever the tests run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class User:
    """Looks on, and presses Ctrl-C when a sign of life has come so many times."""

    def __init__(self, patience: int) -> None:
        self.patience, self.signs = patience, 0

    def __call__(self, stage: str | None) -> None:
        """See a sign of life."""
        assert stage is None
        self.signs += 1
        if self.signs == self.patience:
            press_ctrl_c()


def split_markets() -> Builder:
    """Return five equations over forty Booleans: hours of work for any of the solvers.

    Source: Cornuéjols and Dawande, A class of hard small 0-1 programs (1998).
    """
    chance = random.Random(1)  # noqa: S311 - test data
    builder = Builder()
    markets = [builder.new(0, 1) for _ in range(40)]
    for _ in range(5):
        sizes = [chance.randrange(100) for _ in markets]
        parts = (Linear({one: size}) for one, size in zip(markets, sizes, strict=True))
        builder.add(total(parts).equals(sum(sizes) // 2))
    return builder


def test_ctrl_c_ends_a_long_run() -> None:
    before, user = threading.enumerate(), User(patience=4)
    with progress_to(user), pytest.raises(KeyboardInterrupt):
        run_engine(split_markets(), None, Deadline.after(LIMIT_S))
    assert user.signs == user.patience
    assert threading.enumerate() == before


def test_ctrl_c_is_still_pythons_after_a_run() -> None:
    """CP-SAT would take it over, for good."""
    builder = Builder()
    builder.add(Linear({builder.new(0, 2): 1}) >= 1)
    assert run_engine(builder, None, Deadline()).outcome == "optimal"
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_call_is_stopped_however_late_it_listens() -> None:
    asked, ended = threading.Semaphore(0), threading.Event()

    def call() -> None:
        press_ctrl_c()
        for _ in range(3):
            assert asked.acquire(timeout=LIMIT_S)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        waited_for(call, asked.release)
    assert ended.is_set()


def test_a_call_that_never_listens_is_left_to_itself() -> None:
    ended = threading.Event()
    try:
        with pytest.raises(OutOfTime):
            waited_for(ended.wait, lambda: None, seconds=0.0)

        def call() -> None:
            press_ctrl_c()
            ended.wait()

        with pytest.raises(KeyboardInterrupt):
            waited_for(call, lambda: None)
    finally:
        ended.set()


def test_presolve_that_heeds_no_limit_is_waited_for_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It works on a copy: the model may be changed meanwhile."""
    ended, asked = threading.Event(), list[Any]()

    class Deaf(cp.SolveWrapper):
        def solve(self, proto: Any) -> Any:
            asked.append(proto)
            ended.wait()

    monkeypatch.setattr(cp, "SolveWrapper", Deaf)
    builder = split_markets()
    try:
        found = run_engine(builder, None, Deadline.after(0.1))
    finally:
        ended.set()
    assert found.outcome == "unknown"
    assert len(asked) == 1
    assert asked[0] is not builder.proto


def test_models_have_no_constraint_that_presolve_takes_apart_without_end() -> None:
    builder = Builder()
    amounts = {builder.new(0, 1): size for size in (3, 5, 7)}
    positive = builder.positive_part(Linear(amounts, -8))
    builder.add(positive >= 4)
    assert not any(row.has_lin_max() for row in builder.proto.constraints)
    found = run_engine(builder, positive, Deadline())
    assert found.outcome == "optimal"
    assert positive.value(found.solution) == 4  # 5 + 7 - 8; all three give 7, others less than 4


def test_what_a_call_raises_is_raised() -> None:
    def call() -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        waited_for(call)
    assert waited_for(lambda: 7) == 7


def test_no_memory_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(MemoryError):
        waited_for(lambda: 7)


@pytest.mark.parametrize("long", [-1, 10**9], ids=["in a thread", "at once"])
def test_ctrl_c_in_a_linear_program_of_a_proof_is_not_lost(
    long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = planner.read(ROOT / "instances" / "quickstart" / "cluster.json")
    solve, pressed = pywraplp.Solver.Solve, list[bool]()

    def interrupted(engine: pywraplp.Solver) -> int:
        pressed.append(True)
        press_ctrl_c()
        status: int = solve(engine)
        return status

    monkeypatch.setattr(program, "LONG", long)
    monkeypatch.setattr(pywraplp.Solver, "Solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        planner.solve(state, objective="fair", certify=True)
    assert pressed == [True]
