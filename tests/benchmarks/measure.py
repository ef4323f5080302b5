"""One measurement in a process of its own: ``python -m tests.benchmarks.measure ENGINE FILE ...``.

FILE is a question: ``{"now", "pending", "state"}``, the state a List as kubectl prints it. The
answer is one JSON object on standard output; wall is what a clock shows, cpu what the process
itself used, both in seconds, all libraries loaded and the state read.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from planner.objective.profiles import PROFILES
from planner.quota.kueue.assignment import parse_assignment, read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import build_snapshot
from planner.reader import read
from planner.reference.kueue.decision import decide, decide_under
from planner.solver.deadline import Deadline
from planner.solver.start import Given, solve, start
from planner.state.kueue import State

ROUNDS = 5
"""How often the reference decides; its median is what counts, as for Kueue's own times."""

Answer = dict[str, Any]
Result = TypeVar("Result")


def timed(work: Callable[[], Answer]) -> Answer:
    """Return what some work answers, and how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    took = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    return {**answer, **took}


def planned(state: State, pending: str, objective: str, limit: float) -> Answer:
    """Return the planner's own answer, and how long everything before its search took."""
    import ortools.linear_solver.pywraplp  # noqa: F401, PLC0415 - loaded once

    def work() -> Answer:
        deadline = Deadline.after(limit)
        planning = start(state, Given(pending))
        plan = solve(planning, PROFILES[objective], deadline)
        levels = plan.certificate.levels if plan.certificate else ()
        return {
            "outcome": plan.status,
            "values": [level.value for level in levels],
            "bounds": [level.bound for level in levels],
            "victims": len(plan.victims),
        }

    return timed(work)


def replayed(state: State, pending: str, assignment: Any) -> Answer:
    """Return how long the references take for a snapshot, the targets, and the whole decision.

    In milliseconds of the processor. The targets are searched for flavors that are given, as
    Kueue's GetTargets is timed. Kueue keeps its snapshot up to date; ours is built from the dump.
    """
    times: dict[str, list[float]] = {"snapshot_ms": [], "targets_ms": [], "decision_ms": []}

    def clocked(name: str, work: Callable[[], Result]) -> Result:
        began = time.process_time()
        result = work()
        times[name].append(1000 * (time.process_time() - began))
        return result

    victims = 0
    for _ in range(ROUNDS):
        snapshot = clocked("snapshot_ms", lambda: build_snapshot(state, state.now))
        preemptor = find_preemptor(state, snapshot, pending)
        flavors = read_assignment(parse_assignment(assignment), preemptor)
        found = clocked("targets_ms", partial(decide_under, snapshot, preemptor, flavors))
        clocked("decision_ms", partial(decide, snapshot, preemptor))
        victims = len(found.search.targets)
    medians = {name: sorted(values)[ROUNDS // 2] for name, values in times.items()}
    return {"outcome": "replayed", "victims": victims, **medians}


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=["planner", "reference"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--objective", default="no-regret")
    given = parser.parse_args()
    question = json.loads(given.file.read_bytes())
    state = read(given.file, max_bytes=2**32)
    if not isinstance(state, State):
        raise TypeError(given.file)
    asked = question["pending"]
    assignment = question.get("assignment")
    del question
    if given.engine == "planner":
        answer = planned(state, asked, given.objective, given.limit)
    else:
        answer = timed(partial(replayed, state, asked, assignment))
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
