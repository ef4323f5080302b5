"""Columns say of each holder what its record says, also of some of a queue, and of many queues."""

from __future__ import annotations

import json
import random
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from msgspec.structs import replace

from planner.quota.kueue import holders
from planner.quota.kueue.holders import NOBODY, Holders
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader import kueue_collect, read
from planner.state import kueue_facts
from planner.state.kueue import State, Workload
from planner.state.kueue_facts import Facts
from tests.cluster import NOW, pending, queue, running, state_of
from tests.random_trees import Instance, instances


def check(some: Holders, everybody: dict[int, Holders]) -> None:
    """Compare columns with the records, which are looked at one by one."""
    columns = some.columns
    for name in ("queue", "priority", "evicted", "pods", "reserved_s", "running_s"):
        assert getattr(columns, name).tolist() == [getattr(one, name) for one in some]
    assert columns.noted.tolist() == [one.remarks is not None for one in some]
    assert columns.dated.tolist() == [one.past is not None for one in some]
    assert columns.identity.tolist() == [id(one.usage) for one in some]
    assert columns.number.tolist() == [everybody[one.queue].index(one) for one in some]
    assert list(some.keys) == [one.key for one in some]
    first, which = some.alike
    assert [some.shapes[id(one.usage)].names for one in some] == [one.names for one in some]
    assert [first[number].usage is one.usage for number, one in zip(which, some, strict=True)] == [
        True
    ] * len(some)
    assert len({id(one.usage) for one in first}) == len(first)


@given(instances())
def test_random_states(instance: Instance) -> None:
    everybody = dict(instance.snapshot.admitted)
    chance = random.Random(len(everybody))  # noqa: S311 - test data
    parts = []
    for held in everybody.values():
        check(held, everybody)
        places = sorted(chance.sample(range(len(held)), chance.randint(0, len(held))))
        parts.append(held.at(places))
        assert [*parts[-1]] == [held[place] for place in places]
        check(parts[-1], everybody)
    some, every = Holders.joined(parts), Holders.joined(everybody.values())
    check(some, everybody)
    check(every, everybody)
    assert every.places_of(some).tolist() == [every.index(one) for one in some]
    assert every.places_of(every).tolist() == list(range(len(every)))
    backwards = some.at(range(len(some))[::-1])
    assert [*backwards] == [*some][::-1]
    check(backwards, everybody)
    kinds = {one.uid: chance.randrange(3) for one in every}
    for joined in (every, some, backwards, every.at(range(len(every)))):
        kind = np.array([kinds[one.uid] for one in joined], dtype=np.int64)
        for few in (0, len(every)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(holders, "_FEW", few)
                order = joined.order(kind)
            assert [*joined.at(order)] == sorted(
                joined,
                key=lambda one: (
                    not one.evicted,
                    kinds[one.uid],
                    one.priority,
                    -one.reserved_s,
                    one.uid,
                ),
            )
    assert NOBODY.places_of(some).tolist() == [-1] * len(some)
    less = Holders.joined([*everybody.values()][1:])
    assert less.places_of(some).tolist() == [less.index(w) if w in less else -1 for w in some]


@pytest.mark.parametrize("at_once", [1, 2, 3, 1000])
def test_facts_and_objects_are_read_in_the_order_of_the_dump(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kueue_facts, "SOME", at_once)
    monkeypatch.setattr(kueue_collect, "SOME", at_once)
    some = [
        running(name, "ab"[number % 2], 1 + number % 3, minute=number, evicted=number % 3 == 1)
        for number, name in enumerate("stuvwxyz")
    ]
    parts = [*some, running("lost", "gone", 1), queue("a", 9), queue("b", 9), pending("a", 1)]
    items = [one for part in parts for one in part]
    state = read(StringIO(json.dumps({"kind": "List", "items": items})), now=NOW)
    assert isinstance(state, State)
    assert {type(one) for one in state.workloads.entries} == {Facts, Workload}
    snapshot = take_snapshot(state)
    held = {snapshot.queue_name(node): some for node, some in snapshot.admitted.items()}
    assert {name: list(some.keys) for name, some in held.items()} == {
        "a": ["ns/s", "ns/u", "ns/w", "ns/y"],
        "b": ["ns/t", "ns/v", "ns/x", "ns/z"],
    }
    for found in held.values():
        # Columns from facts are those of the records, which are made one by one.
        check(found, dict(snapshot.admitted))
    assert [*snapshot.waiting] == ["ns/pending"]


def test_what_was_joined_is_joined_again_where_a_queue_has_others() -> None:
    state = state_of(
        queue("a", 4, "org"), queue("b", 4, "org"), running("x", "a", 1), running("y", "b", 1)
    )
    snapshot = take_snapshot(state)
    a, b = (snapshot.node_of[name] for name in ("a", "b"))
    both = snapshot.holders([a, b])
    assert [one.key for one in both] == ["ns/x", "ns/y"]
    assert snapshot.holders([a, b]) is both
    assert [one.key for one in snapshot.holders([b])] == ["ns/y"]
    # As a simulated world does it, whose snapshot looks at what holds quota now.
    world = dict(snapshot.admitted)
    living = replace(snapshot, admitted=world)
    assert len(living.holders([a, b])) == 2
    world[a] = NOBODY
    assert [one.key for one in living.holders([a, b])] == ["ns/y"]
    assert len(snapshot.holders([a, b])) == 2


def test_nobody_has_columns() -> None:
    assert [len(column) for column in NOBODY.columns] == [0] * 10
    assert NOBODY.alike[0] == []
    empty = take_snapshot(state_of(queue("a", 1), pending("a", 1)))
    assert Holders.joined(empty.admitted.values()).columns.priority.tolist() == []
