"""Queues, nodes and pods that the dump lacks make answers conditional where they may matter."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner.commands.replay.kueue import state_of_kueue
from planner.plan.kueue import Plan
from planner.report.plan import render
from planner.state.kueue import State
from tests.cluster import (
    NOW,
    PENDING,
    cohort,
    configuration,
    dump_of,
    fair_sharing,
    pending,
    queue,
    running,
)
from tests.conftest import ROOT
from tests.kueue_state import read_objects
from tests.told import told

Object = dict[str, Any]


def state_of(*parts: list[Object], recorded: bool = False) -> State:
    """Read some parts: as a dump, or as a recorded instance."""
    value = dump_of(*parts)
    return read_objects({"now": NOW, "state": value} if recorded else value, where="t", now=NOW)


def cluster(
    *more: list[Object], within: str = "c", settings: list[Object] | None = None
) -> list[list[Object]]:
    """Return a queue of 4, in a cohort, where two of 2 run and one of 2 with priority waits."""
    parts = [queue("a", 4, within, within="LowerPriority"), queue("b", 0, within)]
    parts += [running("one", "a", 2), running("two", "a", 2), pending("a", 2)]
    return [*parts, settings or configuration(), *more]


def solved(*parts: list[Object], **more: bool) -> Plan:
    """Solve for the pending workload."""
    plan = planner.solve(state_of(*parts, **more), PENDING)
    assert isinstance(plan, Plan)
    return plan


def test_a_queue_that_may_be_in_the_cohort() -> None:
    """Were it in the cohort and owned 8, of which 1 is used, nobody would have to go."""
    whole = [*cluster(), queue("gone", 8, "c"), running("g", "gone", 1)]
    assert (solved(*whole).status, solved(*whole).keys) == ("optimal", ())
    plan = solved(*cluster(running("g", "gone", 1)))
    assert (plan.status, plan.proved, len(plan.keys)) == ("conditional", "optimal", 1)
    (found,) = plan.coverage
    assert (found.feature, found.kind) == ("quota", "assumed")
    assert found.objects == ("ClusterQueue gone",)
    told(found.evidence)
    assert "ClusterQueue gone" in render([plan], "plain", alone=True)


@pytest.mark.parametrize(
    ("within", "holds", "settings", "conditional"),
    [
        ("", {"gpu": 1}, configuration(), False),
        ("c", {"gpu": 1}, configuration(), True),
        ("c", {"cpu": 1}, configuration(), False),
        ("c", {"cpu": 1, "gpu": 1}, configuration(), True),
        ("c", {"gpu": 0}, configuration(), True),
        ("c", {"cpu": 1}, fair_sharing(), False),
    ],
)
def test_where_it_cannot_matter_there_is_a_note(
    within: str, holds: dict[str, int], settings: list[Object], *, conditional: bool
) -> None:
    plan = solved(*cluster(running("g", "gone", holds), within=within, settings=settings))
    assert plan.status == ("conditional" if conditional else "optimal")
    assert any(note.startswith("the dump lacks ClusterQueue gone") for note in plan.notes)


@pytest.mark.parametrize(
    ("settings", "conditional"), [(configuration(), False), (fair_sharing(), True)]
)
def test_under_fair_sharing_all_flavors_of_a_resource_make_a_share(
    settings: list[Object], *, conditional: bool
) -> None:
    plan = solved(*cluster(running("g", "gone", 1, flavor="other"), settings=settings))
    assert plan.status == ("conditional" if conditional else "optimal")


def test_what_cohorts_own_is_of_the_tree() -> None:
    """Quota of a Cohort is for all below it: cpu here, though no queue of the dump has any."""
    parts = cluster(running("g", "gone", {"cpu": 1}))
    assert solved(*parts).status == "optimal"
    assert solved(*parts, cohort("c", nominal={"cpu": 4})).status == "conditional"


@pytest.mark.parametrize(("within", "status"), [("c", "conditional"), ("", "optimal")])
def test_a_queue_of_which_only_a_local_queue_tells(within: str, status: str) -> None:
    """Nobody holds quota there, and what it owns may be lent."""
    (local,) = (one for one in queue("gone", 1) if one["kind"] == "LocalQueue")
    local["status"] = {"conditions": [{"type": "Active", "status": "True"}]}
    assert solved(*cluster([local], within=within)).status == status


def test_pods_of_a_queue_without_the_dump_may_be_on_the_same_nodes() -> None:
    """Nodes are shared by all queues that have flavors with a topology, of one cohort or not."""
    parts = cluster(running("g", "gone", 1), within="")
    items = dump_of(*parts)["items"]
    items[0] = {**items[0], "spec": {"topologyName": "racks"}}
    state = read_objects({"kind": "List", "apiVersion": "v1", "items": items}, where="t", now=NOW)
    plan = planner.solve(state, PENDING)
    assert [one.feature for one in plan.coverage] == ["topology", "quota"]


def test_a_recorded_instance_is_a_whole_cluster() -> None:
    """Kueue itself decided without the queue: what is held in one that is not there counts not."""
    assert solved(*cluster(running("g", "gone", 1)), recorded=True).status == "optimal"


def test_a_plan_that_passes_it_over_is_refused() -> None:
    """A plan of the rest of the cluster says optimal: of this state that is not so."""
    state = state_of(*cluster(running("g", "gone", 1)))
    silent = planner.solve(state, PENDING, assume="quota").model_copy(update={"coverage": ()})
    assert planner.check(state, planner.solve(state, PENDING)).accepted
    assert not planner.check(state, silent).accepted


def test_a_recorded_line_is_a_whole_cluster() -> None:
    """As an audit or a comparison of recorded lines reads it."""
    parts = cluster(running("g", "gone", 1))
    line = {"id": "line", "now": NOW, "pending": PENDING, "state": dump_of(*parts), "expect": {}}
    assert state_of_kueue(line).whole
    assert planner.solve(state_of_kueue(line), PENDING).status == "optimal"


NEEDLESS = ROOT / "instances/topology/needless.yaml"


@pytest.mark.parametrize(
    ("gone", "unhealthy", "expected"),
    [("", "", ()), ("a1", "", ("a1",)), ("b2", "", ()), ("a1", "a1", ()), ("a1", "whole", ())],
)
def test_nodes_on_which_pods_were_placed(
    tmp_path: Path, gone: str, unhealthy: str, expected: tuple[str, ...]
) -> None:
    """E35: a1 has pods, and b2 none; of nodes that Kueue itself misses it has its own word."""
    items = [*yaml.safe_load_all(NEEDLESS.read_text("utf-8"))]
    items = [one for one in items if one["metadata"]["name"] != gone]
    for one in items:
        if one["kind"] == "Workload" and "admission" in one.get("status", {}) and unhealthy == "a1":
            one["status"]["unhealthyNodes"] = [{"name": "a1"}]
    text = yaml.safe_dump_all(items)
    (tmp_path / "dump.yaml").write_text(text, "utf-8")
    state = planner.read(tmp_path / "dump.yaml")
    assert isinstance(state, State)
    if unhealthy == "whole":
        state = state.model_copy(update={"whole": True})
    plan = planner.solve(state, "lab/train")
    found = [one for one in plan.coverage if one.feature == "holdings"]
    assert [(one.objects, one.kind) for one in found] == [(expected, "contradiction")] * bool(
        expected
    )


def test_a_topology_without_levels_has_no_leaves_to_miss(tmp_path: Path) -> None:
    """Kueue finds no level to place pods on: the workload waits, whoever would go."""
    items = [*yaml.safe_load_all(NEEDLESS.read_text("utf-8"))]
    for one in items:
        if one["kind"] == "Topology":
            one["spec"]["levels"] = []
    (tmp_path / "dump.yaml").write_text(yaml.safe_dump_all(items), "utf-8")
    plan = planner.solve(planner.read(tmp_path / "dump.yaml"), "lab/train")
    assert (plan.status, plan.coverage) == ("infeasible", ())


def placing(
    tmp_path: Path, *, topology: bool = True, active: bool = True, pod: bool = False
) -> State:
    """Return the instance with nodes as a dump, with what tells whether pods are missing in it."""
    items = [*yaml.safe_load_all(NEEDLESS.read_text("utf-8"))]
    for one in items:
        if one["kind"] == "ClusterQueue" and active:
            one["status"] = {"conditions": [{"type": "Active", "status": "True"}]}
        if one["kind"] == "ResourceFlavor" and not topology:
            del one["spec"]["topologyName"]
        if one["kind"] == "Workload" and not topology:
            for pods in one["spec"]["podSets"]:
                pods.pop("topologyRequest", None)
    if pod:
        agent = {"name": "agent", "namespace": "kube-system"}
        items.append({"apiVersion": "v1", "kind": "Pod", "metadata": agent})
    (tmp_path / "dump.yaml").write_text(yaml.safe_dump_all(items), "utf-8")
    state = planner.read(tmp_path / "dump.yaml")
    assert isinstance(state, State)
    return state


@pytest.mark.parametrize(
    ("how", "missing"),
    [
        ({}, True),
        ({"pod": True}, False),
        ({"topology": False}, False),  # quota alone decides
        ({"active": False}, False),  # written by hand: it was never in a cluster
    ],
)
def test_nodes_without_any_pod(tmp_path: Path, how: dict[str, bool], *, missing: bool) -> None:
    """E32: what is free on the nodes decides, and pods that Kueue did not place take room, too."""
    state = placing(tmp_path, **how)
    plan, answer = planner.solve(state, "lab/train"), planner.explain(state, "lab/train")
    assert plan.status == answer.status == ("conditional" if missing else "optimal")
    assert plan.coverage == answer.coverage
    found = [(one.feature, one.kind, one.objects[0]) for one in plan.coverage]
    assert found == [("holdings", "assumed", "Node a1")] * missing
    told(one.evidence for one in plan.coverage)
    assert planner.check(state, plan).accepted
    silent = planner.solve(state, "lab/train", assume="quota").model_copy(update={"coverage": ()})
    assert planner.check(state, silent).accepted is not missing


def test_an_audit_counts_a_state_without_pods_apart(tmp_path: Path) -> None:
    (case,) = planner.audit(placing(tmp_path)).cases
    assert case.is_conditional
    assert [one.feature for one in case.coverage] == ["holdings"]


def test_a_recorded_state_without_pods_is_a_whole_cluster(tmp_path: Path) -> None:
    state = placing(tmp_path).model_copy(update={"whole": True})
    assert planner.solve(state, "lab/train").status == "optimal"
