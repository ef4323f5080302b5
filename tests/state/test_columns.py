"""The columns of a state say of each workload what it says itself, however the state came about."""

import json
import pickle
from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest

from planner.errors import SchemaError
from planner.reader import kueue_collect, read
from planner.state import kueue_columns
from planner.state.kueue import Changes, State, Workload, Workloads
from planner.state.kueue_topology import HOST, TopologyAssignment
from planner.state.kueue_workload import NEVER
from tests.cluster import NOW, pending, queue, running
from tests.reference.topology.racks import node, pod, runs, state_of, topology
from tests.state.rows import check_row


def read_state(*, size: int = 9) -> State:
    """Read workloads of which every third is being evicted, and is no text therefore."""
    some = [
        running(f"w{n}", "abc"[n % 3], 1 + n % 2, priority=n, minute=n, evicted=n % 3 == 1)
        for n in range(size)
    ]
    some[2][0]["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": "7"}
    some[3][0]["metadata"]["annotations"] = {"preemption-planner.io/restart-cost": "2"}
    some[5][0]["status"]["conditions"][0].pop("lastTransitionTime")
    parts = [*some, queue("a", 9), queue("b", 9), pending("a", 1)]
    items = [one for part in parts for one in part]
    state = read(StringIO(json.dumps({"kind": "List", "items": items})), now=NOW)
    assert isinstance(state, State)
    assert {*state.workloads.columns.is_text.tolist()} == {True, False}
    return state


def check(workloads: Workloads) -> None:
    """Compare the columns with the workloads, which are looked at one by one."""
    columns = workloads.columns
    numbered: Sequence[tuple[Any, Sequence[object]]] = (
        (columns.local_queue, columns.local_queues),
        (columns.admitted_by, columns.queues),
        (columns.held, columns.holdings),
    )
    for numbers, values in numbered:
        assert {*numbers.tolist()} == {*range(len(values))}, "no value is without a workload"
    for place, one in enumerate(workloads):
        assert columns.is_text[place] != isinstance(columns.source[place], Workload)
        check_row(columns, place, one)
    assert [one.key for one in workloads.pending()] == [o.key for o in workloads if o.is_pending]


@pytest.mark.parametrize("at_once", [1, 2, 4, 1000])
def test_columns_of_a_dump(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kueue_columns, "SOME", at_once)
    monkeypatch.setattr(kueue_collect, "SOME", at_once)
    workloads = read_state().workloads
    check(workloads)
    columns, texts = workloads.columns, workloads.columns.is_text
    assert {*columns.boost[texts].tolist()} == {0, 7}
    assert {one is None for one in columns.remarks[texts]} == {True, False}
    reserved_s = columns.reserved_s[texts]
    assert np.isnan(reserved_s).any()
    assert (reserved_s == NEVER.timestamp()).any()


def changed(state: State) -> Sequence[Workloads]:
    """Return the workloads of a state after changes of all kinds."""
    workloads = state.workloads
    new = read_state(size=12).workloads.chosen([9, 10])
    later = workloads.apply(Changes(new, [workloads[0]], ["ns/w2"]))
    return (
        later,
        later.apply(Changes(gone=["ns/w0"])),
        workloads.without(["ns/w0", "ns/w1"]),
        workloads.plus([workloads[0].model_copy()]),
        workloads.edited(["ns/w3"], lambda one: one),
        pickle.loads(pickle.dumps(workloads)),  # noqa: S301 - our own
        Workloads(),
    )


def test_columns_of_changed_workloads() -> None:
    state = read_state()
    for known in (False, True):
        for workloads in changed(state):
            check(workloads)
        if not known:
            check(state.workloads)
    assert len(Workloads().columns.priority) == 0


SLICES = [
    {
        "domainCount": 2,
        "valuesPerLevel": [
            {"universal": "ra"},
            {"individual": {"prefix": "n", "roots": ["0", "1"], "suffix": "-x"}},
        ],
        "podCounts": {"universal": 3},
    },
    {
        "domainCount": 1,
        "valuesPerLevel": [{"universal": "rb"}, {"individual": {"roots": ["n7"]}}],
        "podCounts": {"individual": [1]},
    },
]


def test_both_encodings_stand_for_the_same_list() -> None:
    """docs/semantics/kueue-topology.md §1.1."""
    domains = [
        {"values": ["ra", "n0-x"], "count": 3},
        {"values": ["ra", "n1-x"], "count": 3},
        {"values": ["rb", "n7"], "count": 1},
    ]
    expected = [(("ra", "n0-x"), 3), (("ra", "n1-x"), 3), (("rb", "n7"), 1)]
    levels = ["rack", HOST]
    for value in ({"levels": levels, "domains": domains}, {"levels": levels, "slices": SLICES}):
        assert list(TopologyAssignment.model_validate(value).places()) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domainCount": 3}, "a value for each of its 3 domains"),
        ({"podCounts": {"individual": [1]}}, "a value for each of its 2 domains"),
        ({"domainCount": 100_001}, "domainCount"),
        ({"domainCount": -1}, "domainCount"),
    ],
)
def test_an_assignment_that_is_too_short_or_too_long(change: Any, message: str) -> None:
    (workload,) = runs("v", {"gpu": 1}, {"n1": 1})
    assigned = workload["status"]["admission"]["podSetAssignments"][0]
    assigned["topologyAssignment"] = {"levels": [HOST], "slices": [{**SLICES[0], **change}]}
    with pytest.raises(SchemaError, match=message):
        state_of([workload])


def test_what_is_kept_of_nodes_and_pods() -> None:
    state = state_of(
        topology(),
        node("n1", "ra", gpu=4),
        node("n2", ready="False"),
        pod("mine", "n1", gpu=1),
        pod("placed", "n1", placed=True),
        pod("over", "n1", phase="Failed"),
        pod("nowhere", ""),
    )
    assert [one.levels for one in state.topologies] == [("rack", HOST)]
    assert [one.is_usable for one in state.nodes] == [True, False]
    assert [one.metadata.name for one in state.pods if one.holds_its_node] == ["mine"]
