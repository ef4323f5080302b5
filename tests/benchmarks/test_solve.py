"""How long the optimum takes, from a state that was read to a plan that is verified."""

from __future__ import annotations

from typing import Any

import pytest

import planner
from tests.benchmarks.large import SIZES, large
from tests.cluster import PENDING


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
