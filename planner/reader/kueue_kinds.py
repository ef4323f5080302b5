"""The kinds of objects which the planner reads of Kueue and its cluster, by API group."""

from __future__ import annotations

import re
from typing import Final

from planner.errors import SchemaError
from planner.reader.items import Item, Kind
from planner.reader.settings import TAKEN_AT
from planner.reader.show import place, shown
from planner.reader.source import Holds
from planner.state import kueue_topology, pods, queues
from planner.state.kueue import API_GROUP, Configuration, Workload

CONFIG: Final = f"config.{API_GROUP}"
DEVICES: Final = "resource.k8s.io"

_VERSIONS: Final = ("v1alpha1", "v1beta1", "v1beta2")
_DRA: Final = ("v1beta2", "v1")
"""Kueue itself reads v1, of which v1beta2 has the same form."""

KINDS: Final[dict[tuple[str, str], Kind]] = {
    (group, kind.name): kind
    for group, kind in (
        (API_GROUP, Kind("ClusterQueue", queues.ClusterQueue, _VERSIONS)),
        (API_GROUP, Kind("Cohort", queues.Cohort, _VERSIONS)),
        (API_GROUP, Kind("LocalQueue", queues.LocalQueue, _VERSIONS, namespaced=True)),
        (API_GROUP, Kind("Workload", Workload, _VERSIONS, namespaced=True)),
        (API_GROUP, Kind("ResourceFlavor", queues.ResourceFlavor, _VERSIONS)),
        (API_GROUP, Kind("WorkloadPriorityClass", queues.PriorityClass, _VERSIONS)),
        (API_GROUP, Kind("AdmissionCheck", queues.AdmissionCheck, _VERSIONS)),
        (CONFIG, Kind("Configuration", Configuration, ("v1beta1", "v1beta2"))),
        ("scheduling.k8s.io", Kind("PriorityClass", queues.PriorityClass, ("v1",))),
        ("node.k8s.io", Kind("RuntimeClass", queues.RuntimeClass, ("v1",))),
        ("", Kind("LimitRange", queues.LimitRange, ("v1",), namespaced=True)),
        ("", Kind("Event", pods.Event, ("v1",), namespaced=True)),
        ("", Kind("Namespace", queues.Namespace, ("v1",))),
        (DEVICES, Kind("DeviceClass", pods.DeviceClass, _DRA)),
        (DEVICES, Kind("ResourceClaimTemplate", pods.ResourceClaimTemplate, _DRA, namespaced=True)),
        (DEVICES, Kind("ResourceSlice", pods.ResourceSlice, _DRA)),
        ("apps", Kind("Deployment", pods.Deployment, ("v1",), namespaced=True)),
        ("policy", Kind("PodDisruptionBudget", pods.PodDisruptionBudget, ("v1",), namespaced=True)),
        (API_GROUP, Kind("Topology", kueue_topology.Topology, _VERSIONS)),
        ("", Kind("Node", kueue_topology.Node, ("v1",))),
        ("", Kind("Pod", kueue_topology.Pod, ("v1",), namespaced=True)),
    )
}

_SPELLED: Final = {
    (group, f"{name}{end}".lower()): f"{name}{end}"
    for group, name in (*KINDS, ("", "ConfigMap"), ("", ""))
    for end in ("", "List")
}
"""How the kinds are written that are read, and lists of them, by the same in lower case."""
_BY_NAME: Final = {name: written for (_, name), written in _SPELLED.items()}


def refuse_other_case(item: Item) -> None:
    """Raise ``SchemaError`` if an object is of a kind that is read, written in another case.

    Kubernetes has no such kind. To pass over the object would end in a hint to look for it.
    """
    kind, version = str(item.value["kind"]), item.value.get("apiVersion")
    meant = _BY_NAME.get(kind.lower())
    if isinstance(version, str) and version:
        meant = _SPELLED.get((version.rpartition("/")[0], kind.lower()))
    if meant and meant != kind:
        where, found = place(item.root, (*item.path, "kind")), f"{shown(kind)} is no kind"
        hint = "kinds are told apart by upper and lower case: kubectl refuses such an object, too"
        raise SchemaError(where, found, meant, hint)


WORKLOAD: Final = KINDS[API_GROUP, "Workload"]
API_OF_WORKLOADS: Final = tuple(f"{API_GROUP}/{version}" for version in WORKLOAD.versions)
_QUEUES, _WORKLOADS = (
    re.compile(rb"""["']?kind["']?\s*:\s*["']?%s(?:List)?\b""" % kind)
    for kind in (b"ClusterQueue", b"Workload")
)


def holds(data: bytes) -> Holds:
    """Say whether a text is a state by itself: ClusterQueues and workloads, or a snapshot.

    ClusterQueues alone may be the state of a time at which nothing ran or waited.
    """
    if not _QUEUES.search(data):
        return "part"
    return "state" if _WORKLOADS.search(data) or TAKEN_AT.encode() in data else "perhaps"
