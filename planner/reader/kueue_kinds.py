"""The kinds of objects which the planner reads of Kueue and its cluster, by API group."""

from __future__ import annotations

from typing import Final

from planner.reader.items import Kind
from planner.state.kueue import (
    API_GROUP,
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

CONFIG: Final = f"config.{API_GROUP}"
DEVICES: Final = "resource.k8s.io"


_VERSIONS: Final = ("v1alpha1", "v1beta1", "v1beta2")
_DEVICE_VERSIONS: Final = ("v1beta2", "v1")
"""Kueue itself reads v1, of which v1beta2 has the same form."""

KINDS: Final[dict[tuple[str, str], Kind]] = {
    (group, kind.name): kind
    for group, kind in (
        (API_GROUP, Kind("ClusterQueue", ClusterQueue, _VERSIONS)),
        (API_GROUP, Kind("Cohort", Cohort, _VERSIONS)),
        (API_GROUP, Kind("LocalQueue", LocalQueue, _VERSIONS, namespaced=True)),
        (API_GROUP, Kind("Workload", Workload, _VERSIONS, namespaced=True)),
        (API_GROUP, Kind("ResourceFlavor", ResourceFlavor, _VERSIONS)),
        (API_GROUP, Kind("WorkloadPriorityClass", PriorityClass, _VERSIONS)),
        (API_GROUP, Kind("AdmissionCheck", AdmissionCheck, _VERSIONS)),
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
        (API_GROUP, Kind("Topology", Topology, _VERSIONS)),
        ("", Kind("Node", Node, ("v1",))),
        ("", Kind("Pod", Pod, ("v1",), namespaced=True)),
    )
}

WORKLOAD: Final = KINDS[API_GROUP, "Workload"]
API_OF_WORKLOADS: Final = tuple(f"{API_GROUP}/{version}" for version in WORKLOAD.versions)
