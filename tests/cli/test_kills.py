"""An audit that is killed at random moments ends, in the end, like one that nobody disturbed.

PLANNER_TEST_KILLS says how often; a few unless said, a hundred at night.
"""

import random
from pathlib import Path

import pytest

from tests.cli.killed import Audits, killed_at_random, results_undisturbed, write_states


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of states."""
    return write_states(tmp_path_factory.mktemp("states"))


@pytest.fixture(scope="module")
def undisturbed(states: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the results of a run that nobody disturbs."""
    return results_undisturbed(states, tmp_path_factory.mktemp("undisturbed"))


def test_processes(states: Path, tmp_path: Path, undisturbed: bytes) -> None:
    audits = Audits(states, tmp_path, undisturbed, "--jobs", "2")

    def kill(_: random.Random) -> None:
        run = audits.go_on()
        run.kill()
        run.wait()

    killed_at_random(audits, kill)
