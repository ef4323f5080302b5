"""`planner solve --stability` and `--objective stable`: answers in every format, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from planner.cli.exit_code import BAD_INPUT, INFEASIBLE, OPTIMAL
from planner.cli.schemas import schema_text
from tests.cli.running import call
from tests.cluster import dump_of
from tests.conftest import ROOT
from tests.solver.test_stability import third_party


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster in which a victim of the default plan would preempt a third party."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(dump_of(*third_party())))
    return path


def test_the_plan_says_who_would_preempt_again(dump: Path) -> None:
    result = call("solve", dump, "--stability", "--format", "json")
    assert result.exit_code == OPTIMAL, result.stderr
    plan = json.loads(result.stdout)
    Draft202012Validator(json.loads(schema_text("plan"))).validate(plan)
    assert plan["stability"] == [{"victim": "ns/small", "targets": ["ns/loan"], "preemptor": False}]
    assert plan["terms"]["D11"] == plan["greedy"]["terms"]["D11"] == 1
    table = call("solve", dump, "--stability", "--format", "table").stdout
    assert "ns/small would preempt ns/loan" in table
    assert "victims that would preempt again" in table


def test_without_it_nothing_is_said(dump: Path) -> None:
    plan = json.loads(call("solve", dump, "--format", "json").stdout)
    assert plan["stability"] is None
    assert "D11" not in plan["terms"]


def test_the_objective_says_it_without_being_asked(dump: Path) -> None:
    result = call("solve", dump, "--objective", "stable", "--format", "plain")
    assert result.exit_code == OPTIMAL
    assert "unstable         0\n" in result.stdout
    assert "term             D11 plan=0 kueue=1 level=1 bound=0 " in result.stdout


@pytest.mark.parametrize("more", [(), ("--objective", "stable")])
def test_with_flavors_of_the_objective(dump: Path, more: tuple[str, ...]) -> None:
    result = call("solve", dump, "--stability", "--flavors", "optimal", *more, "--format", "json")
    assert result.exit_code == OPTIMAL, result.stderr
    plan = json.loads(result.stdout)
    assert len(plan["stability"]) == plan["terms"]["D11"] == (0 if more else 1)


def test_stable_plans_only(dump: Path) -> None:
    result = call("solve", dump, "--stable", "--format", "json")
    assert result.exit_code == OPTIMAL, result.stderr
    plan = json.loads(result.stdout)
    Draft202012Validator(json.loads(schema_text("plan"))).validate(plan)
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
    result = call("solve", dump, option, "--objective", "pareto:D2,D4")
    assert result.exit_code == BAD_INPUT
    assert "pareto:D2,D11 trades for it" in result.stderr


@pytest.mark.parametrize("option", ["--stability", "--stable"])
def test_yunikorn_is_refused(option: str) -> None:
    state = ROOT / "instances" / "yunikorn" / "quickstart"
    result = call("solve", state, option)
    assert result.exit_code == BAD_INPUT
    assert "only Kueue's victims queue again" in result.stderr
