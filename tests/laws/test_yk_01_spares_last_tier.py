"""YK-01: opted-out and originator allocations are spared where that is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import allocation, two_queues

A, B = frozenset({"a"}), frozenset({"b"})


@pytest.mark.parametrize("flag", [{"originator": True}, {"x": {"allowPreemptSelf": False}}])
def test_the_last_tier_is_spared(flag: dict[str, Any]) -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, **flag)
    court = Court(two_queues(*running))
    assert court.admitted(spare="last-tier") == {"n1": {A}}
    without = court.admitted(spare="last-tier", without={"YK-01"})
    assert without == {"n1": {A, B, A | B}}


def test_otherwise_the_flags_are_suggestions() -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, originator=True)
    assert Court(two_queues(*running)).admitted() == {"n1": {A, B, A | B}}


def test_nobody_is_left_if_all_are_of_the_last_tier() -> None:
    running = allocation("a", {"gpu": 4}, originator=True)
    court = Court(two_queues(running))
    assert court.admitted(spare="last-tier") == {"n1": set()}
    assert court.admitted() == {"n1": {A}}
