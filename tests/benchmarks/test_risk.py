"""How long it takes to plan for fifty preemptors that may come to a thousand that run."""

from __future__ import annotations

from typing import Any

import pytest

import planner
from tests.benchmarks.large import large

PREEMPTORS = 50


@pytest.mark.parametrize("fair", [False, True], ids=["classical", "fair"])
def test_risk(benchmark: Any, *, fair: bool) -> None:
    state = large(1_000, fair=fair)
    answer = benchmark.pedantic(planner.risk, (state,), {"limit": PREEMPTORS}, rounds=1)
    assert len(answer.preemptors) == PREEMPTORS
    assert answer.is_proved
