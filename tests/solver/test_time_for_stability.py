"""Decisions that are replayed for D11 end with the time limit, whatever was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import planner
from planner.plan.kueue import Cascade, Plan
from planner.solver import deadline
from planner.solver.kueue import aftermath
from planner.solver.kueue.aftermath import cascade
from planner.solver.kueue.stability import NOT_KNOWN
from planner.state.kueue import State
from tests.cluster import PENDING, pending, queue, running, state_of

LIMIT = 3
VICTIMS = 8


@dataclass
class Clock:
    """A clock that only replayed decisions move on, each by a second."""

    now: int = 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    def slow(*args: Any) -> Cascade | None:
        clock.now += 1
        return cascade(*args)

    monkeypatch.setattr(aftermath, "cascade", slow)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def state() -> State:
    """Return a full queue whose victims, pending again, are above one who holds next to nothing."""
    parts = [*queue("a", 2 * VICTIMS, within="LowerPriority")]
    for number in range(VICTIMS):
        parts += running(f"v{number}", "a", 1, priority=number + 1)
        parts += running(f"w{number}", "a", 1, priority=VICTIMS + 1)
    parts += running("least", "a", 0)
    return state_of([*parts, *pending("a", VICTIMS, priority=99)])


def solve(state: State, limit: float | None = LIMIT, **asked: Any) -> Plan:
    asked |= {"time_limit": limit, "certify": False}
    plan = planner.solve(state, PENDING, **asked)
    assert isinstance(plan, Plan)
    return plan


def test_without_a_limit_everybody_is_asked(state: State, clock: Clock) -> None:
    plan = solve(state, None, stability=True)
    assert plan.stability is not None
    assert clock.now > LIMIT
    assert NOT_KNOWN not in plan.notes


def test_what_was_not_found_out_is_not_said(state: State, clock: Clock) -> None:
    plan = solve(state, stability=True)
    assert clock.now == LIMIT
    assert plan.stability is None
    assert "D11" not in plan.terms
    assert NOT_KNOWN in plan.notes
    assert plan.victims


def test_what_nobody_knows_to_be_stable_is_no_answer(state: State, clock: Clock) -> None:
    plan = solve(state, stable=True)
    assert clock.now == LIMIT
    assert (plan.status, plan.victims) == ("unknown", ())
    assert NOT_KNOWN in plan.explanation
    assert plan.greedy is not None


def test_an_objective_that_counts_it_gives_the_best_known(state: State, clock: Clock) -> None:
    plan = solve(state, objective="stable")
    assert clock.now == LIMIT
    assert plan.status == "feasible"
    assert plan.victims
    assert "D11" not in plan.terms
    assert planner.verify(state, plan).accepted


def test_an_explanation_ends_too(state: State, clock: Clock) -> None:
    victim = solve(state).victims[0].workload
    explanation = planner.explain(state, PENDING, victim, objective="stable", time_limit=LIMIT)
    assert clock.now == LIMIT
    assert explanation.alternative is not None
    assert explanation.alternative.status == "unknown"
