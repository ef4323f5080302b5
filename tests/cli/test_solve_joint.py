"""`planner solve --joint`: answers in every format, exit codes, and refusals."""

import json
from pathlib import Path

import pytest

from planner.cli.exit_code import BAD_INPUT, NOT_PROVED
from tests.cli.running import answer, call, refused
from tests.conftest import YUNIKORN
from tests.flavored import Object, listed
from tests.flavored import podset as pods
from tests.flavored import waiting as pending
from tests.solver.joint_clusters import lent_and_asked_for
from tests.told import told

PENDING = ("--pending", "ns/first", "--pending", "ns/second")


def cluster(*more: list[Object]) -> Object:
    """Return a dump with two pending workloads of 3 GPUs each, and 8 GPUs that are lent out.

    One by one Kueue evicts three for them, together two are enough (test_joint_by_hand.py).
    """
    return listed(*lent_and_asked_for(3), *more)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write the cluster."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(cluster()))
    return path


@pytest.mark.parametrize("who", [PENDING, ("--all",)])
def test_json_is_as_published(dump: Path, who: tuple[str, ...]) -> None:
    plan = answer("joint", "solve", dump, *who, "--joint", code=4)
    assert (plan["status"], plan["certificate"]["claimed"]) == ("feasible", True)
    assert [one["workload"] for one in plan["pending"]] == ["ns/first", "ns/second"]
    assert sum(len(step["victims"]) for step in plan["steps"]) == plan["terms"]["workloads"] == 2
    assert all(verdict["holds"] for step in plan["steps"] for verdict in step["verdicts"])
    assert len(plan["greedy"]["victims"]) == plan["greedy"]["terms"]["workloads"] == 3
    assert len(plan["greedy"]["fit_again"]) == 1


@pytest.mark.parametrize("name", ["train", "ns/train", "job-train-0a1b2"])
def test_workloads_are_found_by_their_names_and_jobs(tmp_path: Path, name: str) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(cluster(pending("job-train-0a1b2", "a", pods(1)))))
    words = ("--joint", "--pending", name, "--pending", "first")
    result = call("solve", path, *words, "--format", "json")
    named = [one["workload"] for one in json.loads(result.stdout)["pending"]]
    assert named == ["ns/first", "ns/job-train-0a1b2"]
    again = call("solve", path, *words, "--pending", "ns/job-train-0a1b2")
    told(again.stderr)


def test_no_time(dump: Path) -> None:
    result = call("solve", dump, *PENDING, "--joint", "--time-limit", "0", "--format", "plain")
    assert result.exit_code == NOT_PROVED
    assert "victims          3\n" in result.stdout


def test_who_has_no_queue_is_in_no_joint_plan(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(cluster(pending("lost", "nowhere", pods(1)))))
    result = call("solve", path, "--all", "--joint", "--format", "table")
    assert result.exit_code == 4  # joint plans are not proved
    assert "ns/lost" not in result.stdout
    assert "Kueue does not even look at ns/lost" in result.stderr
    result = call("solve", path, *PENDING, "--pending", "ns/lost", "--joint")
    assert result.exit_code == BAD_INPUT
    told(result.stderr)


def test_what_cannot_be_planned_for_is_said(tmp_path: Path) -> None:
    """Which number of pods Kueue takes for it is decided when it is nominated."""
    path = tmp_path / "cluster.json"
    fewer = {**pods(1), "count": 4, "minCount": 2}
    path.write_text(json.dumps(cluster(pending("elastic", "a", fewer))))
    result = call("solve", path, "--all", "--joint", "--format", "table")
    assert result.exit_code == BAD_INPUT
    assert "Left out" in result.stdout
    assert "ns/elastic" in result.stdout
    told(result.stderr)


@pytest.mark.parametrize(
    "more",
    [
        ("--joint",),
        PENDING,
        ("--joint", "--all", "--pending", "ns/first"),
        ("--joint", *PENDING, "--stable"),
        ("--joint", *PENDING, "--stability"),
        ("--joint", *PENDING, "--flavors", "optimal"),
        ("--joint", *PENDING, "--laws", "code"),
        ("--joint", *PENDING, "--objective", "pareto:D2,D4"),
    ],
)
def test_refusals(dump: Path, more: tuple[str, ...]) -> None:
    told(refused("solve", dump, *more))


def test_yunikorn_is_refused_with_a_hint() -> None:
    said = refused("solve", YUNIKORN, "--all", "--joint")
    told(said)
