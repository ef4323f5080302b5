"""A time limit on states that are hard for solvers.

``PLANNER_TEST_NASTY=100`` looks at so many, and takes their processor time after the limit.
"""

import os

import pytest

from tests.benchmarks.nasty import KINDS, OVER_S, each_apart, solve
from tests.conftest import TEST_ALL

STATES = int(os.environ.get("PLANNER_TEST_NASTY") or 0)


@pytest.mark.skipif(not TEST_ALL, reason="an ordinary run has tests/fuzz/test_nasty.py")
@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_comes_of_each_kind(kind: str) -> None:
    taken = solve(kind, seed=0, limit=0.3)
    assert taken.status in {"optimal", "feasible", "unknown"}


@pytest.mark.skipif(not STATES, reason="PLANNER_TEST_NASTY says how many")
def test_little_processor_time_is_taken_after_the_limit() -> None:
    late = [taken for taken in each_apart(STATES, limit=2.0) if taken.over_s > OVER_S]
    assert not late
