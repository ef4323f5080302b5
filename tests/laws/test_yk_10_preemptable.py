"""YK-10: a victim has a type of the ask and is free to go; there is at least one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import Json, allocation, two_queues

A, B = frozenset({"a"}), frozenset({"b"})


@pytest.mark.parametrize(
    "flag",
    [{"requiredNodeId": "n1"}, {"preempted": True}, {"x": {"released": True}}],
)
@pytest.mark.parametrize("rules", ["yunikorn-design", "yunikorn-code", "yunikorn-required-node"])
def test_what_must_stay_or_goes_already_is_no_victim(flag: dict[str, Any], rules: str) -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, **flag)
    required: Json = {"requiredNodeId": "n1"} if rules == "yunikorn-required-node" else {}
    court = Court(two_queues(*running, **required))
    assert court.admitted(rules) == {"n1": {A}}
    assert court.admitted(rules, without={"YK-10"}) == {"n1": {A, B, A | B}}


def test_a_victim_has_a_type_of_the_ask() -> None:
    running = allocation("a", {"gpu": 4}), allocation("b", {"mem": 2})
    court = Court(two_queues(*running))
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-10"}) == {"n1": {A, A | B}}


def test_the_amount_may_be_zero() -> None:
    running = allocation("a", {"gpu": 4}), allocation("b", {"gpu": 0, "mem": 2})
    assert Court(two_queues(*running)).admitted() == {"n1": {A, A | B}}


def test_there_is_at_least_one_victim() -> None:
    """The node has room, so that nobody need go."""
    court = Court(two_queues(allocation("a", {"gpu": 1})))
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-10"}) == {"n1": {A, frozenset()}}
