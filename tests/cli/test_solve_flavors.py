"""`planner solve --flavors`: the option, its answers in every format, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.exit_code import OPTIMAL
from tests.cli.running import answer, call, refused
from tests.flavored import GPU, flavor, group, listed, pending, podset, queue, running
from tests.told import told


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster in which Kueue evicts two in its first flavor, and one in the other does."""
    path = tmp_path / "cluster.json"
    parts = (
        flavor("h100"),
        flavor("a100"),
        queue("q", group(h100=4, a100=4), within="LowerPriority"),
        running("small-1", "q", "h100", 2),
        running("small-2", "q", "h100", 2),
        running("large", "q", "a100", 4),
        pending("q", podset(4)),
    )
    path.write_text(json.dumps(listed(*parts)))
    return path


def plan_of(*args: str | Path) -> dict[str, Any]:
    plan: dict[str, Any] = answer("plan", "solve", *args)
    return plan


def test_kueue_is_the_default(dump: Path) -> None:
    plain, said = plan_of(dump), plan_of(dump, "--flavors", "kueue")
    assert plain["flavors"] is said["flavors"] is None
    assert [victim["workload"] for victim in plain["victims"]] == ["ns/small-1", "ns/small-2"]


def test_optimal(dump: Path) -> None:
    plan = plan_of(dump, "--flavors", "optimal")
    assert [victim["workload"] for victim in plan["victims"]] == ["ns/large"]
    assert plan["assignment"]["podSets"][0]["flavors"][GPU]["flavor"] == "a100"
    assert plan["flavors"]["permitted"] == 2
    assert sorted(plan["flavors"]["kueue"]["victims"]) == ["ns/small-1", "ns/small-2"]
    assert plan["certificate"]["verdicts"][-1]["law"] == "KF-01"


def test_optimal_for_every_pending_workload_and_in_words(dump: Path) -> None:
    result = call("solve", dump, "--flavors", "optimal", "--all", "--format", "plain")
    assert result.exit_code == OPTIMAL
    assert f"flavor           main {GPU} a100 kueue=h100" in result.stdout
    screen = call("solve", dump, "--flavors", "optimal", "--format", "table")
    assert "With Kueue's own the best plan evicts 2 workloads" in screen.stdout


def test_not_with_a_fixed_assignment(dump: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "assignment.json"
    choice = {"flavor": "h100", "mode": "Preempt"}
    fixed.write_text(json.dumps({"main": {GPU: choice}}))
    said = refused("solve", dump, "--flavors", "optimal", "--assignment", fixed)
    told(said)
