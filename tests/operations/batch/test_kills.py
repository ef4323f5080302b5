"""An audit on a Dask cluster whose parts are killed at random moments ends like any other."""

import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.batch.runs import wait_for
from tests.cli.killed import (
    FINDINGS,
    GIVEN_UP,
    Audits,
    killed_at_random,
    results_undisturbed,
    write_states,
)
from tests.cli.running import call, command, environment
from tests.conftest import FOR_EVER_S, TEST_ALL
from tests.operations.batch.dask_cluster import DaskCluster


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of states."""
    return write_states(tmp_path_factory.mktemp("states"))


@pytest.fixture(scope="module")
def undisturbed(states: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the results of a run that nobody disturbs."""
    return results_undisturbed(states, tmp_path_factory.mktemp("undisturbed"))


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


VICTIMS = (DaskCluster.kill_scheduler, DaskCluster.kill_workers)


@pytest.mark.parametrize("victim", VICTIMS if TEST_ALL else VICTIMS[:1])
def test_dask_that_stays_dead(
    states: Path, tmp_path: Path, undisturbed: bytes, victim: Callable[[DaskCluster], None]
) -> None:
    """The run says so, waits no longer than it may, and says how to go on, which works."""
    results = tmp_path / "results.jsonl"
    words = ("audit", states, "--results", results)
    with DaskCluster.of(workers=1) as dask:
        dask.wait_for_workers()  # else the run would not wait for them for long
        run = subprocess.Popen(
            command(*words, "--cluster", dask.address, "--cluster-wait", "1"),
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
    assert note.endswith("; waiting, at most 1 s")
    assert error.startswith(f"error: --cluster {dask.address}: no Dask ")
    done, total = results.read_bytes().count(b"\n") - 1, undisturbed.count(b"\n") - 1
    assert re.search(
        rf", and the 1 s of waiting are over; {total - done} of {total} states are not done$", error
    )
    assert hint == f"  hint: {results} has what is done; --resume goes on with it"
    assert call(*words, "--resume").exit_code == FINDINGS
    assert results.read_bytes() == undisturbed
