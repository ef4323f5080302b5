"""Trees among amounts from one to 2^58: the solver of linear programs is stopped, and so are they.

Among such amounts GLOP may go round in circles for ever.
"""

import random
from collections import Counter
from types import SimpleNamespace

import pytest
from ortools.linear_solver import pywraplp

import planner
from planner.objective.profiles import PROFILES
from planner.proof.question import Question
from planner.solver import deadline
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.proving import grow as growing
from planner.solver.proving.grow import Effort, grow
from planner.solver.proving.program import Program, Suggestion
from planner.solver.start import Given, start
from planner.state.kueue import State
from tests.cluster import PENDING, cohort, pending, queue, running, state_of

KINDS: tuple[str, ...] = ("memory", "ephemeral-storage")

CIRCLES = (2, 35, 53)
"""Seeds of states in which GLOP goes round in circles."""

EFFORT = Effort(steps=200, entries=10**9)
LIMIT = 3600.0


def uneven(seed: int) -> State:
    """Return a state of 30 workloads that hold from one to 2^58 of two resources."""
    chance = random.Random(seed)  # noqa: S311 - test data
    used = {name: dict.fromkeys(KINDS, 0) for name in "ab"}
    parts = cohort("root")
    for number in range(30):
        name = chance.choice("ab")
        held = {kind: 1 + int(2 ** (58 * chance.random())) // 30 for kind in used[name]}
        used[name] = {kind: used[name][kind] + amount for kind, amount in held.items()}
        parts += running(f"w{number}", name, held, chance.choice([0, 10, 50]))
    total = {kind: used["a"][kind] + used["b"][kind] for kind in KINDS}
    asked = {kind: amount // 4 for kind, amount in total.items()}
    quota = {kind: used["a"][kind] + amount for kind, amount in asked.items()}
    parts += queue("a", quota, "root", within="LowerPriority", reclaim="Any")
    parts += queue("b", {kind: max(0, total[kind] - quota[kind]) for kind in total}, "root")
    return state_of([*parts, *pending("a", asked, 100)])


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return what becomes of linear programs: each has to have a limit of iterations."""
    found, of = Counter[str](), pywraplp.Solver
    bound, limit, solve = of.SetSolverSpecificParametersAsString, of.SetTimeLimit, of.Solve

    def bounded(engine: pywraplp.Solver, parameters: str) -> None:
        assert "max_number_of_iterations" in parameters
        found["bounded"] += 1
        bound(engine, parameters)

    def limited(engine: pywraplp.Solver, milliseconds: int) -> None:
        found["limited"] += milliseconds > 0
        limit(engine, milliseconds)

    def solved(engine: pywraplp.Solver) -> int:
        status: int = solve(engine)
        found["stopped" if status == of.NOT_SOLVED else "ended"] += 1
        return status

    monkeypatch.setattr(of, "SetSolverSpecificParametersAsString", bounded)
    monkeypatch.setattr(of, "SetTimeLimit", limited)
    monkeypatch.setattr(of, "Solve", solved)
    return found


@pytest.mark.parametrize("limit", [None, LIMIT])
def test_programs_that_go_round_in_circles_are_stopped(
    programs: Counter[str], limit: float | None
) -> None:
    """What is left of the time is given to each; without a limit none of them depends on time."""
    for seed in CIRCLES:
        plan = planner.solve(uneven(seed), PENDING, objective="min-count", time_limit=limit)
        assert plan.status == "optimal"
        assert planner.verify(uneven(seed), plan).accepted
    assert programs["stopped"]
    solved = programs["stopped"] + programs["ended"]
    assert 0 < programs["bounded"] <= solved
    assert programs["limited"] == (0 if limit is None else solved)


@pytest.mark.parametrize("seed", [13, 51, 74])
@pytest.mark.usefixtures("programs")
def test_no_program_is_asked_after_the_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on with each look: however early the end, the tree is whole or none."""
    looks, asked, solve = [0], list[int](), Program.solve
    question = level(uneven(seed))

    def monotonic() -> int:
        looks[0] += 1
        return looks[0]

    def noted(program: Program, guide: str, seconds: float | None) -> Suggestion | None:
        asked.append(looks[0])
        return solve(program, guide, seconds)

    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(Program, "solve", noted)
    monkeypatch.setattr(growing, "SOME", 2)  # programs lead
    stopped = 0
    for end in range(1, 100):
        looks[0], asked[:] = 0, []
        grown = grow(question, Deadline(end), EFFORT)
        assert all(look <= end for look in asked)
        stopped += (grown.steps, grown.better) == (None, None)
        if grown.steps is not None:
            question.check(grown.steps)
    assert stopped


def level(state: State) -> Question:
    """Return whether fewer victims would do than the fewest."""
    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    profile = planning.set_objective(PROFILES["min-count"])
    victims = planner.solve(state, PENDING, objective="min-count").victims
    return planning.claims(profile, ()).level((), ("victims",), len(victims))
