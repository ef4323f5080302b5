"""Lines that hold what the model does not cover: they are named, not compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

TOPOLOGY: Final = "topology"

Object = Mapping[str, Any]


def uncovered_feature(state: object) -> str:
    """Return the name of a feature in a recorded state that the model does not cover; or nothing.

    What is looked at are the objects as they were recorded, before any of them is read.
    """
    items = state.get("items") if isinstance(state, dict) else None
    objects: list[Object] = [item for item in items or () if isinstance(item, dict)]
    return TOPOLOGY if _has_topology(objects) else ""


def _has_topology(objects: list[Object]) -> bool:
    """Say whether a podset asks for a topology, or a ClusterQueue has a flavor that offers one."""
    offering = {
        one["metadata"]["name"]
        for one in objects
        if one.get("kind") == "ResourceFlavor" and (one.get("spec") or {}).get("topologyName")
    }
    queues = [one for one in objects if one.get("kind") == "ClusterQueue"]
    named = json.dumps([(one.get("spec") or {}).get("resourceGroups") for one in queues])
    return any(json.dumps(name) in named for name in offering) or any(_asking(objects))


def _asking(objects: list[Object]) -> Iterator[bool]:
    """Say of every podset whether it asks for more than the flavors of its group."""
    for one in objects:
        if one.get("kind") == "Workload":
            for pods in (one.get("spec") or {}).get("podSets") or ():
                # A group alone keeps the flavors of its podsets together, which is covered.
                yield bool(set(pods.get("topologyRequest") or ()) - {"podSetGroupName"})
