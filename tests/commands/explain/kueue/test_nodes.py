"""What each domain lacks, and who would have to go: docs/semantics/kueue-topology.md."""

from collections.abc import Sequence

import pytest

import planner
from planner.commands.explain.kueue.record import Explanation, OnNodes
from planner.report.explanation import render
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object, configuration, queue
from tests.reference.topology.racks import (
    RACK,
    SMALL,
    best_fit,
    flavor,
    node,
    pods,
    room,
    runs,
    state_of,
    topology,
    waits,
)
from tests.reference.topology.test_examples import two_racks
from tests.told import told

TREE = [*topology(), *flavor()]
TWO_RACKS = [
    *TREE,
    *node("n1", "r1", gpu=8),
    *node("n2", "r1", gpu=8),
    *node("n3", "r2", gpu=8),
    *node("n4", "r2", gpu=8),
]
FOUR = {"gpu": 4}
ONE_RACK: Object = {"required": RACK}


def explained(*parts: Sequence[Object]) -> Explanation:
    """Return what is explained of the pending workload."""
    found = planner.explain(state_of(*parts), PENDING)
    assert isinstance(found, Explanation)
    return found


def nodes_of(*parts: Sequence[Object]) -> OnNodes:
    """Return what is said of the nodes."""
    found = explained(*parts).nodes
    assert found is not None
    return found


def texts(nodes: OnNodes) -> list[str]:
    """Return all that is said of domains."""
    return [one.text for flavor in nodes.flavors for one in flavor.closest]


def test_what_each_rack_lacks() -> None:
    """Of r1 one slot is left, and a and b hold three; c of r2 outranks the workload."""
    answer = explained(
        TWO_RACKS,
        room(),
        runs("a", FOUR, {"n1": 1}),
        runs("b", FOUR, {"n2": 2}),
        runs("c", {"gpu": 8}, {"n3": 1}, priority=9),
        runs("d", {"gpu": 2}, {"n4": 1}),
        waits(pods("main", 4, FOUR, ONE_RACK)),
    )
    assert answer.nodes is not None
    (found,) = answer.nodes.flavors
    assert (found.assigned, found.level, found.manner) == (True, RACK, "required")
    assert (found.slot, found.size, found.wanted, found.domains) == ("4 gpu", 1, 4, 2)
    first, second = found.closest
    told(first.text)
    told(second.text)
    assert first.candidates == first.whoever
    assert second.candidates is not None
    assert second.candidates.victims is None
    assert (answer.nodes.mode, answer.nodes.victims) == ("Preempt", ("ns/a", "ns/b"))
    told(answer.answer)


def test_racks_of_one_label_in_two_blocks_are_told_apart() -> None:
    """The rack r9 is alone with its label."""
    racks = (("n1", "r1", "b1"), ("n2", "r1", "b2"), ("n3", "r9", "b2"))
    state = state_of(
        topology("block", RACK, HOST),
        flavor(),
        *(node(name, rack, labels={"block": block}, gpu=8) for name, rack, block in racks),
        room(),
        *(runs(f"on-{name}", {"gpu": 8}, {name: 1}, priority=9) for name, _, _ in racks),
        waits(pods("main", 1, {"gpu": 8}, ONE_RACK)),
    )
    answer = planner.explain(state, PENDING)
    assert isinstance(answer, Explanation)
    assert answer.nodes is not None
    (found,) = answer.nodes.flavors
    names = {one.domain: one.name for one in found.closest}
    assert names == {
        ("b1", "r1"): "rack b1/r1",
        ("b2", "r1"): "rack b2/r1",
        ("b2", "r9"): "rack r9",
    }
    assert all(one.text.startswith(f"{one.name} lacks") for one in found.closest)
    assert names.items() <= {one.domain: one.name for one in answer.nodes.around[0].domains}.items()
    assert "rack b1/r1 has 0, rack b2/r1 has 0" in planner.solve(state).explanation


def test_who_has_room_lacks_nothing() -> None:
    answer = explained(TWO_RACKS, room(), waits(pods("main", 4, FOUR, ONE_RACK)))
    assert answer.nodes is not None
    assert (answer.nodes.mode, answer.nodes.victims) == ("Fit", ())
    told(texts(answer.nodes))
    assert "On the nodes" not in answer.answer


@pytest.mark.parametrize(("slots", "alone"), [(1, True), (2, False)])
def test_where_only_pods_are_short_that_is_said(slots: int, *, alone: bool) -> None:
    """As in kubernetes-sigs/kueue#4439, where a node of 5 cores takes one pod."""
    full = runs("low", {"cpu": 1}, {"n1": 1})
    asks = waits(pods("main", 1, {"cpu": 4 * slots}, {"required": HOST}))
    quota = room({"cpu": 100})
    answer = explained(topology(HOST), flavor(), node("n1", cpu=8, pods=1), quota, full, asks)
    words = "what is short is only the number of pods that a node takes"
    assert answer.nodes is not None
    assert (words in texts(answer.nodes)[0]) == alone
    noted = [one for one in answer.notes if "the nodes lack room" in one]
    assert [words in one for one in noted] == [alone]


def ghost() -> list[Object]:
    """Return two flavors of a node each, of which the second is cordoned, its quota being there.

    As in kubernetes-sigs/kueue#10824: the walk goes on from the first, in which somebody would have
    to go, and stops at the second, which has quota for one more and no room.
    """
    found, local = room(1)
    quota = [{"name": "gpu", "nominalQuota": 1}]
    flavors = [{"name": name, "resources": quota} for name in ("first", "second")]
    found["spec"]["resourceGroups"] = [{"coveredResources": ["gpu"], "flavors": flavors}]
    found["spec"]["flavorFungibility"] = {"whenCanPreempt": "TryNextFlavor"}
    return [
        *topology(),
        *flavor("first", nodeLabels={RACK: "r1"}),
        *flavor("second", nodeLabels={RACK: "r2"}),
        *node("n1", "r1", gpu=1),
        *node("n2", "r2", gpu=1, unschedulable=True),
        found,
        local,
        *runs("low", {"gpu": 1}, {"n1": 1}, flavor_name="first"),
        *waits(pods("main", 1, {"gpu": 1}, {"required": HOST})),
    ]


def test_where_another_flavor_has_room_the_walk_over_flavors_is_a_change_that_helps() -> None:
    answer = explained(ghost())
    assert (answer.question, answer.status) == ("why-nothing", "infeasible")
    assert answer.clash is not None
    first = answer.clash.changes[0]
    assert first.path == "clusterqueue/q.flavorFungibility.whenCanPreempt"
    assert (first.after, first.victims) == ("MayStopSearch", ("ns/low",))
    assert answer.nodes is not None
    assert [one.closest for one in answer.nodes.flavors if one.assigned] == [()]
    screen = render(answer, "table", width=200, color=False)
    assert "in flavor second: there is none" in screen
    assert screen.count("Domain ") == len(answer.nodes.flavors) - 1


def test_what_the_nodes_refuse_is_admitted_by_quota_alone() -> None:
    plan = planner.solve(state_of(ghost()), PENDING, flavors="optimal")
    assert plan.status == "conditional"
    assert plan.greedy is not None
    assert plan.greedy.explanation.startswith("by quota alone")
    assert any("Kueue itself has no room for" in one for one in plan.notes)


def test_what_no_eviction_gives() -> None:
    """A third rack would be needed: even empty, each has room for four."""
    nodes = nodes_of(TWO_RACKS, room(), waits(pods("main", 5, FOUR, ONE_RACK)))
    assert nodes.mode == "NoFit"
    told(texts(nodes)[0])


def test_slices_are_counted_in_slices() -> None:
    """Two slices of two pods on one node each; n1 has one pod's place left, n2 none."""
    asked = {"required": RACK, "podSetSliceRequiredTopology": HOST, "podSetSliceSize": 2}
    nodes = nodes_of(
        TWO_RACKS[:-2],
        room(),
        runs("a", FOUR, {"n1": 1}),
        runs("b", FOUR, {"n2": 2}),
        waits(pods("main", 4, FOUR, asked)),
    )
    told(texts(nodes))


def test_all_of_the_flavor_decides_where_a_level_is_preferred() -> None:
    nodes = nodes_of(
        TWO_RACKS,
        room(),
        runs("a", {"gpu": 8}, {"n1": 1, "n2": 1}),
        runs("b", {"gpu": 8}, {"n3": 1}),
        waits(pods("main", 3, FOUR, {"preferred": RACK})),
    )
    whole, first, second = nodes.flavors[0].closest
    assert (whole.domain, whole.name, whole.holds, whole.lacks) == ((), "flavor default", 2, 1)
    assert whole.whoever is not None
    assert (whole.whoever.victims, whole.whoever.proved) == (("ns/a",), True)
    assert [(one.name, one.holds, one.lacks) for one in (first, second)] == [
        ("rack r2", 2, 1),
        ("rack r1", 0, 3),
    ]


def test_pods_that_go_anywhere_are_told_of_all_nodes_only() -> None:
    asks = waits(pods("main", 5, FOUR, {"unconstrained": True}))
    (one,) = nodes_of(TWO_RACKS, room(), asks).flavors[0].closest
    assert (one.domain, one.text) == ((), "flavor default has room: 8 slots of 4 gpu for 5")


def test_a_leader_needs_its_place_too() -> None:
    """n1 has two slots, of which the leader takes one; without a, n2 has two more."""
    group = {"required": RACK, "podSetGroupName": "g"}
    nodes = nodes_of(
        TWO_RACKS[:-2],
        room(),
        runs("a", FOUR, {"n2": 2}),
        waits(pods("leader", 1, FOUR, group), pods("workers", 2, FOUR, group)),
    )
    (found,) = nodes.flavors
    assert found.pod_sets == ("workers", "leader")
    (one,) = found.closest
    assert (one.holds, one.lacks, one.candidates and one.candidates.victims) == (1, 1, ("ns/a",))


def test_podsets_are_told_of_one_by_one() -> None:
    """§8: without v2 alone both would have a place; Kueue takes v1 first, and finds nobody."""
    found = nodes_of(two_racks(first="v1"))
    assert (found.mode, found.victims) == ("Preempt", ())
    rooms = {one.pod_sets: one.closest[0] for one in found.flavors}
    assert (rooms["a",].lacks, rooms["a",].name) == (0, "rack ra")
    opening = rooms["b",].candidates
    assert opening is not None
    assert opening.victims == ("ns/v2",)


def test_podsets_are_told_of_together_where_none_alone_is_the_reason() -> None:
    """§8: with both gone, a takes the smaller rack that is enough for it, the only one for b."""
    together = nodes_of(two_racks(first="v1")).together
    assert together is not None
    assert (together.when, together.without, together.lacking) == ("candidates", (), ("b",))
    assert [(one.name, one.domains[0].values) for one in together.places] == [("a", ("n2",))]
    assert together.order == ("b", "a")
    assert together.message.startswith('topology "dc" ')
    told(together.text)


def test_without_those_who_would_do_for_each_alone() -> None:
    """Kueue takes all four: the one that b needs gone, a would take its place."""
    answer = explained(best_fit(*SMALL))
    assert answer.nodes is not None
    together = answer.nodes.together
    assert together is not None
    assert (together.when, together.without, together.lacking) == ("now", ("ns/large",), ("b",))
    assert answer.answer.endswith(together.text)
    for style in ("plain", "terminal", "markdown", "html"):
        text = " ".join(render(answer, style, color=False, width=400).split())
        assert "first a goes to n2 (2), then b has none" in text


def test_together_they_have_no_place_even_with_nobody_there() -> None:
    nodes = nodes_of(best_fit(cores=24))
    assert (nodes.mode, nodes.victims) == ("NoFit", ())
    assert nodes.together is not None
    told(nodes.together.text)


@pytest.mark.parametrize(
    "parts",
    [
        two_racks(first="v2"),  # Kueue takes the one that is enough for both
        [*TWO_RACKS, *room(), *waits(pods("a", 9, FOUR, ONE_RACK), pods("b", 1, FOUR, ONE_RACK))],
        [*TWO_RACKS, *room(), *waits(pods("a", 4, FOUR, ONE_RACK), pods("b", 4, FOUR, ONE_RACK))],
    ],
    ids=["enough", "one alone is the reason", "it fits"],
)
def test_nothing_is_said_of_podsets_together_otherwise(parts: list[Object]) -> None:
    assert nodes_of(parts).together is None


def test_flavors_that_were_not_assigned_are_told_as_well() -> None:
    """Kueue stays with the first flavor that quota allows (§3.3), although the second has room."""
    second = [*flavor("second", "other"), *topology(name="other")]
    groups = [
        {"name": name, "resources": [{"name": "gpu", "nominalQuota": 100}]}
        for name in ("default", "second")
    ]
    own = room()
    own[0]["spec"]["resourceGroups"] = [{"coveredResources": ["gpu"], "flavors": groups}]
    second[0]["spec"]["nodeLabels"] = {"pool": "b"}
    nodes = nodes_of(
        topology(),
        flavor(nodeLabels={"pool": "a"}),
        second,
        node("n1", "r1", labels={"pool": "a"}, gpu=4),
        node("n2", "r2", labels={"pool": "b"}, gpu=8),
        own,
        waits(pods("main", 2, FOUR, {"required": HOST})),
    )
    rooms = [(one.flavor, one.assigned, one.closest[0].text) for one in nodes.flavors]
    assert rooms == [
        ("default", True, "node n1 lacks 1 slot of 4 gpu: it has 1 of 2, and 1 with nobody there"),
        ("second", False, "node n2 has room: 2 slots of 4 gpu for 2"),
    ]


def test_what_is_missing_is_said() -> None:
    asks = waits(pods("main", 1, FOUR, ONE_RACK))
    nowhere = explained(TREE, room(), asks)
    assert nowhere.nodes is not None
    told(nowhere.nodes.unknown)
    told(nowhere.answer)
    levelless = nodes_of(flavor(), node("n1", "r"), room(), asks)
    told(levelless.unknown)


@pytest.mark.parametrize(
    "parts",
    [
        [*TWO_RACKS, *room(), *configuration(featureGates={"TopologyAwareScheduling": False})],
        [*flavor(topology_name=""), *room()],
    ],
)
def test_nothing_is_said_where_nodes_decide_nothing(parts: list[Object]) -> None:
    assert explained(parts, waits(pods("main", 1, {"gpu": 1}))).nodes is None


def test_every_format_has_it() -> None:
    answer = explained(
        TWO_RACKS,
        queue("q", 100, within="LowerPriority"),
        runs("a", FOUR, {"n1": 1}),
        runs("b", {"gpu": 8}, {"n3": 1, "n4": 1}, priority=9),
        waits(pods("main", 4, FOUR, ONE_RACK)),
    )
    plain = render(answer, "plain", color=False, width=100)
    assert "domain           default r1 holds=3 empty=4 lacks=1 used=yes " in plain
    assert "candidates       default r1 victim=ns/a proved=yes" in plain
    for style in ("terminal", "markdown", "html"):
        text = render(answer, style, color=False, width=100)
        assert "main: 4 slots of 4 gpu, required in one rack, in flavor default" in text
        assert "1: ns/b" in text


def test_nodes_that_are_out_of_use_are_named() -> None:
    """With n5 and n6, r1 would have the two slots more that it lacks."""
    answer = explained(
        TWO_RACKS,
        node("n5", "r1", unschedulable=True, gpu=8),
        node("n6", "r1", ready="Unknown", gpu=8),
        room(),
        waits(pods("main", 6, FOUR, ONE_RACK)),
    )
    assert answer.nodes is not None
    by_rack = {one.name: one.text for one in answer.nodes.flavors[0].closest}
    told(by_rack["rack r1"])
    assert "n5" not in by_rack["rack r2"]
    told(answer.answer)


def test_podsets_of_one_shape_are_told_of_in_one_sentence() -> None:
    answer = explained(
        TWO_RACKS,
        room(),
        runs("x", {"gpu": 8}, {"n1": 1, "n3": 1}, priority=9),
        waits(pods("a", 3, FOUR, ONE_RACK), pods("b", 3, FOUR, ONE_RACK)),
    )
    assert answer.answer.count("it has 2 of 3") == 1
    told(answer.answer)
