"""What victims of a simulation lose of their runs, told by hand."""

from typing import Any

import pytest

import planner
from planner.research.simulate import Script
from planner.research.simulate.simulate import Question, simulate
from planner.state import AnyState
from tests.cluster import Object, configuration, pending, queue, state_of
from tests.objective.test_run_time import HERE, STUCK, VICTIMS, a_slice, holder


def lost(state: AnyState, script: Object, **asked: Any) -> list[tuple[str, int | None]]:
    """Return who was evicted in a simulation, and how many seconds of its run that lost."""
    answer = simulate(state, Question(script=Script.model_validate(script), **asked))
    evicted = [one for one in answer.timeline if one.kind == "preempted"]
    return [(one.workload, one.lost_s) for one in evicted]


@pytest.mark.parametrize("case", ["never-started", "never-admitted"])
def test_a_simulation_loses_nothing_of_what_never_ran(case: str) -> None:
    state = planner.read(HERE / f"{case}.yaml")
    assert lost(state, {}, decider="optimum", until_s=60) == [(VICTIMS[case], 0)]


def coming(*seconds: int) -> tuple[list[Object], Object]:
    """Return workloads of one GPU that come one after the other, and the script that says so."""
    found, rows = [], []
    for second in seconds:
        [one] = pending("a", 1)
        one["metadata"]["name"] = f"urgent-{second}"
        found.append(one)
        name = f"ns/urgent-{second}"
        rows.append({"name": name, "arrive_seconds": second, "run_seconds": 30})
    return found, {"workload": rows}


def test_once_admitted_by_a_simulation_it_runs() -> None:
    stuck = holder("stuck", STUCK)
    urgent, script = coming(100, 200)
    state = state_of(queue("a", 1, within="LowerPriority"), stuck, urgent)
    # The first comes after 100 s, its victim leaves within 30 s, it runs for 30 s, and a second
    # later Kueue admits the victim again.
    assert lost(state, script, until_s=300) == [("ns/stuck", 0), ("ns/stuck", 200 - 161)]


def test_a_simulation_goes_on_with_the_run_of_a_replaced_slice() -> None:
    first, [second] = a_slice("first", 5), a_slice("second", 40, "first")
    second["status"] = {}
    urgent, script = coming(100)
    gates = configuration(featureGates={"ElasticJobsViaWorkloadSlices": True})
    state = state_of(gates, queue("a", 1, within="LowerPriority"), first, [second], urgent)
    assert lost(state, script, until_s=200) == [("ns/second", 55 * 60 + 100)]
