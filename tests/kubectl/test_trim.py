"""What is left out of a dump, and that nothing else is."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from planner.kubectl.dump import LAST_APPLIED, trim
from planner.reader import MAX_BYTES, Ignored, load, read_objects
from planner.reader.items import items_of
from planner.reader.parse import parse
from tests.conftest import ROOT


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
