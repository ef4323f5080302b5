"""One answer: the command line on a dump, in a process of its own that leaves nothing.

The process can be ended at any time, and limits itself (`child`).
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from planner.errors import KIND, TELL_KIND
from planner.operations.serve.asked import FOR_THE_PLAN

PROGRAM: Final = "planner"
OURS: Final = "PLANNER_"
"""The prefix of environment variables that set options: a request does not inherit them."""
CHILD: Final = "planner.operations.serve.child"


class Bounds(NamedTuple):
    """What one request may take, and how many are answered at once.

    ``max_bytes`` limits a dump, both as it is sent and unpacked; ``seconds`` go from the first
    byte of the request to its answer; ``memory`` is bytes of address space of the process that
    answers, where the system can limit it. Requests beyond ``at_once`` are refused, and told to
    come again.
    """

    max_bytes: int
    seconds: float
    memory: int
    at_once: int


class Ended(NamedTuple):
    """How a process ended: its exit code, its standard output, and the text of standard error.

    ``kind`` is that of the error, where there was one.
    """

    code: int
    output: bytes
    said: str
    kind: str = ""


async def run_command(words: Sequence[str], dump: bytes, bounds: Bounds, plans: int) -> Ended:
    """Run the command line on a dump, until it ends or this coroutine is cancelled.

    ``words`` are all but the limits, which are those of the bounds; ``plans`` share the time.
    """
    seconds = bounds.seconds * FOR_THE_PLAN / plans
    limits = (f"--time-limit={seconds}", f"--max-size={bounds.max_bytes}")
    # A plan has one worker: whoever takes more than the time of a request is no longer waited for.
    itself = (os.getpid(), bounds.memory, math.ceil(bounds.seconds), PROGRAM)
    process = await asyncio.create_subprocess_exec(
        # -P: whatever lies in the folder in which the service was started is not imported.
        *(sys.executable, "-P", "-m", CHILD, *map(str, itself), *words, *limits),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith(OURS)},
            TELL_KIND: "1",
        },
        start_new_session=True,
    )
    try:
        output, said = await process.communicate(dump)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    message, kind, last = said.decode(errors="replace").rstrip("\n").rpartition(f"\n{KIND}")
    return Ended(process.returncode or 0, output, message if kind else last, last if kind else "")
