"""Small plans are found and proved by short trees, and CP-SAT is not even loaded."""

import subprocess
import sys

import pytest
from msgspec.structs import replace

import planner
from planner.objective.profiles import PROFILES, Measure
from planner.plan import TREES
from planner.plan.kueue import Plan
from planner.solver import levels
from planner.solver.deadline import Deadline
from planner.solver.finder import Least, minimise
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.start import start
from planner.solver.proving.grow import Effort, grow
from planner.solver.proving.program import Program, Suggestion
from planner.solver.search import Search
from planner.solver.start import Given
from tests.benchmarks.large import large
from tests.cluster import PENDING, cohort, pending, preempt, queue, running, state_of
from tests.conftest import QUICKSTART
from tests.recorded import lines
from tests.recorded import state_of as recorded_state
from tests.solver.ways import at_once
from tests.told import told


def test_no_solver_is_loaded() -> None:
    """Not by an audit; what one plan loads is asked in tests/cli/test_start.py."""
    audit = "from planner.cli.main import main; main(['audit', sys.argv[1]], standalone_mode=False)"
    loaded = "print([name for name in sys.modules if name.startswith('ortools.sat')])"
    words = [sys.executable, "-c", f"import sys; {audit}; {loaded}", str(QUICKSTART)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_plan_is_certified_and_says_what_found_it() -> None:
    state = planner.read(QUICKSTART)
    with at_once():
        plan = planner.solve(state)
    assert plan.status == "optimal"
    assert plan.certificate is not None
    assert plan.certificate.solver == TREES
    assert plan.certificate.corrected == 0
    assert plan.certificate.ties == "certified"
    assert {level.proof for level in plan.certificate.levels} == {"certified"}
    assert planner.check(state, plan).accepted


def test_what_nobody_can_make_room_for_is_infeasible_at_once() -> None:
    """The only candidate holds less than what is short: Kueue finds nobody, and nobody would do."""
    state = state_of(
        cohort("org", nominal=10),
        queue("a", 0, "org", reclaim="Any"),
        queue("b", 4, "org"),
        running("b1", "b", 2),
        running("b2", "b", 8),
        pending("a", 9),
    )
    with at_once():
        plan = planner.solve(state, PENDING, assignment=preempt(state))
    assert plan.status == "infeasible"
    assert plan.certificate is not None
    assert plan.certificate.solver == TREES
    assert [tree.claim for tree in plan.certificate.trees] == ["infeasible"]


def test_most_recorded_states_need_no_solver() -> None:
    asked = 0
    answered = 0
    for name in ("small-classical-hier", "small-fair-flat", "small-flavors"):
        for line in lines(name, 40):
            state = recorded_state(line)
            with at_once():
                plan = planner.solve(state, line["pending"])
            if plan.certificate is None or not plan.certificate.trees:
                continue
            answered += 1
            asked += plan.certificate.solver != TREES
    assert answered > 20
    assert asked <= answered // 20


def test_the_solver_is_asked_only_where_trees_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without trees of more than one step it is asked about the lost work, and what follows."""
    state = planner.read(QUICKSTART)
    whole = planner.solve(state)
    solved = list[Measure]()

    def watched(search: Search, measure: Measure, effort: float, *, guessing: bool) -> Least:
        solved.append(measure)
        return minimise(search, measure, effort, guessing=guessing)

    monkeypatch.setattr(levels, "minimise", watched)
    monkeypatch.setattr(levels, "SOON", Effort(steps=1, entries=0))
    with at_once():
        plan = planner.solve(state)
    assert solved[0] == ("lost_work", "restart_cost")
    assert isinstance(plan, Plan)
    assert isinstance(whole, Plan)
    assert plan.victims == whole.victims
    assert plan.certificate is not None
    told(plan.certificate.solver)
    assert {level.proof for level in plan.certificate.levels} == {"certified"}


@pytest.mark.parametrize(("value", "tried"), [(5, True), (16, False)])
def test_no_tree_is_grown_where_far_fewer_would_do(
    monkeypatch: pytest.MonkeyPatch, value: int, *, tried: bool
) -> None:
    """It takes four workloads, two of each resource, and a tree that looks for four finds them.

    Where it might be fifteen the solver finds the best sooner than a tree any better one.
    """
    amounts = [{("gpu", "cpu")[n % 2]: 1 + n // 2 % 8} for n in range(96)]
    held = sum(1 + n % 8 for n in range(48))
    state = state_of(
        queue("q", {"gpu": held, "cpu": held}, within="LowerPriority"),
        *(running(f"w{n}", "q", amount) for n, amount in enumerate(amounts)),
        pending("q", {"gpu": 16, "cpu": 16}, priority=9),
    )
    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    profile = planning.set_objective(PROFILES["min-count"])
    question = planning.claims(profile, ()).level((), ("workloads",), value)
    asked, solve = list[str](), Program.solve

    def watched(program: Program, guide: str, seconds: float | None) -> Suggestion | None:
        asked.append(guide)
        return solve(program, guide, seconds)

    monkeypatch.setattr(Program, "solve", watched)
    found = grow(question, Deadline.after(None), levels.SOON)
    once = len(asked)
    assert (found.better is not None) == tried
    patient = grow(question, Deadline.after(None), replace(levels.SOON, near=0.0))
    assert patient.better == found.better
    assert (len(asked) == 2 * once) == tried


def test_what_narrows_the_root_of_a_tree_narrows_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree is given up, and the solver is asked about the few classes that its root leaves."""
    asked = list[int]()

    def watched(search: Search, measure: Measure, effort: float, *, guessing: bool) -> Least:
        asked.append(int(search.classes.sizes.sum()))
        return minimise(search, measure, effort, guessing=guessing)

    monkeypatch.setattr(levels, "minimise", watched)
    state = large(1000, fair=True)
    with at_once():
        plan = planner.solve(state, objective="min-lost-work")
    assert plan.status == "optimal"
    assert planner.check(state, plan).accepted
    assert asked
    assert max(asked) < 100  # of 491 candidates
