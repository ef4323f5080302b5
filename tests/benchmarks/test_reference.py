"""How long Kueue's own algorithm takes when replayed, verification included."""

from __future__ import annotations

from typing import Any

import pytest

import planner
from planner.quota.kueue.snapshot import build_snapshot
from tests.benchmarks.large import SIZES, large
from tests.cluster import PENDING


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
