"""What the solver claims is not believed against a solution, nor a set that the verifier refuses.

A model that has a solution (everything 0, one witness true) is called infeasible by ortools
9.15.6755 when presolve is off: three equal rows in bytes, each under a literal of its own, of which
one has to be true.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pytest
from ortools.sat.python.cp_model_helper import CpModelProto, CpSolverStatus, SatParameters

import planner
from planner.models.kueue.formulation import build_classes
from planner.models.shared.builder import Builder, Linear
from planner.solver import engine
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from planner.solver.kueue.planning import Planning
from planner.solver.search import Run, Search
from planner.solver.start import Given, start
from tests.cluster import PENDING, pending, preempt, queue, running, state_of
from tests.solver.test_core import crowd

COST: Final = Linear({0: 1})


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


def test_an_optimum_that_is_not_its_own_bound_is_none(claims: Callable[..., None]) -> None:
    claims(Response(CpSolverStatus.OPTIMAL, [7], 3))
    assert run_engine(model(), COST, Deadline()).outcome == "feasible"


def test_a_bound_above_its_own_solution_is_none(claims: Callable[..., None]) -> None:
    claims(Response(CpSolverStatus.FEASIBLE, [7], 8))
    assert run_engine(model(), COST, Deadline()) == Run("feasible", [7], 0)


def test_false_claims_now_and_then_change_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What says "optimal" too early, of an answer it has, a tree refutes by a better one."""
    state = crowd(3, 10)
    expected = planner.solve(state, PENDING, assignment=preempt(state))
    solve, chance = engine._solve, random.Random(0)  # noqa: S311, SLF001
    lies = 0

    def lying(proto: CpModelProto, parameters: SatParameters) -> object:
        nonlocal lies
        response = solve(proto, parameters)
        if not proto.objective.vars or chance.random() < 0.5:
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


GIB = 2**31
"""Of the size of memory in bytes; at 2**28 the answer is right."""


def rows_in_bytes(builder: Builder) -> Linear:
    """Return ``last - removed``, in bytes."""
    removed, last = builder.new(0, 8 * GIB), builder.new_bool()
    return Linear({removed: -1, last: GIB})


def test_a_false_infeasible_is_found_out() -> None:
    builder = Builder()
    over = rows_in_bytes(builder)
    literals = [builder.new_bool() for _ in range(3)]
    for literal in literals:
        builder.add(over >= 1 - 5 * GIB, when=[literal])
    builder.any_of(literals)
    assert run_engine(builder, None, Deadline()).outcome == "optimal"


def test_equal_conditions_have_one_witness() -> None:
    builder = Builder()
    over = rows_in_bytes(builder)
    witnesses = builder.witnesses([(over, 5), ((over + 2), 7), (over, 6)])
    assert len(witnesses) == 2
    enforced = [list(row.enforcement_literal) for row in builder.proto.constraints]
    assert [each for each in enforced if each] == [[witness] for witness in witnesses]


def test_what_is_infeasible_stays_so() -> None:
    builder = Builder()
    over = rows_in_bytes(builder)
    builder.add(over >= GIB)
    builder.add(over <= GIB - 1)
    assert run_engine(builder, None, Deadline()).outcome == "infeasible"


def test_without_a_forced_class_there_is_no_answer() -> None:
    """Both workloads have to go for 3 of 3; looking only at one of them finds nothing."""
    state = state_of(
        queue("a", 3, within="LowerPriority"),
        running("one", "a", 1),
        running("two", "a", 2),
        pending("a", 3),
    )
    planning = start(state, Given())
    assert isinstance(planning, Planning)
    search = Search(
        rules=planning,
        classes=build_classes(planning.problem, planning.eligible, planning.restricted, []),
        deadline=Deadline(),
        active=[0, 1],
        conditions=[(Linear({0: 1}), 1)],
    )
    alone = search.fork()
    alone.active = [1]
    assert alone.run().outcome == "infeasible"
    assert search.run().outcome == "optimal"
    assert search.incumbent == [1, 1]
