"""The page's own examples and traps, told by hand: docs/semantics/kueue-topology.md."""

from collections.abc import Sequence
from typing import Any

import pytest

import planner
from planner.errors import UnsupportedError
from planner.reference.kueue.chance import ANY_PODSET
from planner.state.kueue_topology import HOST
from planner.state.kueue_workload import REPLACEMENT_FOR
from tests.cluster import FLAVOR, Object, admission_check, configuration, queue, running
from tests.reference.cycles import several_flavors, with_spec
from tests.reference.topology.racks import (
    RACK,
    decided,
    flavor,
    node,
    placed,
    pod,
    pods,
    room,
    runs,
    state_of,
    topology,
    victims,
    waits,
)

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


@pytest.mark.parametrize("asked", [ONE_RACK, {"preferred": RACK}])
def test_with_one_more_victim_there_is_no_place(asked: Object) -> None:
    """§8: without v1 and v2 podset a takes the smaller rack, the only one with GPUs for b."""
    found = decided(two_racks(first="v1", asked=asked))
    assert (found.assignment.mode, victims(found)) == ("Preempt", [])
    found = decided(two_racks(first="v2", asked=asked))
    assert victims(found) == ["v2"]
    assert (placed(found, "a"), placed(found, "b")) == ({"n1": 2}, {"n2": 3})


def test_what_has_no_place_in_an_empty_cluster_is_given_up() -> None:
    """§8, monotone-0: evicting v2 alone would do, but with nobody there a takes b's place."""
    found = decided(two_racks(first="v2", busy=False))
    assert (found.assignment.mode, victims(found)) == ("NoFit", [])
    assert found.assigned.reason == "TopologyPlacementFailed"


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


def test_quota_is_there_and_a_node_is_not() -> None:
    """A failure on nodes alone preempts: candidates are those that name the flavor (§3.3)."""
    cluster = [*TREE, *node("n1", "r", gpu=4), *node("n2", "r", gpu=4), *room()]
    others = [*runs("x", {"gpu": 1}, {"n1": 2}), *runs("y", {"gpu": 1}, {"n2": 2}, minute=9)]
    found = decided(cluster, others, waits(pods("main", 4, {"gpu": 1}, ONE_HOST)))
    assert (found.assignment.mode, victims(found), placed(found)) == ("Preempt", ["y"], {"n2": 4})
    assert found.assigned.message == (
        "couldn't assign flavors to pod set main: "
        'topology "dc" allows to fit only 2 out of 4 pod(s)'
    )
    found = decided(cluster, others, waits(pods("main", 4, {"gpu": 1}, ANYWHERE)))
    assert (found.assignment.mode, placed(found)) == ("Fit", {"n1": 2, "n2": 2})


def test_of_a_group_without_a_place_either_podset_may_be_named() -> None:
    """Kueue takes the first of a map (§3.3): that is chance, and no order of candidates is."""
    group = {"podSetGroupName": "g"}
    leader = pods("leader", 1, {"gpu": 1}, {**ONE_RACK, **group})
    workers = pods("workers", 3, {"gpu": 1}, {**ONE_RACK, **group})
    cluster = [*TREE, *node("n1", "r", gpu=1), *room()]
    found = decided(cluster, waits(leader, workers))
    assert (found.assignment.mode, found.undetermined) == ("NoFit", (ANY_PODSET,))
    assert not decided(cluster, waits(pods("main", 4, {"gpu": 1}, ONE_RACK))).undetermined


def test_what_frees_no_useful_node_is_given_back() -> None:
    """§6: every removal is tested, and the fill-back returns those that were not needed."""
    found = decided(
        [*TREE, *node("n1", gpu=2, rack="r"), *node("n2", gpu=4, rack="r"), *room()],
        runs("late", {"gpu": 1}, {"n1": 2}, minute=20),
        runs("early", {"gpu": 1}, {"n2": 4}, minute=10),
        waits(pods("main", 4, {"gpu": 1}, ONE_HOST)),
    )
    assert (victims(found), placed(found)) == (["early"], {"n2": 4})


def test_greedy_spends_a_budget_on_the_wrong_node() -> None:
    """§8.1: after one victim the other queue is within nominal; only the second's node helps."""
    cluster = [
        *TREE,
        *node("n1", "r", gpu=2),
        *node("n2", "r", gpu=4),
        *queue("q", 4, "all", reclaim="Any"),
        *queue("other", 2, "all"),
    ]
    on_small = runs("small", {"gpu": 1}, {"n1": 2}, minute=20, queue_name="other")
    on_large = runs("large", {"gpu": 1}, {"n2": 2}, minute=10, queue_name="other")
    asks = waits(pods("main", 3, {"gpu": 1}, ONE_HOST))
    assert victims(decided(cluster, on_small, on_large, asks)) == []
    on_small = runs("small", {"gpu": 1}, {"n1": 2}, minute=5, queue_name="other")
    assert victims(decided(cluster, on_small, on_large, asks)) == ["large"]


@pytest.mark.parametrize("asked", [ONE_RACK, {"preferred": RACK}, {"preferred": HOST}, ANYWHERE])
def test_best_fit(asked: Object) -> None:
    """§5.3, trap 10: the smallest rack that is enough, and in it the smallest node that is."""
    rack_a = [*node("a", "ra", gpu=5), *node("b", "ra", gpu=1)]
    rack_b = [*node("c", "rb", gpu=1), *node("d", "rb", gpu=3)]
    found = decided([*TREE, *rack_a, *rack_b, *room()], waits(pods("main", 3, {"gpu": 1}, asked)))
    assert (found.assignment.mode, placed(found)) == ("Fit", {"d": 3})


@pytest.mark.parametrize("asked", [ANYWHERE, {**ONE_RACK, **ANYWHERE}])
def test_unconstrained_pods_go_to_the_emptiest_handed_first(asked: Object) -> None:
    """Trap 10: no single node is enough, so those with the least room are filled up first.

    So they are in a rack that is required beside it (§3.2): kueue ff69552e
    tas_flavor_snapshot.go ``isUnconstrained``.
    """
    nodes = [*node("a", "r", gpu=1), *node("b", "r", gpu=3), *node("c", "r", gpu=2)]
    asks = waits(pods("main", 4, {"gpu": 1}, asked))
    assert placed(decided([*TREE, *nodes, *room()], asks)) == {"a": 1, "b": 1, "c": 2}
    mixed = configuration(featureGates={"TASProfileMixed": False})
    assert placed(decided([*TREE, *nodes, *room(), *mixed], asks)) == {"a": 1, "b": 3}


def test_levels_are_ordered_as_texts() -> None:
    """Trap 16: node-10 is before node-2."""
    nodes = [*node("node-2", "r", gpu=2), *node("node-10", "r", gpu=2)]
    asks = waits(pods("main", 1, {"gpu": 1}, ANYWHERE))
    assert placed(decided([*TREE, *nodes, *room()], asks)) == {"node-10": 1}


def test_a_remainder_of_slices_is_not_placed() -> None:
    """Trap 12: 5 pods in slices of 2 are 4 pods; one pod in a slice of 2 is none at all."""
    slices = {**ANYWHERE, "podSetSliceRequiredTopology": HOST, "podSetSliceSize": 2}
    nodes = [*node("a", "r", gpu=3), *node("b", "r", gpu=2)]
    found = decided([*TREE, *nodes, *room()], waits(pods("main", 5, {"gpu": 1}, slices)))
    assert (found.assignment.mode, placed(found)) == ("Fit", {"a": 2, "b": 2})
    found = decided([*TREE, *nodes, *room()], waits(pods("main", 1, {"gpu": 1}, slices)))
    assert (found.assignment.mode, placed(found)) == ("Fit", {})


def test_slices_without_a_size_have_no_place() -> None:
    """§5.1: kueue ff69552e pkg/util/tas/tas.go takes a size that is not there for 0."""
    slices = {**ANYWHERE, "podSetSliceRequiredTopology": HOST}
    cluster = [*TREE, *node("a", "r", gpu=4), *room()]
    found = decided(cluster, waits(pods("main", 2, {"gpu": 1}, slices)))
    assert found.assignment.mode == "NoFit"
    found = decided(cluster, waits(pods("main", 2, {"gpu": 1}, {**slices, "podSetSliceSize": 1})))
    assert found.assignment.mode == "Fit"


def test_a_list_of_layers_wins_over_the_single_one_beside_it() -> None:
    """§1: also where the single one names a level that is not there (§3.1)."""
    layers = [{"topology": HOST, "size": 2}]
    single = {"podSetSliceRequiredTopology": "no.such/level", "podSetSliceSize": 3}
    both = {**ONE_RACK, **single, "podsetSliceRequiredTopologyConstraints": layers}
    nodes = [*node("a", "r", gpu=3), *node("b", "r", gpu=2)]
    found = decided([*TREE, *nodes, *room()], waits(pods("main", 4, {"gpu": 1}, both)))
    assert (found.assignment.mode, placed(found)) == ("Fit", {"a": 2, "b": 2})


def test_the_leader_stands_where_the_workers_do() -> None:
    """§4: one rack for both; the leader's own level is not looked at."""
    group = {"podSetGroupName": "g"}
    nodes = [*node("a", "ra", gpu=3), *node("b", "rb", gpu=2, cpu=1), *node("c", "rb", gpu=2)]
    asks = waits(
        pods("leader", 1, {"cpu": 1}, {**ONE_HOST, **group}),
        pods("workers", 3, {"gpu": 1}, {**ONE_RACK, **group}),
    )
    found = decided([*TREE, *nodes, *room(BOTH)], asks)
    assert found.assignment.mode == "Fit"
    assert placed(found, "leader") == {"b": 1}
    assert sum((placed(found, "workers") or {}).values()) == 3
    assert set(placed(found, "workers") or {}) == {"b", "c"}


def test_a_third_podset_in_a_group_crashes_kueue() -> None:
    """§4: it gets no place with its group; where the group has none either, nothing crashes."""
    asked = {**ONE_RACK, "podSetGroupName": "g"}
    asks = waits(*(pods(name, 1, {"gpu": 1}, asked) for name in ("a", "b", "c")))
    assert decided([*TREE, *node("n", "r", gpu=1), *room()], asks).assignment.mode == "NoFit"
    with pytest.raises(UnsupportedError, match="group g has 3 podsets"):
        decided([*TREE, *node("n", "r", gpu=9), *room()], asks)


def test_pods_are_asked_for_though_nobody_says_so() -> None:
    """Trap 1: a node has slots for as many pods as it lists, and none where it lists none."""
    asks = waits(pods("main", 2, {"gpu": 1}, ONE_HOST))
    assert (
        decided([*TREE, *node("a", "r", gpu=9, pods=1), *room()], asks).assignment.mode == "NoFit"
    )
    assert decided([*TREE, *node("a", "r", gpu=9, pods=2), *room()], asks).assignment.mode == "Fit"


@pytest.mark.parametrize(
    ("other", "mode"),
    [
        (pod("x", "a", gpu=2), "NoFit"),
        (pod("x", "a", gpu=1), "Fit"),
        (pod("x", "a", gpu=2, phase="Succeeded"), "Fit"),
        (pod("x", "a", gpu=2, placed=True), "Fit"),
        (pod("x", "", gpu=2), "Fit"),
        (pod("x", "b", gpu=2), "Fit"),
    ],
)
def test_pods_that_kueue_did_not_place(other: list[Object], mode: str) -> None:
    """§2.3: they take what they ask for, and nobody can evict them; limits do not count."""
    cluster = [*TREE, *node("a", "r", gpu=4), *room()]
    asks = waits(pods("main", 3, {"gpu": 1}, ONE_HOST))
    assert decided(cluster, other, asks).assignment.mode == mode


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


def test_where_racks_are_the_lowest_level_nodes_are_summed_up() -> None:
    """Trap 5: neither taints count there, nor that a pod fits on no single node."""
    nodes = [*node("a", "r", gpu=2, taints=[TAINT]), *node("b", "r", gpu=2)]
    asks = waits(pods("main", 1, {"gpu": 4}, ANYWHERE))
    cluster = [*topology(RACK), *flavor(), *nodes, *room()]
    assert placed(decided(cluster, asks)) == {"r": 1}


def test_a_victim_under_another_flavor_frees_nothing() -> None:
    """Trap 3: it counts on its node at the start, but its removal is that of its own flavor."""
    groups = [
        {
            "coveredResources": ["gpu"],
            "flavors": [
                {"name": name, "resources": [{"name": "gpu", "nominalQuota": 9}]}
                for name in (FLAVOR, "second")
            ],
        }
    ]
    (there, local) = room()
    there["spec"]["resourceGroups"] = groups
    there["spec"]["flavorFungibility"] = {"whenCanPreempt": "MayStopSearch"}
    cluster = [*TREE, *flavor("second"), *node("a", "r", gpu=4), there, local]
    asks = waits(pods("main", 4, {"gpu": 1}, ONE_HOST))
    own = runs("v", {"gpu": 1}, {"a": 1})
    assert victims(decided(cluster, own, asks)) == ["v"]
    found = decided(cluster, runs("v", {"gpu": 1}, {"a": 1}, flavor_name="second"), asks)
    assert (found.assignment.mode, victims(found)) == ("Preempt", [])


def test_an_assignment_to_what_is_no_leaf_takes_nothing() -> None:
    """Trap 4: the full path is no id where leaves are nodes."""
    cluster = [*TREE, *node("a", "r", gpu=4), *room()]
    asks = waits(pods("main", 4, {"gpu": 1}, ONE_HOST))
    assert decided(cluster, runs("v", {"gpu": 1}, {"r,a": 2}), asks).assignment.mode == "Fit"
    assert decided(cluster, runs("v", {"gpu": 1}, {"gone": 2}), asks).assignment.mode == "Fit"
    assert victims(decided(cluster, runs("v", {"gpu": 1}, {"a": 2}), asks)) == ["v"]


def test_flavors_that_suit_placement() -> None:
    """§3.1: who asks for a place needs a topology with that level, others must have none."""
    plain = flavor(topology_name="")
    asks = waits(pods("main", 1, {"gpu": 1}, ONE_RACK))
    said = "couldn't assign flavors to pod set main: "
    found = decided([*topology(), *plain, *room()], asks)
    assert found.assigned.message == (
        f'{said}Flavor "default" does not support TopologyAwareScheduling'
    )
    cluster = [*topology(HOST), *flavor(), *node("a", "r", gpu=4), *room()]
    found = decided(cluster, asks)
    assert found.assigned.message == f'{said}Flavor "default" does not contain the requested level'
    found = decided(cluster, waits(pods("main", 1, {"gpu": 1}, {"unconstrained": False})))
    assert found.assignment.mode == "NoFit"
    # In a queue that has nothing else, placement is implied.
    found = decided(cluster, waits(pods("main", 1, {"gpu": 1})))
    assert (found.assignment.mode, placed(found)) == ("Fit", {"a": 1})


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


@pytest.mark.parametrize("nodes", [node("a", "r", gpu=4), []])
def test_balanced_placement_of_no_slice_crashes_kueue(nodes: list[Object]) -> None:
    """§10.1: it divides by the number of domains that it uses, which is 0 without a node, too."""
    on = configuration(featureGates={"TASBalancedPlacement": True})
    slices = {"preferred": RACK, "podSetSliceRequiredTopology": HOST, "podSetSliceSize": 2}
    cluster = [*TREE, *nodes, *room(), *on]
    asks = waits(pods("main", 1, {"gpu": 1}, slices))
    with pytest.raises(UnsupportedError, match="Kueue crashes here: podset main"):
        decided(cluster, asks)


def test_balanced_placement_spreads_evenly() -> None:
    """§10.1: best fit would fill one node before the other."""
    nodes = [*node("a", "r", gpu=4), *node("b", "r", gpu=4)]
    asks = waits(pods("main", 6, {"gpu": 1}, {"preferred": RACK}))
    assert placed(decided([*TREE, *nodes, *room()], asks)) == {"a": 4, "b": 2}
    on = configuration(featureGates={"TASBalancedPlacement": True})
    assert placed(decided([*TREE, *nodes, *room(), *on], asks)) == {"a": 3, "b": 3}


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


PREFERS = {"TASRespectNodeAffinityPreferred": True}
SSD = {"disk": "ssd"}


def test_balanced_placement_serves_preferred_nodes_first() -> None:
    """§10.1: 2 pods on each of a and c, the least that is enough; the fifth goes to c."""
    nodes = [*node("a", "r", gpu=4), *node("b", "r", gpu=4), *node("c", "r", gpu=3, labels=SSD)]
    cluster = [*TREE, *nodes, *room(), *preferring(5, {"preferred": RACK})]
    gates = {"TASBalancedPlacement": True}
    assert placed(decided(cluster, configuration(featureGates=gates))) == {"a": 3, "c": 2}
    found = decided(cluster, configuration(featureGates=gates | PREFERS))
    assert placed(found) == {"a": 2, "c": 3}


def test_a_preferred_node_that_does_not_qualify_is_no_preference_for_its_rack() -> None:
    """§10: nodes that are left out have no score: kueue ff69552e ``FindFeasibleNodes``."""
    apart = node("c", "rb", gpu=2, labels=SSD, taints=[TAINT])
    nodes = [*node("a", "ra", gpu=2), *node("b", "rb", gpu=2), *apart]
    found = decided(
        [*TREE, *nodes, *room(), *preferring(2, ONE_RACK)], configuration(featureGates=PREFERS)
    )
    assert placed(found) == {"a": 2}


@pytest.mark.parametrize(("cached", "node_name"), [(True, "a"), (False, "b")])
def test_preferences_are_forgotten_with_the_cache_only(cached: bool, node_name: str) -> None:  # noqa: FBT001 - a gate
    """§10: the place once the victim is gone is a later evaluation of the same podset."""
    nodes = [*node("a", "r", gpu=2), *node("b", "r", gpu=2, labels=SSD), *node("c", "r", gpu=4)]
    gates = configuration(featureGates=PREFERS | {"TASCacheNodeMatchResults": cached})
    found = decided(
        [*TREE, *nodes, *room(5), *runs("v", {"gpu": 1}, {"c": 4}), *gates],
        preferring(2, ONE_HOST),
    )
    assert (victims(found), placed(found)) == (["v"], {node_name: 2})


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


def test_the_slice_that_is_replaced_makes_room_once_the_victims_are_gone() -> None:
    """§6.1: it is among the targets; the search itself does not remove it, so that v must go."""
    (workload,) = waits(pods("main", 3, {"gpu": 1}, ONE_HOST))
    workload["metadata"]["annotations"] = {REPLACEMENT_FOR: "ns/old"}
    found = decided(
        [*TREE, *node("a", "r", gpu=3), *node("c", "r", gpu=4), *room(7), workload],
        runs("old", {"gpu": 1}, {"a": 2}, priority=5),
        runs("v", {"gpu": 1}, {"c": 4}),
    )
    assert (victims(found), placed(found)) == (["old", "v"], {"a": 3})


def test_workloads_without_an_assignment_take_no_node() -> None:
    """§2.4: such as one that is delayed, or was admitted before there was a topology."""
    cluster = [*TREE, *node("a", "r", gpu=4), *room()]
    found = decided(cluster, running("v", "q", 4), waits(pods("main", 4, {"gpu": 1}, ONE_HOST)))
    assert found.assignment.mode == "Fit"


def guarded(controller: str, **spec: Any) -> list[Object]:
    """Return a queue with an active admission check, and the check, of a controller of Kueue."""
    check = admission_check("check", f"kueue.x-k8s.io/{controller}")
    strategy = {"admissionChecks": [{"name": "check"}]}
    return [*with_spec(room(), admissionChecksStrategy=strategy, **spec), check]


@pytest.mark.parametrize("controller", ["multikueue", "no-such-controller"])
@pytest.mark.parametrize(
    ("flavors", "asked", "mode", "given"),
    [
        ((FLAVOR, "plain"), None, "Fit", "plain"),
        ((FLAVOR,), {"required": "no.such/level"}, "NoFit", None),
        (("plain",), ONE_RACK, "NoFit", None),
    ],
)
def test_flavors_are_chosen_alike_where_other_clusters_place_the_pods(
    controller: str, flavors: Sequence[str], asked: Object | None, mode: str, given: str | None
) -> None:
    """A flavor suits placement or not (§3.1), whoever places the pods (§9)."""
    found = decided(
        [*TREE, *flavor("plain", ""), *node("n1", "r", gpu=8)],
        guarded(controller, **several_flavors("gpu", **dict.fromkeys(flavors, 100))),
        waits(pods("main", 2, {"gpu": 1}, asked)),
    )
    assert found.assignment.mode == mode
    chosen = [one.flavor for pods in found.assignment.pod_sets for one in pods.flavors.values()]
    assert not given or chosen == [given]


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
