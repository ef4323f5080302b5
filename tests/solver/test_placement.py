"""A plan counts quota only, and says what Kueue itself does with pods placed on nodes."""

from __future__ import annotations

import pytest

import planner
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object, configuration
from tests.reference.topology.racks import flavor, node, pods, room, runs, state_of, topology, waits

TREE = [*topology(), *flavor(), *node("n1", "r", gpu=2), *node("n2", "r", gpu=4)]
RUNNING = [
    *runs("late", {"gpu": 1}, {"n1": 2}, minute=20),
    *runs("early", {"gpu": 1}, {"n2": 4}, minute=10),
]
WORDS = "with pods placed on nodes, Kueue itself "


def asks(count: int) -> list[Object]:
    """Return a workload that wants so many GPUs of one node."""
    return waits(pods("main", count, {"gpu": 1}, {"required": HOST}))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([*room(), *asks(2)], f"{WORDS}evicts ns/late for {PENDING}"),
        ([*room(), *asks(4)], f"{WORDS}evicts ns/early for {PENDING}"),
        ([*room(), *asks(5)], f"{WORDS}has no room for {PENDING}, whoever goes: couldn't assign"),
        (
            [*room(within="Never"), *asks(2)],
            f"{WORDS}finds nobody to evict for {PENDING}: couldn't",
        ),
    ],
)
def test_a_plan_says_what_kueue_itself_does(parts: list[Object], words: str) -> None:
    plan = planner.solve(state_of(TREE, RUNNING, parts), PENDING)
    assert (plan.status, plan.victims) == ("conditional", ())
    (said,) = (note for note in plan.notes if "placed on nodes" in note)
    assert said.startswith(words)
    (missing,) = plan.coverage
    assert "Kueue's own answer is replayed with placement" in missing.effect


def test_who_fits_is_admitted_at_once() -> None:
    plan = planner.solve(state_of(TREE, room(), asks(4)), PENDING)
    assert f"{WORDS}admits {PENDING} at once" in plan.notes


def test_what_is_missing_is_said() -> None:
    words = "what Kueue itself does with pods placed on nodes was not replayed: "
    nowhere = planner.solve(state_of(topology(), flavor(), room(), asks(1)), PENDING)
    assert f"{words}the state has no nodes" in nowhere.notes
    levelless = planner.solve(state_of(flavor(), node("n1", "r"), room(), asks(1)), PENDING)
    assert f"{words}the state has no Topology dc" in levelless.notes


@pytest.mark.parametrize(
    "parts",
    [
        [*TREE, *room(), *asks(1), *configuration(featureGates={"TopologyAwareScheduling": False})],
        [*flavor(topology_name=""), *room(), *waits(pods("main", 1, {"gpu": 1}))],
    ],
)
def test_nothing_is_said_where_nodes_decide_nothing(parts: list[Object]) -> None:
    plan = planner.solve(state_of(parts), PENDING)
    assert not [note for note in plan.notes if "placed on nodes" in note]
