"""YK-01: opted-out and originator allocations are spared where that is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.yunikorn.admitted import admitted, problem_of
from tests.yunikorn.building import allocation, two_queues

A, B = frozenset({"a"}), frozenset({"b"})


@pytest.mark.parametrize("flag", [{"originator": True}, {"x": {"allowPreemptSelf": False}}])
def test_the_last_tier_is_spared(flag: dict[str, Any]) -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, **flag)
    problem = problem_of(two_queues(*running))
    assert admitted(problem, spare="last-tier") == {"n1": {A}}
    without = admitted(problem, spare="last-tier", without={"YK-01"})
    assert without == {"n1": {A, B, A | B}}


def test_otherwise_the_flags_are_suggestions() -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, originator=True)
    assert admitted(problem_of(two_queues(*running))) == {"n1": {A, B, A | B}}


def test_nobody_is_left_if_all_are_of_the_last_tier() -> None:
    running = allocation("a", {"gpu": 4}, originator=True)
    problem = problem_of(two_queues(running))
    assert admitted(problem, spare="last-tier") == {"n1": set()}
    assert admitted(problem) == {"n1": {A}}
