"""`planner lint`: every format, exit codes, examples as files, refusals."""

import json
from pathlib import Path

import pytest

from planner.cli.exit_code import FINDINGS, OPTIMAL
from tests.cli.running import answer, call, refused
from tests.cluster import dump_of, queue
from tests.commands.lint.kueue_cases import CASES, TWO
from tests.conftest import QUICKSTART, YUNIKORN


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster with a warning, KL-05, and a note, KL-15."""
    path = tmp_path / "cluster.json"
    low = queue("a", 4, "org", reclaim="Any", borrow="LowerPriority", threshold=-1)
    high = queue("b", 4, "org", reclaim="LowerPriority", borrow="LowerPriority", threshold=100)
    path.write_text(json.dumps(dump_of(low, high, *TWO)))
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.json"
    path.write_text(json.dumps(next(case.found for case in CASES if case.code == "KL-11")))
    return path


def test_json_obeys_its_schema(dump: Path) -> None:
    value = answer("lint", "lint", dump, code=FINDINGS)
    assert value["scheduler"] == "kueue"
    assert {"KL-05", "KL-15"} <= {one["code"] for one in value["findings"]}


def test_plain_text_has_a_line_per_fact(dump: Path) -> None:
    result = call("lint", dump)
    assert result.exit_code == FINDINGS
    lines = result.stdout.splitlines()
    # What was not looked at is said on standard error, too.
    notes = [line.removeprefix("note             ") for line in lines if line.startswith("note ")]
    assert result.stderr == "".join(f"warning: {json.loads(note)}\n" for note in notes)
    assert len(notes) == 1
    title = 'finding          KL-05 warning impossible title="threshold below every priority"'
    assert title in lines
    assert "object           KL-05 clusterqueue/a" in lines
    assert any(line.startswith("hint             KL-05 ") for line in lines)


def test_table_tells_objects_reason_hint_and_example(dump: Path) -> None:
    text = call("lint", dump, "--format", "table").stdout
    for part in ("KL-05: ", "Objects   clusterqueue/a", "Reason", "Hint", "Example   1. "):
        assert part in text


@pytest.mark.parametrize(
    ("fatal", "code"),
    [("note", FINDINGS), ("warning", OPTIMAL), ("error", OPTIMAL), ("never", OPTIMAL)],
)
def test_severity_that_fails(notes: Path, fatal: str, code: int) -> None:
    result = call("lint", notes, "--fail-on", fatal)
    assert "KL-11 note" in result.stdout
    assert result.exit_code == code


def test_nothing_found(tmp_path: Path) -> None:
    path = tmp_path / "sound.json"
    path.write_text(json.dumps(dump_of(queue("a", 4, "org", within="LowerPriority"), *TWO)))
    result = call("lint", path, "--format", "table")
    assert result.exit_code == OPTIMAL, result.stdout
    assert "Nothing found." in result.stdout


def test_examples_are_states_for_other_commands(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "examples"
    assert call("lint", dump, "--examples", folder).exit_code == FINDINGS
    names = sorted(path.name for path in folder.iterdir())
    assert "KL-05-clusterqueue-a.json" in names
    result = call("solve", folder / "KL-05-clusterqueue-a.json", "--format", "json")
    assert json.loads(result.stdout)["greedy"]["victims"] == []


def test_yunikorn_examples_too(tmp_path: Path) -> None:
    result = call("lint", YUNIKORN, "--examples", tmp_path / "x", "--format", "json")
    assert result.exit_code == FINDINGS
    assert json.loads(result.stdout)["scheduler"] == "yunikorn"
    for path in (tmp_path / "x").iterdir():
        assert call("lint", path).exit_code in {OPTIMAL, FINDINGS}


def test_quickstart_can_go_in_circles() -> None:
    result = call("lint", QUICKSTART)
    assert result.exit_code == FINDINGS
    assert "finding          KL-01 warning ping-pong" in result.stdout


def test_a_file_where_a_folder_should_be_is_refused(dump: Path) -> None:
    for folder in (dump, dump / "below"):
        assert "--examples" in refused("lint", dump, "--examples", folder)


def test_no_such_state(tmp_path: Path) -> None:
    assert "nothing.json" in refused("lint", tmp_path / "nothing.json")
