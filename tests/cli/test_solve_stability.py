"""`planner solve --stability` and `--objective stable`: answers in every format, and refusals."""

import json
from pathlib import Path

import pytest

from planner.cli.exit_code import BAD_INPUT, INFEASIBLE, OPTIMAL
from tests.cli.running import answer, call, refused
from tests.cluster import dump_of
from tests.solver.test_stability import third_party
from tests.told import told


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster in which a victim of the default plan would preempt a third party."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(dump_of(*third_party())))
    return path


def test_the_plan_says_who_would_preempt_again(dump: Path) -> None:
    plan = answer("plan", "solve", dump, "--stability")
    assert plan["stability"] == [{"victim": "ns/small", "targets": ["ns/loan"], "preemptor": False}]
    assert plan["terms"]["unstable"] == plan["greedy"]["terms"]["unstable"] == 1
    table = call("solve", dump, "--stability", "--format", "table", "--details").stdout
    assert "ns/small would preempt ns/loan" in table
    assert "unstable " in table


def test_in_a_small_state_it_is_said_without_being_asked(dump: Path) -> None:
    plan = json.loads(call("solve", dump, "--format", "json").stdout)
    assert plan["stability"] == [{"victim": "ns/small", "targets": ["ns/loan"], "preemptor": False}]
    assert plan["greedy"]["stability"] == plan["stability"]
    assert "unstable" not in plan["terms"]
    table = call("solve", dump, "--format", "table").stdout
    told(table)


def test_it_can_be_refused(dump: Path) -> None:
    plan = json.loads(call("solve", dump, "--no-stability", "--format", "json").stdout)
    assert plan["stability"] is None


def test_a_table_does_not_say_unasked_that_all_is_well(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(dump_of(*third_party(reclaim="LowerPriority"))))
    assert "Stable:" not in call("solve", path, "--format", "table").stdout
    assert "unstable         0\n" in call("solve", path, "--format", "plain").stdout
    assert "Stable:" in call("solve", path, "--stability", "--format", "table").stdout


def test_not_in_a_large_state(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.case.kueue.SMALL", 2)
    assert json.loads(call("solve", dump, "--format", "json").stdout)["stability"] is None
    said = call("solve", dump, "--stability", "--format", "json").stdout
    assert json.loads(said)["stability"]


def test_a_dump_without_local_queues_says_nothing_unasked(tmp_path: Path) -> None:
    parts = third_party()
    parts[1] = [item for item in parts[1] if item["kind"] != "LocalQueue"]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(dump_of(*parts)))
    result = call("solve", path, "--format", "json")
    assert result.exit_code == OPTIMAL, result.stderr
    assert json.loads(result.stdout)["stability"] is None
    assert call("solve", path, "--stability").exit_code == BAD_INPUT


def test_the_objective_says_it_without_being_asked(dump: Path) -> None:
    result = call("solve", dump, "--objective", "stable", "--format", "plain")
    assert result.exit_code == OPTIMAL
    assert "unstable         0\n" in result.stdout
    assert "term             unstable plan=0 kueue=1 level=1 bound=0 " in result.stdout


@pytest.mark.parametrize("more", [(), ("--objective", "stable")])
def test_with_flavors_of_the_objective(dump: Path, more: tuple[str, ...]) -> None:
    result = call("solve", dump, "--stability", "--flavors", "optimal", *more, "--format", "json")
    assert result.exit_code == OPTIMAL, result.stderr
    plan = json.loads(result.stdout)
    assert len(plan["stability"]) == plan["terms"]["unstable"] == (0 if more else 1)


def test_stable_plans_only(dump: Path) -> None:
    plan = answer("plan", "solve", dump, "--stable")
    assert {victim["workload"] for victim in plan["victims"]} == {"ns/big", "ns/loan"}
    assert plan["stability"] == []
    assert plan["greedy"]["stability"]


def test_no_stable_plan_is_proved_and_explained(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(dump_of(*third_party(priority=50))))
    result = call("solve", path, "--stable", "--format", "plain")
    assert result.exit_code == INFEASIBLE
    assert "ns/small would preempt ns/loan" in result.stdout
    assert call("solve", path).exit_code == OPTIMAL


@pytest.mark.parametrize("option", ["--stability", "--stable"])
def test_a_front_is_refused(dump: Path, option: str) -> None:
    said = refused("solve", dump, option, "--objective", "pareto:workloads,lost_work")
    told(said)
