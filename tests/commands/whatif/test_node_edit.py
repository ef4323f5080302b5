"""Edits of nodes: what Kueue does after them, and each way to get one wrong."""

import pytest

from planner.commands.whatif.edit import edit
from planner.commands.whatif.kueue_edit import CORDONED
from planner.errors import SchemaError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.state.kueue import HOST, State
from tests.cluster import PENDING
from tests.reference.topology.racks import (
    RACK,
    flavor,
    node,
    placed,
    pods,
    room,
    state_of,
    topology,
    waits,
)
from tests.told import told


@pytest.fixture
def state() -> State:
    """Give a rack of two nodes with room for three pods, of which two are wanted."""
    asks = waits(pods("main", 2, {"gpu": 4}, {"required": RACK}))
    nodes = [*node("n.1", "r", gpu=4), *node("n2", "r", gpu=8)]
    return state_of(topology(), flavor(), nodes, room(), asks)


def placed_after(state: State, *edits: str) -> dict[str, int] | None:
    """Return where the pods go after some edits."""
    changed = edit(state, edits)
    snapshot = take_snapshot(changed, placing=True)
    return placed(decide(snapshot, find_preemptor(changed, snapshot, PENDING)))


@pytest.mark.parametrize(
    ("edits", "places"),
    [
        ([], {"n2": 2}),
        (["node/n2.unschedulable=true"], None),
        (["node/n2.unschedulable=true", "node/n2.unschedulable=false"], {"n2": 2}),
        (["node/n2.allocatable.gpu=4"], {"n.1": 1, "n2": 1}),
        (["node/n.1.allocatable.gpu=8"], {"n.1": 2}),
        (["node/n2.taints.example.com/broken=NoSchedule"], None),
        (["node/n2.taints.a=NoSchedule", "node/n2.taints.a=none"], {"n2": 2}),
        (["node/n2.taints.a=PreferNoSchedule"], {"n2": 2}),
        ([f"node/n2.labels.{RACK}=other"], {"n2": 2}),
        ([f"node/n2.labels.{RACK}=none"], None),
        (["node/n2.unschedulable=true", "node/n.3.like=n.1"], {"n.1": 1, "n.3": 1}),
    ],
)
def test_nodes_are_changed(state: State, edits: list[str], places: dict[str, int] | None) -> None:
    assert placed_after(state, *edits) == places


def test_a_cordoned_node_is_freed_of_its_taint(state: State) -> None:
    taint = f"node/n2.taints.{CORDONED}=NoSchedule"
    assert placed_after(state, "node/n2.unschedulable=true", taint) is None
    edits = ["node/n2.unschedulable=true", taint, "node/n2.unschedulable=false"]
    assert placed_after(state, *edits) == {"n2": 2}
    (cordoned,) = edit(state, edits[:1]).nodes[-1].spec.taints
    assert (cordoned.key, cordoned.effect) == (CORDONED, "NoSchedule")


def test_one_more_has_a_name_of_its_own(state: State) -> None:
    new = edit(state, ["node/n3.like=n2"]).nodes[-1]
    assert (new.metadata.name, new.metadata.labels) == ("n3", {HOST: "n3", RACK: "r"})
    assert len(state.nodes) == 2


@pytest.mark.parametrize(
    "text",
    [
        "node/n7.unschedulable=true",
        "node/n7.like=n8",
        "node/.like=n2",
        "node/n2.ready=true",
        "node/n2.labels=a",
        "node/n2.taints.a=Never",
        "node/n2.unschedulable=perhaps",
        "node/n2.allocatable.gpu=many",
    ],
)
def test_what_cannot_be_is_refused(state: State, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        edit(state, [text])
    told(caught.value)
