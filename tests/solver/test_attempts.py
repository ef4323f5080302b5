"""Attempts at one model: in turn, each once, and the next model begins with what settled it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

import planner
from planner.errors import UnsupportedError
from planner.models.shared.builder import Builder, Linear
from planner.objective.profiles import Measure
from planner.plan.kueue import Plan
from planner.solver import tie_break
from planner.solver.attempt import ATTEMPTS, Attempt, Outcome, within
from planner.solver.deadline import Deadline
from planner.solver.engine import run
from planner.solver.search import RowOverClasses, Search
from planner.state.kueue import State
from tests.cluster import PENDING, fair_sharing, preempt
from tests.solver.test_core import crowd, outcome

NOTHING = Attempt(thorough=False, effort=0.0)
LAST = ATTEMPTS[-1]


def small() -> tuple[Builder, Linear]:
    """Return a model and its objective: at least 3 of two, the second at twice the cost."""
    builder = Builder()
    a, b = builder.new(0, 2), builder.new(0, 2)
    builder.add(Linear({a: 1, b: 1}) >= 3)
    return builder, Linear({a: 1, b: 2})


def test_the_first_attempt_that_settles_it_is_the_last() -> None:
    builder, cost = small()
    found = run(builder, cost, Deadline())
    assert (found.outcome, found.bound, found.attempt) == ("optimal", 4, ATTEMPTS[0])


@pytest.mark.parametrize(
    ("ends", "fits"),
    [
        # The solver adds up how far from 0, in both directions, the values can be.
        ([(0, 2**62 - 1), (0, 2**62 - 1)], True),
        ([(0, 2**62 - 1), (0, 2**62 - 1), (0, 1)], False),
        ([(-(2**61), 2**61), (-(2**61), 2**61 - 2)], True),
        ([(-(2**61), 2**61), (-(2**61), 2**61 - 1)], False),
        ([(2**61, 2**61)] * 3, True),
        ([(2**61, 2**61)] * 5, False),
    ],
)
def test_values_that_the_solver_cannot_add_up_are_refused(
    ends: Sequence[tuple[int, int]], *, fits: bool
) -> None:
    builder = Builder()
    for least, most in ends:
        builder.new(least, most)
    if fits:
        assert run(builder, None, Deadline()).outcome == "optimal"
    else:
        with pytest.raises(UnsupportedError, match="variables leave 64 bits together"):
            run(builder, None, Deadline())


def test_what_is_not_settled_is_tried_again() -> None:
    builder, cost = small()
    assert run(builder, cost, Deadline(), attempts=[NOTHING]).outcome == "unknown"
    found = run(builder, cost, Deadline(), attempts=[NOTHING, LAST])
    assert (found.outcome, found.attempt) == ("optimal", LAST)


def test_within_an_effort() -> None:
    assert within(0.1) == list(ATTEMPTS[:3])
    assert within(0.1, ATTEMPTS[4:]) == ATTEMPTS[4:5]  # never nothing


@cache
def crowded(seed: int, *, fair: bool) -> tuple[State, Plan]:
    """Return a crowd and its plan, as it is always found."""
    state = crowd(seed, 20, fair_sharing()) if fair else crowd(seed, 10)
    return state, planner.solve(state, PENDING, assignment=preempt(state))


@pytest.mark.parametrize("led", [False, True])
@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("seed", [3, 7])
def test_either_way_to_another_answer_finds_the_same_plan(
    seed: int, monkeypatch: pytest.MonkeyPatch, *, fair: bool, led: bool
) -> None:
    """Among equals any answer will do, or a measure leads."""
    state, expected = crowded(seed, fair=fair)
    asked, either = 0, tie_break.try_once

    def one_way(
        search: Search, rows: Sequence[RowOverClasses], guide: Measure | None, attempt: Attempt
    ) -> Outcome:
        nonlocal asked
        if guide is None and led and tie_break.guide_of(search):
            return "unknown"
        asked += 1
        return either(search, rows, guide if led else None, attempt)

    monkeypatch.setattr(tie_break, "try_once", one_way)
    found = planner.solve(state, PENDING, assignment=preempt(state), certify=False)
    assert outcome(found) == outcome(expected)
    assert asked
    assert expected.status == "optimal"
