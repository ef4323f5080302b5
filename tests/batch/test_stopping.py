"""Whatever stops a run, it goes on from its file, which in the end is the same."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from planner.batch import Progress, Settings, run
from tests.batch.program import HEADER, numbers
from tests.batch.runs import by_hand, file_by_hand, group_is_gone, program, wait_for
from tests.batch.work import double, slowly
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL, some
from tests.told import told

COUNT = 240


def rows(file: Path) -> list[bytes]:
    """Return the whole rows that a file has by now."""
    return file.read_bytes().splitlines(keepends=True)[1:] if file.exists() else []


def whole(file: Path) -> list[bytes]:
    return [row for row in rows(file) if row.endswith(b"\n")]


def at_work_for(parent: int) -> set[int]:
    """Return the processes at work for a run."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            ancestor = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if ancestor == parent and b"planner.batch.pool" in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
    return found


def kill_at(child: subprocess.Popen[str], file: Path, more: int, delay: float) -> None:
    """Kill a run when it has so many rows more, after a short while, unless it is done."""
    begun = len(whole(file))
    wait_for(lambda: child.poll() is not None or len(whole(file)) >= begun + more)
    time.sleep(delay)
    child.kill()
    child.communicate(timeout=FOR_EVER_S)


@pytest.mark.parametrize(("jobs", "kills"), [(1, 12), (2, 4)] if TEST_ALL else [(1, 3), (2, 2)])
def test_kill_9_at_random_moments(tmp_path: Path, jobs: int, kills: int) -> None:
    chance = random.Random(jobs)  # noqa: S311 - the same moments in every run
    file = tmp_path / "rows.jsonl"
    had: list[bytes] = []
    for _ in range(kills):
        most = COUNT // (kills + 1)  # so that the moments are all before the end
        child = program(file, COUNT, jobs, most)
        kill_at(child, file, chance.randrange(most // 2), chance.uniform(0, 0.02))
        assert child.returncode == -signal.SIGKILL
        assert whole(file)[: len(had)] == had, "no row is lost or moved"
        had = whole(file)
        wait_for(partial(group_is_gone, child.pid))
    last = program(file, COUNT, jobs)
    _, error = last.communicate(timeout=FOR_EVER_S)
    assert (last.returncode, error) == (0, "")
    assert file.read_bytes() == file_by_hand(COUNT)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("jobs", "had"), [(1, 20), (2, 20), (2, 0)])
def test_ctrl_c_leaves_whole_rows_and_no_processes(tmp_path: Path, jobs: int, had: int) -> None:
    file = tmp_path / "rows.jsonl"
    child = program(file, COUNT, jobs, COUNT - 1)
    wait_for(lambda: file.exists() and len(rows(file)) >= had)
    if had == 0:
        time.sleep(0.2)  # while processes start
    os.killpg(child.pid, signal.SIGINT)  # a terminal tells every process
    _, error = child.communicate(timeout=FOR_EVER_S)
    assert (child.returncode, error) == (130, "")
    assert had <= len(whole(file)) < COUNT
    assert whole(file) == rows(file)
    wait_for(partial(group_is_gone, child.pid))
    run(numbers(COUNT), double, Settings(file=file, resume=True, jobs=1), header=HEADER)
    assert file.read_bytes() == file_by_hand(COUNT)


def test_kill_9_of_processes_at_work_loses_no_row(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    killed: set[int] = set()

    def watch(progress: Progress) -> None:
        if progress.done in {10, 40}:
            victims = at_work_for(os.getpid())
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
            killed.update(victims)

    assert (
        list(run(numbers(), slowly, Settings(jobs=2, file=file, watch=watch), header=HEADER))
        == by_hand()
    )
    assert len(killed) == 4
    assert file.read_bytes() == file_by_hand()


def test_processes_do_not_outlive_a_killed_run(tmp_path: Path) -> None:
    """Also while they are at work, which takes an hour here."""
    file, begun = tmp_path / "rows.jsonl", tmp_path / "begun"
    code = (
        "import sys, pathlib; from planner.batch import Settings, Task, run; "
        "from tests.batch import work; "
        "file, begun = sys.argv[1:]; "
        "run([Task('a', ('a', '')), Task('b', ('sleep', begun))], work.misbehave_and_say,"
        " Settings(file=pathlib.Path(file), jobs=2), header={})"
    )
    words = [sys.executable, "-c", code, str(file), str(begun)]
    child = subprocess.Popen(words, cwd=ROOT, start_new_session=True)
    wait_for(lambda: len(rows(file)) == 1 and begun.exists())
    child.kill()
    child.wait(FOR_EVER_S)
    wait_for(partial(group_is_gone, child.pid))


@pytest.mark.parametrize("closed", some([">&-", "<&-", "<&- >&- 2>&-", "2>&-"], 2))
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    """What is printed into a closed stream must not end up in the file, whose number it has."""
    file = tmp_path / "rows.jsonl"
    code = (
        "import sys, pathlib; from planner.batch import Settings, run; "
        "from tests.batch import program, work; "
        "run(program.numbers(2), work.loudly, Settings(file=pathlib.Path(sys.argv[1]), jobs=2),"
        " header=program.HEADER)"
    )
    shell = f'"$0" -c "$1" "$2" {closed}'
    words = ["/bin/sh", "-c", shell, sys.executable, code, str(file)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=FOR_EVER_S, capture_output=True)
    assert file.read_bytes() == file_by_hand(2)


def test_exit_codes_that_the_system_does_not_keep(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    code = (
        "import sys, pathlib, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
        "from planner.batch import Settings, Task, run; from tests.batch import work; "
        "run([Task('a', 'a'), Task('die', 'die')], work.misbehave,"
        " Settings(file=pathlib.Path(sys.argv[1]), jobs=2), header={})"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], cwd=ROOT, check=True)
    done, killed = map(json.loads, rows(file))
    assert done["outcome"] == "done"
    assert killed["outcome"] == "killed"
    told(killed["detail"])
