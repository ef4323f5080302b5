"""One answer, in a process of its own: it can be ended, whatever it is at, and leaves nothing."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from planner.commands.serve.record import FOR_THE_PLAN, Bounds

PROGRAM: Final = "planner.cli.main"
OURS: Final = "PLANNER_"
"""How variables begin that set options: those of the service are not those of a request."""


class Ended(NamedTuple):
    """How a process ended: its exit code, what it wrote, and what it said beside that."""

    code: int
    output: bytes
    said: str


async def answer(words: Sequence[str], dump: bytes, bounds: Bounds, plans: int) -> Ended:
    """Run the command line on a dump, until it ends or whoever waits does not wait any more.

    ``words`` is all but the limits, which are those of the bounds; ``plans`` share the time.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", PROGRAM, *words),
        *(
            f"--time-limit={bounds.seconds * FOR_THE_PLAN / plans}",
            f"--max-size={bounds.max_bytes}",
        ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.startswith(OURS)},
        start_new_session=True,
    )
    try:
        if sys.platform == "linux":  # no other system limits a process from outside
            with suppress(ProcessLookupError):
                limit = (bounds.memory, bounds.memory)
                resource.prlimit(process.pid, resource.RLIMIT_AS, limit)
        output, said = await process.communicate(dump)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return Ended(process.returncode or 0, output, said.decode(errors="replace"))
