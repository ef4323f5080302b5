"""Runs of numbers: what comes of one, and one as a program that can be stopped."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from planner.batch import Row
from tests.conftest import FOR_EVER_S, ROOT


def by_hand(count: int = 60) -> list[Row]:
    return [Row(f"n:{n}", "done", "", {"number": n, "double": n + n}) for n in range(count)]


def file_by_hand(count: int = 60) -> bytes:
    lines = [
        '{"schema": "planner/v1", "kind": "test", "run": {"of": "numbers", "seed": 7}}',
        *(
            f'{{"key": "n:{n}", "digest": "", "outcome": "done", "detail": "", '
            f'"result": {{"number": {n}, "double": {n + n}}}}}'
            for n in range(count)
        ),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def program(file: Path, count: int, jobs: int, most: int | None = None) -> subprocess.Popen[str]:
    """Start a run, or go on with one, in a process group of its own as a shell would.

    It makes at most so many rows, and waits then until it is stopped.
    """
    numbers = (count, jobs, count if most is None else most)
    words = [sys.executable, "-m", "tests.batch.program", str(file), *map(str, numbers)]
    return subprocess.Popen(
        words, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True
    )


def wait_for(met: Callable[[], bool], seconds: float = FOR_EVER_S) -> None:
    """Wait until a condition is met.

    Raises
    ------
    TimeoutError
        If it is not met in time.
    """
    end = time.monotonic() + seconds
    while not met():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)


def group_is_gone(leader: int) -> bool:
    """Say whether no process of the group is left."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return True
    return False
