"""Audits that are killed, and go on; see test_kills.py."""

import gzip
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from tests.batch.runs import wait_for
from tests.cli.running import call, command, environment
from tests.conftest import FOR_EVER_S, ROOT

KILLS = int(os.environ.get("PLANNER_TEST_KILLS", "2"))
RECORDED = ROOT / "instances" / "recorded" / "small-fair-flat.jsonl.gz"
STATES = None if "PLANNER_TEST_KILLS" in os.environ else 16
"""How many of the recorded states are audited; all of them where kills are many."""
FINDINGS = 1
GIVEN_UP = 2


def write_states(folder: Path) -> Path:
    """Return a file of the states that are audited."""
    file = folder / "states.jsonl"
    with gzip.open(RECORDED) as lines:
        file.write_bytes(b"".join(islice(lines, STATES)))
    return file


def results_undisturbed(states: Path, folder: Path) -> bytes:
    """Return the results of a run that nobody disturbs."""
    results = folder / "results.jsonl"
    assert call("audit", states, "--results", results).exit_code == FINDINGS
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
