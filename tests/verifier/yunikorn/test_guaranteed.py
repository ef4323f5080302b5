"""YK-02, YK-04 and YK-05: what is guaranteed, to the ask and to its victims."""

from __future__ import annotations

from typing import Any

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


def gpus(key: str, count: int, **more: Any) -> Json:
    return allocation(key, {"gpu": count}, **more)


def low_guaranteed(count: int) -> YuniKornState:
    """Make queue low use 3 GPUs of its guaranteed; the node is full."""
    return one_node(
        guaranteed("low", count),
        guaranteed("high", 2),
        running={"root.low": [gpus("one", 1), gpus("two", 2)]},
        size=3,
    )


@pytest.mark.parametrize(
    ("count", "taken", "law"),
    [
        (1, ["one"], []),
        (1, ["two"], []),
        (2, ["one"], []),
        (2, ["two"], ["YK-02"]),
    ],
)
def test_leaves_guaranteed(count: int, taken: list[str], law: list[str]) -> None:
    state = low_guaranteed(count)
    plan = plan_of(state, "n1", *taken)
    assert broken(state, plan) == law
    assert broken(state, plan.model_copy(update={"rules": CODE})) == []


def test_leaves_guaranteed_in_words() -> None:
    state = low_guaranteed(2)
    assert verdicts(state, plan_of(state, "n1", "two"))["YK-02"].detail == (
        "queue root.low would be left with 1 gpu, its guaranteed is 2 gpu"
    )


@pytest.mark.parametrize(("released", "law"), [(False, []), (True, ["YK-02"])])
def test_what_is_being_preempted_is_not_used(released: bool, law: list[str]) -> None:  # noqa: FBT001
    """Queue low uses 4, or only 3 of them: without the victim 2, or 1, of 2."""
    state = one_node(
        guaranteed("low", 2),
        guaranteed("high", 2),
        running={"root.low": [gpus("two", 2), gpus("one", 1), gpus("gone", 1, preempted=released)]},
        size=4,
    )
    assert broken(state, plan_of(state, "n1", "two")) == law


def test_a_type_that_no_victim_holds_may_be_short_already() -> None:
    low = queue("low", guaranteed={"gpu": 1, "disk": 5})
    state = one_node(
        low, guaranteed("high", 2), running={"root.low": [gpus("a", 1), gpus("b", 1)]}, size=2
    )
    assert broken(state, plan_of(state, "n1", "a")) == []


@pytest.mark.parametrize(("wanted", "law"), [(1, ["YK-02"]), (2, [])])
def test_the_ask_counts_on_its_own_path(wanted: int, law: list[str]) -> None:
    """Queue p has 2 guaranteed and uses 2: both go, and the ask takes their place."""
    state = one_node(
        guaranteed("p", 2, queue("low"), guaranteed("high", 2)),
        running={"root.p.low": [gpus("two", 2)]},
        path="root.p.high",
        size=2,
        wanted={"gpu": wanted},
    )
    assert broken(state, plan_of(state, "n1", "two")) == law


@pytest.mark.parametrize(("count", "law"), [(0, ["YK-04"]), (1, ["YK-04"]), (2, [])])
def test_the_ask_must_fit_into_its_guaranteed(count: int, law: list[str]) -> None:
    state = one_node(
        queue("low"),
        guaranteed("high", count),
        running={"root.low": [gpus("two", 2)]},
        size=2,
        wanted={"gpu": 2},
    )
    assert broken(state, plan_of(state, "n1", "two")) == law


def test_the_ask_must_fit_in_words() -> None:
    state = one_node(queue("low"), queue("high"), running={"root.low": [gpus("a", 1)]}, size=1)
    assert verdicts(state, plan_of(state, "n1", "a"))["YK-04"].detail == (
        "no guaranteed is set for queue root.high or any queue above it"
    )
    state = one_node(
        queue("low"),
        guaranteed("high", 1),
        running={"root.low": [gpus("two", 2)]},
        size=2,
        wanted={"gpu": 2},
    )
    assert verdicts(state, plan_of(state, "n1", "two"))["YK-04"].detail == (
        "queue root.high has 1 gpu left of its guaranteed, "
        "-1 gpu with the ask counted and the victims gone"
    )


@pytest.mark.parametrize(("taken", "law"), [("one", ["YK-04"]), ("two", [])])
def test_victims_may_make_room_in_the_guaranteed_of_an_ancestor(taken: str, law: list[str]) -> None:
    """Queue p has 2 guaranteed and uses 3; with the ask 4, so 2 must go."""
    state = one_node(
        guaranteed("p", 2, queue("low"), queue("high")),
        running={"root.p.low": [gpus("one", 1), gpus("two", 2)]},
        path="root.p.high",
        size=3,
    )
    assert broken(state, plan_of(state, "n1", taken)) == law


def test_types_without_a_guaranteed_are_free() -> None:
    state = one_node(
        queue("low"),
        guaranteed("high", 1),
        running={"root.low": [allocation("a", {"gpu": 1, "cpu": 8})]},
        size=8,
        wanted={"gpu": 1, "cpu": 8},
    )
    assert broken(state, plan_of(state, "n1", "a")) == []


@pytest.mark.parametrize(
    ("count", "taken", "order"),
    [
        (0, ["one", "two"], {("one", "two"), ("two", "one")}),
        (1, ["two", "one"], {("one", "two")}),
        (2, ["one"], {("one",)}),
        (2, ["one", "two"], set()),
        (3, ["one"], set()),
    ],
)
def test_over_guaranteed_at_every_turn(
    count: int, taken: list[str], order: set[tuple[str, ...]]
) -> None:
    """Queue low uses 3: the second victim finds it over 1 only if the small one goes first."""
    state = low_guaranteed(count)
    plan = plan_of(state, "n1", *taken, rules=CODE)
    assert broken(state, plan) == ([] if order else ["YK-05"])
    if order:
        assert verdicts(state, plan)["YK-05"].detail in {
            f"in the order {', '.join(keys)}" for keys in order
        }


def test_over_guaranteed_in_words() -> None:
    state = low_guaranteed(3)
    assert verdicts(state, plan_of(state, "n1", "one", rules=CODE))["YK-05"].detail == (
        "the core would not take one: queue root.low has 0 gpu left of its guaranteed, "
        "not less than nothing"
    )
    state = low_guaranteed(2)
    assert verdicts(state, plan_of(state, "n1", "one", "two", rules=CODE))["YK-05"].detail == (
        "the core would not take one, two: queue root.low has 1 gpu left of its guaranteed, not "
        "less than nothing, with only one of them still there"
    )


@pytest.mark.parametrize(("low", "law"), [({}, []), ({"disk": 1}, ["YK-05"])])
def test_a_guaranteed_in_other_types_protects(low: Json, law: list[str]) -> None:
    """Nothing of the ask's types is left or missing there, and yet it is not nothing at all."""
    state = one_node(
        queue("low", guaranteed=low),
        guaranteed("high", 2),
        running={"root.low": [gpus("a", 1)]},
        size=1,
    )
    assert broken(state, plan_of(state, "n1", "a")) == law


def test_a_sibling_whose_path_starts_alike_loses_its_protection() -> None:
    """The core takes root.q1 for an ancestor of root.q10."""
    for name, law in (("q1", []), ("q2", ["YK-05"])):
        state = one_node(
            guaranteed(name, 2),
            guaranteed("q10", 2),
            running={f"root.{name}": [gpus("a", 1)]},
            path="root.q10",
            size=1,
        )
        assert broken(state, plan_of(state, "n1", "a", rules=CODE)) == law


def test_the_order_of_the_plan_does_not_matter() -> None:
    state = one_node(
        guaranteed("low", 1),
        guaranteed("high", 4),
        running={"root.low": [gpus("two", 2), gpus("one", 1)]},
        size=3,
        wanted=GPU,
    )
    for taken in (["one", "two"], ["two", "one"]):
        assert broken(state, plan_of(state, "n1", *taken, rules=CODE)) == []
