"""YK-07: victims are inside the fence, and not in a queue with preemption disabled."""

from __future__ import annotations

from typing import Any

from planner.models.yunikorn.candidates import fence_root
from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import allocation, application, ask, cluster_value, node, queue

A, B = frozenset({"a"}), frozenset({"b"})


def inside_and_outside(
    p: dict[str, Any], low: dict[str, Any] | None = None, high: dict[str, Any] | None = None
) -> Court:
    """Build a full node: a is in ``root.p.low``, b in ``root.other``; ``root.p.high`` asks."""
    value = cluster_value(
        [
            queue(
                "p",
                queue("low", **low or {}),
                queue("high", guaranteed={"gpu": 1}, **high or {}),
                **p,
            ),
            queue("other"),
        ],
        [node("n1", {"gpu": 4})],
        [
            application("runs", "root.p.low", allocation("a", {"gpu": 2})),
            application("others", "root.other", allocation("b", {"gpu": 2})),
            application("asks", "root.p.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    return Court(value)


def root_of(court: Court) -> str:
    """Return the path of the fence root."""
    return court.problem.queues[fence_root(court.problem)].path


def test_without_a_fence_everybody_may_go() -> None:
    court = inside_and_outside({})
    assert root_of(court) == "root"
    assert court.admitted() == {"n1": {A, B, A | B}}


def test_a_fence_keeps_preemption_inside() -> None:
    court = inside_and_outside({"preemption_policy": "fence"})
    assert root_of(court) == "root.p"
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-07"}) == {"n1": {A, B, A | B}}


def test_a_queue_that_cannot_take_the_ask_is_a_fence() -> None:
    """The design's law on maxima would forbid b alone as well, so the code's rules are used."""
    court = inside_and_outside({"max": {"gpu": 2}})
    assert root_of(court) == "root.p"
    assert court.admitted("yunikorn-code") == {"n1": {A}}
    without = court.admitted("yunikorn-code", without={"YK-07"})
    assert without == {"n1": {A, B, A | B}}
    assert root_of(inside_and_outside({"max": {"gpu": 3}})) == "root"


def test_the_queue_of_the_ask_can_be_its_own_fence() -> None:
    court = inside_and_outside({}, high={"preemption_policy": "fence"})
    assert root_of(court) == "root.p.high"
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-07"}) == {"n1": {A, B, A | B}}


def test_a_disabled_queue_gives_nothing() -> None:
    court = inside_and_outside({}, low={"preemption_policy": "disabled"})
    assert court.admitted() == {"n1": {B}}
    assert court.admitted(without={"YK-07"}) == {"n1": {A, B, A | B}}


def test_a_disabled_queue_may_preempt_others() -> None:
    court = inside_and_outside({}, high={"preemption_policy": "disabled"})
    assert court.admitted() == {"n1": {A, B, A | B}}
