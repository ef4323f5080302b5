"""Hard states with little time: an answer within bounds, whatever is proved of it.

PLANNER_TEST_NASTY says how many.
"""

import json
import os
import subprocess
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.batch.runs import wait_for
from tests.cli.running import command, environment
from tests.conftest import FOR_EVER_S, TEST_ALL
from tests.fuzz import judge
from tests.fuzz.limits import in_processes, run
from tests.fuzz.nasty import KINDS, LIMIT, knapsack, nasty, ties
from tests.operations.batch.dask_cluster import DaskCluster

# The processes that these tests make do nothing that threads of others could get in the way of.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
STATES = int(os.environ.get("PLANNER_TEST_NASTY") or len(KINDS) * (3 if TEST_ALL else 1))


def test_hard_states_have_an_answer_within_bounds() -> None:
    judge.warm_up()
    failed = {one.number: one.faults for one in in_processes(map(nasty, range(STATES)), run)}
    assert {number: faults for number, faults in failed.items() if faults} == {}
    assert len(failed) == STATES


def test_a_number_is_all_it_takes() -> None:
    assert all(nasty(number) == nasty(number) for number in range(1, 3))


@pytest.mark.skipif(not TEST_ALL, reason="other states: operations/batch/test_kills.py")
def test_workers_of_dask_that_are_lost_over_hard_states(tmp_path: Path) -> None:
    """Every state has its row in the end, though workers die over them."""
    chance = Random(1)  # noqa: S311 - the same states every time
    states, results = tmp_path / "states.jsonl", tmp_path / "results"
    made = [make(chance) for make in (ties, knapsack) for _ in range(6)]
    states.write_text("".join(f"{json.dumps(one)}\n" for one in made))
    words = ("--time-limit", LIMIT, "--now", "2026-05-01T13:00:00Z", "--results", str(results))
    with DaskCluster.of(workers=2) as dask:
        where = ("--cluster", dask.address, "--cluster-wait", "none")
        audit = subprocess.Popen(
            command("audit", states, *where, *words, "--format", "json", "--fail-on", "never"),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rows in (1, 3):
            wait_for(partial(_has_rows, results, rows, audit))
            dask.kill_worker()
            dask.start_workers()
        printed, said = audit.communicate(timeout=FOR_EVER_S)
    assert audit.returncode in {0, 4}, said
    value = json.loads(printed)
    assert [case["state"] for case in value["cases"]] == [
        f"{states}: line {number}" for number in range(1, len(made) + 1)
    ]
    assert value["failures"] == []


def _has_rows(results: Path, more: int, run: subprocess.Popen[str]) -> bool:
    """Say whether there are more rows than so many, or the run is at its end."""
    written = results.exists() and results.read_bytes().count(b"\n") > more
    return written or run.poll() is not None
