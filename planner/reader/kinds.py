"""The kinds of objects which the planner reads, by API group."""

from __future__ import annotations

from typing import Final, NamedTuple

from planner.state import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Configuration,
    Deployment,
    DeviceClass,
    Event,
    LimitRange,
    LocalQueue,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ResourceClaimTemplate,
    ResourceFlavor,
    ResourceSlice,
    RuntimeClass,
    Topology,
    Workload,
)
from planner.state.base import Schema

KUEUE: Final = "kueue.x-k8s.io"
CONFIG: Final = "config.kueue.x-k8s.io"
DEVICES: Final = "resource.k8s.io"


class Kind(NamedTuple):
    """A kind of object which the planner reads."""

    name: str
    model: type[Schema]
    versions: tuple[str, ...]
    namespaced: bool = False


_KUEUE_VERSIONS: Final = ("v1alpha1", "v1beta1", "v1beta2")
_DEVICE_VERSIONS: Final = ("v1beta2", "v1")
"""Kueue itself reads v1, of which v1beta2 has the same form."""

KINDS: Final[dict[tuple[str, str], Kind]] = {
    (group, kind.name): kind
    for group, kind in (
        (KUEUE, Kind("ClusterQueue", ClusterQueue, _KUEUE_VERSIONS)),
        (KUEUE, Kind("Cohort", Cohort, _KUEUE_VERSIONS)),
        (KUEUE, Kind("LocalQueue", LocalQueue, _KUEUE_VERSIONS, namespaced=True)),
        (KUEUE, Kind("Workload", Workload, _KUEUE_VERSIONS, namespaced=True)),
        (KUEUE, Kind("ResourceFlavor", ResourceFlavor, _KUEUE_VERSIONS)),
        (KUEUE, Kind("WorkloadPriorityClass", PriorityClass, _KUEUE_VERSIONS)),
        (KUEUE, Kind("AdmissionCheck", AdmissionCheck, _KUEUE_VERSIONS)),
        (CONFIG, Kind("Configuration", Configuration, ("v1beta1", "v1beta2"))),
        ("scheduling.k8s.io", Kind("PriorityClass", PriorityClass, ("v1",))),
        ("node.k8s.io", Kind("RuntimeClass", RuntimeClass, ("v1",))),
        ("", Kind("LimitRange", LimitRange, ("v1",), namespaced=True)),
        ("", Kind("Event", Event, ("v1",), namespaced=True)),
        ("", Kind("Namespace", Namespace, ("v1",))),
        (DEVICES, Kind("DeviceClass", DeviceClass, _DEVICE_VERSIONS)),
        (
            DEVICES,
            Kind("ResourceClaimTemplate", ResourceClaimTemplate, _DEVICE_VERSIONS, namespaced=True),
        ),
        (DEVICES, Kind("ResourceSlice", ResourceSlice, _DEVICE_VERSIONS)),
        ("apps", Kind("Deployment", Deployment, ("v1",), namespaced=True)),
        ("policy", Kind("PodDisruptionBudget", PodDisruptionBudget, ("v1",), namespaced=True)),
        (KUEUE, Kind("Topology", Topology, _KUEUE_VERSIONS)),
        ("", Kind("Node", Node, ("v1",))),
        ("", Kind("Pod", Pod, ("v1",), namespaced=True)),
    )
}

WORKLOAD: Final = KINDS[KUEUE, "Workload"]
API_OF_WORKLOADS: Final = tuple(f"{KUEUE}/{version}" for version in WORKLOAD.versions)
