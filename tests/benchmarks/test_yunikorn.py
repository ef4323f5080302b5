"""How long the optimum for an ask of YuniKorn takes, from a state that was read to a plan."""

from __future__ import annotations

from typing import Any

import pytest

import planner
from planner.reader.yunikorn import read_yunikorn_objects
from tests.yunikorn.recorded import NAMES, lines

SCALE = [
    (name, number) for name, count in (("scale-1k", 5), ("scale-10k", 3)) for number in range(count)
]
"""The recorded clusters with thousands of allocations."""


@pytest.mark.parametrize("objective", ["no-regret", "min-count", "min-lost-work"])
@pytest.mark.parametrize(("name", "number"), SCALE)
def test_solve(benchmark: Any, name: str, number: int, objective: str) -> None:
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
