"""One measurement in a process of its own: ``python -m tests.benchmarks.measure ENGINE FILE ...``.

FILE is a question: ``{"now", "pending", "state"}``, the state a List as kubectl prints it. The
answer is one JSON object on standard output; wall is what a clock shows, cpu what the process
itself used, both in seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from planner.api import solve
from planner.assignment import parse_assignment, read_assignment
from planner.objective.profiles import PROFILES
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import build_snapshot
from planner.reader import read_kueue_objects
from planner.reference.decision import decide
from planner.solver.engine import Deadline
from planner.solver.start import Given, start
from planner.state import State

ROUNDS = 5
"""How often the reference decides; its median is what counts, as for Kueue's own times."""

Answer = dict[str, Any]


def timed(work: Callable[[], Answer]) -> Answer:
    """Return what some work answers, and how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    took = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    return {**answer, **took}


def planned(state: State, pending: str, objective: str, limit: float) -> Answer:
    """Return the planner's own answer."""
    plan = solve(state, pending, objective, time_limit=limit)
    levels = plan.certificate.levels if plan.certificate else ()
    return {
        "outcome": plan.status,
        "values": [level.value for level in levels],
        "bounds": [level.bound for level in levels],
        "victims": len(plan.victims),
    }


def rivalled(state: State, pending: str, objective: str, limit: float, engine: str) -> Answer:
    """Return the answer of another engine to the whole model, classes merged as ours are."""
    from tests.second_engine.engines import ENGINES  # noqa: PLC0415 - not in the planner's memory
    from tests.second_engine.whole import Whole  # noqa: PLC0415

    deadline = Deadline.after(limit)
    planning = start(state, Given(pending))
    whole = Whole(planning, PROFILES[objective], ENGINES[engine], deadline, apart=False)
    found = whole.solve()
    return {"outcome": found.outcome, "values": found.values, "bounds": found.bounds}


def replayed(state: State, pending: str, assignment: Any) -> Answer:
    """Return how long the references take for a snapshot, the targets, and the whole decision.

    The targets are searched for flavors that are given, as Kueue's GetTargets is timed.
    """
    times: dict[str, list[float]] = {"snapshot_ms": [], "targets_ms": [], "decision_ms": []}
    victims = 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        snapshot = build_snapshot(state, state.now, ())
        times["snapshot_ms"].append(time.perf_counter() - began)
        preemptor = find_preemptor(state, snapshot, pending)
        flavors = read_assignment(parse_assignment(assignment), preemptor)
        began = time.perf_counter()
        victims = len(decide(snapshot, preemptor, flavors).search.targets)
        times["targets_ms"].append(time.perf_counter() - began)
        began = time.perf_counter()
        decide(snapshot, preemptor)
        times["decision_ms"].append(time.perf_counter() - began)
    medians = {name: 1000 * sorted(values)[ROUNDS // 2] for name, values in times.items()}
    return {"outcome": "replayed", "victims": victims, **medians}


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=["planner", "reference", "cp-sat", "highs", "scip"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--objective", default="no-regret")
    given = parser.parse_args()
    question = json.loads(given.file.read_bytes())
    state = read_kueue_objects(question["state"], where=given.file.name, now=question["now"])
    asked = question["pending"]
    assignment = question.get("assignment")
    del question
    work: Callable[[], Answer] = partial(
        rivalled, state, asked, given.objective, given.limit, given.engine
    )
    if given.engine == "planner":
        work = partial(planned, state, asked, given.objective, given.limit)
    elif given.engine == "reference":
        work = partial(replayed, state, asked, assignment)
    sys.stdout.write(json.dumps(timed(work)))


if __name__ == "__main__":
    main()
