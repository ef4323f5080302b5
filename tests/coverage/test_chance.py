"""What Kueue leaves to chance makes answers conditional: equal heads, nodes of one hostname."""

from typing import Any

import pytest

import planner
from planner.plan import Uncovered
from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, configuration, queue, running, state_of
from tests.reference.cycles import waits
from tests.reference.topology import racks

Object = dict[str, Any]


def coverage(state: State, pending: str = PENDING) -> list[Uncovered]:
    """Return what the plan for a workload leaves out."""
    plan = planner.solve(state, pending)
    assert (plan.status == "conditional") == bool(plan.coverage)
    return list(plan.coverage)


@pytest.mark.parametrize(
    ("release", "certain"),
    [("0.15.4", False), ("0.16.1", False), ("0.15.5", True), ("0.16.2", True), ("0.17.0", True)],
)
def test_equal_heads_of_older_releases(release: str, certain: bool) -> None:  # noqa: FBT001
    """Kueue v0.15.4 and v0.16.1 pkg/cache/queue/cluster_queue.go ``queueOrderingFunc``."""
    full = [*queue("a", 1, within="LowerPriority"), *running("r", "a", 1, -1)]
    settings = configuration()
    pair = waits("one", "a", minute=3), waits("two", "a", minute=3)
    for name in ("one", "two"):
        found = coverage(state_of(settings, full, *pair, release=release), f"ns/{name}")
        assert [one.feature for one in found] == ([] if certain else ["chance"])
        assert not found or set(found[0].objects) == {"Workload ns/one", "Workload ns/two"}


@pytest.mark.parametrize(
    "other",
    [
        waits("two", "a", minute=4),
        waits("two", "a", minute=3, priority=-1),
        waits("two", "b", minute=3),
        # The second is before both: neither is the head.
        [*waits("two", "a", minute=3), *waits("first", "a", minute=2)],
    ],
)
def test_heads_that_are_not_equal(other: list[Object]) -> None:
    parts = queue("a", 9), queue("b", 9), configuration(), waits("one", "a", minute=3)
    assert coverage(state_of(*parts, other, release="0.15.4"), "ns/one") == []


ASKED: Object = {"unconstrained": True}
TAINT = [{"key": "maint", "value": "yes", "effect": "NoSchedule"}]
TWIN = {HOST: "twin"}


def hosts(*nodes: list[Object], asked: Object = ASKED, **pod: Any) -> list[Uncovered]:
    """Return what is left out where four pods of 1 GPU look for a place."""
    podset = racks.pods("main", 4, {"gpu": 1}, asked)
    podset["template"]["spec"] |= pod
    parts = racks.topology(), racks.flavor(), *nodes, racks.room(), racks.waits(podset)
    return coverage(racks.state_of(configuration(), *parts))


def twin(name: str, rack: str = "r", **more: Any) -> list[Object]:
    """Return a node of 2 GPUs with the hostname of another node."""
    return racks.node(name, rack, labels=TWIN | more.pop("labels", {}), gpu=2, **more)


def test_nodes_of_one_hostname_that_are_alike_are_one_leaf() -> None:
    """Kueue ff69552e pkg/cache/scheduler/tas_topology_tree.go ``addNode`` adds them up."""
    asks = racks.waits(racks.pods("main", 4, {"gpu": 1}, {"required": HOST}))
    nodes = twin("n1"), twin("n2")
    state = racks.state_of(racks.topology(), racks.flavor(), *nodes, racks.room(), asks)
    plan = planner.solve(state)
    assert (plan.status, plan.assignment.mode) == ("optimal", "Fit")
    assert plan.where == {"main": {"twin": 4}}


ZONES = [twin(name, labels={"zone": name}) for name in ("n1", "n2")]
IN_ZONE = {"key": "zone", "operator": "Exists", "values": []}
NAMED = {"key": "metadata.name", "operator": "In", "values": ["n1"]}


def affinity(**term: Any) -> Object:
    """Return a required node affinity of one term."""
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


@pytest.mark.parametrize(
    ("nodes", "pod", "certain"),
    [
        # Which rack the leaf is in.
        ([twin("n1", "r1"), twin("n2", "r2")], {}, False),
        ([twin("n1"), twin("n2", taints=TAINT)], {}, False),
        ([twin("n1"), twin("n2", taints=[TAINT[0] | {"effect": "PreferNoSchedule"}])], {}, True),
        # A label that differs matters to those who look at it.
        (ZONES, {}, True),
        (ZONES, {"nodeSelector": {"zone": "n1"}}, False),
        (ZONES, {"affinity": affinity(matchExpressions=[IN_ZONE])}, False),
        ([twin("n1"), twin("n2")], {"affinity": affinity(matchFields=[NAMED])}, False),
        # A node that does not count is no other node of the leaf.
        ([twin("n1"), twin("n2", ready="False", taints=TAINT)], {}, True),
        ([twin("n1"), racks.node("n2", labels=TWIN, gpu=2, taints=TAINT)], {}, True),
    ],
)
def test_nodes_of_one_hostname_that_differ(
    nodes: list[list[Object]],
    pod: Object,
    certain: bool,  # noqa: FBT001
) -> None:
    """Kueue ff69552e pkg/cache/scheduler/tas_nodes_cache.go ``find`` walks a map."""
    found = hosts(*nodes, **pod)
    assert [(one.feature, one.kind) for one in found] == (
        [] if certain else [("chance", "assumed")]
    )
    assert certain or found[0].objects == ("Node n1", "Node n2")


def test_what_racks_alone_are_made_of_is_no_matter_of_chance() -> None:
    """Where host is no level, neither labels nor taints of single nodes are looked at."""
    podset = racks.pods("main", 4, {"gpu": 1}, {"required": racks.RACK})
    nodes = [*twin("n1"), *twin("n2", taints=TAINT)]
    parts = racks.topology(racks.RACK), racks.flavor(), nodes, racks.room(), racks.waits(podset)
    assert coverage(racks.state_of(configuration(), *parts)) == []
