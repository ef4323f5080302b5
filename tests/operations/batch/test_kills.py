"""An audit on a Dask cluster whose parts are killed ends, in the end, like any other."""

import os
import random
from pathlib import Path
from threading import Thread

import pytest

from planner.operations import dask_cluster
from tests.batch.runs import wait_for
from tests.cli.killed import (
    FINDINGS,
    GIVEN_UP,
    Audits,
    killed_at_random,
    results_undisturbed,
    write_states,
)
from tests.cli.running import call
from tests.conftest import TEST_ALL
from tests.operations.batch.dask_cluster import DaskCluster

MANY = TEST_ALL or "PLANNER_TEST_KILLS" in os.environ


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of states: a few, unless many are killed."""
    file = write_states(tmp_path_factory.mktemp("states"))
    if not MANY:
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[-10:]))
    return file


@pytest.fixture(scope="module")
def undisturbed(states: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the results of a run that nobody disturbs."""
    return results_undisturbed(states, tmp_path_factory.mktemp("undisturbed"))


def kill_all(dask: DaskCluster) -> None:
    dask.kill_scheduler()
    dask.start_scheduler()
    dask.kill_workers()


def test_a_run_waits_for_whoever_comes_back(
    states: Path, tmp_path: Path, undisturbed: bytes
) -> None:
    results = tmp_path / "results.jsonl"

    def kill() -> None:
        wait_for(lambda: results.exists() and results.read_bytes().count(b"\n") > 2)
        kill_all(dask)
        dask.start_workers()

    with DaskCluster.of(workers=1) as dask:
        killer = Thread(target=kill)
        killer.start()
        where = ("--cluster", dask.address, "--cluster-wait", "none")
        done = call("audit", states, "--results", results, *where)
        killer.join()
    assert done.exit_code == FINDINGS, done.stderr
    assert results.read_bytes() == undisturbed


@pytest.mark.skipif(not MANY, reason="neither PLANNER_TEST_ALL nor PLANNER_TEST_KILLS is set")
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
                kill_all(dask)
            elif who == "worker":
                dask.kill_worker()
            else:
                dask.kill_workers()
            dask.start_workers()

        killed_at_random(audits, kill)


def test_dask_that_stays_dead(
    states: Path, tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run says so, waits no longer than it may, and says how to go on, which works."""
    monkeypatch.setattr(dask_cluster, "CONNECT_S", 1.0)
    results, lines = tmp_path / "results.jsonl", undisturbed.splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:-6]))
    words = ("audit", states, "--results", results, "--resume")
    nobody = ("--cluster", "tcp://127.0.0.1:1", "--cluster-wait", "1")
    given_up = call(*words, *nobody)
    assert (given_up.exit_code, given_up.stdout) == (GIVEN_UP, "")
    note, error, hint = given_up.stderr.splitlines()
    assert note.startswith("note: --cluster tcp://127.0.0.1:1: no Dask ")
    assert note.endswith("; waiting, at most 1 s")
    assert error.startswith("error: --cluster tcp://127.0.0.1:1: no Dask ")
    assert error.endswith(
        f", and the 1 s of waiting are over; 6 of {len(lines) - 1} states are not done"
    )
    assert hint == f"  hint: {results} has what is done; --resume goes on with it"
    assert call(*words).exit_code == FINDINGS
    assert results.read_bytes() == undisturbed
