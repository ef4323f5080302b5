"""Small plans are found and proved by short trees, and OR-Tools is not even loaded."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import planner
from planner.objective.profiles import Measure
from planner.plan import TREES
from planner.plan.kueue import Plan
from planner.solver import levels
from planner.solver.deadline import Deadline
from planner.solver.proving import certifier, settle
from planner.solver.proving.grow import Effort
from planner.solver.search import Search
from tests.cluster import PENDING, cohort, pending, preempt, queue, running, state_of
from tests.conftest import QUICKSTART
from tests.recorded import lines
from tests.recorded import state_of as recorded_state
from tests.solver.ways import at_once


@pytest.mark.parametrize(
    "command",
    [
        "import planner; planner.solve(planner.read(sys.argv[1]))",
        "from planner.cli.main import main; main(['solve', sys.argv[1]], standalone_mode=False)",
        "from planner.cli.main import main; main(['audit', sys.argv[1]], standalone_mode=False)",
    ],
    ids=["library", "solve", "audit"],
)
def test_no_solver_is_loaded(command: str) -> None:
    loaded = "print([name for name in sys.modules if name.startswith('ortools')], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {command}; {loaded}", str(QUICKSTART)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "[]"


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


def test_what_trees_have_shown_is_not_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of one step show the first four levels; the solver is asked for the others only."""
    state = planner.read(QUICKSTART)
    whole = planner.solve(state)
    solved, shown = list[Measure](), list[Measure]()
    solve_level, at_once_ = levels._solve_level, settle.Settling.at_once  # noqa: SLF001

    def watched(search: Search, measure: Measure, *more: Any) -> levels.Least:
        (shown if search.is_shown(measure) else solved).append(measure)
        return solve_level(search, measure, *more)

    monkeypatch.setattr(levels, "_solve_level", watched)
    monkeypatch.setattr(certifier, "AT_ONCE", Effort(steps=1, entries=0))
    with at_once():
        assert settle.Settling.at_once is not at_once_
        plan = planner.solve(state)
    assert shown == [("last_resort",), ("highest_priority",), ("workloads",), ("priority_weight",)]
    assert solved[0] == ("lost_work", "restart_cost")
    assert isinstance(plan, Plan)
    assert isinstance(whole, Plan)
    assert plan.victims == whole.victims
    assert plan.certificate is not None
    assert plan.certificate.solver.startswith("OR-Tools CP-SAT 9.")
    assert {level.proof for level in plan.certificate.levels} == {"certified"}


def test_a_level_is_shown_only_for_the_values_of_the_levels_before() -> None:
    """What was shown of a level is about answers of the least rank: with another, less may do."""
    values: dict[Measure, int] = {("highest_priority",): 1, ("workloads",): 3}
    search = Search(
        SimpleNamespace(),  # type: ignore[arg-type]
        SimpleNamespace(),  # type: ignore[arg-type]
        Deadline(),
        [],
        shown=[(("highest_priority",), 1), (("workloads",), 3)],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Search, "known_value", lambda _, measure: values.get(measure))
        assert search.is_shown(("highest_priority",))
        assert search.is_shown(("workloads",))
        assert not search.is_shown(("priority_weight",))
        values["highest_priority",] = 2
        assert not search.is_shown(("highest_priority",))
        assert not search.is_shown(("workloads",))
