"""Files that cannot be read end in one message which names them."""

import gzip
import io
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError, ParseError
from planner.reader import MAX_BYTES
from tests.kueue_state import read
from tests.reader.dumps import NOW, cluster_queue, error_of, listed, write

GOOD = listed(cluster_queue())


def test_missing_file(tmp_path: Path) -> None:
    error = error_of(lambda: read(tmp_path / "gone.json"))
    assert error.where == str(tmp_path / "gone.json")
    assert "no such file" in error.found


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "dump.json/inside"])
def test_name_that_no_file_can_have(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "dump.json", GOOD)
    assert error_of(lambda: read(name)).found


def test_strange_names_are_printed_in_one_ascii_line(tmp_path: Path) -> None:
    error = error_of(lambda: read(tmp_path / "a\nb\udcff.json"))
    assert error.where.isascii()
    assert error.where.isprintable()


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "secret.json", GOOD)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = error_of(lambda: read(path))
    assert error.where == str(path)
    assert error.found == "may not be read"
    assert "permissions" in error.hint


def test_directory_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert error_of(lambda: read(tmp_path)).where == str(tmp_path)


def test_directory_without_files(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "nothing for us")
    error = error_of(lambda: read(tmp_path))
    assert error.where == str(tmp_path)
    assert ".yaml" in error.expected
    assert not error.hint
    (tmp_path / "monday").mkdir()
    assert error_of(lambda: read(tmp_path)).hint == "folders in it are not read: monday"


def test_error_in_a_directory_names_the_file(tmp_path: Path) -> None:
    write(tmp_path, "1.json", GOOD)
    bad = write(tmp_path, "2.json", "{")
    assert error_of(lambda: read(tmp_path, now=NOW)).where.startswith(str(bad))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_and_device_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, Path("/dev/null"), Path("/dev/zero")):
        error = error_of(partial(read, path))
        assert "neither a file nor a directory" in error.found
        assert "standard input" in error.expected + error.hint


def test_file_beyond_the_bound_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(200 * 2**20)
    start = time.thread_time()
    error = error_of(lambda: read(path))
    assert time.thread_time() - start < 0.5
    assert isinstance(error, ParseError)
    assert "200 MiB" in error.found
    assert "160 MiB" in error.found
    assert "--max-size" in error.hint
    assert "PLANNER_MAX_SIZE" in error.hint


def test_bound_is_160_mib() -> None:
    assert MAX_BYTES == 160 * 1024 * 1024


def test_bound_may_be_set_and_is_the_last_size_that_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "dump.json", GOOD)
    size = path.stat().st_size
    assert len(read(path, now=NOW, max_bytes=size).cluster_queues) == 1
    assert "--max-size" in error_of(lambda: read(path, now=NOW, max_bytes=size - 1)).hint


def test_files_of_a_directory_share_the_bound(tmp_path: Path) -> None:
    size = sum(
        write(tmp_path, f"{name}.json", cluster_queue(name)).stat().st_size for name in "abc"
    )
    assert len(read(tmp_path, now=NOW, max_bytes=size).cluster_queues) == 3
    error = error_of(lambda: read(tmp_path, now=NOW, max_bytes=size - 1))
    assert error.where == str(tmp_path / "c.json")


def test_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "dump.json", GOOD)
    monkeypatch.setattr(Path, "open", lambda *_, **__: io.BytesIO(b" " * 2000))
    assert "more than" in error_of(lambda: read(path, max_bytes=1000)).found


def test_standard_input_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" " * 1001)))
    error = error_of(lambda: read("-", max_bytes=1000))
    assert error.where == "stdin"
    assert "--max-size" in error.hint


@pytest.mark.parametrize("stdin", [None, io.TextIOWrapper(io.BytesIO(b""))])
def test_standard_input_closed_or_empty(monkeypatch: pytest.MonkeyPatch, stdin: Any) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    error = error_of(lambda: read("-"))
    assert error.where == "stdin"
    assert "closed" in error.found or "did the command" in error.hint


def test_gzip_bomb_is_not_unpacked_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "bomb.json.gz", gzip.compress(b" " * (64 * 2**20), 9))
    error = error_of(lambda: read(path, max_bytes=2**20))
    assert "unpacks to more than the 1 MiB" in error.found
    assert "--max-size" in error.hint


def test_gzip_bombs_of_a_directory_share_the_bound(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, f"{name}.json.gz", gzip.compress(b" " * 600_000))
    error = error_of(lambda: read(tmp_path, max_bytes=2**20))
    assert error.where == str(tmp_path / "b.json.gz")


WHOLE = gzip.compress(b'{"kind": "List"}' * 100, mtime=0)


@pytest.mark.parametrize(
    "data",
    [
        WHOLE[:-9],
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:20] + b"xxxx" + WHOLE[24:],
        WHOLE[:-8] + b"\0" * 8,
        b"\x1f\x8b",
        b"\x1f\x8bnot gzip at all",
    ],
)
def test_broken_gzip(tmp_path: Path, data: bytes) -> None:
    error = error_of(lambda: read(write(tmp_path, "dump.json.gz", data)))
    assert isinstance(error, ParseError)
    assert "gzip" in error.found


@pytest.mark.parametrize("source", [None, 7])
def test_what_is_no_source_and_no_choice(tmp_path: Path, source: Any) -> None:
    error = error_of(lambda: read(source))
    assert "cannot be read" in error.found
    assert "an open file, bytes" in error.expected
    choice: Any = "record"
    error = error_of(lambda: read(write(tmp_path, "1.json", GOOD), now=NOW, requests=choice))
    assert (error.where, error.expected) == ("requests", "template or recorded")


def test_errors_are_input_errors_with_exit_code_2() -> None:
    assert issubclass(ParseError, InputError)
    assert ParseError.exit_code == 2
