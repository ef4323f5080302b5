"""YK-05: in some order each victim's queue is over its guaranteed at the victim's turn.

The rules of the code are used, as YK-02 of the design often forbids the same sets.
"""

import pytest

from planner.models.yunikorn.candidates import eligible
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import guaranteed, one_node_value, plan_of, verdicts
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    gpus,
    node,
    of_release,
    queue,
)

A, B, C = (frozenset({key}) for key in "abc")


def one_queue(guaranteed: Json, *running: Json, **more: Json) -> Json:
    """Build a node without room: ``root.low`` runs everything, ``root.high`` asks for 1 gpu."""
    return cluster_value(
        [queue("low", guaranteed=guaranteed), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 9, "mem": 9}, available={})],
        [
            application("runs", "root.low", *running),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
        **more,
    )


def two_leaves(department: int, x: int = 0) -> Json:
    """Build a node without room: below ``root.p``, leaf x runs a (2 gpu) and leaf y b (1 gpu)."""
    return cluster_value(
        [
            queue(
                "p", queue("x", guaranteed={"gpu": x}), queue("y"), guaranteed={"gpu": department}
            ),
            queue("high", guaranteed={"gpu": 2}),
        ],
        [node("n1", {"gpu": 9}, available={})],
        [
            application("runs-x", "root.p.x", allocation("a", {"gpu": 2})),
            application("runs-y", "root.p.y", allocation("b", {"gpu": 1})),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )


def test_a_queue_gives_until_it_is_within_its_guaranteed() -> None:
    running = (allocation(key, {"gpu": 1}) for key in "abc")
    court = Court(one_queue({"gpu": 2}, *running))
    assert court.admitted("yunikorn-code") == {"n1": {A, B, C}}
    without = court.admitted("yunikorn-code", without={"YK-05"})
    assert without == {"n1": {A, B, C, A | B, A | C, B | C, A | B | C}}


@pytest.mark.parametrize(("guaranteed", "both"), [(1, True), (2, False)])
def test_one_order_is_enough(guaranteed: int, both: bool) -> None:  # noqa: FBT001
    """With 3 in use, b goes first and a finds 2: over a guaranteed of 1, not of 2."""
    running = gpus(a=2, b=1)
    court = Court(one_queue({"gpu": guaranteed}, *running))
    assert court.admitted("yunikorn-code") == {"n1": {A, B, A | B} if both else {A, B}}


def test_the_last_victim_may_push_its_queue_below() -> None:
    court = Court(one_queue({"gpu": 3}, allocation("a", {"gpu": 4})))
    assert court.admitted("yunikorn-code") == {"n1": {A}}


def test_only_types_of_the_ask_count() -> None:
    """Queue low is over its guaranteed in mem, which nobody asks for."""
    running = allocation("a", {"gpu": 1, "mem": 5})
    court = Court(one_queue({"gpu": 1, "mem": 1}, running))
    assert not eligible(court.problem).any()
    assert court.admitted("yunikorn-code", without={"YK-05"}) == {"n1": {A}}


def test_a_queue_without_any_guaranteed_is_always_over() -> None:
    running = (allocation(key, {"gpu": 1}) for key in "ab")
    assert Court(one_queue({}, *running)).admitted() == {"n1": {A, B, A | B}}


@pytest.mark.parametrize(
    ("department", "x", "both"),
    [
        (2, 0, False),  # whoever is second finds p within its guaranteed
        (1, 0, True),  # b first, then a finds 2 of 1
        (2, 1, True),  # b first, then a finds 2 of 1 in its own queue
        (3, 1, False),  # b never has a turn
    ],
)
def test_leaves_share_what_is_above_them(department: int, x: int, both: bool) -> None:  # noqa: FBT001
    court = Court(two_leaves(department, x))
    assert (A | B in court.admitted("yunikorn-code")["n1"]) == both
    assert A | B in court.admitted("yunikorn-code", without={"YK-05"})["n1"]


@pytest.mark.parametrize(("asking", "sets"), [("q10", {A}), ("x", set())])
def test_a_plain_prefix_of_the_path_loses_its_protection(
    asking: str, sets: set[frozenset[str]]
) -> None:
    """Queue q1 holds 1 of its 4; the core takes it for an ancestor of q10."""
    value = cluster_value(
        [queue("q1", guaranteed={"gpu": 4}), queue(asking, guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 9}, available={})],
        [
            application("runs", "root.q1", allocation("a", {"gpu": 1})),
            application("asks", f"root.{asking}", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    assert Court(value).admitted("yunikorn-code") == {"n1": sets}


def low_uses_3(count: int) -> Court:
    """Make queue low use 3 GPUs of its guaranteed."""
    running = {"root.low": gpus(two=2, one=1)}
    low = guaranteed("low", count)
    return Court(one_node_value(low, guaranteed("high", 2), running=running, size=3))


@pytest.mark.parametrize(
    ("count", "taken", "orders"),
    [
        (0, ["one", "two"], {"one, two", "two, one"}),
        (1, ["two", "one"], {"one, two"}),
        (1, ["one", "two"], {"one, two"}),
        (2, ["one"], {"one"}),
        (2, ["one", "two"], set()),
        (3, ["one"], set()),
    ],
)
def test_at_every_turn_whatever_the_order_of_the_plan(
    count: int, taken: list[str], orders: set[str]
) -> None:
    """Queue low uses 3: the second victim finds it over 1 only if the small one goes first."""
    court = low_uses_3(count)
    assert court.forbids("YK-05", *taken, rules="yunikorn-code") == (not orders)
    found = verdicts(court.state, plan_of(court.state, "n1", *taken, rules="yunikorn-code"))
    assert not orders or found["YK-05"].detail in {f"in the order {order}" for order in orders}


def test_in_words() -> None:
    told(low_uses_3(3).detail("YK-05", "one", rules="yunikorn-code"))
    told(low_uses_3(2).detail("YK-05", "one", "two", rules="yunikorn-code"))


@pytest.mark.parametrize(("low", "forbidden"), [({}, False), ({"disk": 1}, True)])
def test_a_guaranteed_in_other_types_protects(low: Json, *, forbidden: bool) -> None:
    """Nothing of the ask's types is left or missing there, and yet it is not nothing at all."""
    low_queue = queue("low", guaranteed=low)
    held = {"root.low": gpus(a=1)}
    value = one_node_value(low_queue, guaranteed("high", 2), running=held, size=1)
    assert Court(value).forbids("YK-05", "a") == forbidden


@pytest.mark.parametrize(
    ("mem", "sets"),
    [
        (1, {A, B, A | B}),  # what is left is less than nothing of both types
        (3, {A, B}),  # nothing of mem, until one has gone: then some
        (4, set()),
    ],
)
def test_up_to_1_7_nothing_may_be_left_of_any_type(mem: int, sets: set[frozenset[str]]) -> None:
    running = (allocation("a", {"gpu": 1, "mem": 2}), allocation("b", {"gpu": 1, "mem": 1}))
    value = one_queue({"gpu": 0, "mem": mem}, *running)
    value["queues"]["partitions"][0]["queues"][0]["queues"][0]["resources"]["max"] = {}
    assert Court(of_release(value, "1.7.0")).admitted("yunikorn-code") == {"n1": sets}
    assert Court(value).admitted("yunikorn-code") == {"n1": {A, B, A | B}}


def test_up_to_1_7_one_victim_is_the_last_for_all_types() -> None:
    """Of a and b the last one to go must be too much of gpu, and of mem: each is of one alone."""
    running = (allocation("a", {"gpu": 2}), allocation("b", {"gpu": 1, "mem": 3}))
    value = one_queue({"gpu": 2, "mem": 2}, *running)
    assert Court(of_release(value, "1.7.0")).admitted("yunikorn-code") == {"n1": {A, B}}
