"""What the shim's predicates refuse, by hand (docs/semantics/yunikorn-features.md §22)."""

from typing import Any

import pytest

from tests.yunikorn.building import Json, allocation, decided, machine, node, pod, two_queues

GPU = {"gpu": 1}


def terms(app: str, key: str = "kubernetes.io/hostname", **more: Any) -> Json:
    """Build required terms about the pods of an app."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def space(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def node_of(mine: Json, *others: Json, machines: tuple[Json, ...] = ()) -> str | None:
    """Return the node that is made free for a pod: n1 holds the newer victim, n2 the older."""
    value = two_queues(allocation("v1", GPU, 1), allocation("v2", GPU, 2, on="n2"), size=1)
    value["nodes"][0]["nodesInfo"].append(node("n2", GPU))
    given = {one["metadata"]["name"]: one for one in machines}
    nodes = [given.get(name) or machine(name) for name in ("n1", "n2")]
    here = {one["metadata"]["uid"]: one for one in (pod("v1", "n1"), pod("v2", "n2"), *others)}
    spaces = [space("a", team="a"), space("b", team="b")]
    value["objects"] = [mine, *here.values(), *nodes, *spaces]
    return decided(value).node


PORT: Json = {"ports": [{"hostPort": 80}]}
AT: Json = {"ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}
ELSEWHERE: Json = {"ports": [{"hostPort": 80, "hostIP": "10.0.0.2"}]}
UDP: Json = {"ports": [{"hostPort": 80, "protocol": "UDP"}]}
TAINT: Json = {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
SOFT: Json = {"taints": [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}]}
SPREAD: Json = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "x"}},
}


def beside(**more: str) -> Json:
    """Build a pod on n1 with an init container that has the port."""
    return pod("o", "n1", container={"resources": {}}, initContainers=[PORT | more])


def affinity(**kinds: Any) -> Json:
    return {"affinity": kinds}


def rows(operator: str, *values: str) -> Json:
    row = {"key": "kubernetes.io/hostname", "operator": operator, "values": list(values)}
    selector = {"nodeSelectorTerms": [{"matchExpressions": [row]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


@pytest.mark.parametrize(
    ("mine", "others", "machines", "on"),
    [
        ({}, (), (), "n1"),
        ({"nodeSelector": {"zone": "z"}}, (), (machine("n2", zone="z"),), "n2"),
        (affinity(**rows("NotIn", "n1")), (), (), "n2"),
        ({}, (), (machine("n1", unschedulable=True),), "n2"),
        ({}, (), (machine("n1", **TAINT),), "n2"),
        ({}, (), (machine("n1", **SOFT),), "n1"),
        ({"tolerations": [{"operator": "Exists"}]}, (), (machine("n1", **TAINT),), "n1"),
        # Each pod takes one of the node's pods, whoever made it.
        ({}, (pod("foreign", "n1", container={"resources": {}}),), (machine("n1", 1),), "n2"),
        ({}, (pod("over", "n1") | {"status": {"phase": "Failed"}},), (machine("n1", 1),), "n1"),
        # A port is free once its victim is gone; one of a pod that stays is not.
        ({"container": PORT}, (pod("v1", "n1", container=PORT),), (), "n1"),
        ({"container": PORT}, (pod("o", "n1", container=PORT | {"resources": {}}),), (), "n2"),
        ({"container": UDP}, (pod("o", "n1", container=PORT | {"resources": {}}),), (), "n1"),
        ({"container": AT}, (pod("o", "n1", container=PORT | {"resources": {}}),), (), "n2"),
        ({"container": AT}, (pod("o", "n1", container=ELSEWHERE | {"resources": {}}),), (), "n1"),
        # A sidecar's is taken, that of a container which ends before the others is not.
        ({"container": PORT}, (beside(restartPolicy="Always"),), (), "n2"),
        ({"container": PORT}, (beside(),), (), "n1"),
        # Anti-affinity, of either, closes the node for good: also where the victim goes.
        (affinity(podAntiAffinity=terms("x")), (pod("v2", "n2", "y"),), (), "n2"),
        (affinity(podAntiAffinity=terms("x")), (), (), None),
        ({}, (pod("v1", "n1", **affinity(podAntiAffinity=terms("x"))),), (), "n2"),
        ({"app": "y"}, (pod("v1", "n1", **affinity(podAntiAffinity=terms("x"))),), (), "n1"),
        # By namespaces: its own, those that are named, those that are selected.
        (affinity(podAntiAffinity=terms("x")), (pod("v1", "n1", namespace="b"),), (), "n1"),
        (
            *(affinity(podAntiAffinity=terms("x", namespaces=["b"])),),
            *((pod("v1", "n1", namespace="b"),), (), "n2"),
        ),
        (
            affinity(podAntiAffinity=terms("x", namespaceSelector={"matchLabels": {"team": "b"}})),
            *((pod("v1", "n1", namespace="b"),), (), "n2"),
        ),
        # Affinity: to the pod that is about to go, too; the first of its kind comes anywhere.
        (affinity(podAffinity=terms("y")), (pod("v2", "n2", "y"),), (), "n2"),
        (affinity(podAffinity=terms("y")), (), (), None),
        ({"app": "z", **affinity(podAffinity=terms("z"))}, (), (), "n1"),
        ({"app": "z", **affinity(podAffinity=terms("z", "zone"))}, (), (), None),
        # Spread counts who goes, and only nodes that the pod may be on.
        ({"topologySpreadConstraints": [SPREAD]}, (pod("v2", "n2", "y"),), (), "n2"),
        (
            {"topologySpreadConstraints": [SPREAD | {"whenUnsatisfiable": "ScheduleAnyway"}]},
            *((pod("v2", "n2", "y"),), (), "n1"),
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"maxSkew": 2}]},
            (pod("v2", "n2", "y"),),
            (),
            "n1",
        ),
        (
            {"topologySpreadConstraints": [SPREAD], **affinity(**rows("In", "n1"))},
            *((pod("v2", "n2", "y"),), (), "n1"),
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"topologyKey": "zone"}]},
            *((), (machine("n2", zone="z"),), "n2"),
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"topologyKey": "zone", "minDomains": 2}]},
            *((), (machine("n2", zone="z"),), None),
        ),
    ],
)
def test_what_predicates_refuse(
    mine: Json, others: tuple[Json, ...], machines: tuple[Json, ...], on: str | None
) -> None:
    assert node_of(pod("ask", **mine), *others, machines=machines) == on
