"""Which objects count (docs/semantics/kueue.md §2), and all who plan share what was added up."""

import gc
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from types import MappingProxyType
from typing import Any
from weakref import ref

import pytest
from msgspec.structs import replace

import planner
from planner.errors import InputError, LookupFailed
from planner.quota.kueue import snapshot as snapshots
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.holding import Shape
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Usage
from planner.state.kueue import State
from planner.state.kueue_workload import NEVER
from tests import kueue_state
from tests.cluster import PENDING, Object, at, cohort, pending, queue, running, state_of
from tests.conftest import ROOT
from tests.recorded import lines
from tests.recorded import state_of as recorded_state


def node(snapshot: Snapshot, name: str) -> int:
    (index,) = (i for i, n in enumerate(snapshot.tree.nodes) if n.name == name)
    return index


def used(snapshot: Snapshot, name: str) -> int:
    return snapshot.usage.amount[node(snapshot, name)][snapshot.fr("default", "gpu")]


def changed(parts: list[Object], kind: str, **fields: Any) -> list[Object]:
    """Return the parts with top-level fields of the objects of a kind merged in."""
    return [
        {**item, **{key: {**item.get(key, {}), **value} for key, value in fields.items()}}
        if item["kind"] == kind
        else item
        for item in parts
    ]


def test_cohorts_in_a_cycle_are_left_out_and_their_queues_stopped() -> None:
    snapshot = take_snapshot(
        state_of(
            cohort("x", "y"),
            cohort("y", "x"),
            cohort("below", "x"),
            cohort("fine"),
            queue("a", 4, "x"),
            queue("b", 4, "below"),
            queue("c", 4, "fine"),
        )
    )
    assert set(snapshot.inactive) == {"a", "b"}
    assert {n.name for n in snapshot.tree.nodes} == {"fine", "a", "b", "c"}
    assert snapshot.tree.nodes[node(snapshot, "a")].parent == NO_PARENT


@pytest.mark.parametrize(
    ("spec", "conditions", "counts"),
    [
        ({}, [], True),
        ({"active": False}, [], False),
        ({}, [("Finished", "True")], False),
        ({}, [("Finished", "False")], True),
        ({}, [("Evicted", "True")], True),
        ({}, [("Admitted", "False")], True),
    ],
)
def test_who_holds_quota(
    spec: dict[str, Any], conditions: list[tuple[str, str]], *, counts: bool
) -> None:
    """Deactivated and finished workloads hold none; evicted ones do until they are gone."""
    (workload,) = running("r", "a", 3)
    workload["spec"].update(spec)
    workload["status"]["conditions"] += [
        {"type": kind, "status": status, "lastTransitionTime": at(5)} for kind, status in conditions
    ]
    snapshot = take_snapshot(state_of(queue("a", 4), [workload]))
    assert used(snapshot, "a") == (3 if counts else 0)
    holders = snapshot.admitted[node(snapshot, "a")]
    assert [w.evicted for w in holders] == ([("Evicted", "True") in conditions] if counts else [])


def test_a_reservation_without_a_time_is_the_oldest_of_all() -> None:
    (workload,) = running("r", "a", 3)
    del workload["status"]["conditions"][0]["lastTransitionTime"]
    state = state_of(queue("a", 4), [workload])
    (holder,) = take_snapshot(state).admitted[0]
    assert holder.reserved_s == NEVER.timestamp()


def test_a_flavor_resource_nobody_knows_is_refused() -> None:
    snapshot = take_snapshot(state_of(queue("a", 4)))
    assert snapshot.fr_or_none("default", "tpu") is None
    with pytest.raises(LookupFailed, match="tpu"):
        snapshot.fr("default", "tpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spec": {"active": False}}, "deactivated"),
        ({"status": {"conditions": [{"type": "Finished", "status": "True"}]}}, "finished"),
        ({"spec": {"queueName": "nowhere"}}, "ns/nowhere"),
    ],
)
def test_what_does_not_wait_is_no_preemptor(change: dict[str, Any], message: str) -> None:
    parts = changed(pending("a", 2), "Workload", **change)
    state = state_of(queue("a", 4), parts)
    with pytest.raises(InputError, match=message):
        find_preemptor(state, take_snapshot(state), PENDING)


def test_holders_and_strangers_are_no_preemptors() -> None:
    state = state_of(queue("a", 4), running("r", "a", 1))
    snapshot = take_snapshot(state)
    with pytest.raises(InputError, match="already holds quota"):
        find_preemptor(state, snapshot, "ns/r")
    with pytest.raises(LookupFailed, match="no workload ns/x"):
        find_preemptor(state, snapshot, "ns/x")


SOME = 30
"""Every so manieth recorded instance is planned for."""


def small() -> State:
    return state_of(queue("a", 2, within="LowerPriority"), running("r", "a", 2), pending("a", 1))


def test_it_is_taken_once_for_a_state_and_a_clock() -> None:
    state = small()
    first = take_snapshot(state)
    assert take_snapshot(state) is first
    assert take_snapshot(state, state.now) is first
    later = take_snapshot(state, state.now + timedelta(hours=1))
    assert (later.now, later.usage.amount) == (state.now + timedelta(hours=1), first.usage.amount)
    assert take_snapshot(state).now == state.now


def test_the_same_moment_in_another_zone_is_told_as_it_was_given() -> None:
    state = small()
    take_snapshot(state)
    local = state.now.astimezone(timezone(timedelta(hours=2)))
    assert take_snapshot(state, local).now.isoformat() == local.isoformat()
    assert take_snapshot(state, datetime.fromtimestamp(0, UTC)).now.year == 1970


def test_what_nothing_knows_is_indexed_when_it_is_asked_for() -> None:
    state = small()
    known = take_snapshot(state)
    unknown = FlavorResource("spot", "tpu")
    assert take_snapshot(state, extra=[unknown]).fr("spot", "tpu") == len(known.fr_index)
    assert take_snapshot(state, extra=[FlavorResource("default", "gpu")]).fr_index.keys() >= {
        FlavorResource("default", "gpu")
    }


def test_another_state_has_another() -> None:
    state = small()
    first = take_snapshot(state)
    fewer = state.model_copy(update={"workloads": state.workloads[1:]})
    assert [len(held) for held in take_snapshot(fewer).admitted.values()] == [0]
    assert [len(held) for held in first.admitted.values()] == [1]


def test_it_goes_with_its_state() -> None:
    state = small()
    take_snapshot(state)
    held = ref(state.workloads[0])
    assert held() is not None
    del state
    gc.collect()
    assert held() is None


def frozen(snapshot: Snapshot) -> Snapshot:
    """Return the same, in which nothing can be changed without an error."""
    once: dict[Shape, Shape] = {}

    def fixed(one: Admitted) -> Admitted:
        usage: Any = MappingProxyType(dict(one.usage))
        shape = Shape(usage, frozenset(one.names), one.pods)
        return one._replace(shape=once.setdefault(one.shape, shape))

    rows: Any = tuple(map(tuple, snapshot.usage.amount))
    return replace(
        snapshot,
        usage=Usage(snapshot.tree, rows),
        queues=MappingProxyType(dict(snapshot.queues)),
        node_of=MappingProxyType(dict(snapshot.node_of)),
        waiting=MappingProxyType(dict(snapshot.waiting)),
        flavors=MappingProxyType(dict(snapshot.flavors)),
        admitted=MappingProxyType(
            {n: Holders.of_records(map(fixed, w)) for n, w in snapshot.admitted.items()}
        ),
        fr_index=MappingProxyType(dict(snapshot.fr_index)),
        inactive=MappingProxyType(dict(snapshot.inactive)),
        notes=tuple(snapshot.notes),
    )


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Snapshot]:
    """Let every snapshot be frozen; return those that are built.

    Those by the rules of other releases are of other states, and are built behind it.
    """
    import_module("planner.case.kueue_release")  # or it would take the frozen ones, too
    build = snapshots.build_snapshot
    found: list[Snapshot] = []

    def fixed(*given: Any, **more: Any) -> Snapshot:
        found.append(frozen(build(*given, **more)))
        return found[-1]

    monkeypatch.setattr(snapshots, "build_snapshot", fixed)
    return found


@pytest.mark.parametrize("name", ["quickstart/cluster.json", "fair-sharing/weighted-shares.yaml"])
def test_no_verb_changes_it(name: str, built: list[Snapshot]) -> None:
    state = kueue_state.read(ROOT / "instances" / name)
    key = state.pending[0]
    planner.greedy(state, key)
    plan = planner.solve(state, key, stability=True)
    planner.solve(state, key, flavors="optimal")
    planner.solve(state, key, objective="stable")
    assert planner.verify(state, plan).accepted
    planner.front(state, key)
    assert len(built) == 1
    planner.explain(state, key)
    planner.explain(state, key, victim=next(w.key for w in state.workloads if w.holds_quota))


@pytest.mark.parametrize("name", ["classical-hier", "fair-hier", "edge", "flavors"])
def test_no_recorded_instance_changes_it(name: str, built: list[Snapshot]) -> None:
    planned = 0
    for line in [*lines(name)][::SOME]:
        state = recorded_state(line)
        for key in state.pending:
            plan = planner.solve(state, key)
            planner.verify(state, plan)
            planned += 1
    assert planned
    assert built
