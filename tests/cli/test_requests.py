"""``--requests recorded``: what Kueue wrote down of pending workloads counts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import call, refused, write
from tests.cluster import configuration, dump_of, pending, queue, running


def state(folder: Path, recorded: str) -> str:
    """Write a cluster of which all 4 are held, and where Kueue recorded so much for 2."""
    parts = [queue("a", 4, within="LowerPriority"), running("one", "a", 2), running("two", "a", 2)]
    value = dump_of(*parts, pending("a", 2), configuration())
    waiting = next(one for one in value["items"] if one["metadata"].get("name") == "pending")
    requests = [{"name": "main", "resources": {"gpu": recorded}}]
    waiting["status"] = {"resourceRequests": requests}
    return str(write(folder, value))


def test_plans_explanations_and_checks(tmp_path: Path) -> None:
    source = state(tmp_path, "4")
    plan = tmp_path / "plan.json"
    said = ["--requests", "recorded"]
    result = call("solve", source, *said, "--format", "json", "-o", str(plan))
    assert result.exit_code == 6
    found = json.loads(plan.read_text())
    assert (found["requests"], len(found["victims"])) == ("recorded", 2)
    assert call("check", source, *said, str(plan)).exit_code == 0
    assert call("check", source, str(plan)).exit_code == 1
    assert call("explain", source, *said).exit_code == 6
    by_template = json.loads(call("solve", source, "--format", "json").stdout)
    assert (by_template["requests"], len(by_template["victims"])) == ("template", 1)
    assert any("it can plan by these" in note for note in by_template["notes"])


def test_a_joint_plan_counts_them_too(tmp_path: Path) -> None:
    source = state(tmp_path, "4")
    said = ["--joint", "--all", "--requests", "recorded", "--format", "json"]
    result = call("solve", source, *said)
    found = json.loads(result.stdout)
    assert (found["requests"], found["status"]) == ("recorded", "feasible")
    assert sum(len(step["victims"]) for step in found["steps"]) == 2


def victims_of(command: str, source: str, *more: str) -> int:
    """Return how many victims a command sees for ns/pending."""
    value = json.loads(call(command, source, *more, "--format", "json").stdout)
    counted: dict[str, Callable[[], int]] = {
        "audit": lambda: max(len(one["victims"]) for one in value["cases"][0]["judgements"]),
        "boost": lambda: len(value["plan"]["victims"]),
        "compare": lambda: max(len(one["victims"]) for one in value["rows"]),
        "whatif": lambda: next(
            int(one["after"]) for one in value["greedy"]["terms"] if one["term"] == "workloads"
        ),
    }
    return counted[command]()


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("audit", ["--fail-on", "never"]),
        ("boost", []),
        ("compare", []),
        ("whatif", ["--set", "workload/ns/pending.priority=50"]),
    ],
)
def test_every_command_that_plans_can_count_them(
    tmp_path: Path, command: str, more: list[str]
) -> None:
    source = state(tmp_path, "4")
    assert victims_of(command, source, *more) == 1
    assert victims_of(command, source, *more, "--requests", "recorded") == 2


def test_a_results_file_is_of_the_requests_that_it_counts(tmp_path: Path) -> None:
    source, rows = state(tmp_path, "4"), str(tmp_path / "rows.jsonl")
    said = ["--fail-on", "never", "--results", rows]
    call("audit", source, *said)
    assert "requests" in refused("audit", source, *said, "--resume", "--requests", "recorded")
