"""Every command where the system keeps something from it: streams, files, room, width, a folder.

It ends with an answer or a clean error, and never with a traceback; what it writes has the mode
that the umask leaves. PLANNER_TEST_ALL tries each command in all surroundings, not in some.
"""

import gzip
import os
import resource
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, NamedTuple

import pytest

import planner
from planner.cli.exit_code import BAD_INPUT, MEANINGS, OUR_BUG, PIPE_CLOSED
from tests.cli.running import command, environment
from tests.conftest import QUICKSTART, ROOT, TEST_ALL

TRACE = ROOT / "instances" / "traces" / "philly.csv"
EDIT = ("--set", "clusterqueue/nlp.preemption.withinClusterQueue=Never")
QUICK = ("--time-limit", "0.2")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "solve": ("solve", str(QUICKSTART), *QUICK),
    "explain": ("explain", str(QUICKSTART), *QUICK),
    "whatif": ("whatif", str(QUICKSTART), *EDIT, *QUICK),
    "lint": ("lint", str(QUICKSTART)),
    "audit": ("audit", str(QUICKSTART), "--jobs", "1", *QUICK),
    "compare": ("compare", str(QUICKSTART), "--jobs", "1", *QUICK),
    "risk": ("risk", str(QUICKSTART), "--limit", "1", *QUICK),
    "simulate": ("simulate", str(QUICKSTART), "--until", "60", *QUICK),
    "generate": ("generate", "small"),
    "import": ("import", "philly", str(TRACE), "--instants", "1"),
    "watch": ("watch", str(QUICKSTART), *QUICK),
    "laws": ("laws",),
    "schema": ("schema", "plan"),
    "an error": ("solve", "nowhere.json"),
    "a usage error": ("solve", "--nonesuch"),
    "--help": ("--help",),
    "solve --help": ("solve", "--help"),
    "--version": ("--version",),
}
ALLOWED = MEANINGS.keys() - {OUR_BUG}


class Surrounding(NamedTuple):
    """What is odd about a process: its streams, what is set, what is done before it starts."""

    streams: dict[str, Any] = {}
    variables: dict[str, str] = {}
    before: Callable[[], object] | None = None


def without(*streams: int) -> Callable[[], object]:
    return lambda: [*map(os.close, streams)]


def bounded(what: int, most: int) -> Callable[[], object]:
    return lambda: resource.setrlimit(what, (most, most))


def surroundings(some: ExitStack) -> Iterator[tuple[str, Surrounding]]:
    """Yield all surroundings by name."""
    read, written = os.pipe()
    os.close(read)
    some.callback(os.close, written)
    full = os.open("/dev/full", os.O_WRONLY)
    some.callback(os.close, full)
    for name, stream in (("nobody reads", written), ("full", full)):
        yield f"{name}: standard output", Surrounding({"stdout": stream})
        yield f"{name}: standard error", Surrounding({"stderr": stream})
    for closed in ((0,), (1,), (2,), (0, 1, 2)):
        yield f"closed: {closed}", Surrounding(before=without(*closed))
    for width in ("0", "1", "2", "20", "-3", "x", "9" * 30):
        yield f"columns: {width}", Surrounding(variables={"COLUMNS": width})
    yield "files of 100 bytes", Surrounding(before=bounded(resource.RLIMIT_FSIZE, 100))
    yield "few open files", Surrounding(before=bounded(resource.RLIMIT_NOFILE, 8))
    yield "no home", Surrounding(variables={"HOME": "/nowhere", "TMPDIR": "/nowhere"})
    for encoding in ("ascii", "utf-16", "latin-1"):
        yield encoding, Surrounding(variables={"PYTHONIOENCODING": encoding})


def drawn() -> list[tuple[str, str]]:
    """Return which command is tried in which surroundings."""
    with ExitStack() as some:
        names = [name for name, _ in surroundings(some)]
    chance = Random(0)  # noqa: S311 - the same every time
    return [
        (which, name)
        for which in COMMANDS
        for name in (names if TEST_ALL else chance.sample(names, 1))
    ]


def ended(words: tuple[str, ...], one: Surrounding, folder: Path) -> tuple[int, str]:
    """Run a command; return its exit code, and what it said on standard error."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **one.streams}
    done = subprocess.run(
        command(*words),
        env=environment(one.variables),
        cwd=folder,
        preexec_fn=one.before,
        check=False,
        **streams,
    )
    return done.returncode, (done.stderr or b"").decode("utf-8", "replace")


@pytest.mark.parametrize(("which", "name"), drawn())
def test_an_answer_or_a_clean_error(which: str, name: str, tmp_path: Path) -> None:
    with ExitStack() as some:
        code, said = ended(COMMANDS[which], dict(surroundings(some))[name], tmp_path)
    assert code in ALLOWED, said
    assert "Traceback" not in said
    assert "Exception ignored" not in said


@pytest.mark.parametrize("which", ["--version"] if not TEST_ALL else COMMANDS)
def test_what_cannot_be_printed_is_no_finding(which: str, tmp_path: Path) -> None:
    """A disk that is full is an error, and a reader that has gone is none."""
    with ExitStack() as some:
        there = dict(surroundings(some))
        code, said = ended(COMMANDS[which], there["full: standard output"], tmp_path)
        assert code == BAD_INPUT
        assert said.splitlines()[-1].startswith("error: ")
        assert said.endswith("No space left on device\n")
        gone = ended(COMMANDS[which], there["nobody reads: standard output"], tmp_path)
        assert gone[0] == PIPE_CLOSED
        assert "error" not in gone[1]


def test_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    for words in (COMMANDS["solve"], (*COMMANDS["solve"], "-o", "x"), ("audit", ".")):
        folder = tmp_path / "gone"
        folder.mkdir()
        code, said = ended(words, Surrounding(before=folder.rmdir), folder)
        assert code in ALLOWED, said
        assert "Traceback" not in said


WRITING = {
    "solve": ("-o", "plan.json", "--proof", "trees.jsonl", "--certify"),
    "audit": ("-o", "page.html", "--results", "rows.jsonl"),
    "compare": ("-o", "page.html", "--table", "table.csv"),
    "simulate": ("-o", "found.json", "--timeline", "events.jsonl"),
    "generate": ("--count", "2", "-o", "states"),
    "import": ("-o", "states.jsonl.gz"),
}


@pytest.mark.parametrize("mask", [0o000, 0o027, 0o077, 0o777] if TEST_ALL else [0o027])
@pytest.mark.parametrize("which", WRITING)
def test_files_have_the_mode_that_the_umask_leaves(which: str, mask: int, tmp_path: Path) -> None:
    """And one that is there keeps its own."""
    words = (*COMMANDS[which], *WRITING[which])
    names = [word for word in WRITING[which] if word[0].isalpha()]
    surrounding = Surrounding(before=lambda: os.umask(mask))
    code, said = ended(words, surrounding, tmp_path)
    assert code in ALLOWED - {BAD_INPUT}, said
    assert {one.name for one in tmp_path.iterdir()} == set(names)
    for one in tmp_path.rglob("*"):
        usual = 0o777 if one.is_dir() else 0o666
        assert stat.S_IMODE(one.stat().st_mode) == usual & ~mask, one.name


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.touch(mode=0o640)
    plan.chmod(0o640)
    code, said = ended((*COMMANDS["solve"], "-o", "plan.json"), Surrounding(), tmp_path)
    assert code in ALLOWED - {BAD_INPUT}, said
    assert stat.S_IMODE(plan.stat().st_mode) == 0o640


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".yaml"])
def test_a_file_that_changes_while_it_is_read(suffix: str, tmp_path: Path) -> None:
    """It is cut, written over, renamed and made anew: it is read, or refused in a message."""
    whole = QUICKSTART.read_bytes()
    path, over = tmp_path / f"state{suffix}", Event()
    data = gzip.compress(whole) if suffix.endswith(".gz") else whole
    path.write_bytes(data)
    chance = Random(0)  # noqa: S311 - the same changes every time

    def change() -> None:
        while not over.is_set():
            with suppress(OSError):
                how = chance.randrange(4)
                if how == 0:
                    os.truncate(path, chance.randrange(len(data)))
                elif how == 1:
                    path.replace(tmp_path / "other.txt")
                else:
                    path.write_bytes(data)

    writer = Thread(target=change)
    writer.start()
    try:
        for number in range(200):
            with suppress(planner.InputError):
                found = planner.read(path if number % 3 else tmp_path)
                assert isinstance(found, planner.State)
    finally:
        over.set()
        writer.join()
