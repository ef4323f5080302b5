"""What is the user's, or the system's, is exit code 2 and says where; 70 is for bugs of ours."""

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

from planner.cli.main import COMMANDS, main
from planner.commands.replay import replay_line
from planner.errors import SchemaError
from planner.quota.yunikorn.queue import build_tree
from planner.reader import read_objects
from planner.state.yunikorn import YuniKornState
from tests.cli.running import call, cluster, refused, write
from tests.conftest import YUNIKORN
from tests.told import told

Asks = Callable[[Path, Path], tuple[str | Path, ...]]
"""A command by what is at a path: a cluster to work on, then the path."""
ASKS: dict[str, Asks] = {
    "solve": lambda _, path: ("solve", path),
    "audit": lambda _, path: ("audit", path),
    "audit lines": lambda _, path: ("audit", f"{path}.jsonl"),
    "compare": lambda _, path: ("compare", path),
    "replay": lambda _, path: ("replay", path),
    "check": lambda state, path: ("check", state, path),
    "costs": lambda state, path: ("solve", state, "--objective", "min-cost", "--costs", path),
    "objective": lambda state, path: ("solve", state, "--objective", f"{path}.toml"),
    "output": lambda state, path: ("solve", state, "-o", path),
    "proof": lambda state, path: ("solve", state, "--proof", path),
    "results": lambda state, path: ("audit", state, "--results", path),
    "table": lambda state, path: ("compare", state, "--table", f"{path}.csv"),
    "schema": lambda _, path: ("schema", "plan", "-o", path),
}
OF_A_PATH = pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Be bound by the permissions of files, also where the tests run as root."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return write(tmp_path, cluster())


@OF_A_PATH
def test_a_name_that_is_too_long(state: Path, tmp_path: Path, asks: Asks) -> None:
    assert "n" * 300 in refused(*asks(state, tmp_path / ("n" * 300)))


@OF_A_PATH
def test_a_folder_without_search_permission(asks: Asks) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # everybody gets as far as here
        state, closed = write(Path(folder), cluster()), Path(folder, "closed")
        closed.mkdir(mode=0o600)
        words = asks(state, closed / "file")
        call(*words)  # what is loaded on use is loaded now
        with unprivileged():
            result = call(*words)
    assert result.exit_code == 2, result.stderr
    assert str(closed) in result.stderr


@pytest.mark.parametrize("size", ["100G", "9223372036854775807", "1e40"])
def test_any_size_may_be_the_most(state: Path, tmp_path: Path, size: str) -> None:
    """It is a bound, not what is set aside."""
    packed = tmp_path / "state.json.gz"
    packed.write_bytes(gzip.compress(state.read_bytes()))
    for source in (state, packed):
        assert call("solve", source, "--max-size", size).exit_code == 0
    text = state.read_text(encoding="utf-8")
    assert call("solve", "-", "--max-size", size, stdin=text).exit_code == 0


def changed(folder: Path, change: Callable[[Any], None]) -> Path:
    """Copy the quickstart of YuniKorn with another dump."""
    target = folder / "cluster"
    shutil.copytree(YUNIKORN, target)
    dump = target / "statedump.json"
    value = json.loads(dump.read_text(encoding="utf-8"))
    change(value)
    dump.write_text(json.dumps(value), encoding="utf-8")
    return target


@pytest.mark.parametrize("nodes", [[], None, [{"partitionName": "default", "nodesInfo": []}]])
def test_a_dump_of_yunikorn_without_nodes(tmp_path: Path, nodes: object) -> None:
    """Its allocations are on some: that there is no room would be said of others only."""
    folder = changed(tmp_path, lambda dump: dump.update(nodes=nodes))
    for command in ("solve", "explain"):
        result = call(command, folder)
        assert result.exit_code == 6, command
        assert "nodes" in result.stdout


def test_a_priority_of_more_than_32_bits(tmp_path: Path) -> None:
    """With the offset of a queue it would be beyond 64 bits; the core's has 32."""

    def raise_all(dump: Any) -> None:
        for application in dump["applications"]:
            for claim in (*application["allocations"], *(application.get("requests") or ())):
                claim["priority"] = 2**63 - 1

    folder = changed(tmp_path, raise_all)
    for verb in ("solve", "explain"):
        said = refused(verb, folder)
        told(said)
        assert "at most 2147483647" in said


def test_usage_of_a_queue_in_another_partition() -> None:
    """Only a recorded instance gives it."""
    second = {"name": "gpu", "queues": [{"name": "root", "queues": [{"name": "there"}]}]}
    partitions = [{"name": "default", "queues": [{"name": "root"}]}, second]
    line = {"id": "one", "now": 1, "queues": {"partitions": partitions}, "nodes": []}
    usage = {"queueUsage": {"root.there": {"allocatedResource": {"vcore": 7}}}}
    state = read_objects({**line, "applications": [], "x": usage}, where="line")
    assert isinstance(state, YuniKornState)
    trees = [build_tree(one, state.x, state.source).by_path for one in state.partitions]
    assert "root.there" not in trees[0]
    assert trees[1]["root.there"].allocated == {"vcore": 7}


@pytest.mark.parametrize(
    "change",
    [{"mode": [1]}, {"mode": {"a": 1}}, {"ask": {"allocationKey": "a", "applicationID": [1]}}],
)
def test_recorded_fields_that_are_something_else(change: dict[str, Any]) -> None:
    line: dict[str, Any] = {
        "id": "one",
        "queues": {"partitions": [{"name": "default", "queues": []}]},
    }
    line |= {"nodes": [], "applications": [], "expect": {}, "ask": {}, "now": 1}
    with pytest.raises(SchemaError):
        replay_line({**line, **change})


def test_a_flavor_for_what_is_not_requested(state: Path, tmp_path: Path) -> None:
    """It holds nothing, also where the plan is carried out on paper."""
    flavors = {name: {"flavor": "default"} for name in ("gpu", "cpu")}
    given = write(tmp_path, {"main": flavors}, "assignment.json")
    only = write(tmp_path, {"main": {"gpu": flavors["gpu"]}}, "only.json")
    result, expected = (
        call("solve", state, "--assignment", file, "--stability", "--format", "plain")
        for file in (given, only)
    )
    victims = [
        [line for line in one.stdout.splitlines() if line.startswith("victim ")]
        for one in (result, expected)
    ]
    assert result.exit_code == expected.exit_code == 0, result.stderr
    assert victims[0] == victims[1] != []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_empty_value_is_not_taken_for_none(name: str) -> None:
    """It most often is a shell variable that is not set."""
    context = main.make_context("planner", ["--help"], resilient_parsing=True)
    command = main.get_command(context, name)
    assert command is not None
    for one in command.params:
        if isinstance(one, click.Option) and not one.is_flag:
            for text in ("", " "):
                said = refused(name, one.opts[-1], text)
                assert f"{one.opts[-1]}': the value is empty: leave the option out" in said


@pytest.mark.parametrize("name", ["PLANNER_TIME_LIMIT", "PLANNER_SOLVE_TIME_LIMIT"])
def test_a_wrong_value_of_the_environment_names_its_variable(name: str) -> None:
    variables = {"PLANNER_TIME_LIMIT": "5", name: "abc"}
    said = call("solve", YUNIKORN, env=variables).stderr
    told(said)
    by_hand = call("solve", YUNIKORN, "--time-limit", "x", env=variables).stderr
    assert "says so" not in by_hand
    flag = call("solve", YUNIKORN, env={"PLANNER_ALL": "all"}).stderr
    told(flag)


@pytest.mark.parametrize("items", [[], None])
def test_a_list_of_nothing_is_not_told_the_time(items: object) -> None:
    """As kubectl prints it in the wrong namespace: a clock would not help."""
    said = call("solve", "-", stdin=json.dumps({"kind": "List", "items": items}))
    assert said.exit_code == 2
    first, _, hint = said.stderr.splitlines()
    told(first)
    told(hint)
