"""YK-08 where Kubernetes' pods and nodes are known: the ask's pod fits once the victims are gone.

What the predicates themselves refuse is in tests/yunikorn/test_kubernetes.py.
"""

from typing import Any

import pytest

from planner import solve
from planner.coverage.yunikorn import YuniKornCoverage
from planner.verifier.yunikorn import match_yunikorn
from planner.verifier.yunikorn.facts import check_yunikorn_facts
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import GPU, broken, guaranteed, plan_of, verdicts
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    machine,
    node,
    pod,
    queue,
    state_of,
)

A, B, C = (frozenset({key}) for key in "abc")
ALL_OF_N1 = {A, B, A | B}
PORT: Json = {"ports": [{"hostPort": 80}]}
UDP: Json = {"ports": [{"hostPort": 80, "protocol": "UDP"}]}
TAINT: Json = {"key": "k", "value": "v", "effect": "NoSchedule"}
APART: Json = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "x"}},
            }
        ]
    }
}


def wanting(gpu: int, **more: Any) -> Json:
    """Build a container that asks for so many GPUs of Kubernetes, and more."""
    return {"resources": {"requests": {"gpu": str(gpu)}}, **more}


def value_of(
    *others: Json, mine: Json | None = None, n1: Json | None = None, free: int = 0, **of_ask: Any
) -> Json:
    """Let a and b run on n1, and c on n2, of a GPU each; ``free`` is what n1 has besides.

    The pod of the ask is ``mine``; ``others`` are pods in the place of those of a, b and c, or
    besides.
    """
    held = [allocation("a", GPU), allocation("b", GPU), allocation("c", GPU, on="n2")]
    pods = [pod("a", "n1"), pod("b", "n1"), pod("c", "n2"), pod("ask"), *others, mine or pod("ask")]
    by_uid = {one["metadata"]["uid"]: one for one in pods}
    nodes = [n1 or machine("n1", gpus=2 + free), machine("n2")]
    return cluster_value(
        [queue("low"), guaranteed("high", 9)],
        [node("n1", {"gpu": 2 + free}), node("n2", GPU)],
        [
            application("runs", "root.low", *held),
            application("asks", "root.high", asks=(ask("ask", GPU, **of_ask),)),
        ],
        objects=[*by_uid.values(), *nodes],
    )


def test_what_is_in_order_changes_nothing() -> None:
    assert Court(value_of()).admitted() == {"n1": ALL_OF_N1, "n2": {C}}


@pytest.mark.parametrize(
    ("mine", "others", "n1", "sets"),
    [
        ({}, [], machine("n1", gpus=2, taints=[TAINT]), None),
        ({"tolerations": [{"operator": "Exists"}]}, [], machine("n1", gpus=2, taints=[TAINT]), 0),
        ({"nodeSelector": {"zone": "z"}}, [], machine("n1", gpus=2), None),
        ({"nodeSelector": {"zone": "z"}}, [], machine("n1", zone="z", gpus=2), 0),
        ({"affinity": APART}, [], None, None),
        ({"affinity": APART}, [pod("a", "n1", "y"), pod("b", "n1", "y")], None, 0),
    ],
)
def test_a_node_that_is_closed_is_none(
    mine: Json, others: list[Json], n1: Json | None, sets: int | None
) -> None:
    """Victims open none: not even those that keep it closed."""
    court = Court(value_of(*others, mine=pod("ask", **mine), n1=n1))
    assert court.admitted().get("n1") == (None if sets is None else ALL_OF_N1)
    closed = [] if sets == 0 else ["YK-08"]
    assert broken(court.state, plan_of(court.state, "n1", "a", "b")) == closed


@pytest.mark.parametrize(
    ("others", "legal"),
    [
        ([pod("a", "n1", container=PORT)], {A, A | B}),
        ([pod("a", "n1", container=PORT), pod("b", "n1", container=PORT)], {A | B}),
        ([pod("a", "n1", container=UDP), pod("b", "n1", container=PORT)], {B, A | B}),
        ([pod("c", "n2", container=PORT)], ALL_OF_N1),
        ([pod("foreign", "n1", container=PORT | {"resources": {}})], set()),
        ([pod("foreign", "n2", container=PORT | {"resources": {}})], ALL_OF_N1),
    ],
)
def test_all_that_have_a_port_in_common_go(others: list[Json], legal: set[frozenset[str]]) -> None:
    """One that is no candidate keeps the node closed."""
    court = Court(value_of(*others, mine=pod("ask", container=PORT)))
    assert court.admitted()["n1"] == legal


@pytest.mark.parametrize(
    ("sizes", "mine", "legal"),
    [
        ((1, 1), 1, ALL_OF_N1),
        ((1, 1), 2, {A | B}),
        ((1, 1), 3, set()),
        ((2, 0), 1, {A, A | B}),
        ((2, 0), 2, {A, A | B}),
        ((0, 0), 0, ALL_OF_N1),
    ],
)
def test_what_pods_request_fits_with_the_pod(
    sizes: tuple[int, int], mine: int, legal: set[frozenset[str]]
) -> None:
    """To the core all hold one GPU: Kubernetes counts by itself, and has two on n1."""
    others = [
        pod(one, "n1", container=wanting(size)) for one, size in zip("ab", sizes, strict=True)
    ]
    assert (
        Court(value_of(*others, mine=pod("ask", container=wanting(mine)))).admitted()["n1"] == legal
    )


@pytest.mark.parametrize(("most", "legal"), [(1, {A | B}), (2, ALL_OF_N1), (0, set())])
def test_pods_have_places_of_their_own(most: int, legal: set[frozenset[str]]) -> None:
    assert Court(value_of(n1=machine("n1", most, gpus=2))).admitted()["n1"] == legal


def test_what_the_pod_does_not_ask_for_may_be_short() -> None:
    """Node n1 has a GPU less than its pods have; the pod wants none by Kubernetes' count."""
    court = Court(value_of(mine=pod("ask", container=wanting(0)), n1=machine("n1", gpus=0)))
    assert court.admitted()["n1"] == ALL_OF_N1


def test_where_the_core_alone_has_room_victims_are_on_the_node() -> None:
    """A GPU of n1 is free; with a place for the pod, too, victims may be anywhere."""
    full = value_of(free=1, n1=machine("n1", 2, gpus=3))
    assert Court(full).admitted()["n1"] == ALL_OF_N1
    assert C in Court(value_of(free=1)).admitted()["n1"]


def test_evicting_nothing_needs_a_node_that_takes_the_pod() -> None:
    state = state_of(value_of(free=1))
    assert broken(state, plan_of(state, None)) == []
    assert solve(state, "ask").keys == ()
    for n1 in (machine("n1", 2, gpus=3), machine("n1", gpus=3, taints=[TAINT])):
        state = state_of(value_of(free=1, n1=n1))
        assert broken(state, plan_of(state, None)) == ["YK-08"]
        assert len(solve(state, "ask").keys) == 1


@pytest.mark.parametrize(
    ("n1", "legal"),
    [
        (None, ALL_OF_N1),
        (machine("n1", 1, gpus=2), {A | B}),
        (machine("n1", gpus=2, taints=[TAINT]), None),
    ],
)
def test_a_required_node_takes_the_pod_as_well(
    n1: Json | None, legal: set[frozenset[str]] | None
) -> None:
    court = Court(value_of(n1=n1, requiredNodeId="n1"))
    found = court.admitted("yunikorn-required-node")
    assert found == ({} if legal is None else {"n1": legal})


def test_a_plan_is_proved_and_unconditional_and_forged_ones_are_refused() -> None:
    held = [pod("a", "n1", container=PORT), pod("b", "n1"), pod("c", "n2", container=PORT)]
    foreign = pod("foreign", "n2", container=PORT | {"resources": {}})
    state = state_of(value_of(*held, foreign, mine=pod("ask", container=PORT)))
    plan = solve(state, "ask")
    assert (plan.keys, plan.claim, plan.status, plan.coverage) == (("a",), "optimal", "optimal", ())
    ports = plan.room[-1]
    assert (ports.resource, ports.asked, ports.available, ports.after) == ("host ports", 1, 0, 1)
    assert check_yunikorn_facts(match_yunikorn(state, plan), plan).holds
    less = ports.model_copy(update={"after": 0})
    forged = plan.model_copy(update={"room": (*plan.room[:-1], less)})
    assert not check_yunikorn_facts(match_yunikorn(state, forged), forged).holds
    told(verdicts(state, plan_of(state, "n1", "b"))["YK-08"].detail)
    assert broken(state, plan_of(state, "n2", "c")) == ["YK-08"]


def test_where_no_victims_free_the_port_none_are_named() -> None:
    foreign = [pod(f"f-{on}", on, container=PORT | {"resources": {}}) for on in ("n1", "n2")]
    plan = solve(state_of(value_of(*foreign, mine=pod("ask", container=PORT))), "ask")
    assert (plan.claim, plan.keys) == ("infeasible", ())
    told(plan.explanation)


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        ({"nodeSelector": {"kubernetes.io/hostname": "n1"}, "container": PORT}, []),
        ({"volumes": [{"persistentVolumeClaim": {"claimName": "x"}}]}, ["predicates"]),
        ({"resourceClaims": [{"name": "x", "resourceClaimName": "y"}]}, ["predicates"]),
    ],
)
def test_only_volumes_and_claims_make_a_plan_conditional(spec: Json, features: list[str]) -> None:
    state = state_of(value_of(mine=pod("ask", **spec)))
    assert [one.feature for one in YuniKornCoverage(state).unmodelled("ask")] == features


def test_what_goes_on_from_a_state_is_conditional() -> None:
    """The pods beside the dump do not move in a simulation."""
    coverage = YuniKornCoverage(state_of(value_of(mine=pod("ask", container=PORT))))
    assert coverage.unmodelled("ask") == ()
    (found,) = coverage.everything()
    assert found.feature == "predicates"
    told(found.evidence)


def test_an_allocation_without_a_pod_makes_a_plan_conditional() -> None:
    """The shim takes it for gone; the pods beside the dump may be of one namespace alone."""
    value = value_of()
    value["objects"] = [one for one in value["objects"] if one["metadata"]["name"] != "b"]
    (found,) = YuniKornCoverage(state_of(value)).unmodelled("ask")
    assert (found.feature, found.objects) == ("predicates", ("allocation b",))
