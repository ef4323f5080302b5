"""What an admitted workload holds, its priority, when it queued; and columns say it of all.

Source: docs/semantics/kueue.md §2.1, §2.3, §2.4.
"""

import json
import random
from collections.abc import Mapping
from datetime import timedelta
from io import StringIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from msgspec.structs import replace

from planner.quantity import MAX_INT64
from planner.quota.kueue import holders
from planner.quota.kueue.holders import NOBODY, Holders
from planner.quota.kueue.holding import (
    effective_priority,
    pod_set_holdings,
    queue_order_time,
    shape_of,
)
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.quota.kueue.tree import FlavorResource, Usage
from planner.reader import kueue_collect, read
from planner.state import kueue_columns, parse_time
from planner.state.kueue import Configuration, State, Workload
from planner.state.kueue_columns import held_of
from planner.state.kueue_release import find_release
from tests.cluster import NOW, at, pending, queue, running, state_of
from tests.random_trees import Instance, instances

DEFAULT = Configuration()


def settings(**fields: Any) -> Configuration:
    return Configuration.model_validate(fields)


def holder(
    *assigned: dict[str, Any], counts: tuple[int, ...] = (1,), reclaimable: tuple[int, ...] = ()
) -> Workload:
    """Return a workload with podsets p0, p1, ..., admitted as given."""
    return Workload.model_validate(
        {
            "metadata": {"name": "w", "namespace": "ns"},
            "spec": {"podSets": [{"name": f"p{i}", "count": n} for i, n in enumerate(counts)]},
            "status": {
                "admission": {
                    "clusterQueue": "a",
                    "podSetAssignments": [
                        {"name": f"p{i}", **fields} for i, fields in enumerate(assigned)
                    ],
                },
                "reclaimablePods": [
                    {"name": f"p{i}", "count": n} for i, n in enumerate(reclaimable)
                ],
            },
        }
    )


def usage(cpu: str, **more: Any) -> dict[str, Any]:
    return {"flavors": {"cpu": "spot"}, "resourceUsage": {"cpu": cpu}, **more}


SPOT_CPU = FlavorResource("spot", "cpu")


def usage_of(workload: Workload, configuration: Configuration) -> Mapping[int, int]:
    """Return what a workload uses, all of which is of cpu in spot, as number 0."""
    return shape_of(held_of(workload), configuration, [SPOT_CPU].index).usage


@pytest.mark.parametrize(
    ("count", "admitted", "reclaimable", "milli"),
    [
        (3, 3, 0, 1000),
        (3, 3, 1, 666),  # 1000 div 3 is 333, times 2
        (3, 3, 3, 0),
        (3, 3, 9, 0),
        (3, None, 1, 666),  # without an admitted count, the count of the spec
        (5, 3, 2, 1000),  # 3 are left of 5, and only 3 were admitted: nothing changes
        (5, 3, 3, 666),
    ],
)
def test_reclaimed_pods_give_back_their_share_truncated(
    count: int, admitted: int | None, reclaimable: int, milli: int
) -> None:
    more = {} if admitted is None else {"count": admitted}
    workload = holder(usage("1", **more), counts=(count,), reclaimable=(reclaimable,))
    assert usage_of(workload, DEFAULT) == {0: milli}
    gate_off = settings(featureGates={"ReclaimablePods": False})
    assert usage_of(workload, gate_off) == {0: 1000}


def test_an_older_release_that_counts_fewer_pods_than_none_divides_by_none_of_no_pods() -> None:
    older = DEFAULT.under(find_release("0.17.6"), "given")
    workload = holder(usage("1", count=0), counts=(0,), reclaimable=(1,))
    assert usage_of(workload, older) == {0: 1000}
    assert [one.amounts for one in pod_set_holdings(held_of(workload), older)] == [{"cpu": 1000}]


@pytest.mark.parametrize(
    ("boost", "priority"),
    [
        (None, 5),
        ("7", 12),
        ("+7", 12),
        ("-7", -2),
        ("007", 12),
        ("2147483647", 2147483652),
        ("-2147483648", -2147483643),
        ("2147483648", 5),  # no 32-bit integer
        ("seven", 5),
        ("1.5", 5),
        (" 7", 5),
        ("", 5),
        ("\u0667", 5),  # digits, but not decimal ones of ASCII
    ],
)
def test_the_boost_counts_only_with_its_gate(boost: str | None, priority: int) -> None:
    notes = {} if boost is None else {"kueue.x-k8s.io/priority-boost": boost}
    workload = Workload.model_validate(
        {"metadata": {"name": "w", "annotations": notes}, "spec": {"priority": 5}}
    )
    assert effective_priority(workload, DEFAULT) == 5
    assert effective_priority(workload, settings(featureGates={"PriorityBoost": True})) == priority


CREATED, MOVED = parse_time(at(1)), parse_time(at(40))
BY_CREATION = settings(waitForPodsReady={"requeuingStrategy": {"timestamp": "Creation"}})
BY_EVICTION = settings(waitForPodsReady={"requeuingStrategy": {"timestamp": "Eviction"}})
UNSORTED = settings(featureGates={"PrioritySortingWithinCohort": False})
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
LATER = MOVED + timedelta(milliseconds=1)


def queued(*conditions: tuple[str, str, str]) -> Workload:
    """Return a workload created at 12:01 with conditions since 12:40: type, status, reason."""
    return Workload.model_validate(
        {
            "metadata": {"name": "w", "creationTimestamp": at(1)},
            "status": {
                "conditions": [
                    {"type": t, "status": s, "reason": r, "lastTransitionTime": at(40)}
                    for t, s, r in conditions
                ]
            },
        }
    )


@pytest.mark.parametrize(
    ("conditions", "configuration", "expected"),
    [
        # 1. Not ready in time: since the eviction, unless creation is configured.
        ([("Evicted", "True", "PodsReadyTimeout")], DEFAULT, MOVED),
        ([("Evicted", "True", "PodsReadyTimeout")], BY_EVICTION, MOVED),
        ([("Evicted", "True", "PodsReadyTimeout")], BY_CREATION, CREATED),
        ([("Evicted", "False", "PodsReadyTimeout")], DEFAULT, CREATED),
        # 2. An admission check: since the eviction, whatever is configured.
        ([("Evicted", "True", "AdmissionCheck")], DEFAULT, MOVED),
        ([("Evicted", "True", "AdmissionCheck")], BY_CREATION, MOVED),
        # 3. Reclaimed while borrowing: only with the gate off, and a millisecond later.
        ([("Preempted", "True", WHILE_BORROWING)], DEFAULT, CREATED),
        ([("Preempted", "True", WHILE_BORROWING)], UNSORTED, LATER),
        ([("Preempted", "False", WHILE_BORROWING)], UNSORTED, CREATED),
        ([("Preempted", "True", "InClusterQueue")], UNSORTED, CREATED),
        # The first rule that applies counts.
        (
            [("Preempted", "True", WHILE_BORROWING), ("Evicted", "True", "AdmissionCheck")],
            UNSORTED,
            MOVED,
        ),
        # 4. Otherwise since the creation; other evictions move nothing.
        ([("Evicted", "True", "Preempted")], DEFAULT, CREATED),
        ([], DEFAULT, CREATED),
    ],
)
def test_the_four_rules_of_queue_order(
    conditions: list[tuple[str, str, str]], configuration: Configuration, expected: object
) -> None:
    assert queue_order_time(queued(*conditions), configuration) == expected


def check(some: Holders, everybody: dict[int, Holders]) -> None:
    """Compare columns with the records, which are looked at one by one."""
    columns = some.columns
    for name in ("queue", "priority", "evicted", "pods", "reserved_s", "running_s"):
        assert getattr(columns, name).tolist() == [getattr(one, name) for one in some]
    assert columns.noted.tolist() == [one.remarks is not None for one in some]
    assert columns.dated.tolist() == [one.past is not None for one in some]
    held = [some.table.filled.shapes[number].usage for number in columns.usage]
    assert all(known is one.usage for known, one in zip(held, some, strict=True))
    assert columns.number.tolist() == [everybody[one.queue].index(one) for one in some]
    assert list(some.keys) == [one.key for one in some]
    first, which = some.alike
    of_each = [first[number] for number in which]
    assert [one.names for one in of_each] == [one.names for one in some]
    assert all(known.usage is one.usage for known, one in zip(of_each, some, strict=True))
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
                patch.setattr(holders, "FEW", few)
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
def test_texts_and_objects_are_read_in_the_order_of_the_dump(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kueue_columns, "SOME", at_once)
    monkeypatch.setattr(kueue_collect, "SOME", at_once)
    some = [
        running(name, "ab"[number % 2], 1 + number % 3, minute=number, evicted=number % 3 == 1)
        for number, name in enumerate("stuvwxyz")
    ]
    parts = [*some, running("lost", "gone", 1), queue("a", 9), queue("b", 9), pending("a", 1)]
    items = [one for part in parts for one in part]
    state = read(StringIO(json.dumps({"kind": "List", "items": items})), now=NOW)
    assert isinstance(state, State)
    assert {*state.workloads.columns.is_text.tolist()} == {True, False}
    snapshot = take_snapshot(state)
    held = {snapshot.queue_name(node): some for node, some in snapshot.admitted.items()}
    assert {name: list(some.keys) for name, some in held.items()} == {
        "a": ["ns/s", "ns/u", "ns/w", "ns/y"],
        "b": ["ns/t", "ns/v", "ns/x", "ns/z"],
    }
    for found in held.values():
        # Columns from texts are those of the records, which are made one by one.
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


def check_shape(state: State, snapshot: Snapshot) -> None:
    """Compare a snapshot with what follows from each workload alone."""
    usage = Usage(snapshot.tree)
    for node, those in snapshot.admitted.items():
        for holder in those:
            held, index = held_of(holder.workload), snapshot.fr_index
            alone = shape_of(held, state.configuration, index.__getitem__)
            assert (holder.usage, holder.names, holder.pods) == (
                alone.usage,
                alone.names,
                alone.pods,
            )
            usage.add(node, alone.usage)
    assert snapshot.usage.amount == usage.amount


@given(instances())
def test_random_states_by_shape(instance: Instance) -> None:
    check_shape(instance.state, instance.snapshot)


def test_usage_of_many_saturates_as_one_by_one() -> None:
    state = state_of(queue("a", 20), *(running(name, "a", MAX_INT64 // 2) for name in "uvw"))
    snapshot = take_snapshot(state)
    check_shape(state, snapshot)
    assert snapshot.usage.amount[0][snapshot.fr("default", "gpu")] == MAX_INT64


@pytest.mark.parametrize("kind", ["Admitted", "PodsReady"])
def test_the_last_times_that_can_be_written_are_read(kind: str) -> None:
    """A column of doubles has room for no microseconds of the year 9999."""
    last = "9999-12-31T23:59:59.999999Z"
    (one,) = running("w", "q", 1)
    one["status"]["conditions"].append(
        {"type": kind, "status": "True", "reason": kind, "lastTransitionTime": last}
    )
    (held,) = take_snapshot(state_of(queue("q", 4), [one])).admitted.values()
    assert [holder.started_at for holder in held] == [parse_time(last)]
