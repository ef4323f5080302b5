"""YK-14: for a lowered quota victims are where the core searches, and free to go."""

from typing import Any

import pytest

from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import one_node_value
from tests.yunikorn.building import Json, allocation, gpus, queue

A, B, C = frozenset({"a"}), frozenset({"b"}), frozenset({"c"})


def low_runs(*held: Json, most: int = 1, **of_low: Any) -> Court:
    """Lower the max of queue low to so many GPUs; queue other runs ``elsewhere``."""
    queues = queue("low", max={"gpu": most}, **of_low), queue("other"), queue("high")
    running = {"root.low": [*held], "root.other": gpus(elsewhere=1)}
    return Court(one_node_value(*queues, running=running), "root.low")


def two_leaves(most: int, a: int, b: int, **of_b: Any) -> Court:
    """Lower the max of queue p, whose leaves a and b run ``a`` and ``b`` of so many GPUs."""
    p = queue("p", queue("a"), queue("b", **of_b), max={"gpu": most})
    running = {"root.p.a": gpus(a=a), "root.p.b": gpus(b=b)}
    return Court(one_node_value(p, queue("high"), running=running), "root.p")


def test_victims_are_at_or_below_the_queue() -> None:
    """Whoever is elsewhere brings nothing down."""
    court = low_runs(*gpus(a=2))
    assert court.admitted() == {"": {A}}
    assert court.admitted(without={"YK-14"}) == {"": {A, A | {"elsewhere"}}}
    said = "elsewhere is in queue root.other, which has no share"
    assert court.detail("YK-14", "a", "elsewhere") == said
    assert two_leaves(2, 2, 2).admitted() == {"": {A, B, A | B}}


def test_a_leaf_within_its_guaranteed_is_not_searched() -> None:
    """One with no type in common with what it uses counts as such in the core."""
    court = two_leaves(2, 2, 2, guaranteed={"mem": 1})
    assert court.admitted() == {"": {A}}
    assert court.admitted(without={"YK-14"}) == {"": {A, B, A | B}}
    assert two_leaves(2, 2, 2, guaranteed={"gpu": 1, "mem": 1}).admitted() == {"": {A}}


def test_a_leaf_whose_share_is_nothing_is_not_searched() -> None:
    """Of 3 GPUs too many a, which uses 3 of 4, is to free 2, and b a part of one: nothing."""
    court = two_leaves(1, 3, 1)
    assert court.admitted() == {"": {A}}
    assert court.admitted(without={"YK-14"}) == {"": {A, A | B}}
    nobody = two_leaves(3, 3, 1)
    assert nobody.admitted() == {"": set()}
    assert nobody.admitted(without={"YK-14"}) == {"": {A, B, A | B}}


def test_a_parent_itself_is_not_searched() -> None:
    """Its allocations are of applications that came when it was a leaf."""
    p = queue("p", queue("a"), max={"gpu": 1})
    running = {"root.p.a": gpus(a=2), "root.p": gpus(b=1)}
    court = Court(one_node_value(p, queue("high"), running=running), "root.p")
    assert court.admitted() == {"": {A}}
    assert court.admitted(without={"YK-14"}) == {"": {A, A | B}}


@pytest.mark.parametrize(
    ("flag", "legal", "said"),
    [
        ({"requiredNodeId": "n1"}, {B | C}, "a requires node n1"),
        ({"x": {"released": True}}, {B | C}, "a is released already"),
        ({"preempted": True}, {B, C, B | C}, "a is being preempted already"),
    ],
)
def test_who_must_stay_or_goes_already(flag: Json, legal: set[frozenset[str]], said: str) -> None:
    """Of three with a GPU each a is bound; what is being preempted counts as gone."""
    court = low_runs(allocation("a", {"gpu": 1}, **flag), *gpus(b=1, c=1))
    assert court.admitted() == {"": legal}
    assert court.forbids("YK-14", "a", "b", "c")
    assert court.detail("YK-14", "a", "b", "c") == said


def test_a_victim_holds_a_type_of_the_share() -> None:
    """Its amount may be 0; memory is within the max, and so no type of the share."""
    of_memory, of_none = allocation("a", {"mem": 1}), allocation("c", {"gpu": 0, "mem": 1})
    court = low_runs(of_memory, of_none, *gpus(b=2))
    assert court.admitted() == {"": {B, B | C}}
    assert court.forbids("YK-14", "a", "b")
    told(court.detail("YK-14", "a", "b"))


@pytest.mark.parametrize(
    "more", [{"priority": "9"}, {"originator": True}, {"x": {"allowPreemptSelf": False}}]
)
def test_neither_priorities_nor_flags_nor_policies_spare_anybody(more: Json) -> None:
    held = allocation("a", {"gpu": 2}, **more)
    policies: dict[str, Any] = {"preemption_policy": "disabled", "priority_policy": "fence"}
    assert low_runs(held, **policies).admitted() == {"": {A}}


def test_nobody_goes_who_is_not_there() -> None:
    detail = low_runs(*gpus(a=2)).detail("YK-14", "a", "ghost")
    told(detail)
