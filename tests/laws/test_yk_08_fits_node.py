"""YK-08: the ask fits on one node, and victims are there unless it has room anyway."""

import pytest

from planner import solve
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import (
    CODE,
    GPU,
    broken,
    guaranteed,
    one_node,
    plan_of,
    two_nodes,
    verdicts,
)
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    gpus,
    node,
    queue,
    state_of,
    two_queues,
)

A, B, C = (frozenset({key}) for key in "abc")


def on_nodes(nodes: list[Json], size: int, *running: Json) -> Json:
    """Build a cluster: ``root.low`` runs everything, ``root.high`` asks for some gpus."""
    return cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 9})],
        nodes,
        [
            application("runs", "root.low", *running),
            application("asks", "root.high", asks=(ask("ask", {"gpu": size}),)),
        ],
    )


def two_and_one(size: int, of_n2: int = 1) -> Court:
    """Let a and b run on n1, which has 2 GPUs, and c on n2."""
    running = [*gpus(a=1, b=1), allocation("c", {"gpu": 1}, on="n2")]
    return Court(on_nodes([node("n1", {"gpu": 2}), node("n2", {"gpu": of_n2})], size, *running))


def test_victims_on_different_nodes_make_no_room() -> None:
    """Node n2 is too small for the ask; two of three would be enough for the root's maximum."""
    court = two_and_one(2, of_n2=1)
    assert court.admitted() == {"n1": {A | B}}
    without = court.admitted(without={"YK-08"})
    assert without == {"n1": {A | B, A | C, B | C, A | B | C}}


def test_each_node_has_its_own_victims() -> None:
    court = two_and_one(1, of_n2=1)
    assert court.admitted() == {"n1": {A, B, A | B}, "n2": {C}}


def test_for_a_node_with_room_victims_are_anywhere() -> None:
    """Node n2 has room, n1 has not."""
    court = two_and_one(1, of_n2=2)
    anything = {A, B, C, A | B, A | C, B | C, A | B | C}
    assert court.admitted() == {"n1": {A, B, A | B}, "n2": anything}


def test_what_is_available_counts_also_below_zero() -> None:
    running = (allocation(k, {"gpu": 1}) for k in "ab")
    court = Court(on_nodes([node("n1", {"gpu": 4}, available={"gpu": -1})], 1, *running))
    assert court.admitted() == {"n1": {A | B}}


def test_a_node_that_is_not_schedulable_is_none() -> None:
    nodes = [node("n1", {"gpu": 2}, schedulable=False), node("n2", {"gpu": 1})]
    running = allocation("a", {"gpu": 2}), allocation("c", {"gpu": 1}, on="n2")
    assert Court(on_nodes(nodes, 1, *running)).admitted() == {"n2": {C}}


def test_without_any_usable_node_nothing_is_legal() -> None:
    nodes = [node("n1", {"gpu": 2}, schedulable=False)]
    assert Court(on_nodes(nodes, 1, allocation("a", {"gpu": 2}))).admitted() == {}


def test_a_required_node_gives_all_victims() -> None:
    nodes = [node("n1", {"gpu": 1}), node("n2", {"gpu": 1})]
    running = allocation("a", {"gpu": 1}), allocation("b", {"gpu": 1}, on="n2")
    value = on_nodes(nodes, 1, *running)
    value["applications"][1]["requests"][0]["requiredNodeId"] = "n2"
    assert Court(value).admitted("yunikorn-required-node") == {"n2": {B}}
    without = Court(value).admitted("yunikorn-required-node", without={"YK-08"})
    assert without == {"n2": {A, B, A | B}}


def test_a_required_node_gives_who_is_known_to_it_alone() -> None:
    """The core asks the node for its allocations; for other asks it asks the applications.

    Source: yunikorn-core be3bb487, scheduler/objects/required_node_preemptor.go (filterAllocations)
    and queue.go (findEligiblePreemptionVictims).
    """
    stray = allocation("a", {"gpu": 1}, x={"notInApp": True})
    value = on_nodes([node("n1", {"gpu": 1}, reservations=["ask"])], 1, stray)
    assert Court(value).admitted() == {"n1": set()}
    value["applications"][1]["requests"][0]["requiredNodeId"] = "n1"
    assert Court(value).admitted("yunikorn-required-node") == {"n1": {A}}
    plan = solve(state_of(value), "ask")
    assert (plan.keys, plan.claim) == (("a",), "optimal")


def test_on_a_required_node_no_other_type_may_stay_below_zero() -> None:
    """The core compares all types there, not only those of the ask."""
    running = allocation("a", {"gpu": 1}), allocation("b", {"gpu": 1, "mem": 1})
    value = two_queues(*running, requiredNodeId="n1")
    value["nodes"][0]["nodesInfo"][0]["available"] = {"mem": -1}
    assert Court(value).admitted("yunikorn-required-node") == {"n1": {B, A | B}}


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({}, []),
        ({"schedulable": False}, ["YK-08"]),
        ({"capacity": {"gpu": 0}, "available": {"gpu": 0}}, ["YK-08"]),
        ({"reservations": ["other"]}, ["YK-08"]),
        ({"reservations": ["other", "ask"]}, []),
        ({"reservations": ["stale", "other"]}, []),
        ({"available": {"gpu": -1}}, ["YK-08"]),
    ],
)
def test_the_node_must_be_usable(change: Json, law: list[str]) -> None:
    state = two_nodes(change, {})
    assert broken(state, plan_of(state, "n1", "a", rules=CODE)) == law


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"schedulable": False}, "node n1 is not schedulable"),
        ({"reservations": ["other"]}, "node n1 is reserved for others"),
        (
            {"capacity": {"gpu": 0}, "available": {"gpu": 2}},
            "node n1 is too small for the ask: 0 gpu",
        ),
    ],
)
def test_an_unusable_node_in_words(change: Json, detail: str) -> None:
    state = two_nodes(change, {})
    assert verdicts(state, plan_of(state, "n1", "a", rules=CODE))["YK-08"].detail == detail


def test_a_node_that_the_predicates_refuse() -> None:
    state = two_nodes({}, {}, x={"vetoNodes": ["n1"]})
    assert broken(state, plan_of(state, "n1", "a")) == ["YK-08"]
    assert broken(state, plan_of(state, "n2", "c")) == []


def test_the_node_in_words() -> None:
    state = two_nodes({}, {}, wanted=2)
    told(verdicts(state, plan_of(state, "n1", "a", "c"))["YK-08"].detail)
    told(verdicts(state, plan_of(state, "n9", "a"))["YK-08"].detail)
    told(verdicts(state, plan_of(state, None, "a"))["YK-08"].detail)


REQUIRED_NODE: Json = {"of_ask": {"requiredNodeId": "n1"}}


def test_a_required_node_with_room_has_no_victims_elsewhere() -> None:
    state = two_nodes({"capacity": {"gpu": 9}}, {}, **REQUIRED_NODE)
    for node_id in ("n1", "n2"):
        assert broken(state, plan_of(state, node_id, "c")) == ["YK-08"]


@pytest.mark.parametrize(("disk", "law"), [(0, []), (1, ["YK-08"])])
def test_less_than_nothing_is_enough_for_nothing(disk: int, law: list[str]) -> None:
    """A type that the ask names with 0 may be overdrawn on the node.

    In a queue above it keeps the ask from a node without victims: usage is counted with the 0.
    """
    held = [allocation("a", GPU), allocation("d", {"disk": 2})]
    wanted = {"gpu": 1, "disk": disk}
    for room, taken in ((1, ["a"]), (2, [])):
        state = state_of(
            cluster_value(
                [queue("p", queue("low"), guaranteed("high", 9), max={"disk": 1, "gpu": 9})],
                [node("n1", {"gpu": room, "disk": 1})],
                [
                    application("runs", "root.p.low", *held),
                    application("asks", "root.p.high", asks=(ask("ask", wanted),)),
                ],
            )
        )
        plan = plan_of(state, "n1" if taken else None, *taken, rules=CODE)
        assert broken(state, plan) == (law if taken else ["YK-08"])


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"schedulable": False}, []),
        ({"reservations": ["other"]}, []),
        ({"available": {"gpu": -1}}, ["YK-08"]),
        ({"available": {"gpu": 0, "disk": 0}}, []),
        ({"available": {"gpu": 0, "disk": -1}}, ["YK-08"]),
    ],
)
def test_a_required_node_is_compared_in_every_type(change: Json, law: list[str]) -> None:
    state = two_nodes(change, {}, **REQUIRED_NODE)
    assert broken(state, plan_of(state, "n1", "a")) == law


@pytest.mark.parametrize(
    ("n1", "high", "law"),
    [
        ({"gpu": 1}, {}, []),
        ({"gpu": 0}, {}, ["YK-08"]),
        ({"gpu": 1}, {"max": GPU}, []),
        ({"gpu": 1}, {"max": {"gpu": 1, "disk": 1}}, []),
    ],
)
def test_evicting_nothing(n1: Json, high: Json, law: list[str]) -> None:
    """It needs no guaranteed, no permission and no victims, but room on a node."""
    state = one_node(
        queue("low"),
        queue("high", **high),
        running={"root.low": [allocation("a", GPU)]},
        size=n1["gpu"] + 1,
        triggeredPreemption=True,
    )
    assert broken(state, plan_of(state, None)) == law


@pytest.mark.parametrize(
    "change", [{"schedulable": False}, {"reservations": ["other"]}, {"reservations": ["stale"]}]
)
def test_evicting_nothing_needs_a_node_that_may_be_used_now(change: Json) -> None:
    """No reservation is cancelled for it."""
    state = two_nodes({"capacity": {"gpu": 9}, **change}, {})
    assert broken(state, plan_of(state, None)) == ["YK-08"]
    state = two_nodes({"capacity": {"gpu": 9}}, {}, x={"vetoNodes": ["n1"]})
    assert broken(state, plan_of(state, None)) == ["YK-08"]


def test_evicting_nothing_needs_room_below_every_maximum() -> None:
    state = one_node(
        queue("p", queue("low"), guaranteed("high", 2), max={"gpu": 2}),
        running={"root.p.low": gpus(a=2)},
        path="root.p.high",
    )
    told(verdicts(state, plan_of(state, None))["YK-08"].detail)


def test_evicting_nothing_on_a_required_node() -> None:
    free = {"capacity": {"gpu": 9}}
    state = two_nodes({"schedulable": False, **free}, {}, **REQUIRED_NODE)
    assert broken(state, plan_of(state, None)) == []
    state = two_nodes({}, free, **REQUIRED_NODE)
    assert broken(state, plan_of(state, None)) == ["YK-08"]
