"""An audit that is killed at random moments ends, in the end, like one that nobody disturbed.

PLANNER_TEST_KILLS says how often; a few unless said, a hundred at night.
"""

import gzip
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from tests.batch.runs import wait_for
from tests.cli.running import command, environment, process
from tests.conftest import FOR_EVER_S, ROOT
from tests.operations.batch.dask_cluster import DaskCluster

KILLS = int(os.environ.get("PLANNER_TEST_KILLS", "2"))
RECORDED = ROOT / "instances" / "recorded" / "small-fair-flat.jsonl.gz"
STATES = None if "PLANNER_TEST_KILLS" in os.environ else 16
"""How many of the recorded states are audited; all of them where kills are many."""
FINDINGS = 1
GIVEN_UP = 2


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of the states."""
    file = tmp_path_factory.mktemp("states") / "states.jsonl"
    with gzip.open(RECORDED) as lines:
        file.write_bytes(b"".join(islice(lines, STATES)))
    return file


@pytest.fixture(scope="module")
def undisturbed(states: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the results of a run that nobody disturbs."""
    results = tmp_path_factory.mktemp("undisturbed") / "results.jsonl"
    done = process("audit", states, "--jobs", "2", "--results", results)
    assert done.returncode == FINDINGS
    return results.read_bytes()


class Audits:
    """One audit after the other into the same file, each going on where the last one ended."""

    def __init__(self, states: Path, folder: Path, undisturbed: bytes, *options: str) -> None:
        self.states = states
        self.results = folder / "results.jsonl"
        self.finished = 0
        self._undisturbed = undisturbed
        self._options = options
        self._run: subprocess.Popen[str] | None = None

    def go_on(self) -> subprocess.Popen[str]:
        """Return the run that is going on; a finished one is compared, and a new one begins."""
        if self._run is not None and self._run.poll() is not None:
            self._end(self._run)
            self._run = None
        if self._run is None:
            words: list[str | Path] = ["audit", self.states, "--results", self.results, "--resume"]
            words += self._options
            self._run = subprocess.Popen(
                command(*words),
                env=environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        return self._run

    def rows(self) -> int:
        """Return how many whole rows there are."""
        if not self.results.exists():
            return 0
        return max(0, self.results.read_bytes().count(b"\n") - 1)

    def wait_for_rows(self, more: int) -> None:
        """Wait until there are so many rows more, or the run is at its end."""
        run, begun = self.go_on(), self.rows()
        wait_for(lambda: run.poll() is not None or self.rows() >= begun + more)

    def finish(self) -> None:
        """Wait for the end of the run, and compare what it leaves."""
        run = self.go_on()
        while run.wait(FOR_EVER_S) != FINDINGS:
            run = self.go_on()
        self._end(run)
        self._run = None

    def stop(self) -> None:
        """Leave no process behind."""
        if self._run is not None and self._run.poll() is None:
            self._run.kill()
            self._run.communicate()

    def _end(self, run: subprocess.Popen[str]) -> None:
        _, said = run.communicate()
        assert run.returncode in {FINDINGS, -signal.SIGKILL}, said
        if run.returncode == FINDINGS:
            assert self.results.read_bytes() == self._undisturbed
            assert list(self.results.parent.iterdir()) == [self.results]
            self.results.unlink()
            self.finished += 1


def killed_at_random(audits: Audits, kill: Callable[[random.Random], None]) -> None:
    chance = random.Random(KILLS)  # noqa: S311 - for moments
    try:
        for _ in range(KILLS):
            audits.wait_for_rows(chance.randrange(8))
            time.sleep(chance.uniform(0, chance.choice((0.01, 0.1, 1))))
            kill(chance)
        audits.finish()
    finally:
        audits.stop()
    assert audits.finished > 0


def test_processes(states: Path, tmp_path: Path, undisturbed: bytes) -> None:
    audits = Audits(states, tmp_path, undisturbed, "--jobs", "2")

    def kill(_: random.Random) -> None:
        run = audits.go_on()
        run.kill()
        run.wait()

    killed_at_random(audits, kill)


def test_dask(states: Path, tmp_path: Path, undisturbed: bytes) -> None:
    """Whoever is killed is started again; the run goes on, or a new one does."""
    with DaskCluster.of(workers=2) as dask:
        waits = ("--cluster", dask.address, "--cluster-wait", "none")
        audits = Audits(states, tmp_path, undisturbed, *waits)

        def kill(chance: random.Random) -> None:
            who = chance.choice(("worker", "worker", "workers", "scheduler", "scheduler", "run"))
            if who == "run":
                run = audits.go_on()
                run.kill()
                run.wait()
            elif who == "scheduler":
                dask.kill_scheduler()
                dask.start_scheduler()
                dask.kill_workers()
            elif who == "worker":
                dask.kill_worker()
            else:
                dask.kill_workers()
            dask.start_workers()

        killed_at_random(audits, kill)


@pytest.mark.parametrize("victim", [DaskCluster.kill_workers, DaskCluster.kill_scheduler])
def test_dask_that_stays_dead(
    states: Path, tmp_path: Path, undisturbed: bytes, victim: Callable[[DaskCluster], None]
) -> None:
    """The run says so, waits no longer than it may, and says how to go on, which works."""
    results = tmp_path / "results.jsonl"
    words = ("audit", states, "--results", results)
    with DaskCluster.of(workers=1) as dask:
        dask.wait_for_workers()  # else the run would not wait for them for long
        run = subprocess.Popen(
            command(*words, "--cluster", dask.address, "--cluster-wait", "3"),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: results.exists() and results.read_bytes().count(b"\n") > 3)
        victim(dask)
        out, said = run.communicate(timeout=FOR_EVER_S)
    assert (run.returncode, out) == (GIVEN_UP, "")
    note, error, hint = said.splitlines()
    assert note.startswith(f"note: --cluster {dask.address}: ")
    assert note.endswith("; waiting, at most 3 s")
    assert error.startswith(f"error: --cluster {dask.address}: no Dask ")
    done, total = results.read_bytes().count(b"\n") - 1, undisturbed.count(b"\n") - 1
    assert re.search(
        rf", and the 3 s of waiting are over; {total - done} of {total} states are not done$",
        error,
    )
    assert hint == f"  hint: {results} has what is done; --resume goes on with it"
    assert process(*words, "--resume").returncode == FINDINGS
    assert results.read_bytes() == undisturbed
