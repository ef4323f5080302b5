"""Rows are the same whoever does the work, and every task gets one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from planner.batch import Limits, Progress, Row, Settings, Task, cores, engine, pool, run
from planner.errors import InputError, InternalError
from planner.stage import progress_to
from tests.batch.program import HEADER, numbers
from tests.batch.runs import by_hand
from tests.batch.work import (
    HOARD,
    die_once,
    double,
    fail,
    leak,
    length,
    loudly,
    misbehave,
    misbehave_and_say,
    missing_work,
    slowly,
    variable,
)
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL, some
from tests.told import told


def words(*given: str) -> Iterator[Task]:
    return (Task(word, word) for word in given)


@pytest.mark.parametrize("jobs", [1, 2, None])
def test_rows_come_in_the_order_of_the_tasks(jobs: int | None) -> None:
    found = run(numbers(), slowly, Settings(jobs=jobs), header=HEADER)
    assert list(found) == by_hand()
    assert list(found) == by_hand(), "they can be read twice"
    assert len(found) == 60
    assert found.counts == {"done": 60}
    assert found.header == HEADER


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_tasks(jobs: int) -> None:
    assert list(run([], double, Settings(jobs=jobs), header=HEADER)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_work_raises_is_a_row(jobs: int) -> None:
    given = ("fine", "raise", "refuse", "bug", "no memory", "no JSON", "no number")
    found = {row.key: row for row in run(words(*given), fail, Settings(jobs=jobs), header=HEADER)}
    assert tuple(found) == given
    assert found["fine"] == Row("fine", "done", "", {"word": "fine"})
    assert found["raise"] == Row("raise", "bug", "ValueError: no; such luck", None)
    assert found["refuse"].outcome == "failed"
    told(found["refuse"].detail)
    assert found["bug"].outcome == "bug"
    told(found["bug"].detail)
    assert found["no memory"].outcome == "out-of-memory"
    told(found["no JSON"].detail)
    told(found["no number"].detail)


def test_long_details_are_cut() -> None:
    [row] = run(words("talk"), fail, Settings(jobs=1), header=HEADER)
    assert row.detail == "ValueError: " + "x" * 485 + "..."


def test_only_the_culprits_suffer() -> None:
    """Dead processes take no other task along, whoever is at work next to them."""
    given = ("a", "die", "b", "c", "crash", "d", "leave", "e", "f")
    found = {row.key: row for row in run(words(*given), misbehave, Settings(jobs=2), header=HEADER)}
    assert tuple(found) == given
    for word in "abcdef":
        assert found[word].outcome == "done"
    told(found["die"].detail)
    told(found["crash"].detail)
    told(found["leave"].detail)
    assert {found[word].outcome for word in ("die", "crash", "leave")} == {"killed"}


def test_a_task_whose_process_was_killed_is_tried_again(tmp_path: Path) -> None:
    tasks = [Task(name, str(tmp_path / name)) for name in ("a", "b", "c")]
    found = run(tasks, die_once, Settings(jobs=2), header=HEADER)
    assert [row.result for row in found] == [{"tried again": True}] * 3


@pytest.mark.parametrize("word", ["sleep", "hang"])
def test_time_limit(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit holds with one job too, and for code that never comes back to Python.

    The clock leaps when that code begins, and stands still otherwise.
    """
    begun = tmp_path / "begun"
    clock = SimpleNamespace(monotonic=lambda: 60.5 if begun.exists() else 0.0)
    monkeypatch.setattr(pool, "time", clock)
    given = [("a", ""), (word, str(begun)), ("b", "")]
    tasks = [Task(name, (name, file)) for name, file in given]
    limits = Limits(seconds=60)
    found = list(run(tasks, misbehave_and_say, Settings(jobs=1, limits=limits), header=HEADER))
    assert [row.outcome for row in found] == ["done", "timeout", "done"]
    told(found[1].detail)


def test_memory_limit() -> None:
    limits = Limits(memory_bytes=HOARD)
    given = words("a", "hoard", "b")
    found = list(run(given, misbehave, Settings(jobs=1, limits=limits), header=HEADER))
    assert [row.outcome for row in found] == ["done", "out-of-memory", "done"]
    told(found[1].detail)


def test_memory_of_earlier_tasks_is_not_held_against_later_ones() -> None:
    """Each leaks 100 MB, so that a process holds two at most; a new one takes over."""
    limits = Limits(memory_bytes=300 * 10**6)
    tasks = [Task(str(n), 100 * 10**6) for n in range(4)]
    found = run(tasks, leak, Settings(jobs=1, limits=limits), header=HEADER)
    assert found.counts == {"done": 4}


def test_processes_have_a_core_each() -> None:
    [row] = run([Task("a", "OMP_NUM_THREADS")], variable, Settings(jobs=2), header=HEADER)
    assert row.result == {"value": "1"}


def test_processes_have_no_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    run(numbers(1), loudly, Settings(jobs=2), header=HEADER)
    output = capfd.readouterr()
    assert output.out == ""
    assert output.err == "this is no result\n" * 2


def test_large_payloads_and_partial_functions() -> None:
    tasks = [Task(str(n), bytes(3_000_000)) for n in range(4)]
    found = run(tasks, partial(length), Settings(jobs=2), header=HEADER)
    assert [row.result for row in found] == [{"length": 3_000_000}] * 4


@pytest.mark.parametrize("jobs", [1, 2])
def test_tasks_are_read_when_there_is_room_for_them(jobs: int) -> None:
    """A thousand tasks, never more of them in memory than there are processes."""
    read = 0
    lead = []

    def counted() -> Iterator[Task]:
        nonlocal read
        for task in numbers(1_000):
            read += 1
            yield task

    def watch(progress: Progress) -> None:
        lead.append(read - progress.done)

    assert run(counted(), double, Settings(jobs=jobs, watch=watch), header=HEADER).counts == {
        "done": 1_000
    }
    assert max(lead) < jobs + 1


def test_progress() -> None:
    seen: list[Progress] = []
    run(numbers(5), double, Settings(jobs=1, total=5, watch=seen.append), header=HEADER)
    assert [progress.done for progress in seen] == [1, 2, 3, 4, 5]
    assert seen[-1].seconds_left == 0
    halfway = Progress(done=30, total=90, per_second=4)
    assert halfway.seconds_left == 15
    assert Progress(30, None, 4).seconds_left is None
    assert Progress(30, 90, 0).seconds_left is None


def test_a_key_may_come_once() -> None:
    with pytest.raises(InputError) as caught:
        run([*numbers(3), Task("n:1", 1)], double, Settings(jobs=1), header=HEADER)
    told(caught.value)


@pytest.mark.parametrize("jobs", [0, -2])
def test_jobs_are_at_least_one(jobs: int) -> None:
    with pytest.raises(InputError) as caught:
        run(numbers(), double, Settings(jobs=jobs), header=HEADER)
    told(caught.value)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max 100000", 8), ("400000 100000", 4), ("250000 100000", 3), ("9900000 100000", 8)],
)
def test_cores_are_those_of_the_container(
    limit: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert cores() == 8
    quota, period = limit.replace("max", "-1").split()
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text(f"{period}\n")
    assert cores() == expected, "version 1"
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("100000\n")
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert cores() == expected, "version 2"


def test_never_more_processes_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "cores", lambda: 1)
    read: list[int] = []

    def counted() -> Iterator[Task]:
        for task in numbers(4):
            read.append(1)
            yield task

    def watch(progress: Progress) -> None:
        assert len(read) == progress.done

    run(counted(), double, Settings(jobs=4, watch=watch), header=HEADER)


def test_work_that_no_process_can_load_ends_the_run() -> None:
    """It would fail for every state alike."""
    with pytest.raises(InternalError) as caught:
        run(numbers(), missing_work(), Settings(jobs=2), header=HEADER)
    told(caught.value)


def test_processes_that_take_long_are_a_stage() -> None:
    """Whoever listens hears of them before the first row comes, and again while nothing comes."""
    stages: list[str | None] = []
    with progress_to(stages.append):
        assert (
            len(run([Task("a", 1)], double, Settings(jobs=1, limits=Limits(60)), header=HEADER))
            == 1
        )
    told(stages[0])
    assert stages[1:]
    assert not any(stages[1:])


SCRIPT = """
print("this is the main module")
from planner.batch import Limits, Settings, Task, run
from tests.batch.work import double
found = run([Task("a", 1), Task("b", 2)], double, Settings(jobs=2, limits=Limits(60)), header={})
print([row.result["double"] for row in found])
"""
EXPECTED = "this is the main module\n[2, 4]\n"


@pytest.mark.parametrize(
    "words",
    some([["main_of_mine.py"], ["-m", "main_of_mine"], ["-"], ["-c", SCRIPT]], 2),
    ids=lambda words: words[0],
)
def test_script(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "main_of_mine.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=SCRIPT,
        capture_output=True,
        text=True,
        check=False,
        timeout=FOR_EVER_S,
    )
    assert (done.stdout, done.stderr) == (EXPECTED, "")


@pytest.mark.skipif(not TEST_ALL, reason="it is a script from no file, as that of test_script")
def test_notebook() -> None:
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    cell = nbformat.v4.new_code_cell(SCRIPT)  # type: ignore[no-untyped-call]
    notebook.cells.append(cell)
    NotebookClient(notebook, resources={"metadata": {"path": str(ROOT)}}).execute()
    assert {output.name for output in cell.outputs} == {"stdout"}
    told("".join(output.text for output in cell.outputs))


def test_path_of_its_own(tmp_path: Path) -> None:
    """Work is imported from where the program has found it, and nothing else of that name."""
    (tmp_path / "work_of_mine.py").write_text("def work(n): return {'from': __file__}\n")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "subprocess.py").write_text("raise ImportError\n")
    script = (
        f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path[1:]]\n"
        "from planner.batch import Settings, Task, run; from work_of_mine import work\n"
        "rows = run([Task('a', 1)], work, Settings(jobs=2), header={})\n"
        "print(*(row.result['from'] for row in rows))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "here",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=FOR_EVER_S,
    )
    assert (done.stdout, done.stderr) == (f"{tmp_path / 'work_of_mine.py'}\n", "")
