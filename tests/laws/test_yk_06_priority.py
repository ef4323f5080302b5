"""YK-06: no victim has a higher priority than the ask, with the offsets of the queues."""

import numpy as np
import pytest

from planner.models.yunikorn.candidates import adjusted_priorities, eligible
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import one_node_value
from tests.yunikorn.building import Json, allocation, queue, two_queues

A, B = frozenset({"a"}), frozenset({"b"})


def test_equal_priority_may_go_and_higher_may_not() -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, priority="1")
    court = Court(two_queues(*running))
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-06"}) == {"n1": {A, B, A | B}}


def test_an_ask_with_a_required_node_is_compared_plainly() -> None:
    running = allocation("a", {"gpu": 2}, priority="1"), allocation("b", {"gpu": 2})
    value = two_queues(*running, requiredNodeId="n1")
    value["queues"]["partitions"][0]["queues"][0]["queues"][0]["properties"] = {
        "priority.offset": "5"
    }
    court = Court(value)
    assert adjusted_priorities(court.problem) == [1, 0]
    assert court.admitted("yunikorn-required-node") == {"n1": {B}}
    assert np.array_equal(eligible(court.problem, {"YK-06"}), [True, True])


FENCED: Json = {"priority_policy": "fence"}


def one_victim(priority: int, low: Json, path: str = "root.low", **high: str) -> Court:
    """Make a victim of some priority; the ask has priority 4."""
    return Court(
        one_node_value(
            low,
            queue("high", guaranteed={"gpu": 2}, **high),
            running={path: [allocation("a", {"gpu": 1}, priority=str(priority))]},
            size=1,
            priority="4",
        )
    )


@pytest.mark.parametrize(
    ("priority", "low", "high", "forbidden"),
    [
        (4, {}, {}, False),
        (5, {}, {}, True),
        (5, {"priority_offset": "-1"}, {}, False),
        (4, {"priority_offset": "1"}, {}, True),
        (6, {}, {"priority_offset": "2"}, False),
        (7, {}, {"priority_offset": "2"}, True),
        (9, {}, {"priority_offset": "9", **FENCED}, False),
        (10, {}, {"priority_offset": "9", **FENCED}, True),
        (99, {"priority_offset": "4", **FENCED}, {}, False),
        (0, {"priority_offset": "5", **FENCED}, {}, True),
    ],
)
def test_an_ask_of_priority_4(priority: int, low: Json, high: Json, *, forbidden: bool) -> None:
    court = one_victim(priority, queue("low", **low), **high)
    assert court.forbids("YK-06", "a") == forbidden


@pytest.mark.parametrize(
    ("outer", "between", "inner", "forbidden"),
    [(3, 0, 3, False), (3, 0, 9, True), (9, 0, 3, True), (4, 1, 3, False), (3, 2, 3, True)],
)
def test_every_fence_must_be_passed(
    outer: int, between: int, inner: int, *, forbidden: bool
) -> None:
    """Below the outer fence the bar stays at 4, and sinks by the offset of the queue between."""
    low = queue("low", priority_offset=str(inner), **FENCED)
    middle = queue("q", low, priority_offset=str(between))
    outside = queue("p", middle, priority_offset=str(outer), **FENCED)
    assert one_victim(99, outside, "root.p.q.low").forbids("YK-06", "a") == forbidden


@pytest.mark.parametrize(("offset", "forbidden"), [("-1", False), ("0", True)])
def test_the_offset_of_the_first_common_queue_helps_the_ask(
    offset: str, *, forbidden: bool
) -> None:
    """The ask is worth 4 + 7 at queue p; a victim below p only gains the offset of its own."""
    low = queue("low", priority_offset=offset)
    value = one_node_value(
        queue("p", low, queue("high", guaranteed={"gpu": 2}), priority_offset="7"),
        running={"root.p.low": [allocation("a", {"gpu": 1}, priority="12")]},
        path="root.p.high",
        size=1,
        priority="4",
    )
    assert Court(value).forbids("YK-06", "a") == forbidden


def test_in_words() -> None:
    told(one_victim(4, queue("low", priority_offset="1")).detail("YK-06", "a"))
    told(one_victim(0, queue("low", priority_offset="5", **FENCED)).detail("YK-06", "a"))
