"""Names reach kubectl, and a shell, as names only: never as options, whatever they are.

A dump may hold odd names, for they are data. A plan that was written to a file may not.
"""

import copy
import json
import shlex
from pathlib import Path

import pytest

import planner
from tests.cli.running import call, cluster, refused
from tests.cluster import PENDING, Object
from tests.operations.kubectl.served import versioned
from tests.stand_in import StandIn
from tests.told import told

ODD = ("--kubeconfig=x", "--server=https://evil.example", "-n", "a b", "UP", "x;id", "a\u202eb")


def named(items: list[Object], old: str, new: str) -> list[Object]:
    found = copy.deepcopy(items)
    for one in found:
        if one["metadata"]["name"] == old:
            one["metadata"]["name"] = new
    return found


def dumped(folder: Path, items: list[Object]) -> Path:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    return file


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give a plan as it was printed."""
    file = dumped(tmp_path_factory.mktemp("planned"), cluster()["items"])
    return call("solve", file, "--pending", PENDING, "--format", "json").stdout


PLACES = ("preemptor", "victim", "namespace", "queue")


@pytest.mark.parametrize(
    ("command", "where", "odd"),
    [
        *(("apply", "victim", odd) for odd in ODD),
        *(("apply", where, ODD[0]) for where in PLACES if where != "victim"),
        *(("check", where, ODD[0]) for where in PLACES),
    ],
)
def test_a_plan_with_such_a_name_is_refused(  # noqa: PLR0913, PLR0917 - a table
    kubectl: StandIn, tmp_path: Path, printed: str, command: str, where: str, odd: str
) -> None:
    plan = json.loads(printed)
    dumped(tmp_path, cluster()["items"])
    if where == "preemptor":
        plan["preemptor"] = f"ns/{odd}"
    elif where == "queue":
        plan["cluster_queue"] = odd
    else:
        plan["victims"][0]["workload"] = f"ns/{odd}" if where == "victim" else f"{odd}/big"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan), "utf-8")
    state = [tmp_path / "cluster.json"] if command == "check" else []
    more = ["--dry-run"] if command == "apply" else []
    told(refused(command, *state, file, *more))
    assert kubectl.calls() == []


@pytest.mark.parametrize("odd", ODD)
def test_a_dump_with_such_a_name_gives_no_command(tmp_path: Path, odd: str) -> None:
    items = named(versioned(cluster()["items"]), "big", odd)
    file = dumped(tmp_path, items)
    shown = call("solve", file, "--pending", PENDING, "--show-commands", "--format", "json")
    found = json.loads(shown.stdout)["commands"]
    assert (found["steps"], found["reason"]) == ([], f"ns/{odd} is no name that Kubernetes allows")
    boosts = call("boost", file, "--pending", PENDING, "--format", "json")
    answer = json.loads(boosts.stdout)
    if any(one["workload"] == f"ns/{odd}" for one in answer["boosts"]):
        assert answer["commands"] == []
        told(answer["explanation"])


def test_names_in_commands_stand_after_the_options(tmp_path: Path) -> None:
    file = dumped(tmp_path, cluster()["items"])
    for command in planner.boost(planner.read(file), PENDING).commands:
        words = shlex.split(command)
        assert words[words.index("--") + 1 :][0] in {"big", *(f"small-{i}" for i in range(1, 5))}
        assert all(one.startswith("-") for one in words[3 : words.index("--")])
