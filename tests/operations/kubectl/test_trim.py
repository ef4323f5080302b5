"""What is left out of a dump, and that nothing else is."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from planner.operations.kubectl.kueue_dump import LAST_APPLIED, trim
from planner.reader import MAX_BYTES, Ignored, load, read_objects
from planner.reader.items import items_of
from planner.reader.parse import parse
from tests.conftest import ROOT


def test_of_a_pod_its_node_and_what_it_asks_for_stay() -> None:
    placed = "kueue.x-k8s.io/podset-required-topology"
    asks = {"name": "main", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "a",
            "namespace": "ns",
            "uid": "hunter2",
            "labels": {"app": "hunter2"},
            "annotations": {"note": "hunter2", placed: "rack"},
            "ownerReferences": [{"kind": "Workload", "name": "hunter2", "uid": "hunter2"}],
        },
        "spec": {
            "nodeName": "n1",
            "containers": [{**asks, "env": [{"name": "TOKEN", "value": "hunter2"}]}],
            "volumes": [{"name": "hunter2"}],
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }
    assert trim(pod) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "ns", "annotations": {placed: "rack"}},
        "spec": {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running"},
    }
    del pod["metadata"]["annotations"][placed]  # type: ignore[index]
    assert trim(pod)["metadata"] == {"name": "a", "namespace": "ns"}


def test_of_a_node_its_labels_and_what_it_has_stay() -> None:
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-05-04T12:00:00Z"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"rack": "a"}, "annotations": {"key": "hunter2"}},
        "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": True},
        "status": {
            "allocatable": {"cpu": "4"},
            "capacity": {"cpu": "5"},
            "conditions": [ready],
            "images": [{"names": ["hunter2"]}],
        },
    }
    assert trim(node) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"rack": "a"}},
        "spec": {"unschedulable": True},
        "status": {
            "allocatable": {"cpu": "4"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def test_secrets_and_bookkeeping_go() -> None:
    container = {
        "name": "main",
        "resources": {"requests": {"cpu": "1"}},
        "env": [{"name": "TOKEN", "value": "hunter2"}],
        "command": ["train", "--password=hunter2"],
        "args": ["hunter2"],
        "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Auth", "value": "hunter2"}]}},
    }
    sidecar = {**container, "restartPolicy": "Always"}
    csi = {"driver": "d", "nodePublishSecretRef": {"name": "hunter2"}, "volumeAttributes": {}}
    pod = {
        "containers": [container],
        "initContainers": [sidecar],
        "ephemeralContainers": [container],
        "nodeSelector": {"zone": "a"},
        "volumes": [
            {"name": "a", "csi": csi},
            {"name": "b", "flexVolume": {"driver": "d", "options": {"password": "hunter2"}}},
        ],
    }
    applied = {"annotations": {LAST_APPLIED: "hunter2"}}
    item = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "a",
            "managedFields": [{"manager": "hunter2"}],
            "annotations": {LAST_APPLIED: "hunter2", "preemption-planner.io/tier": "last"},
        },
        "spec": {
            "podSets": [
                {
                    "name": "main",
                    "count": 2,
                    "template": {"metadata": {**applied, "labels": {"app": "x"}}, "spec": pod},
                }
            ]
        },
        "status": {
            "admission": {"clusterQueue": "q", "token": "hunter2"},
            "nominatedClusterNames": [],
        },
    }
    kept = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    pod_kept = {
        "containers": [kept],
        "initContainers": [{**kept, "restartPolicy": "Always"}],
        "nodeSelector": {"zone": "a"},
    }
    assert trim(item) == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "a", "annotations": {"preemption-planner.io/tier": "last"}},
        "spec": {
            "podSets": [
                {
                    "name": "main",
                    "count": 2,
                    "template": {"metadata": {"labels": {"app": "x"}}, "spec": pod_kept},
                }
            ]
        },
        "status": {"admission": {"clusterQueue": "q"}},
    }


def test_annotations_of_pods_stay_where_an_admission_check_gives_them_too() -> None:
    updates = [{"name": "main", "annotations": {"zone": "b"}}]
    check = {"name": "prov", "state": "Ready", "podSetUpdates": updates}
    metadata = {"annotations": {"zone": "a", "token": "hunter2"}}
    item = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "a"},
        "spec": {"podSets": [{"name": "main", "template": {"metadata": metadata, "spec": {}}}]},
        "status": {"admissionChecks": [check]},
    }
    found = trim(item)
    assert found["status"] == item["status"]
    (pods,) = found["spec"]["podSets"]
    assert pods["template"]["metadata"] == {"annotations": {"zone": "a"}}
    assert metadata == {"annotations": {"zone": "a", "token": "hunter2"}}, "given objects stay"


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"metadata": None, "spec": []},
        {"metadata": {"annotations": "none"}, "spec": {"podSets": {}}},
        {"spec": {"podSets": [None, 7, {"template": []}, {"template": {"spec": "x"}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": [7, None, "x"]}}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": {"name": "x"}}}}]}},
    ],
)
def test_what_has_another_form_stays(item: dict[str, Any]) -> None:
    """The reader complains about it, with the place where it stands."""
    item = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", **item}
    assert trim(item) == item


@pytest.mark.parametrize(
    "path", sorted((ROOT / "instances").glob("*/*.yaml")), ids=lambda p: p.stem
)
def test_a_trimmed_state_is_the_same(path: Path) -> None:
    """Every field that is read stays."""
    documents = [one for text in load(path, MAX_BYTES).texts for one in parse(text)]
    items = [item.value for document in documents for item in items_of(document)]
    ignored = Ignored()
    given: dict[str, Any] = {"where": "x", "digest": "", "now": "2026-05-01T13:00:00Z"}
    whole = read_objects(deepcopy(items), **given)
    trimmed = read_objects([trim(item) for item in items], ignored=ignored, **given)
    assert trimmed == whole
    assert not ignored.fields


def test_the_configuration_stays() -> None:
    data = {"controller_manager_config.yaml": "kind: Configuration"}
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    assert trim({**item, "binaryData": {"secret": "hunter2"}}) == item
