"""What is left of the guaranteed, by hand (docs/semantics/yunikorn.md §5)."""

import pytest

from planner.quota.yunikorn.cluster import prepare
from planner.quota.yunikorn.resource import Amount
from planner.quota.yunikorn.snapshot import (
    AskReference,
    Level,
    Snapshot,
    preemptable,
    remaining_guaranteed,
)
from tests.yunikorn.building import (
    allocation,
    application,
    cluster_value,
    queue,
    state_of,
)

ROOT = Level("root", None, {"x": 9}, {}, None)


def level(path: str, guaranteed: Amount, allocated: Amount, ask: AskReference) -> Level:
    """Build a level that has nothing preempting."""
    return Level(path, guaranteed, allocated, {}, ask)


@pytest.mark.parametrize(
    ("parent", "leaf", "rest"),
    [
        (None, None, None),
        ({"x": 5}, None, {"x": 2}),
        (None, {"x": 4}, {"x": 3}),
        ({"x": 5}, {"x": 9}, {"x": 2}),
        ({"x": 5}, {"y": 1}, {"x": 2, "y": 1}),
    ],
)
def test_a_queue_beside_the_ask(parent: Amount, leaf: Amount, rest: Amount) -> None:
    ask = AskReference("root.other", None)
    levels = [ROOT, level("root.p", parent, {"x": 3}, ask), level("root.p.a", leaf, {"x": 1}, ask)]
    assert remaining_guaranteed(levels) == rest


def test_the_own_guaranteed_of_the_leaf_overrules_that_of_its_ancestors() -> None:
    ask = AskReference("root.p.a", {"x": 4})
    parent = level("root.p", {"x": 3, "y": 2}, {"x": 9}, ask)
    assert remaining_guaranteed([ROOT, parent]) is None
    assert remaining_guaranteed([ROOT, parent, level("root.p.a", {"x": 4}, {"x": 1}, ask)]) == {
        "x": 3
    }


def test_without_its_own_the_leaf_has_what_its_ancestors_have() -> None:
    ask = AskReference("root.p.a", None)
    parent = level("root.p", {"x": 3}, {"x": 9}, ask)
    assert remaining_guaranteed([ROOT, parent, level("root.p.a", None, {}, ask)]) == {"x": -6}


@pytest.mark.parametrize(("asking", "rest"), [("root.q10", None), ("root.r10", {"x": 2})])
def test_an_ancestor_is_recognised_by_a_plain_prefix(asking: str, rest: Amount) -> None:
    ask = AskReference(asking, {"x": 1})
    assert remaining_guaranteed([ROOT, level("root.q1", {"x": 3}, {"x": 1}, ask)]) == rest


def test_what_is_preempting_counts_as_gone() -> None:
    levels = [ROOT, Level("root.a", {"x": 3}, {"x": 5}, {"x": 4}, AskReference("root.b", None))]
    assert remaining_guaranteed(levels) == {"x": 2}
    assert preemptable(levels) == {}


@pytest.mark.parametrize(
    ("parent", "leaf", "amount"),
    [
        (({"x": 5}, {"x": 7}), (None, {"x": 4, "y": 1}), {"x": 2, "y": 1}),
        (({"x": 5}, {"x": 5}), (None, {"x": 4}), {"x": 4}),
        ((None, {"x": 7}), ({"x": 4}, {"x": 4}), {}),
        ((None, {"x": 7}), ({"x": 4}, {}), None),
        ((None, None), (None, {"x": 1}), {"x": 1}),
    ],
)
def test_preemptable(
    parent: tuple[Amount, Amount], leaf: tuple[Amount, Amount], amount: Amount
) -> None:
    ask = AskReference("root.other", None)
    assert preemptable([level("root.p", *parent, ask), level("root.p.a", *leaf, ask)]) == amount


def test_a_fresh_snapshot_knows_nothing_of_the_changes_of_another() -> None:
    apps = [application("1", "root.a", allocation("x", {"gpu": 3}))]
    value = cluster_value([queue("a", guaranteed={"gpu": 2}), queue("b")], [], apps)
    by_path = prepare(state_of(value)).tree.by_path
    leaf, asking = by_path["root.a"], by_path["root.b"]
    snapshot = Snapshot(asking, {"gpu": 1})
    snapshot.remove(leaf, {"gpu": 3})
    assert snapshot.remaining(leaf) == {"gpu": 2}
    assert not snapshot.takeable(leaf)
    assert snapshot.fresh().remaining(leaf) == {"gpu": -1}
    assert snapshot.fresh().takeable(leaf)
    assert preemptable(snapshot.fresh().levels(leaf)) == {"gpu": 1}
    snapshot.add(leaf, {"gpu": 1})
    assert snapshot.remaining(leaf) == {"gpu": 1}
    assert leaf.allocated == {"gpu": 3}
