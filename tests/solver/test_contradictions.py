"""What the solver claims is not believed against a solution, nor a solution that is none."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pytest
from ortools.sat.python.cp_model_helper import CpModelProto, CpSolverStatus, SatParameters

import planner
from planner.models.shared.builder import Builder, Linear
from planner.solver import engine
from planner.solver.attempt import ATTEMPTS, Outcome, Run
from planner.solver.deadline import Deadline
from planner.solver.engine import Contradiction, complete, reconciled, run
from tests.cluster import PENDING, preempt
from tests.solver.test_core import crowd

COST: Final = Linear({0: 1})


def said(outcome: Outcome, value: int | None = None, bound: int = 0) -> Run:
    return Run(outcome, () if value is None else [value], bound)


class Response:
    """A solver's response, true or not."""

    def __init__(
        self, status: CpSolverStatus, solution: Sequence[int] = (), bound: int = 0
    ) -> None:
        self.status, self.solution, self.inner_objective_lower_bound = status, solution, bound


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the solver respond so, one after the other, and truly after that."""
    solve = engine._solve  # noqa: SLF001 - the only door to the solver

    def respond(*responses: Response) -> None:
        left: Iterator[Response] = iter(responses)

        def next_one(proto: CpModelProto, parameters: SatParameters) -> object:
            response = next(left, None)
            return response or solve(proto, parameters)

        monkeypatch.setattr(engine, "_solve", next_one)

    return respond


def model() -> Builder:
    """Return a model of one variable from 3 to 9."""
    builder = Builder()
    x = builder.new(0, 9)
    builder.add(Linear({x: 2}) >= 5)
    return builder


@pytest.mark.parametrize(
    ("known", "found", "believed"),
    [
        (said("unknown"), said("infeasible"), said("infeasible")),
        (said("feasible", 5, 2), said("infeasible"), said("feasible", 5, 2)),
        (said("feasible", 5, 2), said("unknown"), said("feasible", 5, 2)),
        (said("feasible", 5, 2), said("optimal", 4, 4), said("optimal", 4, 4)),
        (said("feasible", 5, 2), said("optimal", 6, 6), said("feasible", 5, 0)),
        (said("feasible", 5, 5), said("optimal", 4, 4), said("feasible", 4, 0)),
        (said("feasible", 5, 2), said("feasible", 6, 4), said("feasible", 5, 4)),
        (said("feasible", 5, 2), said("feasible", 6, 6), said("feasible", 5, 0)),
        (said("feasible", 5, 2), said("feasible", 4, 1), said("feasible", 4, 2)),
        (said("unknown"), said("feasible", 4, 5), said("feasible", 4, 0)),
    ],
)
def test_what_is_believed_of_two(known: Run, found: Run, believed: Run) -> None:
    assert reconciled(known, found, COST, 0) == believed


def test_an_optimum_worse_than_what_is_known_is_asked_again(claims: Callable[..., None]) -> None:
    claims(Response(CpSolverStatus.OPTIMAL, [7], 7))
    found = run(model(), COST, Deadline(), hint=[5])
    assert (found.outcome, found.solution, found.bound) == ("optimal", [3], 3)
    assert found.attempt == ATTEMPTS[1]


def test_a_solution_that_is_none_is_not_taken(claims: Callable[..., None]) -> None:
    claims(Response(CpSolverStatus.OPTIMAL, [2], 2))
    assert run(model(), COST, Deadline()).solution == [3]


def test_an_optimum_that_is_not_its_own_bound_is_asked_again(claims: Callable[..., None]) -> None:
    claims(Response(CpSolverStatus.OPTIMAL, [7], 3))
    assert run(model(), COST, Deadline()).solution == [3]


def test_infeasible_is_not_believed_of_what_has_a_solution(claims: Callable[..., None]) -> None:
    claims(*[Response(CpSolverStatus.INFEASIBLE)] * 3)
    found = run(model(), COST, Deadline(), hint=[5], attempts=ATTEMPTS[:2])
    assert (found.outcome, found.solution) == ("feasible", [5])


def test_completing_asks_twice(claims: Callable[..., None]) -> None:
    builder = model()
    claims(Response(CpSolverStatus.INFEASIBLE))
    assert complete(builder, [0], [4]) == [4]
    claims(Response(CpSolverStatus.OPTIMAL, [2]))
    assert complete(builder, [0], [4]) == [4]
    assert complete(builder, [0], [2]) is None
    claims(*[Response(CpSolverStatus.OPTIMAL, [5])] * 2)
    with pytest.raises(Contradiction):
        complete(builder, [0], [4])


def test_false_claims_now_and_then_change_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What says "optimal" too early, of an answer it has, can only be refuted by a better one."""
    state = crowd(3, 10)
    expected = planner.solve(state, PENDING, assignment=preempt(state))
    solve, chance = engine._solve, random.Random(0)  # noqa: S311, SLF001
    lies = 0

    def lying(proto: CpModelProto, parameters: SatParameters) -> object:
        nonlocal lies
        response = solve(proto, parameters)
        if parameters.cp_model_presolve or chance.random() < 0.5:
            return response
        lies += 1
        if chance.random() < 0.5:
            return Response(CpSolverStatus.INFEASIBLE)
        nonsense = [chance.randint(0, 3) for _ in proto.variables]
        return Response(CpSolverStatus.OPTIMAL, nonsense, chance.randint(-5, 5))

    monkeypatch.setattr(engine, "_solve", lying)
    plan = planner.solve(state, PENDING, assignment=preempt(state))
    assert lies
    assert (plan.status, plan.keys) == (expected.status, expected.keys) == ("optimal", plan.keys)
