"""``planner import``: public traces to states that the other commands read."""

import gzip
import json
from pathlib import Path

import pytest
import yaml

import planner
from planner.commands.study.instance import open_packed, packed_states
from tests.cli.running import call, refused
from tests.research.import_.files import (
    NODES,
    PHILLY,
    PHILLY_HEADER,
    PODS,
    of_kind,
    pending_of,
    write,
)
from tests.told import told

OPENB = ("openb", PODS, "--nodes", NODES, "--workloads", 60)


def imported(*args: str | int | Path) -> str:
    """Return what is printed where all goes well."""
    result = call("import", *map(str, args))
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_one_state_goes_on_to_the_planner() -> None:
    text = imported("philly", PHILLY, "--seed", 4)
    assert json.loads(text)["kind"] == "List"
    solved = call("solve", "-", "--format", "json", stdin=text)
    assert solved.exit_code in {0, 3}
    assert "warning" not in solved.stderr
    assert json.loads(solved.stdout)["preemptor"].endswith("/preemptor-1")


def test_counts_go_to_standard_error() -> None:
    result = call("import", *map(str, OPENB), "--instants", "2")
    told(result.stderr.splitlines())
    assert len(result.stdout.splitlines()) == 2
    assert PODS.read_text().count(",Running,") == 363


@pytest.mark.parametrize("name", ["states.jsonl.gz", "states"])
def test_many_states_are_what_audit_reads(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert not imported("philly", PHILLY, "--instants", 2, "--preemptors", 2, "-o", path)
    packed = list(packed_states(str(path)))
    assert len(packed) == 2
    for one in packed:
        waiting = open_packed(one).pending
        assert [name.partition("/")[2] for name in waiting] == ["preemptor-1", "preemptor-2"]
    audited = call("audit", path, "--jobs", "1", "--fail-on", "never", "--format", "json")
    assert audited.exit_code == 0
    assert json.loads(audited.stdout)["summary"]["cases"] == 4


def test_states_that_are_followed_are_what_audit_reads(tmp_path: Path) -> None:
    path = tmp_path / "states.jsonl"
    imported("philly", PHILLY, "--instants", 2, "--follow", 600, "-o", path)
    audited = call("audit", path, "--jobs", "1", "--fail-on", "never", "--format", "json")
    assert audited.exit_code == 0, audited.stderr
    assert len([*packed_states(str(path))]) == 2


def test_a_moment_that_is_said_twice_is_one(tmp_path: Path) -> None:
    first = json.loads(imported("philly", PHILLY, "--follow", 1))["now"]
    twice = [word for at in (first, first.replace("Z", ".7Z")) for word in ("--at", at)]
    result = call("import", "philly", PHILLY, *twice, "-o", tmp_path / "one.json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.endswith("import: 1 state\n")


def test_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        imported(*OPENB, "--instants", 2, "--seed", 3, "-o", tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    imported(*OPENB, "--instants", 2, "--seed", 3, "-o", tmp_path / "c.jsonl")
    unpacked = gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes())
    assert unpacked == (tmp_path / "c.jsonl").read_bytes()


def test_yaml_and_json_are_the_same_state(tmp_path: Path) -> None:
    for name in ("one.yaml", "one.json"):
        imported("philly", PHILLY, "-o", tmp_path / name)
    value = json.loads((tmp_path / "one.json").read_bytes())
    assert yaml.safe_load((tmp_path / "one.yaml").read_bytes()) == value
    assert planner.read(tmp_path / "one.yaml").source.endswith("one.yaml")


def test_a_moment_of_choice() -> None:
    state = json.loads(imported("philly", PHILLY, "--at", "2025-03-08T12:00:00Z"))
    (gang,) = pending_of(state)
    assert gang["metadata"]["creationTimestamp"] == "2025-03-08T12:00:00Z"
    two = ("--at", "2025-03-08T12:00:00Z", "--at", "2025-03-09T12:00:00Z")
    assert json.loads(imported("philly", PHILLY, *two).splitlines()[0]) == state


def test_every_knob_turns_something() -> None:
    """Each option changes the state, and only what it is about."""
    usual = json.loads(imported("philly", PHILLY))
    for option, value in {
        "--seed": "1",
        "--sampling": "drawn",
        "--workloads": "3",
        "--levels": "2",
        "--factor": "0.1:0.2",
        "--utilisation": "0.5",
        "--borrowing-limits": "1",
        "--lending-limits": "1",
        "--within": "Never",
        "--reclaim": "Never",
        "--borrow": "LowerPriority",
        "--priorities": "7:1",
        "--checkpoints": "1",
        "--gang": "3",
        "--priority": "7",
        "--preemptors": "2",
        "--shapes": str(PODS),
    }.items():
        other = json.loads(imported("philly", PHILLY, option, value))
        assert other != usual, option
        same = of_kind(other, "ClusterQueue") == of_kind(usual, "ClusterQueue")
        assert same == (
            option in {"--priorities", "--checkpoints", "--gang", "--priority", "--preemptors"}
        ), option
    fair = json.loads(imported("philly", PHILLY, "--fair-sharing"))
    assert fair["items"][1:] == usual["items"]
    assert fair["items"][0]["kind"] == "Configuration"
    by_name = json.loads(imported(*OPENB, "--queues", 3))
    assert len(of_kind(by_name, "ClusterQueue")) == 3
    by_class = json.loads(imported(*OPENB, "--queue-by", "class"))
    assert "be-g2" in {queue["metadata"]["name"] for queue in of_kind(by_class, "ClusterQueue")}


def test_bad_row_is_one_message(tmp_path: Path) -> None:
    path = write(tmp_path, PHILLY_HEADER, "2017-10-09 07:01:55,66.0,many,11cb48")
    said = refused("import", "philly", path)
    told(said)


def test_bad_rows_are_counted_if_you_like(tmp_path: Path) -> None:
    good = PHILLY.read_text().splitlines()
    path = write(tmp_path, *good, "nonsense", "1,2,3,4,5")
    result = call("import", "philly", path, "--skip-bad-rows")
    assert result.exit_code == 0
    assert result.stdout == imported("philly", PHILLY)
    first, second, expected, last = result.stderr.splitlines()
    told(first)
    told(second)
    told(expected)
    assert last == "import: 1 state"


@pytest.mark.parametrize(
    "args",
    [
        ("philly", PHILLY, "--nodes", NODES),
        ("openb", PODS),
        (*OPENB, "--shapes", PODS),
        ("philly", "missing.csv"),
        ("philly", ""),
        ("philly", PHILLY, "--factor", "2:1"),
        ("philly", PHILLY, "--factor", "1"),
        ("philly", PHILLY, "--priorities", "0.5:1"),
        ("philly", PHILLY, "--priorities", "1:0"),
        ("philly", PHILLY, "--at", "0001-01-01T00:00:00Z"),
        ("philly", PHILLY, "--at", "2025-03-08"),
        ("philly", PHILLY, "--at", "1999-01-01T00:00:00Z"),
    ],
)
def test_what_cannot_be_used(args: tuple[str | Path, ...]) -> None:
    told(refused("import", *map(str, args)))


@pytest.mark.parametrize("name", ["one.json", "full", "there.csv", "no/folder.jsonl"])
def test_where_states_cannot_go(tmp_path: Path, name: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "there.json").touch()
    (tmp_path / "there.csv").touch()
    told(refused("import", "philly", PHILLY, "--instants", "2", "-o", tmp_path / name))


def test_nothing_is_left_of_a_run_that_fails(tmp_path: Path) -> None:
    args = ("import", "philly", PHILLY, "--at", "1999-01-01T00:00:00Z")
    result = call(*args, "-o", tmp_path / "one.json")
    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())
