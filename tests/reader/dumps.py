"""Objects as kubectl prints them, in a few words, and files that hold them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.state.kueue import State
from tests.kueue_state import read_objects

Object = dict[str, Any]

NOW = "2026-03-08T21:06:00Z"
KUEUE = "kueue.x-k8s.io"
V1BETA1 = f"{KUEUE}/v1beta1"
V1BETA2 = f"{KUEUE}/v1beta2"
CONFIG = "config.kueue.x-k8s.io"
NAMESPACED = {"Workload", "LocalQueue"}


def kueue(kind: str, name: str, version: str = V1BETA2, **fields: Any) -> Object:
    """Return an object of Kueue; those with a namespace are in ``team-a``."""
    metadata = {"name": name}
    if kind in NAMESPACED:
        metadata["namespace"] = "team-a"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def cluster_queue(name: str = "cq", version: str = V1BETA2, **spec: Any) -> Object:
    """Return a ClusterQueue with a spec."""
    return kueue("ClusterQueue", name, version, spec=spec)


def workload(name: str = "train", version: str = V1BETA2, **spec: Any) -> Object:
    """Return a Workload with a spec."""
    return kueue("Workload", name, version, spec=spec)


def quota_of(**quota: Any) -> list[Object]:
    """Return resource groups with one flavor and one resource, ``memory``."""
    flavor = {"name": "default", "resources": [{"name": "memory", "nominalQuota": 1, **quota}]}
    return [{"coveredResources": ["memory"], "flavors": [flavor]}]


def pods_asking(**requests: Any) -> list[Object]:
    """Return one podset of one container."""
    containers = [{"name": "main", "resources": {"requests": requests}}]
    return [{"template": {"spec": {"containers": containers}}}]


def listed(*objects: Object, **other: Any) -> Object:
    """Return a v1 List."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects), **other}


def state_of(*objects: Object, now: str | None = NOW) -> State:
    """Read objects that are parsed already."""
    return read_objects(listed(*objects), where="dump.json", now=now)


def write(folder: Path, name: str, value: object) -> Path:
    """Write a file: bytes and text as they are, everything else as JSON."""
    path = folder / name
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def error_of(call: Callable[[], object]) -> InputError:
    """Return the one error that a call ends in."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.exit_code == 2
    return caught.value


def refused(*objects: Object) -> InputError:
    """Return the error that objects are refused with."""
    return error_of(lambda: state_of(*objects))
