"""YK-02: no queue is left below its guaranteed, or lower than it was below it."""

from __future__ import annotations

from tests.laws.judges_yunikorn import Court
from tests.yunikorn.building import allocation, application, ask, cluster_value, node, queue

A, B, C = frozenset({"a"}), frozenset({"b"}), frozenset({"c"})


def test_a_queue_keeps_its_guaranteed() -> None:
    """Queue low holds 4 of its 3: one may go, two may not, although the core would take a."""
    value = cluster_value(
        [queue("low", guaranteed={"gpu": 3}), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 4})],
        [
            application(
                "runs",
                "root.low",
                allocation("a", {"gpu": 2}),
                allocation("b", {"gpu": 1}),
                allocation("c", {"gpu": 1}),
            ),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    court = Court(value)
    assert court.admitted() == {"n1": {B, C}}
    assert court.admitted(without={"YK-02"}) == {"n1": {A, B, C}}
    assert court.admitted("yunikorn-code") == {"n1": {A, B, C}}


def test_the_ask_counts_for_the_queues_above_it() -> None:
    """Queue p holds all of its 4 and gets 1 from the ask: so 1 may go, and 2 may not."""
    value = cluster_value(
        [queue("p", queue("low"), queue("high", guaranteed={"gpu": 2}), guaranteed={"gpu": 4})],
        [node("n1", {"gpu": 4})],
        [
            application(
                "runs", "root.p.low", allocation("a", {"gpu": 3}), allocation("b", {"gpu": 1})
            ),
            application("asks", "root.p.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    court = Court(value)
    assert court.admitted() == {"n1": {B}}
    assert court.admitted(without={"YK-02"}) == {"n1": {A, B, A | B}}


def test_a_queue_below_its_guaranteed_loses_nothing_of_that_type() -> None:
    """Queue low is over in gpu and has 1 of its 10 in mem: b, which holds that 1, must stay."""
    value = cluster_value(
        [queue("low", guaranteed={"gpu": 1, "mem": 10}), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 3, "mem": 1})],
        [
            application(
                "runs",
                "root.low",
                allocation("a", {"gpu": 2}),
                allocation("b", {"gpu": 1, "mem": 1}),
            ),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    court = Court(value)
    assert court.admitted() == {"n1": {A}}
    assert B in court.admitted(without={"YK-02"})["n1"]


def test_what_is_being_preempted_is_not_used() -> None:
    """Of the 4 that low holds 1 goes already, so 3 are used: of its 2 it can spare 1."""
    value = cluster_value(
        [queue("low", guaranteed={"gpu": 2}), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 4})],
        [
            application(
                "runs",
                "root.low",
                allocation("a", {"gpu": 2}),
                allocation("b", {"gpu": 1}),
                allocation("gone", {"gpu": 1}, preempted=True),
            ),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    court = Court(value)
    assert court.admitted() == {"n1": {B}}
    assert court.admitted(without={"YK-02"}) == {"n1": {A, B}}
