"""Scheduling cycles: who is a head, who is turned down, and where everybody waits afterwards.

docs/semantics/kueue.md §7.1, §7.2 and §7.5.
"""

from typing import Any

import pytest

from tests.cluster import Object, configuration, queue, running
from tests.reference.cycles import (
    container,
    names,
    namespace,
    ran,
    story,
    waits,
    with_pod,
    with_spec,
)

A = queue("a", 4)
ONE = waits("one", "a")


def refused(*parts: list[Object]) -> tuple[str, str]:
    """Return the reasons for which the only head is turned down."""
    cycle = ran(*parts)
    (entry,) = cycle.inadmissible
    assert (cycle.entries, entry.outcome, entry.assignment, entry.targets) == (
        (),
        "inadmissible",
        None,
        (),
    )
    assert (names(cycle.left) | names(cycle.parked)) == {"a": ["one"]}
    return entry.requeue_reason, entry.quota_reserved_reason


@pytest.mark.parametrize("state", ["Retry", "Rejected"])
def test_failed_checks_are_turned_down(state: str) -> None:
    one = waits("one", "a", admissionChecks=[{"name": "c", "state": state}])
    assert refused(A, one) == ("", "PendingEvaluation")


def row(operator: str, *values: str) -> dict[str, Any]:
    """Return a label selector of one row about the label ``dep``."""
    return {"matchExpressions": [{"key": "dep", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        ({}, {}, True),
        (None, {}, False),
        ({"matchLabels": {"dep": "x"}}, {"dep": "x"}, True),
        ({"matchLabels": {"dep": "x"}}, {"dep": "y"}, False),
        ({"matchLabels": {"dep": "x", "more": ""}}, {"dep": "x"}, False),
        (row("In", "x", "y"), {"dep": "y"}, True),
        (row("In", "x"), {"dep": "y"}, False),
        (row("In", "x"), {}, False),
        (row("NotIn", "x"), {"dep": "y"}, True),
        (row("NotIn", "x"), {"dep": "x"}, False),
        (row("NotIn", "x"), {}, True),
        (row("Exists"), {"dep": "x"}, True),
        (row("Exists"), {}, False),
        (row("DoesNotExist"), {}, True),
        (row("DoesNotExist"), {"dep": "x"}, False),
    ],
)
def test_namespaces_have_to_match(
    selector: dict[str, Any] | None,
    labels: dict[str, str],
    matches: bool,  # noqa: FBT001
) -> None:
    parts = with_spec(A, namespaceSelector=selector), ONE, namespace("ns", **labels)
    if matches:
        assert story(ran(*parts)) == ["one admitted"]
    else:
        assert refused(*parts) == ("NamespaceMismatch", "Misconfigured")


def test_a_namespace_that_is_not_there() -> None:
    assert refused(with_spec(A, namespaceSelector={}), ONE, namespace("other")) == (
        "",
        "Misconfigured",
    )


def limit_range(kind: str, namespace: str = "ns", **bounds: dict[str, str]) -> list[Object]:
    """Return a LimitRange of one item."""
    metadata = {"name": f"{kind}-{namespace}-{'-'.join(bounds)}".lower(), "namespace": namespace}
    spec = {"limits": [{"type": kind, **bounds}]}
    return [{"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}]


CPU = queue("a", {"cpu": 4})


@pytest.mark.parametrize(
    ("requests", "limits", "valid"),
    [
        ({"cpu": "2"}, {"cpu": "2"}, True),
        ({"cpu": "2"}, {"cpu": "1999m"}, False),
        ({"cpu": "1900u"}, {"cpu": "1500u"}, True),  # both are 2 milli
        ({"cpu": "2"}, {}, True),
    ],
)
def test_requests_above_limits(
    requests: dict[str, str],
    limits: dict[str, str],
    valid: bool,  # noqa: FBT001
) -> None:
    for field in ("containers", "initContainers"):
        one = with_pod(ONE, **{"containers": [], field: [container(requests, limits)]})
        if valid:
            assert story(ran(CPU, one)) == ["one admitted"]
        else:
            assert refused(CPU, one) == ("", "Misconfigured")


@pytest.mark.parametrize(
    ("bounds", "valid"),
    [
        (limit_range("Container", max={"cpu": "2"}), True),
        (limit_range("Container", max={"cpu": "1"}), False),
        (limit_range("Container", max={"memory": "1"}), True),
        (limit_range("Container", "other", max={"cpu": "1"}), True),
        (limit_range("Container", min={"cpu": "2"}), True),
        (limit_range("Container", min={"cpu": "3"}), False),
        (limit_range("Pod", max={"cpu": "3"}), False),
        (limit_range("Pod", max={"cpu": "4"}), True),
        (limit_range("Pod", min={"cpu": "5"}), False),
        (limit_range("Pod", min={"cpu": "4"}), True),
        (limit_range("Container", default={"cpu": "1"}), False),
        (limit_range("PersistentVolumeClaim", max={"cpu": "1"}), True),
        (
            limit_range("Container", max={"cpu": "3"})
            + limit_range("Container", max={"cpu": "1"}, min={"cpu": "1"}),
            False,
        ),
        (
            limit_range("Container", min={"cpu": "3"})
            + limit_range("Container", min={"cpu": "1"}, max={"cpu": "4"}),
            False,
        ),
    ],
)
def test_limit_ranges(bounds: list[Object], valid: bool) -> None:  # noqa: FBT001
    """Two containers of 2 CPUs; a default limit of 1 is below what they ask for."""
    one = with_pod(ONE, containers=[container({"cpu": "2"})] * 2)
    if valid:
        assert story(ran(CPU, one, bounds)) == ["one admitted"]
    else:
        assert refused(CPU, one, bounds) == ("", "Misconfigured")


def test_requests_of_the_whole_pod_above_its_limits() -> None:
    one = with_pod(ONE, resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})
    assert refused(CPU, one) == ("", "Misconfigured")


def test_a_limit_above_the_maximum_is_turned_down() -> None:
    one = with_pod(ONE, containers=[container({"cpu": "1"}, {"cpu": "3"})])
    bounds = limit_range("Container", max={"cpu": "2"})
    assert refused(CPU, one, bounds) == ("", "Misconfigured")


UNFIT = waits("one", "a", 9)


@pytest.mark.parametrize(
    ("release", "parked"),
    [
        ("0.15.6", ["noFit"]),
        ("0.16.3", ["noFit"]),
        ("0.17.8", ["noFit", "noCandidates", "inadmissible"]),
        ("0.18.0", ["noFit", "noCandidates"]),
    ],
)
def test_when_those_alike_are_parked_too(release: str, parked: list[str]) -> None:
    """Kueue v0.15.6 pkg/scheduler/scheduler.go ``schedule``: where the mode is NoFit.

    v0.17.8 and v0.18.0 pkg/cache/queue/cluster_queue.go ``requeueIfNotPresent``: whoever does not
    go back at once; or for either of two reasons.
    """
    gate = configuration(featureGates={"SchedulingEquivalenceHashing": True})
    full = *queue("a", 4), *running("r", "a", 4)
    refused = [{"name": "c", "state": "Retry"}]
    heads = {
        "noFit": (queue("a", 4), waits("one", "a", 9)),
        "noCandidates": (full, waits("one", "a")),
        "inadmissible": (queue("a", 4), waits("one", "a", admissionChecks=refused)),
    }
    found = []
    for outcome, (there, head) in heads.items():
        other = waits("two", "a", 9 if outcome == "noFit" else 1, minute=1)
        cycle = ran(gate, there, head, other, release=release)
        assert [one.outcome for one in (*cycle.entries, *cycle.inadmissible)] == [outcome]
        found += [outcome] if names(cycle.parked) == {"a": ["one", "two"]} else []
    assert found == parked


def alike(head: list[Object], other: list[Object], **gates: bool) -> bool:
    """Say whether a workload is parked along with a head of the same queue that does not fit."""
    cycle = ran(configuration(featureGates=gates), queue("a", 4), head, other)
    assert story(cycle) == ["one noFit"]
    parked = names(cycle.parked)["a"]
    assert parked[0] == "one"
    return parked == ["one", "two"]


TWIN = waits("two", "a", 9, minute=1)
PORT = {"containerPort": 80}
PREFERS = {"preferred": "rack"}
TOLERATION = {"key": "k", "value": "v"}


def apart(topology: str, kind: str = "podAntiAffinity") -> dict[str, Any]:
    """Return an affinity that keeps pods out of a domain, or draws them there."""
    term = {"labelSelector": {}, "topologyKey": topology}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


@pytest.mark.parametrize(
    "pod",
    [
        {"nodeSelector": {"k": "v"}},
        {"tolerations": [{"key": "k", "operator": "Exists"}]},
        {"runtimeClassName": "gvisor"},
        {"overhead": {"gpu": "0"}},
        {"resources": {"requests": {"gpu": "1"}}},
        {"containers": [container({"gpu": "8"})]},
        {"containers": [container({"gpu": "8"}), container({"gpu": "1"})]},
        {"initContainers": [container({"gpu": "9"})]},
        {"containers": [{**container({"gpu": "9"}), "ports": [PORT]}]},
        {"containers": [{**container({"gpu": "9"}), "ports": []}]},
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k"}]},
        {"priority": 5},
        {"priority": 0},
        {"affinity": apart("k")},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
                        ]
                    }
                }
            }
        },
    ],
)
def test_another_pod_is_not_parked(pod: dict[str, Any]) -> None:
    """Most of them ask for 9 GPUs as well."""
    assert not alike(UNFIT, with_pod(TWIN, **pod))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"affinity": apart("k")}, {"affinity": apart("j")}),
        ({"affinity": apart("k")}, {"affinity": apart("k", "podAffinity")}),
        ({"tolerations": [TOLERATION]}, {"tolerations": [{**TOLERATION, "operator": "Equal"}]}),
        ({"tolerations": [TOLERATION]}, {"tolerations": [{**TOLERATION, "tolerationSeconds": 5}]}),
        ({"priority": 5}, {"priority": 6}),
        (
            {"initContainers": [{**container({}), "ports": [PORT]}]},
            {"initContainers": [{**container({}), "ports": [{**PORT, "protocol": "TCP"}]}]},
        ),
    ],
)
def test_what_decides_nothing_makes_another_pod(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Kueue ff69552e pkg/util/pod/pod.go ``SpecShape``, ``ContainersShape``: as it is written."""
    assert not alike(with_pod(UNFIT, **one), with_pod(TWIN, **other))
    assert alike(with_pod(UNFIT, **other), with_pod(TWIN, **other))


def test_neither_the_order_of_fields_nor_a_null_makes_another_pod() -> None:
    written = {"name": "p", "containerPort": 80}, {"containerPort": 80, "name": "p", "hostIP": None}
    one, other = (
        with_pod(some, containers=[{**container({"gpu": "9"}), "ports": [port]}])
        for some, port in zip((UNFIT, TWIN), written, strict=True)
    )
    assert alike(one, other)


@pytest.mark.parametrize(
    "more", [{"podIndexLabel": "i"}, {"subGroupIndexLabel": "i"}, {"subGroupCount": 1}]
)
def test_another_request_for_a_placement_is_not_parked(more: dict[str, Any]) -> None:
    """Kueue ff69552e pkg/workload/workload.go ``computeSchedulingHash``."""
    one, other = (
        with_spec(some, podSets=[{**some[0]["spec"]["podSets"][0], "topologyRequest": request}])
        for some, request in ((UNFIT, PREFERS), (TWIN, {**PREFERS, **more}))
    )
    assert not alike(one, other)


@pytest.mark.parametrize("release", ["0.18.2", "0.18.3"])
def test_older_releases_do_not_look_at_whole_pods(release: str) -> None:
    """Kueue v0.18.2 pkg/util/pod/pod.go ``SpecShape`` leaves them out, v0.18.3 has them.

    Here they change no amount: requests of GPUs count container by container.
    """
    whole = with_pod(TWIN, resources={"requests": {"gpu": "1"}})
    cycle = ran(queue("a", 4), UNFIT, whole, release=release)
    assert names(cycle.parked) == {"a": ["one", "two"] if release == "0.18.2" else ["one"]}
