"""The file of a run: what may be gone on with, and what is refused."""

import errno
import fcntl
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from planner.batch import Progress, Results, Settings, Task, run
from planner.errors import InputError
from tests.batch.program import HEADER, numbers
from tests.batch.runs import by_hand, file_by_hand
from tests.batch.work import double, fail
from tests.told import told

LINES = file_by_hand().splitlines(keepends=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def go(file: Path, *, resume: bool = True, **header: Any) -> Results:
    return run(
        numbers(), double, Settings(file=file, resume=resume, jobs=1), header=HEADER | header
    )


def refusal(file: Path, *, resume: bool = True, **header: Any) -> str:
    """Return the message of a refusal, after which the file must be as it was."""
    before = file.read_bytes() if file.is_file() else None
    with pytest.raises(InputError) as caught:
        go(file, resume=resume, **header)
    assert before == (file.read_bytes() if file.is_file() else None)
    return str(caught.value)


def test_a_new_file(file: Path) -> None:
    assert list(go(file, resume=False)) == by_hand()
    assert file.read_bytes() == file_by_hand()


def test_rows_are_there_as_they_come(file: Path) -> None:
    def watch(progress: Progress) -> None:
        assert file.read_bytes() == b"".join(LINES[: progress.done + 1])

    run(numbers(), double, Settings(file=file, jobs=1, watch=watch), header=HEADER)


def test_an_existing_file_is_kept(file: Path) -> None:
    go(file)
    message = refusal(file, resume=False)
    told(message.splitlines()[0])
    assert "--resume" in message
    file.write_bytes(b"")
    told(refusal(file, resume=False))


def test_going_on_with_a_finished_file_does_nothing(file: Path) -> None:
    go(file)
    results = run(numbers(), fail, Settings(file=file, resume=True, jobs=1), header=HEADER)
    assert list(results) == by_hand()
    assert results.counts == {"done": 60}


@pytest.mark.parametrize("kept", [0, 1, 2, 30, 61])
@pytest.mark.parametrize("torn", [b"", b"{", b'{"key": "n:7", "outcome": "done", "detail": ""'])
def test_going_on_after_any_row_and_a_torn_one(file: Path, kept: int, torn: bytes) -> None:
    """A row that came early is kept where it belongs."""
    begun = [LINES[0], *reversed(LINES[1:])][:kept]
    file.write_bytes(b"".join(begun) + (torn if kept else LINES[0][: len(torn)]))
    done: list[int] = []
    results = run(
        numbers(),
        double,
        Settings(file=file, resume=True, jobs=1, watch=lambda progress: done.append(progress.done)),
        header=HEADER,
    )
    assert done == list(range(max(1, kept), 61)), "finished tasks count and are not done again"
    assert list(results) == by_hand()
    assert file.read_bytes() == file_by_hand()


def test_outcomes_that_are_no_results_are_kept_too(file: Path) -> None:
    late = {"outcome": "timeout", "detail": "not done within 1 s", "result": None}
    line = json.dumps({"key": "n:3", "digest": "", **late}).encode() + b"\n"
    file.write_bytes(LINES[0] + line)
    assert go(file).counts == {"done": 59, "timeout": 1}
    assert file.read_bytes() == b"".join([*LINES[:4], line, *LINES[5:]])


def test_the_header_must_be_that_of_the_run(file: Path) -> None:
    go(file)
    message = refusal(file, run={"of": "numbers", "seed": 8})
    told(message)
    told(refusal(file, limits=5))
    told(refusal(file, run={"seed": 7}))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"precious\n", "line 1: is not JSON"),
        (b"precious", "line 1: is not JSON"),
        (b"[]\n", "line 1: is not a JSON object"),
        (b"[" * 100_000 + b"\n", "line 1: is not JSON"),
        (b"\xff\xfe\n", "line 1: is not JSON"),
        (LINES[0] + b"\n", "line 2: is not JSON"),
        (LINES[0] + b"{}\n", "line 2: is not a row"),
        (LINES[0] + LINES[0], "line 2: is not a row"),
        (LINES[0] + LINES[1] + LINES[2].replace(b'"n:1"', b"1"), "line 3: is not a row"),
        (LINES[0] + LINES[1].replace(b'"done"', b'"failed"'), "line 2: is not a row"),
        (LINES[0] + LINES[1].replace(b'"done"', b'"lost"'), "line 2: is not a row"),
        (LINES[0] + LINES[1] + LINES[1], "line 3: is a second row of n:0"),
    ],
)
def test_other_files_are_not_touched(file: Path, line: bytes, complaint: str) -> None:
    file.write_bytes(line)
    assert complaint in refusal(file)


def tasks_of(**digests: str) -> Iterator[Task]:
    return (Task(key, len(digest), digest) for key, digest in digests.items())


def asked_again(file: Path, **digests: str) -> list[str]:
    """Go on with other inputs, and return the keys that were asked again."""
    again: list[str] = []
    tasks = tasks_of(**digests)
    run(
        tasks, double, Settings(file=file, resume=True, jobs=1, changed=again.append), header=HEADER
    )
    return again


def test_a_row_of_another_input_is_made_anew(file: Path) -> None:
    assert asked_again(file, a="one", b="two") == []
    assert asked_again(file, a="one", b="three") == ["b"]
    changed = file.read_bytes()
    file.unlink()
    asked_again(file, a="one", b="three")
    assert file.read_bytes() == changed


def test_an_input_that_changes_back_is_asked_again(file: Path) -> None:
    """Killed after each change: the last row counts, whatever stood there before."""
    asked_again(file, a="one", b="four")
    header, one, four = file.read_bytes().splitlines(keepends=True)
    other = one.replace(b'"one"', b'"three"')
    file.write_bytes(header + one + other + four)
    assert asked_again(file, a="three", b="four") == []
    file.write_bytes(header + one + other + four)
    assert asked_again(file, a="one", b="four") == ["a"]
    assert file.read_bytes() == header + one + four
    file.write_bytes(header + one + other + one + four)
    assert asked_again(file, a="one", b="four") == []


def test_rows_of_other_tasks(file: Path) -> None:
    """The input has changed; the rows are worth keeping all the same."""
    file.write_bytes(b"".join(LINES))
    with pytest.raises(InputError) as caught:
        run(numbers(3), double, Settings(file=file, resume=True, jobs=1), header=HEADER)
    told(caught.value)
    assert file.read_bytes() == file_by_hand()


def test_one_run_at_a_time(file: Path) -> None:
    file.write_bytes(LINES[0])
    with file.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        told(refusal(file))
    go(file)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    told(refusal(tmp_path / "none" / "rows.jsonl"))
    told(refusal(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    told(refusal(tmp_path / "pipe"))


class FullDisk(io.FileIO):
    """A file that holds 500 bytes."""

    def write(self, data: Any, /) -> int:
        """Write what there is room for, or nothing."""
        if self.tell() + len(data) > 500:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def test_full_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(LINES[0])
    full = io.BufferedRandom(FullDisk(file, "r+"))
    monkeypatch.setattr("planner.batch.engine._locked", lambda *_, **__: full)
    with pytest.raises(InputError) as caught:
        go(file)
    told(caught.value)
    assert full.closed
    monkeypatch.undo()
    assert 1 < len(file.read_bytes().splitlines()) < 10
    assert list(go(file)) == by_hand()


def test_nothing_is_left_of_a_run_that_never_began(file: Path) -> None:
    def nobody(*_: object) -> NoReturn:
        raise InputError("nowhere", "is not there")

    with pytest.raises(InputError) as caught:
        run(numbers(), double, Settings(file=file, workers=nobody), header=HEADER)
    told(caught.value)
    assert not file.exists()


def test_a_link_stays_a_link_and_the_mode_stays(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    file.write_bytes(LINES[0])
    file.chmod(0o640)
    go(link)
    assert link.is_symlink()
    assert file.read_bytes() == file_by_hand()
    assert file.stat().st_mode & 0o777 == 0o640


def test_leftovers_of_a_run_killed_at_its_very_end(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"".join(LINES[:30]))
    (tmp_path / ".rows.jsonl.sorted").write_bytes(b"half of")
    go(file)
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_bytes() == file_by_hand()


def test_names_in_any_script(file: Path) -> None:
    """Also those that are no Unicode, as file names may be, and those that look like two lines."""
    keys = ["β/日本.json", "bad\udcff.json", "two\u2028lines", "two\nlines"]
    tasks = [Task(key, n) for n, key in enumerate(keys)]
    first = run(tasks, double, Settings(file=file, jobs=1), header={"files": keys})
    assert [row.key for row in first] == keys
    again = run(tasks, double, Settings(file=file, resume=True, jobs=1), header={"files": keys})
    assert [row.key for row in again] == keys
    assert len(file.read_bytes().splitlines()) == 5
