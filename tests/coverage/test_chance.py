"""What makes answers conditional: what Kueue leaves to chance, pods that MultiKueue places."""

from typing import Any

import pytest

import planner
from planner.plan import Uncovered
from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.cluster import NOW, PENDING, admission_check, configuration, queue, running, state_of
from tests.kueue_state import read_objects
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
    assert plan.about.where == {"main": {"twin": 4}}


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


CHECKED: Object = {"admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]}}
MULTI = admission_check("check", "kueue.x-k8s.io/multikueue")
LEVELS = racks.topology()


def multi(  # noqa: PLR0913 - the words of the small language
    *topologies: Object,
    asked: Object | None = None,
    flavors: tuple[str, ...] = ("default",),
    requests: Object | None = None,
    gates: Object | None = None,
    waits_in: str = "a",
    cohort: str = "pool",
) -> State:
    """Return two queues, of which MultiKueue serves a; b has the flavor without a topology.

    In a a workload of 1 GPU runs; the pending one asks for ``requests``, or for 1 GPU.
    """
    (served, local), other = queue("a", 1, "pool"), queue("b", 1, cohort)
    other[0]["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "plain"
    quota = [{"name": "gpu", "nominalQuota": 1}]
    group = {
        "coveredResources": ["gpu"],
        "flavors": [{"name": name, "resources": quota} for name in flavors],
    }
    served["spec"] |= CHECKED | {"resourceGroups": [group]}
    wanted = {"gpu": 1} if requests is None else requests
    parts = [
        *racks.flavor(),
        *racks.flavor("plain", ""),
        *topologies,
        *(served, local, MULTI),
        *other,
        *running("one", "a", 1, flavor=flavors[0]),
        *racks.waits(racks.pods("main", 1, wanted, asked), queue_name=waits_in),
        *configuration(featureGates=gates or {}),
    ]
    return read_objects({"kind": "List", "apiVersion": "v1", "items": parts}, where="t", now=NOW)


def found(state: State) -> list[tuple[str, str]]:
    """Return which features an answer leaves out, and how it knows."""
    plan = planner.solve(state, PENDING)
    assert (plan.status == "conditional") == bool(plan.coverage)
    return [(one.feature, one.kind) for one in plan.coverage]


def test_that_workers_are_other_clusters_is_said_once() -> None:
    (noted,) = [one for one in planner.solve(multi(*LEVELS), PENDING).notes if "MultiKueue" in one]
    assert "out of reach" in noted


MISSING = [("topology", "unmodelled"), ("queues", "assumed")]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (multi(*LEVELS), []),
        (multi(), MISSING),
        (multi(flavors=("plain",)), []),
        (multi(gates={"TopologyAwareScheduling": False}), []),
        (multi(*racks.topology(name="another")), MISSING),
    ],
)
def test_a_topology_that_multikueue_does_not_ask_for(
    state: State, expected: list[tuple[str, str]]
) -> None:
    """The queue is active, and yet left out of the snapshot, as its TAS usage is not synced.

    Kueue ff69552e pkg/cache/scheduler ``isTASViolated`` and ``skipInactiveCQReason``.
    """
    assert found(state) == expected


def test_who_runs_in_such_a_queue_may_be_no_candidate_of_others() -> None:
    """Another queue of the cohort is in doubt, too; one of another cohort is not."""
    for cohort, doubts in (("pool", [("queues", "assumed")]), ("another", [])):
        assert found(multi(flavors=("default",), waits_in="b", cohort=cohort)) == doubts


@pytest.mark.parametrize(
    ("state", "suits"),
    [
        # A podset that asks for no place may have the flavor without a topology only.
        (multi(*LEVELS, flavors=("default", "plain")), False),
        # All flavors have one: then it is placed, too.
        (multi(*LEVELS), True),
        (multi(*LEVELS, asked={"required": racks.RACK}), True),
        (multi(*LEVELS, asked={"unconstrained": True}), True),
        (multi(*LEVELS, asked={"unconstrained": False}), False),
        (multi(*LEVELS, asked={"required": "block"}), False),
        (multi(*LEVELS, asked={"required": racks.RACK}, flavors=("plain",)), False),
        # A podset without a flavor: Kueue admits nothing.
        (multi(*LEVELS, requests={}), False),
    ],
)
def test_multikueue_does_not_make_every_flavor_suit(state: State, suits: bool) -> None:  # noqa: FBT001
    """Kueue ff69552e flavorassigner ``checkPodSetAndFlavorMatchForTAS`` knows no MultiKueue.

    docs/semantics/kueue-topology.md §3.1 and §3.3.
    """
    assert found(state) == ([] if suits else [("topology", "unmodelled")])
