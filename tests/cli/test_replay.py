"""``planner replay``: the numbers, the formats, the exit code."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import answer, call, refused, valid
from tests.commands.replay.test_live import AFTER, BEFORE, UID, objects, preempted
from tests.test_replay import cycle, mute, recorded
from tests.told import told


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


def test_a_file_counts_once(files: tuple[Path, Path]) -> None:
    told(refused("replay", *files, files[0]))


def test_a_file_of_something_else_is_refused_before_any_is_compared(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr("planner.commands.replay.replay", lambda path, _: compared.append(path))
    state = store(tmp_path / "state.jsonl", [{"id": "no answer"}])
    said = refused("replay", files[0], state)
    told(said)
    assert not compared


def test_json_is_exactly_as_specified(files: tuple[Path, Path]) -> None:
    result = call("replay", *files, "--format", "json")
    assert result.exit_code == 1
    assert result.stderr == ""
    value = valid("replay", result.stdout)
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
    told(lines[0])
    told(lines[1])
    told(lines[2])
    told(lines[3])
    told(lines[4])


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
    assert refused("replay", *files, "--format", "json").startswith(f"error: {files[1]}: line 4: ")


def test_a_live_cluster_between_two_dumps(tmp_path: Path) -> None:
    before, after = objects(), objects()
    preempted(after["first"], UID)
    paths = []
    for name, each, now in (("before", before, BEFORE), ("after", after, AFTER)):
        state = {"apiVersion": "v1", "kind": "List", "items": list(each.values())}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"id": name, "now": now, "state": state}), "utf-8")
    words = ("replay", "--before", paths[0], "--after", paths[1], "--format")
    answer("live", *words[:-1], code=1)
    told(call(*words, "plain").stdout)
    assert "Kueue evicted" in call(*words, "table").stdout


@pytest.mark.parametrize("words", [["--before", "a.json"], ["--after", "a.json"], []])
def test_both_dumps_or_files(words: list[str]) -> None:
    assert call("replay", *words).exit_code == 2


def test_a_folder_and_a_text_are_told_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("hello\n", "utf-8")
    told = [call("replay", path).stderr for path in (tmp_path, tmp_path / "notes")]
    assert told[0] == (
        f"error: {tmp_path}: is a directory\n  expected a file, one recorded instance a line\n"
    )
    assert told[1].endswith(" at column 1\n  expected one recorded instance a line\n")
