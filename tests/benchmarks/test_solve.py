"""How long commands take, from a state that was read to an answer that is verified."""

import subprocess
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import planner
from planner.operations.risk import risk
from planner.quota.kueue.snapshot import build_snapshot
from planner.reader.yunikorn import read_yunikorn_objects
from tests.benchmarks.clusters import Form
from tests.benchmarks.large import SIZES, large
from tests.benchmarks.test_scale import state_of
from tests.cli.running import command, environment
from tests.cluster import PENDING
from tests.yunikorn.recorded import NAMES, lines


@pytest.mark.parametrize("objective", ["no-regret", "min-count", "min-lost-work"])
@pytest.mark.parametrize("fair", [False, True], ids=["classical", "fair"])
@pytest.mark.parametrize("count", SIZES)
def test_solve(benchmark: Any, count: int, objective: str, *, fair: bool) -> None:
    state = large(count, fair=fair)
    plan = benchmark.pedantic(
        planner.solve,
        args=(state, PENDING),
        kwargs={"objective": objective, "time_limit": 60},
        rounds=1 if count > 1_000 else 3,
    )
    benchmark.extra_info["status"] = plan.status
    assert plan.victims
    assert planner.verify(state, plan).accepted


SCALE = [
    (name, number) for name, count in (("scale-1k", 5), ("scale-10k", 3)) for number in range(count)
]
"""The recorded clusters with thousands of allocations."""


@pytest.mark.parametrize("objective", ["no-regret", "min-count", "min-lost-work"])
@pytest.mark.parametrize(("name", "number"), SCALE)
def test_solve_for_an_ask(benchmark: Any, name: str, number: int, objective: str) -> None:
    if name not in NAMES:
        pytest.skip("no recorded answers of large clusters: set PLANNER_CONFORMANCE")
    line = list(lines(name, 1))[number]
    state = read_yunikorn_objects(line, where=line["id"])
    plan = benchmark.pedantic(
        planner.solve,
        args=(state, line["ask"]["allocationKey"]),
        kwargs={"objective": objective, "time_limit": 60},
        rounds=1,
    )
    benchmark.extra_info["status"] = plan.status
    assert plan.status in {"optimal", "feasible", "infeasible"}
    assert planner.verify(state, plan).accepted


@pytest.mark.parametrize("fair", [False, True], ids=["classical", "fair"])
@pytest.mark.parametrize("count", SIZES)
def test_greedy(benchmark: Any, count: int, *, fair: bool) -> None:
    state = large(count, fair=fair)
    plan = benchmark.pedantic(
        planner.greedy, args=(state, PENDING), rounds=1 if count > 1_000 else 3
    )
    assert plan.status in {"feasible", "unknown"}


@pytest.mark.parametrize("count", SIZES)
def test_snapshot(benchmark: Any, count: int) -> None:
    state = large(count, fair=False)
    snapshot = benchmark(build_snapshot, state, state.now, ())
    assert sum(map(len, snapshot.admitted.values())) == count


PREEMPTORS = 50


@pytest.mark.parametrize("fair", [False, True], ids=["classical", "fair"])
def test_risk(benchmark: Any, *, fair: bool) -> None:
    state = large(1_000, fair=fair)
    answer = benchmark.pedantic(risk, (state,), {"limit": PREEMPTORS}, rounds=1)
    assert len(answer.preemptors) == PREEMPTORS
    assert answer.is_proved


FORMS = (Form(1_000), Form(10_000), Form(10_000, shapes="distinct"), Form(10_000, fair=True))


@pytest.mark.parametrize("certify", [None, True])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_solve_with_trees(benchmark: Any, form: Form, *, certify: bool | None) -> None:
    """With the usual effort, and with all; ``extra_info`` has how many levels trees prove."""
    kwargs = {"time_limit": 60, "certify": certify}
    state = state_of(form)
    plan = benchmark.pedantic(planner.solve, args=(state, PENDING), kwargs=kwargs, rounds=1)
    assert plan.certificate is not None
    levels = plan.certificate.levels
    benchmark.extra_info["levels"] = len(levels)
    benchmark.extra_info["certified"] = sum(level.proof == "certified" for level in levels)
    assert levels


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_check(benchmark: Any, form: Form) -> None:
    state = state_of(form)
    plan = planner.solve(state, PENDING)
    check = benchmark.pedantic(planner.check, args=(state, plan), rounds=1)
    assert all(verdict.holds for verdict in check.verdicts)


def test_help(benchmark: BenchmarkFixture) -> None:
    words, ours = command("--help"), environment()
    done = benchmark(subprocess.run, words, env=ours, capture_output=True, check=True)
    assert b"planner solve" in done.stdout
