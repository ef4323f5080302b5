"""YK-11: preemption is enabled, the ask may preempt others, and has not done so before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import Json, allocation, two_queues

A = frozenset({"a"})


def state(*, enabled: bool = True, **of_ask: Any) -> Json:
    """Build a full node with one candidate; the partition's preemption may be off."""
    value = two_queues(allocation("a", {"gpu": 4}), **of_ask)
    value["queues"]["partitions"][0]["preemption"] = {"enabled": enabled}
    return value


@pytest.mark.parametrize(
    "value",
    [
        state(enabled=False),
        state(triggeredPreemption=True),
        state(x={"allowPreemptOther": False}),
    ],
)
def test_nobody_goes_for_an_ask_that_may_not_preempt(value: Json) -> None:
    court = Court(value)
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-11"}) == {"n1": {A}}


def test_otherwise_somebody_may() -> None:
    assert Court(state()).admitted() == {"n1": {A}}


def test_a_required_node_is_made_free_whatever_the_partition_says() -> None:
    value = state(enabled=False, requiredNodeId="n1", x={"allowPreemptOther": False})
    assert Court(value).admitted("yunikorn-required-node") == {"n1": {A}}


def test_an_ask_with_a_required_node_does_so_once() -> None:
    court = Court(state(requiredNodeId="n1", triggeredPreemption=True))
    assert court.admitted("yunikorn-required-node") == {"n1": set()}
    without = court.admitted("yunikorn-required-node", without={"YK-11"})
    assert without == {"n1": {A}}
