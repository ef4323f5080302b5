"""Two readers of one schema: the fast one gives what the other gives, or leaves it to that."""

import copy
import gzip
import json
import os
import pickle
import random
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, Self

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, model_validator

import planner
from planner.commands.explain.kueue.record import parse_messages, resolve
from planner.errors import InputError
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.holding import Shape
from planner.quota.kueue.snapshot import build_snapshot
from planner.reader import Ignored, Source, read_loaded
from planner.reader.source import Text
from planner.reader.structs import struct_of
from planner.reference.kueue.cycle.run import run_cycle
from planner.state import parse_time
from planner.state.kueue import Changes, State, Workloads
from planner.state.kueue_workload import REPLACEMENT_FOR
from tests.cluster import KUEUE, at, pending, queue, running
from tests.conftest import ROOT, TEST_ALL
from tests.fuzz import octets, structure
from tests.recorded import path_of
from tests.state.rows import check_row
from tests.told import told

FILES = ("edge", "flavors", "classical-hier", "small-edge", "fair-flat", "preempted", "reclaimable")
INPUTS = int(os.environ.get("PLANNER_TEST_READERS") or 250)
EACH = 12 if TEST_ALL else 3
"""Instances of a recorded file."""
ODD: tuple[Any, ...] = (
    *("", "x", "-1", "1Gib", "1e3", "+1", ".5", "5.", "1E", "0x1", "٣", "1\n", " 1", "9" * 65),
    *("1E+3", "-0", "2026-03-08T21:06:00Z", "2026-03-08t21:06:00z", "2026-03-08 21:06:00Z"),
    *("2026-03-08T21:06:00.9999999Z", "2026-03-08T21:06:00.5Z", "2026-03-08T22:06:00+01:00"),
    *(
        "2026-03-08T21:06:00",
        "2026-W10-7T21:06:00Z",
        "20260308T210600.000Z",
        "2026-02-30T00:00:00Z",
    ),
    *(None, True, 0, 1, -1, 1.0, 0.5, 2**31, 2**63, 10**30, [], {}, [None], {"a": None}, [{}]),
    *("True", "False", "Evicted", "QuotaReserved", "Finished", "main", "v" * 254, "\ud83d\ude00"),
)


NO_SHAPE = Shape({}, frozenset(), 0)


def read(data: bytes, *, explaining: bool) -> State | str:
    """Return the state of a text, or the message about it; only the other reader finds the rest."""
    source = Source("dump", (Text("dump", data),), "digest")
    try:
        state = read_loaded(source, ignored=Ignored() if explaining else None)
    except InputError as error:
        return f"{type(error).__name__}: {error}"
    assert isinstance(state, State)
    return state


def seen(state: State) -> Any:
    """Return what a decision sees of who runs and who waits."""
    snapshot = build_snapshot(state, state.now)

    def record_of(one: Admitted) -> Any:
        shape = one.usage, one.names, one.pods
        return one._replace(workloads=(), place=0, shape=NO_SHAPE), shape, one.workload

    def columns_of(some: Holders) -> Any:
        places, table = some.places, some.table.filled
        assert table.key[places].tolist() == [*some.keys] == [one.key for one in some]
        assert table.uid[places].tolist() == [one.uid for one in some]
        held = [table.shapes[number] for number in some.columns.usage]
        assert all(known is one.shape for known, one in zip(held, some, strict=True))
        # What holders hold is numbered otherwise where it was read by objects.
        return [column.tolist() for column in some.columns._replace(usage=some.columns.number)]

    columns = {node: columns_of(some) for node, some in snapshot.admitted.items()}
    running_ = {node: [record_of(one) for one in some] for node, some in snapshot.admitted.items()}
    return columns, running_, dict(snapshot.waiting), snapshot.usage.amount, list(snapshot.fr_index)


def agree(data: bytes) -> State | None:
    """Compare the two readers; return the state, if there is one."""
    quick, slow = read(data, explaining=False), read(data, explaining=True)
    if isinstance(quick, str) or isinstance(slow, str):
        assert quick == slow
        return None
    assert quick == slow
    assert len(quick.workloads) == len(slow.workloads)
    for place, whole in enumerate(slow.workloads):
        check_row(quick.workloads.columns, place, whole)
    queues = {one.name for one in slow.cluster_queues}
    assert [*quick.workloads.held_in(queues)] == [*slow.workloads.held_in(queues)]
    left_out = {name: {("default", "cpu"), ("a100", "nvidia.com/gpu")} for name in queues}
    here = quick.workloads.held_in(queues, left_out)
    assert [*here] == [*slow.workloads.held_in(queues, left_out)]
    try:
        expected = seen(slow)
    except InputError as error:
        with pytest.raises(type(error)):
            seen(quick)
    else:
        assert seen(quick) == expected
    return quick


def listed(*objects: Any, **more: Any) -> bytes:
    """Return the text of a List."""
    items = [each for one in objects for each in (one if isinstance(one, list) else [one])]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items, **more}).encode()


def texts_in(state: State | None) -> int:
    """Count the workloads that are kept as text."""
    assert state is not None
    return int(state.workloads.columns.is_text.sum())


@cache
def recorded() -> list[list[Any]]:
    """Return the objects of a few instances of each recorded file."""
    found = []
    here = ROOT / "instances" / "recorded"
    more = [*sorted((here / "topology").glob("*.gz")), *sorted((here / "features").glob("*.gz"))]
    for path in [*map(path_of, FILES), *more]:
        if path is not None:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                some = [json.loads(line) for _, line in zip(range(EACH), lines, strict=False)]
            found += [one["state"]["items"] for one in some]
    if not found:
        pytest.skip("no recorded answers: set PLANNER_CONFORMANCE to their folder")
    return found


def test_what_runs_and_what_waits_is_kept_as_text() -> None:
    state = agree(listed(queue("a", 2), running("r", "a", 2), pending("p", 1)))
    assert texts_in(state) == 2


def assigned(workload: Any) -> list[Any]:
    """Return what its podsets hold."""
    found: list[Any] = workload["status"]["admission"]["podSetAssignments"]
    return found


def unusual() -> Iterator[Any]:
    """Yield changes after which a row would not tell enough."""
    evicted = {"type": "Evicted", "status": "True", "lastTransitionTime": at(1), "reason": "x"}
    yield lambda one: one["status"]["conditions"].append(evicted)
    yield lambda one: one["status"]["conditions"].append({**evicted, "type": "Preempted"})
    yield lambda one: one["status"]["conditions"].append(one["status"]["conditions"][0])
    yield lambda one: one["status"].update(reclaimablePods=[{"name": "main", "count": 1}])
    yield lambda one: one["metadata"].pop("namespace")
    yield lambda one: one["metadata"].update(ownerReferences=[{"kind": "Workload", "uid": "u"}])
    yield lambda one: one["metadata"].update(annotations={REPLACEMENT_FOR: "ns/old"})
    replaced = {"type": "Finished", "status": "True", "reason": "WorkloadSliceReplaced"}
    yield lambda one: one["status"]["conditions"].append(replaced)
    yield lambda one: (one["spec"].pop("priority"), one["spec"].update(priorityClassName="high"))
    yield lambda one: one["spec"].update(priorityClassName="a field of v1beta1")
    yield lambda one: assigned(one)[0].update(topologyAssignment={"domains": [DOMAIN]})
    yield lambda one: one["metadata"].update(creationTimestamp="2026-03-08T22:06:00+01:00")
    yield lambda one: one["spec"].update(queue_name="by our own name")


DOMAIN: Any = {"values": ["a"], "count": 1}
"""How v1beta1 writes where pods are."""


def test_fields_of_the_version_that_has_them_are_usual() -> None:
    (one,) = running("r", "a", 2)
    one["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    one["spec"]["priorityClassName"] = "high"
    assigned(one)[0]["topologyAssignment"] = {"levels": ["rack"], "domains": [DOMAIN]}
    assert texts_in(agree(listed(queue("a", 2), one))) == 1


@pytest.mark.parametrize("change", [*unusual()])
def test_what_is_unusual_is_an_object(change: Any) -> None:
    (one,) = running("r", "a", 2)
    change(one)
    assert texts_in(agree(listed(queue("a", 2), one))) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one["status"]["conditions"].append({"type": "Evicted", "status": "False"}),
        lambda one: one["status"]["conditions"].append({"type": "Finished", "status": "True"}),
        lambda one: assigned(one)[0].update(resourceUsage={"gpu": str(2**63 - 1)}),
        lambda one: one["status"]["conditions"][0].pop("lastTransitionTime", None),
        lambda one: one["status"]["conditions"].append({"type": "PodsReady", "status": "False"}),
        lambda one: one["status"]["conditions"].append({"type": "Admitted", "status": "False"}),
        lambda one: one["status"].update(admissionChecks=[{"name": "prov", "state": "Ready"}]),
        lambda one: one["metadata"].update(deletionTimestamp="2026-05-01T12:59:00Z"),
        lambda one: one["spec"].update(active=False),
        lambda one: one["spec"].pop("priority", None),
        lambda one: one["status"].update(schedulingStats={"evictions": [{"reason": "Preempted"}]}),
        lambda one: one["metadata"].update(annotations={"preemption-planner.io/tier": "last"}),
        lambda one: one["metadata"].update(annotations={"kueue.x-k8s.io/priority-boost": "7"}),
        lambda one: one["metadata"].update(annotations={"other": "x"}, labels=None),
        lambda one: one["metadata"].update(ownerReferences=[{"kind": "Job", "controller": True}]),
        lambda one: assigned(one)[0].pop("count", None),
        lambda one: assigned(one)[0].update(count=5),
        lambda one: assigned(one).append({"name": "second", "resourceUsage": {"gpu": "1"}}),
        lambda one: assigned(one).extend({"name": f"pods-{i}"} for i in range(100)),
        lambda one: one["status"]["admission"].update(podSetAssignments=None),
        lambda one: one["status"]["admission"].update(clusterQueue="nowhere"),
        lambda one: one.update(unread={"a": [1, {"b": "\u00e9"}]}),
    ],
)
def test_all_else_is_kept_as_text(change: Any) -> None:
    (one,) = running("r", "a", 2)
    change(one)
    assert texts_in(agree(listed(queue("a", 2), one))) == 1


ODD_TIMES = (
    *("2026-03-08T21:06:00+0000", "2026-03-08T21:06:00-0000", "2026-03-08T21:06:00+0130"),
    *("2026-03-08T21:06:00.5+0000", "2026-03-08t21:06:00+0000", "2026-03-08 21:06:00-0000"),
    *("2026-03-08T21:06:00Z\0", "2026-03-08T21:06:00.9999999Z", "0001-01-01T00:00:00+01:00"),
    *("2026-03-08T21:06:00+00:0", "2026-03-08T21:06:00+00", "2026-03-08T21:06:00 Z", ""),
)


PLACES = ("created", "deleted", "condition", "requeued")


def dated(place: str, written: str) -> bytes:
    """Return a dump in whose one workload a time at this place is written so."""
    (one,) = running("r", "a", 2)
    match place:
        case "created":
            one["metadata"]["creationTimestamp"] = "?"
        case "deleted":
            one["metadata"]["deletionTimestamp"] = "?"
        case "condition":
            one["status"]["conditions"][0]["lastTransitionTime"] = "?"
        case _:
            one["status"]["requeueState"] = {"requeueAt": "?"}
    return listed(queue("a", 2), one).replace(b'"?"', written.encode())


@pytest.mark.parametrize("written", ODD_TIMES)
@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_odd_times_are_told_of_alike(place: str, written: str, *, escaped: bool) -> None:
    text = "".join(f"\\u{ord(sign):04x}" for sign in written)
    state = agree(dated(place, f'"{text}"' if escaped else json.dumps(written)))
    try:
        parse_time(written)
    except ValueError:
        assert state is None
    else:
        assert texts_in(state) == 0


@pytest.mark.parametrize("written", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"])
@pytest.mark.parametrize("place", PLACES)
def test_the_zero_time_of_go_is_no_time(place: str, written: str) -> None:
    """Programs that keep a plain time write it so; Kubernetes' own write null, or leave it out."""
    state = agree(dated(place, f'"{written}"'))
    assert state is not None
    assert state == agree(dated(place, "null"))


HOSTILE = (
    b'{"kind":"List","items":[' + b"[" * 300 + b"]" * 300 + b"]}",
    b'{"kind":"List","items":[{"kind":"Workload","z":' + b"[" * 198 + b"]" * 198 + b"}]}",
    b'{"kind":"List","items":[{"kind":"Workload","z":' + b"9" * 5000 + b"}]}",
    b'{"kind":"List","items":[{"kind":"Workload","z":"\xff"}]}',
    b'{"kind":"List","items":[{"kind":"Workload","z":"\xc3("}]}',
    b'{"kind":"List","items":[{"kind":"Workload","z":"\\ud800"}]}',
    (
        b'{"kind":"List","items":[{"kind":"Workload","apiVersion":"kueue.x-k8s.io/v1beta2",'
        b'"metadata":{"name":"a","namespace":"b"},"spec":{},"status":{"admission":'
        b'{"clusterQueue":"q","podSetAssignments":[{"name":"\\ud800"}]}}}]}'
    ),
    b'{"kind":"List","items":[{"kind":"Workload","z":1e400}]}',
    b'{"kind":"List","items":[{"kind":"Workload","z":NaN}]}',
    b'{"kind":"List","items":[1]}',
    b'{"kind":"List","items":[null]}',
    b'{"kind":"List","items":[[{"kind":"x"}]]}',
    b'{"kind":"List","items":[{"kind":"List","items":[{"kind":"x"}]}]}',
    b'{"kind":"List","items":{}}',
    b'{"apiVersion":"v1","kind":"List","items":[{"kind":"Workload","z":' + b"9" * 5000 + b"}]}",
    b'{"apiVersion":"v1","kind":"List","items":[{"kind":"x"}],"metadata":null}',
    b'{"apiVersion":"v1","kind":"List","items":[{"kind":"x"}],"metadata":{"a":1e400}}',
    b'{"apiVersion":3,"kind":"List","items":[{"kind":"x"}],"metadata":[]}',
    b'{"apiVersion":"v1","kind":"\\u004cist","items":[{"kind":"x"}]}',
    b'{"apiVersion":"v1","kind":"List","kind":"List","items":[],"items":[{"kind":"x"}]}',
    b'{"apiVersion":"v1","kind":"List","items":[{"kind":"x"}],"spec":{}}',
    b'{"apiVersion":"v1","kind":"List","items":[{"kind":"x"}]}]',
    b'{"kind":"List","items":null}',
    b'{"kind":"List"}',
    b'{"kind":"List","spec":{},"items":[]}',
    b'{"kind":"List","spec":null,"items":[]}',
    b'{"kind":"List","items":[],"items":[{"kind":"x"}]}',
    b'{"kind":"List","items":[]} {"kind":"List","items":[]}',
    b'{"kind":"List","items":[]}]',
    b'{"kind":"List","items":[{"kind":"Workload","kind":"x"}]}',
    b'{"now":"2026-03-08T21:06:00Z","state":{"kind":"List","items":[{"kind":"x"}]}}',
    b'{"now":3,"state":{"kind":"List","items":[]}}',
    b'{"state":{"kind":"List","items":[]},"queues":[],"nodes":[]}',
    b'{"state":{"kind":"List","items":[]},"partitions":[]}',
    b'{"state":{"kind":"List","items":[]},"kind":"List"}',
    b'{"state":{"kind":"List","items":[]},"z":' + b"[" * 199 + b"]" * 199 + b"}",
    b'{"state":{"items":[{"kind":"x"}]},"release":"0.18.6"}',
    b'{"kind":"List","metadata":{"annotations":{"preemption-planner.io/taken-at":3}},"items":[]}',
)


@pytest.mark.parametrize("data", HOSTILE)
def test_hostile_texts_are_told_of_alike(data: bytes) -> None:
    agree(data)


@pytest.mark.parametrize(
    ("part", "right"),
    [
        ({"domainCount": 2, "podCounts": {"universal": 1}}, True),
        ({"domainCount": 2, "podCounts": {"individual": [1, 1]}}, True),
        ({"domainCount": 2, "podCounts": {"individual": [1]}}, False),
        ({"domainCount": 1, "podCounts": {"individual": []}}, False),
        ({"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["a", "b"]}}]}, True),
        ({"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["a"]}}]}, False),
        ({"domainCount": 2, "valuesPerLevel": [{"individual": {}}]}, False),
        ({"domainCount": 2, "valuesPerLevel": [{"universal": "a", "individual": {}}]}, True),
        ({"domainCount": 2, "valuesPerLevel": None, "podCounts": None}, True),
    ],
)
def test_what_only_the_whole_shows_is_told_of_alike(part: Any, *, right: bool) -> None:
    (workload,) = running("r", "a", 2)
    assigned(workload)[0]["topologyAssignment"] = {"levels": ["rack"], "slices": [part]}
    state = agree(listed(queue("a", 2), workload))
    assert (state is not None) == right
    assert not right or texts_in(state) == 1


@pytest.mark.parametrize("pods", [1, 100])
def test_what_is_held_alike_has_one_number(pods: int) -> None:
    """Whether its text was short enough to be kept, or not."""
    two = [*running("r", "a", 2), *running("s", "a", 2)]
    for one in two:
        assigned(one).extend({"name": f"pods-{i}"} for i in range(pods))
    state = agree(listed(queue("a", 4), two))
    assert state is not None
    columns = state.workloads.columns
    assert (columns.is_text.tolist(), columns.held.tolist()) == ([True, True], [0, 0])
    (held,) = columns.holdings
    assert len(held.assigned) == 1 + pods


def test_a_validator_that_nobody_told_of_is_found() -> None:
    class Half(BaseModel):
        whole: int = 2

        @model_validator(mode="after")
        def _is_even(self) -> Self:
            return self

    with pytest.raises(TypeError):
        struct_of(Half)


def test_one_that_stands_twice_is_told_of_alike() -> None:
    text = listed(queue("a", 2), running("r", "a", 2), running("r", "a", 1))
    assert "stands twice" in str(read(text, explaining=False))
    agree(text)


@given(st.integers(0, 10**9), st.integers(1, 3))
@example(0, 1)
def test_damaged_dumps(seed: int, times: int) -> None:
    damaged(seed, times)


def test_many_damaged_dumps() -> None:
    """PLANNER_TEST_READERS says how many."""
    texts = sum(damaged(-seed, 1 + seed % 3) for seed in range(1, INPUTS + 1))
    assert texts > INPUTS, "most workloads must be kept as text"


def damaged(seed: int, times: int) -> int:
    """Compare the readers on a damaged dump; return how many workloads are kept as text."""
    chance = random.Random(seed)  # noqa: S311 - no secret depends on it
    items = copy.deepcopy(chance.choice(recorded()))
    workloads = [one for one in items if one["kind"] == "Workload"]
    for _ in range(times):
        if chance.random() < 0.5:
            places = structure.places(chance.choice(workloads))
            container, key = chance.choice(places)
            container[key] = copy.deepcopy(chance.choice(ODD))
        else:
            items = structure.damage(items, chance)
            if not isinstance(items, list):
                break
            workloads = [one for one in items if isinstance(one, dict) and one] or [{"x": 1}]
    data = octets.as_json({"apiVersion": "v1", "kind": "List", "items": items}, chance)
    if chance.random() < 0.3:
        data = octets.damage(data, chance)
    state = agree(data)
    return 0 if state is None else texts_in(state)


def test_the_recorded_states_are_read_alike() -> None:
    for items in recorded():
        state = {"apiVersion": "v1", "kind": "List", "items": items}
        alone = agree(listed(items))
        instance = {"now": "2027-03-08T21:06:00Z", "release": "0.18.6", "state": state}
        whole = agree(json.dumps(instance).encode())
        assert alone is not None
        assert whole is not None
        assert alone.workloads == whole.workloads
        assert whole.release.name == "0.18.6"


def test_workloads_are_a_sequence() -> None:
    data = listed(queue("a", 2), running("r", "a", 2), running("s", "a", 1), pending("p", 1))
    state = read(data, explaining=False)
    assert isinstance(state, State)
    found = state.workloads
    assert [one.key for one in found] == [*found.keys] == ["ns/r", "ns/s", "ns/pending"]
    assert found[0] is found[0] is found[-3]
    assert found[1:] == tuple(found)[1:]
    assert found == tuple(found)
    assert found != tuple(found)[1:]
    assert found.find("ns/s") is found[1]
    assert found.find("ns/x") is None
    assert [one.key for one in found.pending()] == ["ns/pending"]
    assert found.without({"ns/r"}).keys == ["ns/s", "ns/pending"]
    assert found.plus([found[0]]).keys == ["ns/r", "ns/s", "ns/pending", "ns/r"]
    with pytest.raises(IndexError):
        found[3]
    assert pickle.loads(pickle.dumps(state)) == state  # noqa: S301 - our own
    assert copy.deepcopy(state) == state
    assert State.model_validate_json(state.model_dump_json()) == state


def test_a_state_changes() -> None:
    """Who comes, goes and changes; the rest is shared, and plans are those of a state read anew."""
    flavor = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "default"}}
    parts = [flavor, queue("a", 4, within="LowerPriority"), pending("a", 2)]
    before = read(listed(*parts, running("r", "a", 3), running("s", "a", 1)), explaining=False)
    after = read(listed(*parts, running("s", "a", 1), running("t", "a", 2)), explaining=False)
    assert isinstance(before, State)
    assert isinstance(after, State)
    (*_, new) = after.workloads
    found = before.apply(Changes(added=[new], gone=["ns/r"]), before.now)
    assert found.workloads == after.workloads
    assert found.workloads.columns.source[0] is before.workloads.columns.source[0]
    assert found.digest != before.digest
    assert found.workloads.keys == ["ns/pending", "ns/s", "ns/t"]
    plan = planner.solve(found)
    assert [one.workload for one in plan.victims] == ["ns/s"]
    assert plan.victims == planner.solve(after).victims
    ended = new.model_copy(update={"spec": new.spec.model_copy(update={"active": False})})
    at_rest = found.apply(Changes(changed=[ended]))
    assert at_rest.now == found.now
    fits = planner.solve(at_rest)
    assert (fits.status, fits.victims) == ("optimal", ())
    assert [one.spec.active for one in found.workloads] == [True, True, True]


@pytest.mark.parametrize(
    "changes",
    [
        lambda one: Changes(added=[one]),
        lambda _: Changes(gone=["ns/x"]),
        lambda one: Changes(gone=["ns/r"], changed=[one, one], added=[one, one]),
        lambda _: {"gone": ["ns/r"]},
        lambda one: Changes(added=one),
        lambda _: Changes(changed=5),  # type: ignore[arg-type]
        lambda _: Changes(gone="ns/r"),
        lambda one: Changes(gone=[one]),
        lambda _: Changes(gone=None),  # type: ignore[arg-type]
    ],
)
def test_changes_that_cannot_be_are_refused(changes: Any) -> None:
    state = read(listed(queue("a", 2), running("r", "a", 2)), explaining=False)
    assert isinstance(state, State)
    with pytest.raises(InputError) as caught:
        state.apply(changes(state.workloads[0]))
    told(caught.value)


@pytest.mark.parametrize("now", ["2026-11-12T09:42:10Z", datetime(2026, 11, 12, 9)])  # noqa: DTZ001
def test_a_clock_that_is_none_is_refused(now: Any) -> None:
    """The digest would take any clock, and plans of the state would fail deep inside."""
    state = read(listed(queue("a", 2), running("r", "a", 2)), explaining=False)
    assert isinstance(state, State)
    with pytest.raises(InputError) as caught:
        state.apply(Changes(), now)
    told(caught.value)


def test_one_is_edited_and_the_others_are_not_made() -> None:
    state = read(listed(running("r", "a", 2), running("s", "a", 1)), explaining=False)
    assert isinstance(state, State)
    spec = {"active": False}

    def off(one: Any) -> Any:
        return one.model_copy(update={"spec": one.spec.model_copy(update=spec)})

    found = state.workloads.edited({"ns/s"}, off)
    assert isinstance(found, Workloads)
    assert found.columns.is_text.tolist() == [True, False]
    assert [one.spec.active for one in found] == [True, False]
    assert found.columns.source[0] is state.workloads.columns.source[0]


def test_a_cycle_makes_no_object_of_who_runs() -> None:
    state = read(listed(running("r", "a", 2)), explaining=False)
    assert isinstance(state, State)
    run_cycle(state)
    made = [one.key for one in state.workloads._made.values()]  # noqa: SLF001 - what is asked
    assert "ns/r" not in made


def test_naming_by_uid_makes_no_object_of_who_runs() -> None:
    state = read(listed(running("r", "a", 2), queue("a", 2)), explaining=False)
    assert isinstance(state, State)
    message = (
        "Preempted to accommodate a workload (UID: uid-r, JobUID: job) due to reclamation within "
        "the cohort; preemptor path: /r/a; preemptee path: /r/b"
    )
    assert resolve(parse_messages(message)[-1], state).preemptor.workload == "ns/r"
    made = [one.key for one in state.workloads._made.values()]  # noqa: SLF001 - what is asked
    assert "ns/r" not in made
