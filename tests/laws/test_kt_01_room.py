"""KT-01: there is room on the nodes for every podset, and for all of them together."""

from collections.abc import Sequence

import pytest

from planner.state.kueue_topology import HOST
from tests.cluster import Object, configuration
from tests.laws.floors import Floor, keys
from tests.laws.judges import sets
from tests.reference.topology.racks import RACK, flavor, node, pods, room, runs, topology, waits
from tests.told import told

ALL = sets("", "a", "b", "c", "a b", "a c", "b c", "a b c")


def cluster(*waiting: Object, most: int = 110) -> list[Object]:
    """Two racks: n1 (4 GPUs, a has 2) and n2 (4, b has 3) in r1; n3 (4, c has 4) in r2.

    A node takes ``most`` pods.
    """
    return [
        *topology(),
        *flavor(),
        *node("n1", "r1", gpu=4, pods=most),
        *node("n2", "r1", gpu=4, pods=most),
        *node("n3", "r2", gpu=4, pods=most),
        *runs("a", {"gpu": 1}, {"n1": 2}),
        *runs("b", {"gpu": 1}, {"n2": 3}),
        *runs("c", {"gpu": 2}, {"n3": 2}),
        *room(),
        *waits(*waiting),
    ]


def one(count: int, gpus: int, **asked: object) -> Object:
    """Return a podset that asks for a place."""
    return pods("main", count, {"gpu": gpus}, asked)


CASES = [
    ("anywhere, one more", cluster(one(4, 1, unconstrained=True)), ALL - sets("")),
    (
        "free amounts of two nodes are no slot",
        cluster(one(1, 3, unconstrained=True)),
        ALL - sets(""),
    ),
    (
        "a slot is a whole node",
        cluster(one(2, 4, unconstrained=True)),
        sets("a b", "a c", "b c", "a b c"),
    ),
    ("preferred is no condition", cluster(one(5, 1, preferred=HOST)), ALL - sets("")),
    ("on one node", cluster(one(4, 1, required=HOST)), ALL - sets("")),
    ("in one rack", cluster(one(6, 1, required=RACK)), sets("b", "a b", "b c", "a b c")),
    ("in one rack, all of it", cluster(one(8, 1, required=RACK)), sets("a b", "a b c")),
    (
        "slices of two on a node: what is odd does not count",
        cluster(one(4, 1, required=RACK, podSetSliceRequiredTopology=HOST, podSetSliceSize=2)),
        sets("a", "b", "c", "a b", "a c", "b c", "a b c"),
    ),
    (
        "slices of four",
        cluster(one(8, 1, preferred=RACK, podSetSliceRequiredTopology=HOST, podSetSliceSize=4)),
        sets("a b", "a c", "b c", "a b c"),
    ),
    (
        "a leader takes a GPU of the same rack",
        cluster(
            pods("w", 5, {"gpu": 1}, {"required": RACK, "podSetGroupName": "g"}),
            pods("l", 1, {"gpu": 1}, {"required": RACK, "podSetGroupName": "g"}),
        ),
        sets("b", "a b", "b c", "a b c"),
    ),
    ("pods count, too", cluster(one(4, 1, unconstrained=True), most=3), ALL - sets("", "a")),
]


@pytest.mark.parametrize(
    ("parts", "legal"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_replay_model_and_verifier_agree_with_what_is_known(
    parts: Sequence[Object], legal: frozenset[frozenset[str]]
) -> None:
    floor = Floor(parts)
    assert floor.replayed() == legal
    assert floor.admitted() == legal
    assert floor.accepted() == legal
    assert floor.admitted({"KT-01"}) == ALL
    refused = [gone for gone in floor.subsets() if keys(gone) not in legal]
    assert all(floor.broken(gone) == ["KT-01", "KT-02"] for gone in refused)


def test_pods_that_cannot_be_evaluated_have_room_nowhere() -> None:
    """Slices without a size, checks and preferences that mean nothing.

    docs/semantics/kueue-topology.md §4.1, §5.1 and §10.
    """
    sliced = cluster(one(4, 1, unconstrained=True, podSetSliceRequiredTopology=HOST))
    torn = cluster(one(4, 1, unconstrained=True))
    torn[-1]["status"] = {
        "admissionChecks": [
            {
                "name": zone,
                "state": "Ready",
                "podSetUpdates": [{"name": "main", "nodeSelector": {"zone": zone}}],
            }
            for zone in ("z1", "z2")
        ]
    }
    liking = cluster(one(4, 1, unconstrained=True))
    row = {"key": "disk", "operator": "In", "values": []}
    preferred = [{"weight": 1, "preference": {"matchExpressions": [row]}}]
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    liking[-1]["spec"]["podSets"][0]["template"]["spec"]["affinity"] = {"nodeAffinity": affinity}
    gates = configuration(featureGates={"TASRespectNodeAffinityPreferred": True})
    for parts in (sliced, torn, [*liking, *gates]):
        floor = Floor(parts)
        assert floor.admitted() == floor.accepted() == sets()


def test_a_leader_takes_its_slot_also_where_nobody_may_go() -> None:
    """n1 has two slots and nobody on it: with the leader there, one is left for the workers."""
    group = {"required": RACK, "podSetGroupName": "g"}
    floor = Floor(
        [
            *topology(),
            *flavor(),
            *node("n1", "r1", gpu=8),
            *node("n2", "r1", gpu=8),
            *runs("a", {"gpu": 4}, {"n2": 2}),
            *room(),
            *waits(pods("l", 1, {"gpu": 4}, group), pods("w", 2, {"gpu": 4}, group)),
        ]
    )
    assert floor.replayed() == floor.admitted() == floor.accepted() == sets("a")


@pytest.mark.parametrize(
    ("levels", "values", "legal"),
    [
        ((RACK, HOST), ["r9"], ALL - sets("")),
        ((RACK, HOST), [], sets()),
        ((RACK,), ["r9"], sets("")),  # those who run are on no rack by name
        ((RACK,), [], sets()),
    ],
)
def test_one_wrong_term_of_an_affinity_is_enough(
    levels: tuple[str, ...], values: list[str], legal: frozenset[frozenset[str]]
) -> None:
    """The other term has all racks. A wrong term counts even where no node is looked at."""
    rows = [{"key": RACK, "operator": "In", "values": some} for some in (["r1", "r2"], values)]
    required = {"nodeSelectorTerms": [{"matchExpressions": [row]} for row in rows]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    asks = one(4, 1, unconstrained=True)
    asks["template"]["spec"]["affinity"] = {"nodeAffinity": terms}
    floor = Floor([*topology(*levels), *cluster(asks)[1:]])
    assert floor.replayed() == floor.admitted() == floor.accepted() == legal


def test_it_says_what_there_is() -> None:
    floor = Floor(cluster(one(6, 1, required=RACK)))
    told(floor.detail(floor.named("a"), "KT-01"))
    assert floor.detail(floor.named("b"), "KT-01") == "room for main"


def test_several_podsets_need_room_together() -> None:
    two = [
        pods("x", 3, {"gpu": 1}, {"required": HOST}),
        pods("y", 3, {"gpu": 1}, {"required": HOST}),
    ]
    floor = Floor(cluster(*two))
    assert floor.admitted() == floor.replayed() == sets("a b", "a c", "b c", "a b c")
