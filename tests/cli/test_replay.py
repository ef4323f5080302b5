"""``planner replay``: the numbers, the formats, the exit code."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from planner.cli.schemas import schema_text
from tests.cli.running import call, process
from tests.test_replay import cycle, mute, recorded


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Give a file that is reproduced but for a skipped line, and one with two differences."""
    wrong = [recorded(f"wrong-{i}") for i in range(3)]
    wrong[1]["expect"]["targets"].reverse()
    wrong[2]["expect"]["assignment"]["mode"] = "Fit"
    return (
        store(tmp_path / "good.jsonl.gz", [recorded("good"), cycle(), mute()]),
        store(tmp_path / "bad.jsonl", wrong),
    )


def store(path: Path, lines: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def test_json_is_exactly_as_specified(files: tuple[Path, Path]) -> None:
    result = call("replay", *files, "--format", "json")
    assert result.exit_code == 1
    assert result.stderr == ""
    value = json.loads(result.stdout)
    Draft202012Validator(json.loads(schema_text("replay"))).validate(value)
    good, bad = files
    assert value == {
        "files": [
            {
                "file": str(good),
                "instances": 3,
                "equal": 2,
                "skipped": 1,
                "different": [],
                "uncovered": {},
            },
            {
                "file": str(bad),
                "instances": 3,
                "equal": 1,
                "skipped": 0,
                "different": ["wrong-1", "wrong-2"],
                "uncovered": {},
            },
        ],
        "instances": 6,
        "equal": 3,
        "skipped": 1,
        "uncovered": 0,
    }


def test_nothing_different_is_success(files: tuple[Path, Path]) -> None:
    assert call("replay", files[0]).exit_code == 0


def test_plain_says_what_differs(files: tuple[Path, Path]) -> None:
    result = call("replay", *files)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == f"file {files[0]} instances=3 equal=2 skipped=1 different=0 uncovered=0"
    assert lines[1] == f"file {files[1]} instances=3 equal=1 skipped=0 different=2 uncovered=0"
    assert lines[2].startswith("different wrong-1 targets[0].workload: recorded ")
    assert lines[3] == ('different wrong-2 assignment.mode: recorded "Fit", replayed "Preempt"')
    assert lines[4] == "total instances=6 equal=3 skipped=1 different=2 uncovered=0"


def test_show_limits_the_differences(files: tuple[Path, Path]) -> None:
    one = call("replay", files[1], "--show", "1").stdout
    assert "wrong-1" in one
    assert "wrong-2" not in one
    assert "... 1 more differences" in one
    assert "wrong-1" not in call("replay", files[1], "--show", "0", "--format", "table").stdout


def test_table(files: tuple[Path, Path]) -> None:
    result = call("replay", *files, "--format", "table", env={"COLUMNS": "200"})
    assert "2 files" in result.stdout
    assert "wrong-2  assignment.mode: recorded" in result.stdout


def test_bad_line_is_bad_input(files: tuple[Path, Path]) -> None:
    with files[1].open("a", encoding="utf-8") as file:
        file.write("{}\n")
    result = call("replay", *files, "--format", "json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {files[1]}: line 4: ")


def test_as_a_process(files: tuple[Path, Path]) -> None:
    done = process("replay", files[1], "--format", "json")
    assert done.returncode == 1
    assert done.stderr == ""
    assert json.loads(done.stdout)["equal"] == 1
