"""One plan in a process of its own, stage by stage: ``python -m tests.benchmarks.one_plan FILE``.

The answer is one JSON object on standard output: for each stage the seconds of the processor, and
the most memory that the process had by its end. Nothing of the tests is imported: what a process
takes to start is a stage, too.
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STAGES = ("load", "read", "snapshot", "plan", "write")
"""Python and libraries; text to state; state to snapshot; all of a plan; JSON."""

Times = dict[str, float]
_MAX_BYTES = 4 * 2**30
_PEAK = re.compile(r"VmHWM:\s+([0-9]+) kB")


def peak_mib() -> float:
    """Return the most memory that this process had: getrusage tells of its parent's, too."""
    found = _PEAK.search(Path("/proc/self/status").read_text(encoding="ascii"))
    if found is None:
        message = "the kernel does not say how much memory there was"
        raise OSError(message)
    return int(found[1]) / 1024


def measured(file: Path) -> Times:
    """Plan for a file in this process, and return how long each stage took."""
    found: Times = {}

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        began = time.process_time() if found else 0.0  # the interpreter counts, too
        yield
        found[f"{name}_s"] = time.process_time() - began
        found[f"{name}_mib"] = peak_mib()

    with stage("load"):
        import planner.api  # noqa: PLC0415 - it is what is measured
        import planner.solver.kueue.start  # noqa: PLC0415
        from planner.quota.kueue.snapshot import take_snapshot  # noqa: PLC0415
        from planner.reader import read  # noqa: PLC0415
        from planner.state.kueue import State  # noqa: PLC0415
    with stage("read"):
        state = read(file, max_bytes=_MAX_BYTES)
    if not isinstance(state, State):
        raise TypeError(file)
    with stage("snapshot"):
        take_snapshot(state)
    with stage("plan"):
        plan = planner.solve(state)
    with stage("write"):
        plan.model_dump_json()
    if plan.status != "optimal":
        raise ValueError(plan.status)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(Path(sys.argv[1]))))
