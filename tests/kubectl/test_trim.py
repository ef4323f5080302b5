"""What is left out of a dump, and that nothing else is."""

from typing import Any

import pytest

from planner.kubectl.trim import CONTAINER_FIELDS, LAST_APPLIED, trim


def test_fields_of_a_container() -> None:
    """Pinned by hand: what stays is seen by everybody who gets the dump."""
    assert {"name", "resources", "restartPolicy"} == CONTAINER_FIELDS


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
    pod = {"containers": [container], "initContainers": [sidecar], "nodeSelector": {"zone": "a"}}
    item = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "a",
            "managedFields": [{"manager": "hunter2"}],
            "annotations": {LAST_APPLIED: "hunter2", "preemption-planner.io/tier": "last"},
        },
        "spec": {"podSets": [{"name": "main", "count": 2, "template": {"spec": pod}}]},
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
        "spec": {"podSets": [{"name": "main", "count": 2, "template": {"spec": pod_kept}}]},
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
    assert trim(item) == item
