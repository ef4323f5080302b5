"""The commands at the end of a plan: those that a dry run prints."""

import copy
import json
import re
from pathlib import Path

import pytest

from planner.cli import kueue_snapshot
from planner.cli.kueue_plugin import build
from planner.commands.apply.kueue.carry import with_commands
from planner.reader.kueue import read_kueue_objects
from tests.cli.running import BIG, call, cluster
from tests.cluster import NOW, PENDING, Object
from tests.commands.apply.stage import Stage, plan_for, versioned
from tests.conftest import YUNIKORN
from tests.kubectl.stand_in import CONFIGURATION, MANAGER

SHOWN = ("--pending", PENDING, "--show-commands")


@pytest.fixture
def direct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    items = versioned([*cluster()["items"], CONFIGURATION, MANAGER])
    stage = Stage(items, tmp_path, options=("--context=this",))
    monkeypatch.setattr(kueue_snapshot, "connect", lambda _: stage)
    return stage


def dumped(folder: Path, items: list[Object]) -> Path:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    return file


def timeless(command: str) -> str:
    return re.sub(r'"lastTransitionTime":"[^"]*"', "", command)


@pytest.mark.usefixtures("direct")
def test_they_are_those_of_a_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build().main([*SHOWN, "-o", "json"], standalone_mode=False)
    plan = capsys.readouterr().out
    file = tmp_path / "plan.json"
    file.write_text(plan, "utf-8")
    dry = call("apply", file, "--dry-run", "--format", "json")
    assert dry.exit_code == 0, dry.stderr
    shown = json.loads(plan)["commands"]
    ran = json.loads(dry.stdout)
    ours = [(one["title"], timeless(one["command"])) for one in shown["steps"]]
    assert ours == [(one["title"], timeless(one["command"])) for one in ran["steps"]]
    assert [one["title"] for one in shown["steps"]] == [
        "hold LocalQueue ns/lender",
        f"evict {BIG}",
        "lift the hold of LocalQueue ns/lender",
    ]
    assert all("--context=this" in one["command"] for one in shown["steps"])
    assert shown["notes"] == ran["notes"]


@pytest.mark.parametrize("style", ["table", "plain", "markdown", "html"])
def test_of_a_file_in_every_format(tmp_path: Path, style: str) -> None:
    file = dumped(tmp_path, versioned(cluster()["items"]))
    done = call("solve", file, *SHOWN, "--format", style)
    assert done.exit_code == 0, done.stderr
    assert "kubectl patch workloads.kueue.x-k8s.io big --namespace=ns" in done.stdout
    assert "kubectl patch" not in call("solve", file, "--format", style).stdout


def reason(folder: Path, items: list[Object]) -> str:
    done = call("solve", dumped(folder, items), *SHOWN, "--format", "json")
    found = json.loads(done.stdout)["commands"]
    assert found["steps"] == []
    return str(found["reason"])


def test_why_there_are_none(tmp_path: Path) -> None:
    items = cluster()["items"]
    assert "has no resourceVersion in the dump" in reason(tmp_path, items)
    odd = copy.deepcopy(items)
    for item in odd:
        item["metadata"]["resourceVersion"] = 7  # no text, so as good as missing
    assert "has no resourceVersion in the dump" in reason(tmp_path, odd)
    empty = [one for one in items if one["metadata"]["name"].partition("-")[0] != "small"]
    assert reason(tmp_path, [one for one in empty if one["metadata"]["name"] != "big"]) == (
        "it evicts nobody"
    )
    file = dumped(tmp_path, items)
    plain = call("solve", file, *SHOWN, "--format", "plain").stdout
    page = call("solve", file, *SHOWN, "--format", "markdown").stdout
    assert "no_commands" in plain
    assert "No commands carry this plan out: " in page


def test_what_kueue_does_by_itself() -> None:
    items = versioned(cluster()["items"])
    state = read_kueue_objects({"kind": "List", "items": items}, where="test", now=NOW)
    plan = plan_for(items)
    assert plan.greedy is not None
    same = plan.model_copy(update={"victims": plan.greedy.victims})
    shown = with_commands(state, same, ()).commands
    assert shown is not None
    assert (shown.steps, shown.reason) == ((), "Kueue evicts just these by itself")


def test_what_has_no_commands(tmp_path: Path) -> None:
    file = dumped(tmp_path, cluster()["items"])
    front = call("solve", file, *SHOWN, "--objective", "pareto:D2,D4")
    joint = call("solve", file, *SHOWN, "--joint")
    other = call("solve", YUNIKORN, "--show-commands")
    assert [one.exit_code for one in (front, joint, other)] == [2, 2, 2]
    assert "nothing is known about its commands" in other.stderr
