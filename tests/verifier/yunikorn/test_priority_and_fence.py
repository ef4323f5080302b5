"""YK-06 and YK-07: whom the ask may preempt by priority, and behind which fence."""

from __future__ import annotations

import pytest

from planner.state.yunikorn import YuniKornState
from tests.verifier.yunikorn.plans import (
    CODE,
    GPU,
    broken,
    guaranteed,
    one_node,
    plan_of,
    verdicts,
)
from tests.yunikorn.building import Json, allocation, queue

FENCED: Json = {"priority_policy": "fence"}


def state_with(priority: int, low: Json, path: str = "root.low", **high: str) -> YuniKornState:
    """Make a victim of some priority; the ask has priority 4."""
    return one_node(
        low,
        guaranteed("high", 2, **high),
        running={path: [allocation("a", GPU, priority=str(priority))]},
        size=1,
        priority="4",
    )


@pytest.mark.parametrize(
    ("priority", "low", "high", "law"),
    [
        (4, {}, {}, []),
        (5, {}, {}, ["YK-06"]),
        (5, {"priority_offset": "-1"}, {}, []),
        (4, {"priority_offset": "1"}, {}, ["YK-06"]),
        (6, {}, {"priority_offset": "2"}, []),
        (7, {}, {"priority_offset": "2"}, ["YK-06"]),
        (9, {}, {"priority_offset": "9", **FENCED}, []),
        (10, {}, {"priority_offset": "9", **FENCED}, ["YK-06"]),
        (99, {"priority_offset": "4", **FENCED}, {}, []),
        (0, {"priority_offset": "5", **FENCED}, {}, ["YK-06"]),
    ],
)
def test_priority(priority: int, low: Json, high: Json, law: list[str]) -> None:
    state = state_with(priority, queue("low", **low), **high)
    assert broken(state, plan_of(state, "n1", "a")) == law


@pytest.mark.parametrize(
    ("outer", "between", "inner", "law"),
    [
        (3, 0, 3, []),
        (3, 0, 9, ["YK-06"]),
        (9, 0, 3, ["YK-06"]),
        (4, 1, 3, []),
        (3, 2, 3, ["YK-06"]),
    ],
)
def test_every_fence_must_be_passed(outer: int, between: int, inner: int, law: list[str]) -> None:
    """Below the outer fence the bar stays at 4, and sinks by the offset of the queue between."""
    low = queue("low", priority_offset=str(inner), **FENCED)
    middle = queue("q", low, priority_offset=str(between))
    state = state_with(
        99, queue("p", middle, priority_offset=str(outer), **FENCED), path="root.p.q.low"
    )
    assert broken(state, plan_of(state, "n1", "a")) == law


@pytest.mark.parametrize(("offset", "law"), [("-1", []), ("0", ["YK-06"])])
def test_the_offset_of_the_first_common_queue_helps_the_ask(offset: str, law: list[str]) -> None:
    """The ask is worth 4 + 7 at queue p; a victim below p only gains the offset of its own."""
    state = one_node(
        queue(
            "p", queue("low", priority_offset=offset), guaranteed("high", 2), priority_offset="7"
        ),
        running={"root.p.low": [allocation("a", GPU, priority="12")]},
        path="root.p.high",
        size=1,
        priority="4",
    )
    assert broken(state, plan_of(state, "n1", "a")) == law


def test_priority_in_words() -> None:
    state = state_with(4, queue("low", priority_offset="1"))
    assert verdicts(state, plan_of(state, "n1", "a"))["YK-06"].detail == (
        "a has priority 4, with the queues' offsets 5, the ask has 4"
    )
    state = state_with(0, queue("low", priority_offset="5", **FENCED))
    assert verdicts(state, plan_of(state, "n1", "a"))["YK-06"].detail == (
        "a is behind a priority fence that counts as 5, the ask has 4"
    )


@pytest.mark.parametrize(
    ("low", "law"),
    [
        ({}, []),
        ({"preemption_policy": "fence"}, []),
        ({"preemption_policy": "disabled"}, ["YK-07"]),
    ],
)
def test_a_disabled_queue_gives_no_victims(low: Json, law: list[str]) -> None:
    state = state_with(0, queue("low", **low))
    assert broken(state, plan_of(state, "n1", "a")) == law


def test_disabled_reaches_the_whole_subtree_until_a_queue_says_otherwise() -> None:
    for policy, law in ((None, ["YK-07"]), ("default", []), ("fence", [])):
        own: Json = {"preemption_policy": policy} if policy else {}
        below = queue("low", **own)
        state = state_with(0, queue("p", below, preemption_policy="disabled"), path="root.p.low")
        assert broken(state, plan_of(state, "n1", "a")) == law


def test_the_policy_of_the_asks_own_queue_is_no_obstacle() -> None:
    state = state_with(0, queue("low"), preemption_policy="disabled")
    assert broken(state, plan_of(state, "n1", "a")) == []


@pytest.mark.parametrize(("taken", "law"), [("in", []), ("out", ["YK-07"])])
@pytest.mark.parametrize("policy", ["default", "fence"])
def test_fence(policy: str, taken: str, law: list[str]) -> None:
    """Queue p is a fence or not; the victim out is beside it."""
    state = one_node(
        queue("p", queue("low"), guaranteed("high", 2), preemption_policy=policy),
        queue("other"),
        running={
            "root.p.low": [allocation("in", GPU)],
            "root.other": [allocation("out", GPU)],
        },
        path="root.p.high",
        size=2,
    )
    assert broken(state, plan_of(state, "n1", taken)) == (law if policy == "fence" else [])


def test_a_full_queue_is_a_fence() -> None:
    """Queue p uses all of its maximum: only what it gives back itself makes room."""
    state = one_node(
        queue("p", queue("low"), guaranteed("high", 2), max={"gpu": 1}),
        queue("other"),
        running={"root.p.low": [allocation("in", GPU)], "root.other": [allocation("out", GPU)]},
        path="root.p.high",
        size=2,
    )
    assert broken(state, plan_of(state, "n1", "in")) == []
    assert broken(state, plan_of(state, "n1", "in", "out")) == ["YK-07"]
    assert broken(state, plan_of(state, "n1", "out", rules=CODE)) == ["YK-07"]
    assert broken(state, plan_of(state, "n1", "out")) == ["YK-07", "YK-09"]
    assert verdicts(state, plan_of(state, "n1", "out"))["YK-07"].detail == (
        "out is in queue root.other, outside queue root.p, which fences the ask: it cannot take "
        "the ask within its maximum"
    )


def test_a_maximum_reaches_down() -> None:
    """Queue q may use what p may, 1, which is used up: q is the fence, and not p above it."""
    q = queue("q", queue("mid"), guaranteed("high", 2))
    state = one_node(
        queue("p", queue("low"), q, max={"gpu": 1}),
        running={"root.p.q.mid": [allocation("in", GPU)], "root.p.low": [allocation("out", GPU)]},
        path="root.p.q.high",
        size=2,
    )
    assert broken(state, plan_of(state, "n1", "in", rules=CODE)) == []
    assert broken(state, plan_of(state, "n1", "in", "out")) == ["YK-07"]


def test_the_asks_own_queue_can_be_the_fence() -> None:
    state = one_node(
        queue("low"),
        guaranteed("high", 2, preemption_policy="fence"),
        running={"root.low": [allocation("a", GPU)]},
        size=1,
    )
    assert broken(state, plan_of(state, "n1", "a")) == ["YK-07"]


def test_priorities_are_not_compared_across_the_fence() -> None:
    state = one_node(
        queue("p", guaranteed("high", 2), preemption_policy="fence"),
        queue("other"),
        running={"root.other": [allocation("out", GPU, priority="99")]},
        path="root.p.high",
        size=1,
    )
    assert broken(state, plan_of(state, "n1", "out")) == ["YK-07"]
