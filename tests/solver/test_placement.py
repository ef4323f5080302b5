"""Plans where pods need places on nodes, and what is said where a plan leaves that out."""

from typing import Any

import pytest

import planner
from planner.quota.kueue.snapshot import Snapshot, build_snapshot
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object, configuration, queue
from tests.reference.topology.racks import (
    RACK,
    flavor,
    node,
    pods,
    room,
    runs,
    state_of,
    topology,
    waits,
)
from tests.report.rendering import plain, table
from tests.told import told

TREE = [*topology(), *flavor(), *node("n1", "r", gpu=2), *node("n2", "r", gpu=4)]
RUNNING = [
    *runs("late", {"gpu": 1}, {"n1": 2}, minute=20),
    *runs("early", {"gpu": 1}, {"n2": 4}, minute=10),
]


def asks(count: int) -> list[Object]:
    """Return a workload that wants so many GPUs of one node."""
    return waits(pods("main", count, {"gpu": 1}, {"required": HOST}))


@pytest.mark.parametrize(
    ("parts", "status", "victims"),
    [
        ([*room(), *asks(2)], "optimal", ("ns/late",)),
        ([*room(), *asks(4)], "optimal", ("ns/early",)),
        ([*room(), *asks(5)], "infeasible", ()),
        ([*room(within="Never"), *asks(2)], "infeasible", ()),
    ],
)
def test_a_plan_sees_to_places(parts: list[Object], status: str, victims: tuple[str]) -> None:
    plan = planner.solve(state_of(TREE, RUNNING, parts), PENDING, objective="min-count")
    assert (plan.status, plan.keys, plan.placement) == (status, victims, "kueue")
    assert plan.coverage == ()


def test_what_the_nodes_never_hold_is_said() -> None:
    plan = planner.solve(state_of(TREE, RUNNING, room(), asks(5)), PENDING)
    told(plan.explanation)


def test_an_explanation_names_the_law() -> None:
    state = state_of(TREE, RUNNING, room(within="Never"), asks(2))
    clash = planner.explain(state, PENDING).clash
    assert clash is not None
    texts = {one.law: one.text for one in clash.laws}
    assert texts.keys() == {"KQ-04", "KT-01"}
    told(texts["KT-01"])


def test_flavors_that_are_chosen_are_counted_by_quota_only() -> None:
    plan = planner.solve(state_of(TREE, RUNNING, room(), asks(2)), PENDING, flavors="optimal")
    assert (plan.status, plan.victims, plan.placement) == ("conditional", (), None)
    told([one.partition(":")[0] for one in plan.notes])
    (missing,) = plan.coverage
    assert missing.feature == "topology"


def test_what_is_missing_is_said() -> None:
    nowhere = planner.solve(state_of(topology(), flavor(), room(), asks(1)), PENDING)
    told(nowhere.notes)
    levelless = planner.solve(state_of(flavor(), node("n1", "r"), room(), asks(1)), PENDING)
    told(levelless.notes)


@pytest.mark.parametrize(
    ("name", "elastic", "covered"),
    [
        ("SchedulerLibraryIntegration", False, False),
        ("ElasticJobsViaWorkloadSlicesWithTAS", True, False),
        ("ElasticJobsViaWorkloadSlicesWithTAS", False, True),
    ],
)
def test_gates_by_which_kueue_places_pods_otherwise_are_named(
    name: str, *, elastic: bool, covered: bool
) -> None:
    """docs/semantics/kueue-topology.md §10: what they do is not written there."""
    waiting = asks(2)
    waiting[0]["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": str(elastic).lower()}
    gates = configuration(featureGates={name: True})
    plan = planner.solve(state_of(TREE, RUNNING, room(), waiting, gates), PENDING)
    said = (
        f"what Kueue itself does with pods placed on nodes was not replayed: the gate {name} is on"
    )
    assert (not plan.coverage, said not in plan.notes) == (covered, covered)


@pytest.mark.parametrize(("group", "covered"), [({}, False), ({"podSetGroupName": "g"}, True)])
def test_gates_that_move_the_places_of_several_podsets_are_named(
    group: Object, *, covered: bool
) -> None:
    """docs/semantics/kueue-topology.md §10: podsets of one group are placed together."""
    wanted = [pods(name, 1, {"gpu": 1}, {"required": HOST, **group}) for name in ("a", "b")]
    gates = configuration(featureGates={"TASBalancedPlacement": True})
    plan = planner.solve(state_of(TREE, RUNNING, room(), waits(*wanted), gates), PENDING)
    assert [one.feature for one in plan.coverage] == ([] if covered else ["topology"])


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


def test_reports_say_where_the_pods_go() -> None:
    plan = planner.solve(state_of(TREE, RUNNING, room(), asks(2)), PENDING, "min-count")
    assert [(one.name, one.domains[0].values, one.domains[0].count) for one in plan.places] == [
        ("main", ("n1",), 2)
    ]
    assert "pods             main flavor=default on=n1=2" in plain.render(plan)
    shown = table.render(plan, width=120).splitlines()
    assert any(row.split() == ["main", "default", "2", "n1", "2"] for row in shown)


def in_racks(*running: list[Object]) -> planner.State:
    """Return a state of two racks of one node, where the incoming workload wants one of them."""
    parts = [*node("n1", "a", gpu=4), *node("n2", "b", gpu=4), *room()]
    wanted = waits(pods("main", 2, {"gpu": 2}, {"required": RACK}), priority=5)
    return state_of(topology(), flavor(), parts, *running, wanted)


def test_of_racks_the_one_with_the_lowest_priorities_is_freed() -> None:
    state = in_racks(
        runs("high", {"gpu": 2}, {"n1": 2}, priority=3),
        runs("low", {"gpu": 2}, {"n2": 1}, priority=1),
        runs("middle", {"gpu": 2}, {"n2": 1}, priority=2),
    )
    plan = planner.solve(state, PENDING, certify=False)
    assert (plan.status, plan.keys) == ("feasible", ("ns/low", "ns/middle"))
    assert plan.certificate is not None
    assert all(level.claimed == level.value for level in plan.certificate.levels if level.value)


@pytest.mark.parametrize("first", ["n1", "n2"])
def test_of_racks_alike_the_one_whose_victims_come_first_is_freed(first: str) -> None:
    """The newest come first in Kueue's order: they are as good as any."""
    state = in_racks(
        runs("new", {"gpu": 2}, {first: 2}, minute=20),
        runs("old", {"gpu": 2}, {"n1" if first == "n2" else "n2": 2}, minute=10),
    )
    plan = planner.solve(state, PENDING, "min-count", certify=False)
    assert (plan.status, plan.keys) == ("feasible", ("ns/new",))


@pytest.mark.parametrize(
    ("queue_name", "kinds"), [("q", [True]), ("plain", [False])], ids=["placed", "by quota"]
)
def test_a_state_is_added_up_once(
    monkeypatch: pytest.MonkeyPatch, queue_name: str, kinds: list[bool]
) -> None:
    """With nodes for a queue that places pods, without them for another one."""
    built: list[bool] = []

    def build(*args: Any, placing: bool = False) -> Snapshot:
        built.append(placing)
        return build_snapshot(*args, placing=placing)

    monkeypatch.setattr("planner.quota.kueue.snapshot.build_snapshot", build)
    quota = queue("plain", {"gpu": 2})
    for group in quota[0]["spec"]["resourceGroups"]:
        group["flavors"][0]["name"] = "other"
    others = [
        *flavor("other", ""),
        *quota,
        *waits(pods("main", 2, {"gpu": 1}), queue_name=queue_name),
    ]
    assert planner.solve(state_of(TREE, RUNNING, room(), others), PENDING).status
    assert built == kinds
