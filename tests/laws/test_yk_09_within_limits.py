"""YK-09: the ask's queue and all above it are within their maximum, with the ask."""

from __future__ import annotations

from typing import Any

from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
)

A, B = frozenset({"a"}), frozenset({"b"})


def department(limit: Json, high: Json | None = None, **more: Any) -> Court:
    """Build a node with 1 of 4 available: below ``root.p``, low runs 2 and 1, high asks for 2."""
    value = cluster_value(
        [
            queue(
                "p",
                queue("low"),
                queue("high", guaranteed={"gpu": 2}, max=high or {}),
                max=limit,
            )
        ],
        [node("n1", {"gpu": 4})],
        [
            application(
                "runs", "root.p.low", allocation("a", {"gpu": 2}), allocation("b", {"gpu": 1})
            ),
            application("asks", "root.p.high", asks=(ask("ask", {"gpu": 2}),)),
        ],
        **more,
    )
    return Court(value)


def test_the_maximum_above_the_ask_holds_afterwards() -> None:
    """The node has room once b is gone; queue p has room for 2 of 3 only once a is gone."""
    court = department({"gpu": 3})
    assert court.admitted() == {"n1": {A, A | B}}
    assert court.admitted(without={"YK-09"}) == {"n1": {A, B, A | B}}
    assert court.admitted("yunikorn-code") == {"n1": {A, B, A | B}}


def test_a_type_that_the_maximum_lacks_is_not_limited() -> None:
    assert department({"mem": 1}).admitted() == {"n1": {A, B, A | B}}


def test_at_the_root_such_a_type_counts_as_none() -> None:
    """The root of a real cluster has all types of its nodes; this one was told otherwise."""
    court = department({}, x={"rootMax": {"mem": 8}})
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-09"}) == {"n1": {A, B, A | B}}


def test_the_queue_of_the_ask_has_nobody_to_make_room() -> None:
    """YK-07 alone would forbid everything, too: the queue is a fence to itself."""
    court = department({}, high={"gpu": 1})
    assert court.admitted(without={"YK-07"}) == {"n1": set()}
    assert court.admitted(without={"YK-07", "YK-09"}) == {"n1": {A, B, A | B}}
