"""``planner boost``: the boosts in every format, and its exit codes."""

from pathlib import Path

import pytest

from tests.cli.running import BIG, answer, call, cluster, refused, write
from tests.cluster import configuration
from tests.conftest import YUNIKORN
from tests.told import told

COMMAND = (
    "kubectl annotate workloads.kueue.x-k8s.io --namespace=ns --overwrite -- big "
    "kueue.x-k8s.io/priority-boost=-1"
)


def test_json(dump: Path) -> None:
    value = answer("boost", "boost", dump)
    assert value["status"] == "smallest"
    assert value["commands"] == [COMMAND]
    assert value["gate_on"] is False
    (boost,) = value["boosts"]
    assert (boost["workload"], boost["boost"], boost["role"]) == (BIG, -1, "victim")


@pytest.mark.parametrize("style", ["table", "plain"])
def test_commands_stand_on_lines_of_their_own(dump: Path, style: str) -> None:
    result = call("boost", dump, "--format", style, env={"COLUMNS": "60"})
    assert result.exit_code == 0
    told(result.stdout.splitlines())


def test_table_says_that_the_gate_is_off(dump: Path, tmp_path: Path) -> None:
    said = "feature gate PriorityBoost on; here it is off"
    told(call("boost", dump, "--format", "table").stdout)
    gate = configuration(featureGates={"PriorityBoost": True})
    on = write(tmp_path, cluster(gate), "on.json")
    text = call("boost", on, "--format", "table").stdout
    assert said not in text
    told(text)


def test_no_plan(tmp_path: Path) -> None:
    result = call("boost", write(tmp_path, cluster(asks=100)))
    assert result.exit_code == 3
    assert "kubectl" not in result.stdout


def test_no_time(dump: Path) -> None:
    assert call("boost", dump, "--time-limit", "0").exit_code in {4, 5}


def test_yunikorn_is_refused() -> None:
    assert "YuniKorn" in refused("boost", YUNIKORN)
