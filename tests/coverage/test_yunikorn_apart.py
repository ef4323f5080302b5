"""Whom required anti-affinity of running pods keeps off nodes makes answers conditional.

Source: Kubernetes, concepts, Labels and Selectors, and Assigning Pods to Nodes: anti-affinity is
symmetric; ``matchLabelKeys`` are combined with ``labelSelector`` by AND.
"""

from pathlib import Path
from typing import Any

import pytest

import planner
from planner.coverage.yunikorn import YuniKornCoverage
from planner.state.yunikorn import YuniKornState
from tests.reader.dumps import listed
from tests.reader.yunikorn_dumps import folder_of, pod
from tests.told import told
from tests.yunikorn.building import allocation, node, state_of, two_queues

Json = dict[str, Any]

NAME = "kubernetes.io/metadata.name"
HOST = "kubernetes.io/hostname"
RULE = "requiredDuringSchedulingIgnoredDuringExecution"
APP = {"app": "x"}
WHOM: Json = {"labelSelector": {"matchLabels": APP}}
ON_N2 = {"uid": "other", "nodeName": "n2"}


def row(operator: str, *values: str) -> Json:
    """Return a selector of one row about the label ``app``."""
    return {"matchExpressions": [{"key": "app", "operator": operator, "values": list(values)}]}


def apart(term: Json) -> Json:
    """Return the field of a pod that keeps others apart by one required term."""
    return {"affinity": {"podAntiAffinity": {RULE: [{"topologyKey": HOST} | term]}}}


def state_with(runs: Json, asks: Json, *, schedulable: bool = True) -> YuniKornState:
    """Read two nodes: on n1 runs the allocation ``one``, and the ask is for either."""
    value = two_queues(allocation("one", {"gpu": 4}))
    value["nodes"][0]["nodesInfo"].append(node("n2", {"gpu": 4}))
    value["nodes"][0]["nodesInfo"][0]["schedulable"] = schedulable
    runs = {"namespace": "a", "name": "runs", "uid": "one"} | runs
    asks = {"namespace": "a", "name": "b", "uid": "ask"} | asks
    value["rmDiagnostics"] = {"cache": {"pods": {"runs": runs, "asks": asks}}}
    return state_of(value)


def evidence(state: YuniKornState) -> list[str]:
    """Return what is said of the ask's placement, which is all that is said."""
    found = YuniKornCoverage(state).unmodelled("ask")
    assert [one.feature for one in found] == ["predicates"] * len(found)
    return [one.evidence for one in found]


@pytest.mark.parametrize(
    ("term", "of_pod", "schedulable", "at"),
    [
        (WHOM, {}, True, "n1"),
        ({"labelSelector": {}}, {}, True, "n1"),
        ({}, {}, True, ""),  # without a selector it selects nobody
        (WHOM, {"namespace": "other"}, True, ""),
        (WHOM | {"namespaces": ["a"]}, {"namespace": "other"}, True, "n1"),
        (WHOM | {"namespaces": ["other"]}, {}, True, ""),
        (WHOM | {"namespaces": ["other"], "namespaceSelector": {}}, {}, True, "n1"),
        # A node that is out of the question is no matter, but other domains may be of many.
        (WHOM, {}, False, ""),
        (WHOM | {"topologyKey": "topology.kubernetes.io/zone"}, {}, False, "n1"),
        # Pods of other schedulers are in no application; those that wait or are over keep no room.
        (WHOM, ON_N2, False, "n2"),
        (WHOM, ON_N2 | {"status": {"phase": "Running"}}, False, "n2"),
        (WHOM, ON_N2 | {"status": {"phase": "Succeeded"}}, False, ""),
        (WHOM, ON_N2 | {"nodeName": ""}, False, ""),
    ],
)
@pytest.mark.parametrize("labels", [APP, None])
def test_a_running_pod_may_keep_the_pod_off_its_node(
    term: Json,
    of_pod: Json,
    schedulable: bool,  # noqa: FBT001 - a parameter
    at: str,
    labels: Json | None,
) -> None:
    """A snapshot of an older planner has no labels: perhaps they are those that a term selects."""
    asks = {"labels": labels}
    state = state_with(apart(term) | of_pod, asks, schedulable=schedulable)
    found = evidence(state)
    assert len(found) == bool(at)
    assert not at or f"/runs on {at} keeps off by anti-affinity" in found[0]
    is_certain = labels is not None and "namespaceSelector" not in term
    assert ("perhaps" in "".join(found)) == (bool(at) and not is_certain)
    # What is only preferred keeps nobody off.
    preferred: Json = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
    assert evidence(state_with({"affinity": preferred} | of_pod, asks)) == []


SELECTORS = [
    ({"matchLabels": APP}, {"app": "x", "tier": "front"}, True),
    ({"matchLabels": APP}, {"app": "y"}, False),
    ({"matchLabels": APP}, {}, False),
    ({"matchLabels": {"app": "x", "tier": "front"}}, APP, False),
    (row("In", "x", "y"), {"app": "y"}, True),
    (row("In", "x", "y"), {"app": "z"}, False),
    (row("NotIn", "x"), {"app": "x"}, False),
    (row("NotIn", "x"), {"app": "y"}, True),
    (row("NotIn", "x"), {}, True),
    (row("Exists"), {"app": "y"}, True),
    (row("Exists"), {}, False),
    (row("DoesNotExist"), {"app": "y"}, False),
    (row("DoesNotExist"), {}, True),
    ({"matchLabels": {"tier": "front"}} | row("Exists"), {"app": "x"}, False),
    ({}, {}, True),
    # The API server takes such values from pods; Kubernetes cannot evaluate the selector.
    (row("In", "no label!"), {"app": "y"}, True),
]


@pytest.mark.parametrize(("selector", "labels", "selects"), SELECTORS)
def test_a_term_keeps_off_whom_its_selector_selects(
    selector: Json, labels: Json, *, selects: bool
) -> None:
    runs = apart({"labelSelector": selector})
    assert len(evidence(state_with(runs, {"labels": labels}))) == selects


@pytest.mark.parametrize(("labels", "expected"), [(APP, "conditional"), ({}, "optimal")])
def test_pods_as_kubectl_prints_them(labels: Json, expected: str, tmp_path: Path) -> None:
    """A pod without labels has none there."""
    runs = pod("a/runs", "one", **apart(WHOM))
    asks = pod("a/b", "ask")
    if labels:
        asks["metadata"]["labels"] = labels
    state = folder_of(tmp_path, two_queues(allocation("one", {"gpu": 4})), listed(runs, asks))
    plan = planner.solve(state, "ask")
    assert (plan.status, len(plan.victims)) == (expected, 1)


LAB: Json = {"matchLabels": {"team": "lab"}}


@pytest.mark.parametrize(
    ("term", "labels", "said"),
    [
        ({"namespaceSelector": LAB}, {"team": "lab"}, "it has labels that"),
        ({"namespaceSelector": LAB}, {"team": "web"}, ""),
        ({"namespaceSelector": LAB}, {}, ""),
        ({"namespaceSelector": {}}, {}, "it has labels that"),
        # A selector of namespaces stands in the place of the pod's own, and beside those named.
        ({"namespaceSelector": LAB, "namespaces": ["b"]}, {"team": "web"}, "it has labels that"),
        ({"namespaceSelector": LAB, "namespaces": ["a"]}, {"team": "web"}, ""),
        ({"namespaceSelector": {"matchLabels": {NAME: "b"}}}, {}, "it has labels that"),
        ({"namespaceSelector": {"matchLabels": {NAME: "a"}}}, {}, ""),
        # Nobody knows the labels of a namespace that is not among those of the dump.
        ({"namespaceSelector": LAB}, None, "it has perhaps labels that"),
        ({"namespaceSelector": {}}, None, "it has perhaps labels that"),
    ],
)
def test_namespaces_beside_the_dump_say_which_a_term_selects(
    term: Json, labels: Json | None, said: str, tmp_path: Path
) -> None:
    """The pod that runs is in ``a``, the ask's in ``b``."""
    runs, asks = pod("a/runs", "one", **apart(WHOM | term)), pod("b/asks", "ask")
    asks["metadata"]["labels"] = APP
    there = [("a", {}), *([] if labels is None else [("b", labels)])]
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": each}}
        for name, each in there
    ]
    dump = two_queues(allocation("one", {"gpu": 4}))
    for application in dump["applications"]:
        for each in application.get("requests") or ():
            each["allocationTags"] = {
                "kubernetes.io/meta/namespace": "b",
                "kubernetes.io/meta/podName": "asks",
            }
    state = folder_of(tmp_path, dump, listed(runs, asks, *spaces))
    found = evidence(state)
    assert [one[: len(said)] for one in found] == ([said] if said else [])


@pytest.mark.parametrize("keys", ["matchLabelKeys", "mismatchLabelKeys"])
@pytest.mark.parametrize("labels", [APP, {"app": "y"}])
def test_more_keys_only_make_a_term_select_fewer(keys: str, labels: Json) -> None:
    runs = apart(WHOM | {keys: ["pod-template-hash"]})
    assert len(evidence(state_with(runs, {"labels": labels}))) == (labels == APP)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        # As one that left out all labels, or those and what a term selects, wrote them.
        ({}, ["it has perhaps labels that a/runs on n1 keeps off by anti-affinity"]),
        # The shim leaves out what is empty: where others have labels, this pod has none.
        ({"labels": APP}, []),
        ({"labels": {}}, []),
    ],
)
def test_a_pod_without_labels(runs: Json, expected: list[str]) -> None:
    """Source: yunikorn-k8shim 23b6b47f, cache/external/scheduler_cache_dao.go (PodDao)."""
    assert evidence(state_with(apart(WHOM) | runs, {})) == expected


def test_an_ask_whose_pod_the_dump_lacks() -> None:
    """Nobody knows its labels."""
    runs = apart(WHOM) | {"labels": APP}
    (found,) = evidence(state_with(runs, {"uid": "gone"}))
    told(found)
