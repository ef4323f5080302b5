"""The page's own examples and traps, told by hand: docs/semantics/kueue-topology.md."""

from collections.abc import Sequence
from typing import Any

import pytest

import planner
from planner.errors import UnsupportedError
from planner.state.kueue_topology import HOST
from tests.cluster import FLAVOR, Object, admission_check, configuration
from tests.reference.cycles import several_flavors, with_spec
from tests.reference.topology.racks import (
    RACK,
    decided,
    flavor,
    node,
    placed,
    pods,
    room,
    runs,
    state_of,
    topology,
    victims,
    waits,
)
from tests.told import told

ANYWHERE: Object = {"unconstrained": True}
ONE_RACK: Object = {"required": RACK}
ONE_HOST: Object = {"required": HOST}
BOTH = {"cpu": 100, "gpu": 100}
TREE = [*topology(), *flavor()]
TAINT = {"key": "maint", "value": "yes", "effect": "NoSchedule"}


def two_racks(*, first: str, asked: Object = ONE_RACK, busy: bool = True) -> list[Object]:
    """Return the counterexample of §8: n1 has 4 cpu, n2 5 cpu and 3 gpu.

    ``first`` of v1 and v2 is the first candidate. Without ``busy`` n2 has 3 cpu and nobody on it
    but v2.
    """
    minutes = {name: 20 if name == first else 10 for name in ("v1", "v2")}
    return [
        *TREE,
        *node("n1", "ra", cpu=4, gpu=0),
        *node("n2", "rb", cpu=5 if busy else 3, gpu=3),
        *room(BOTH),
        *(runs("w", {"cpu": 1}, {"n2": 2}, priority=10) if busy else []),
        *runs("v1", {"cpu": 1}, {"n1": 2}, minute=minutes["v1"]),
        *runs("v2", {"cpu": 1}, {"n2": 3}, minute=minutes["v2"]),
        *waits(pods("a", 2, {"cpu": 1}, asked), pods("b", 3, {"cpu": 1, "gpu": 1}, ONE_RACK)),
    ]


B_POOL: Object = {"nodeSelector": {"pool": "b"}}
SEVERAL = [{"labels": {"team": "1"}}, {"labels": {"team": "2"}}]
OTHER_NOTE: Object = {"annotations": {"note": "b"}}
NOTES = "conflict for key=note, value1=a, value2=b"
BOTH_SAY = "error: invalid admission check PodSetUpdate: conflict for"


@pytest.mark.parametrize(
    ("updates", "state", "said"),
    [
        ([{"nodeSelector": {"pool": "a"}, "labels": {"app": "x", "team": "1"}}], "Ready", ""),
        ([B_POOL], "Pending", ""),
        ([{**B_POOL, "name": "other"}], "Ready", ""),
        ([B_POOL], "Ready", "nodeSelector: conflict for key=pool, value1=a, value2=b"),
        ([{"labels": {"app": "y"}}], "Ready", "labels: conflict for key=app, value1=x, value2=y"),
        (SEVERAL, "Ready", "labels: conflict for key=team, value1=1, value2=2"),
        ([{"annotations": {"note": "a", "zone": "1"}}], "Ready", ""),
        ([OTHER_NOTE], "Pending", ""),
        ([OTHER_NOTE], "Ready", f"annotations: {NOTES}"),
        # Annotations are compared first.
        ([{"labels": {"app": "y"}} | OTHER_NOTE], "Ready", f"annotations: {NOTES}"),
        (
            [{"annotations": {"zone": "1"}}, {"annotations": {"zone": "2"}}],
            "Ready",
            "annotations: conflict for key=zone, value1=1, value2=2",
        ),
    ],
)
def test_checks_that_contradict_the_pods(updates: list[Object], state: str, said: str) -> None:
    """§4.1: what ready checks add is merged; a value that is another one fails the podset."""
    asked = pods("main", 4, {"gpu": 1}, ONE_HOST)
    asked["template"]["metadata"] = {"labels": {"app": "x"}, "annotations": {"note": "a"}}
    asked["template"]["spec"]["nodeSelector"] = {"pool": "a"}
    (waiting,) = waits(asked)
    checks = [
        {"name": f"c{number}", "state": state, "podSetUpdates": [{"name": "main", **one}]}
        for number, one in enumerate(updates)
    ]
    waiting["status"] = {"admissionChecks": checks}
    parts = [
        *TREE,
        *(one for name in "ab" for one in node(name, "r", labels={"pool": name}, gpu=4)),
        *room(),
        *runs("x", {"gpu": 4}, {"a": 1}),
        *runs("y", {"gpu": 4}, {"b": 1}, minute=9),
        waiting,
    ]
    found = decided(parts)
    assert victims(found) == ([] if said else ["x"])
    assert (f"for PodSet main, {BOTH_SAY} {said}" in found.assigned.message) == bool(said)
    plan = planner.solve(state_of(parts))
    assert plan.keys == (() if said else ("ns/x",))
    assert plan.status == ("infeasible" if said else "optimal")


def test_slices_without_a_size_have_no_place() -> None:
    """§5.1: kueue ff69552e pkg/util/tas/tas.go takes a size that is not there for 0."""
    slices = {**ANYWHERE, "podSetSliceRequiredTopology": HOST}
    cluster = [*TREE, *node("a", "r", gpu=4), *room()]
    found = decided(cluster, waits(pods("main", 2, {"gpu": 1}, slices)))
    assert found.assignment.mode == "NoFit"
    found = decided(cluster, waits(pods("main", 2, {"gpu": 1}, {**slices, "podSetSliceSize": 1})))
    assert found.assignment.mode == "Fit"


def test_a_third_podset_in_a_group_crashes_kueue() -> None:
    """§4: it gets no place with its group; where the group has none either, nothing crashes."""
    asked = {**ONE_RACK, "podSetGroupName": "g"}
    asks = waits(*(pods(name, 1, {"gpu": 1}, asked) for name in ("a", "b", "c")))
    assert decided([*TREE, *node("n", "r", gpu=1), *room()], asks).assignment.mode == "NoFit"
    with pytest.raises(UnsupportedError) as caught:
        decided([*TREE, *node("n", "r", gpu=9), *room()], asks)
    told(caught.value)


@pytest.mark.parametrize(
    "there",
    [
        node("a", "r", gpu=4, unschedulable=True),
        node("a", "r", gpu=4, ready="Unknown"),
        node("a", gpu=4),
        node("a", "r", gpu=4, taints=[TAINT]),
    ],
)
def test_nodes_that_do_not_count(there: list[Object]) -> None:
    """§2.1 and §4.1."""
    asks = waits(pods("main", 1, {"gpu": 1}, ANYWHERE))
    found = decided([*TREE, *there, *room()], asks)
    assert found.assignment.mode == "NoFit"


@pytest.mark.parametrize(
    ("labels", "mode"), [({}, "Fit"), ({"pool": ""}, "Fit"), ({"pool": "x"}, "NoFit")]
)
def test_a_label_that_is_not_there_is_as_good_as_one_without_text(
    labels: dict[str, str], mode: str
) -> None:
    """§2.1: a flavor whose nodeLabels have no text, such as those of node roles."""
    nodes = node("a", "r", labels=labels, gpu=4)
    cluster = [*topology(), *flavor(nodeLabels={"pool": ""}), *nodes, *room()]
    found = decided(cluster, waits(pods("main", 1, {"gpu": 1}, ANYWHERE)))
    assert found.assignment.mode == mode


@pytest.mark.parametrize(("zones", "mode"), [(["a", "a"], "Fit"), (["a", "b"], "NoFit")])
def test_checks_that_contradict_each_other_leave_no_place(zones: list[str], mode: str) -> None:
    """§4.1: whatever the leaves are; a selector alone does not count where they are racks."""
    (workload,) = waits(pods("main", 1, {"gpu": 1}, ANYWHERE))
    updates = [[{"name": "main", "nodeSelector": {"zone": zone}}] for zone in zones]
    workload["status"] = {
        "admissionChecks": [
            {"name": f"c{number}", "state": "Ready", "podSetUpdates": update}
            for number, update in enumerate(updates)
        ]
    }
    cluster = [*topology(RACK), *flavor(), *node("a", "r", gpu=4), *room()]
    assert decided(cluster, [workload]).assignment.mode == mode


def test_a_queue_without_its_topology_is_inactive() -> None:
    """§2; unless Kueue itself calls it active, and the dump alone lacks the Topology."""
    asks = waits(pods("main", 1, {"gpu": 1}))
    there, local = room()
    assert decided([*flavor(), there, local], asks).assignment.pod_sets == ()
    there = {**there, "status": {"conditions": [{"type": "Active", "status": "True"}]}}
    assert decided([*flavor(), there, local], asks).assignment.mode == "Fit"


def test_with_the_gate_off_nodes_decide_nothing() -> None:
    off = configuration(featureGates={"TopologyAwareScheduling": False})
    asks = waits(pods("main", 9, {"gpu": 1}, ONE_HOST))
    cluster = [*TREE, *node("a", "r", gpu=1), *room()]
    assert decided(cluster, asks).assignment.mode == "NoFit"
    assert decided(cluster, asks, off).assignment.mode == "Fit"


def test_balanced_placement_forgets_inner_layers() -> None:
    """§10.1: of rack x three nodes hold 3, 3 and 2 pods, in pairs 6, one slice of 4.

    Counted without pairs they are 8, two slices: Kueue gives rack x all 8 pods, finds no pairs for
    them on its nodes, and places none (kueue ff69552e tas_balanced_placement.go
    ``pruneDomainsBelowThreshold``, tas_flavor_snapshot.go ``updateCountsToMinimumGeneric``).
    """
    on = configuration(featureGates={"TASBalancedPlacement": True})
    layers = [{"topology": RACK, "size": 4}, {"topology": HOST, "size": 2}]
    asked = {"preferred": "block", "podsetSliceRequiredTopologyConstraints": layers}
    several = {"x1": 3, "x2": 3, "x3": 2, "y": 4}
    nodes = [
        one
        for name, gpu in several.items()
        for one in node(name, name[0], labels={"block": "b"}, gpu=gpu)
    ]
    cluster = [*topology("block", RACK, HOST), *flavor(), *nodes, *room()]
    asks = waits(pods("main", 8, {"gpu": 1}, asked))
    assert placed(decided(cluster, asks)) == {"x1": 2, "x3": 2, "y": 4}  # x3 takes the fewest
    found = decided([*cluster, *on], asks)
    assert (found.assignment.mode, placed(found)) == ("Fit", {})


def preferring(count: int, asked: Object, *, values: Sequence[str] = ("ssd",)) -> list[Object]:
    """Return a workload of one GPU a pod that prefers some disks, and the gate for that."""
    pod_set = pods("main", count, {"gpu": 1}, asked)
    row = {"key": "disk", "operator": "In", "values": list(values)}
    preferred = [{"weight": 1, "preference": {"matchExpressions": [row]}}]
    pod_set["template"]["spec"]["affinity"] = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    }
    return waits(pod_set)


@pytest.mark.parametrize(("on", "mode"), [(True, "NoFit"), (False, "Fit")])
def test_a_preference_that_cannot_be_evaluated_has_no_place(on: bool, mode: str) -> None:  # noqa: FBT001 - a gate
    """§10: as with a required affinity, but only where preferences count."""
    gates = configuration(featureGates={"TASRespectNodeAffinityPreferred": on})
    cluster = [*TREE, *node("a", "r", gpu=2), *room(), *gates]
    assert decided(cluster, preferring(1, ONE_HOST, values=())).assignment.mode == mode


def test_a_podset_keeps_its_place_where_a_later_one_finds_none() -> None:
    """§6.1: with the gate off places decide nothing, and each podset's is shown by itself."""
    off = configuration(featureGates={"TopologyAwareScheduling": False})
    cluster = [*TREE, *node("a", "r", gpu=2), *room(4), *runs("v", {"gpu": 1}, {"a": 2}), *off]
    asks = waits(pods("one", 1, {"gpu": 1}, ONE_HOST), pods("two", 2, {"gpu": 1}, ONE_HOST))
    found = decided(cluster, asks)
    assert (victims(found), placed(found, "one"), placed(found, "two")) == (["v"], {"a": 1}, None)


def guarded(controller: str, **spec: Any) -> list[Object]:
    """Return a queue with an active admission check, and the check, of a controller of Kueue."""
    check = admission_check("check", f"kueue.x-k8s.io/{controller}")
    strategy = {"admissionChecks": [{"name": "check"}]}
    return [*with_spec(room(), admissionChecksStrategy=strategy, **spec), check]


def test_a_flavor_suits_a_podset_or_not_also_where_the_dump_lacks_the_topology() -> None:
    """§3.1: only the levels that a podset names are looked up in the Topology."""
    both = several_flavors("gpu", **dict.fromkeys((FLAVOR, "plain"), 100))
    cluster = [*flavor(), *flavor("plain", ""), *guarded("multikueue", **both)]
    for asked, given in ((None, "plain"), (ONE_RACK, FLAVOR)):
        found = decided(cluster, waits(pods("main", 2, {"gpu": 1}, asked)))
        assert found.assignment.pod_sets[0].flavors["gpu"].flavor == given


@pytest.mark.parametrize("controller", ["multikueue", "provisioning-request"])
def test_a_podset_behind_one_without_a_flavor_is_placed_later_all_the_same(controller: str) -> None:
    """§3.3: what asks for nothing has no flavor; the other podset is still marked as delayed."""
    found = decided(
        [*TREE, *node("n1", "r", gpu=8)],
        guarded(controller),
        waits(pods("extra", 1, {}), pods("main", 2, {"gpu": 1})),
    )
    assert found.assignment.mode == "NoFit"
    assert found.assigned.delayed == {"main"}
