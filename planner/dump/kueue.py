"""Single objects of Kueue, v1beta2, with the fields that matter for preemption.

All amounts are whole numbers in Kueue's own units: cpu in milli-cores, memory in bytes, anything
else as a count. Moments know their time zone.

Source: docs/semantics/kueue.md §1 and §2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, field

from planner.dump import rfc3339, uid_of
from planner.quantity import UNLIMITED, format_units

Object = dict[str, Any]
Amounts = Mapping[str, int]
"""Resource to amount."""

API: Final = "kueue.x-k8s.io/v1beta2"
CONFIGURATION_API: Final = "config.kueue.x-k8s.io/v1beta2"
_UNLIMITED: Final = "10E"
"""A quantity that Kueue counts as unlimited, of any resource."""


class Quota(Struct, frozen=True):
    """The quota of one resource in one flavor; ``None`` stands for no limit."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


Quotas = Mapping[str, Mapping[str, Quota]]
"""Flavor to resource to quota, in the order in which flavors are tried; one resource group."""


class Policies(Struct, frozen=True):
    """The preemption policies of a ClusterQueue, in Kueue's own words."""

    within_cluster_queue: str = "LowerPriority"
    reclaim_within_cohort: str = "Any"
    borrow_within_cohort: str = "Never"
    max_priority_threshold: int | None = None


class PodSet(Struct, frozen=True):
    """Equal pods: how many, the requests of each, and the labels that their nodes must have.

    ``placement`` is the topologyRequest, and ``places`` are the leaves on which the pods run, each
    as its values of ``levels`` and the number of pods there.
    """

    count: int
    requests: Amounts
    name: str = "main"
    node_selector: Mapping[str, str] = field(default_factory=dict)
    placement: Mapping[str, object] | None = None
    levels: Sequence[str] = ()
    places: Sequence[tuple[Sequence[str], int]] = ()


class Admission(Struct, frozen=True):
    """Where a workload holds quota: the ClusterQueue, the flavor of each resource, since when."""

    cluster_queue: str
    flavors: Mapping[str, str]
    since: datetime


def resource_flavor(
    name: str,
    node_labels: Mapping[str, str] | None = None,
    topology_name: str = "",
    *,
    created: datetime,
) -> Object:
    """Return a ResourceFlavor."""
    spec = _said(nodeLabels=dict(node_labels or {}), topologyName=topology_name)
    return _thing("ResourceFlavor", name, created) | {"spec": spec}


def admission_check(name: str, *, created: datetime) -> Object:
    """Return an AdmissionCheck that its controller has called active."""
    active = {"type": "Active", "status": "True", "lastTransitionTime": rfc3339(created)}
    return _thing("AdmissionCheck", name, created) | {"status": {"conditions": [active]}}


def topology(name: str, levels: Iterable[str], *, created: datetime) -> Object:
    """Return a Topology with levels, the highest first."""
    spec = {"levels": [{"nodeLabel": level} for level in levels]}
    return _thing("Topology", name, created) | {"spec": spec}


def node(
    name: str, labels: Mapping[str, str], allocatable: Amounts, *, created: datetime
) -> Object:
    """Return a node that is ready; ``pods`` is one of the amounts."""
    made = _thing("Node", name, created)
    made["metadata"]["labels"] = dict(labels)
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": rfc3339(created)}
    status = {"allocatable": _quantities(allocatable.items()), "conditions": [ready]}
    return made | {"apiVersion": "v1", "status": status}


def cohort(
    name: str, parent: str = "", quotas: Quotas | None = None, *, created: datetime
) -> Object:
    """Return a Cohort, with quotas of its own or not."""
    spec = _said(parentName=parent, resourceGroups=[_group(quotas)] if quotas else [])
    return _thing("Cohort", name, created) | {"spec": spec}


def weighted(made: Object, weight: str | None) -> Object:
    """Give a Cohort or a ClusterQueue its weight under fair sharing, if it has one."""
    made["spec"] |= _said(fairSharing=weight and {"weight": weight})
    return made


def cluster_queue(
    name: str, cohort_name: str, quotas: Quotas, policies: Policies, *, created: datetime
) -> Object:
    """Return a ClusterQueue that admits workloads of all namespaces."""
    borrow: Object = {"policy": policies.borrow_within_cohort}
    if policies.max_priority_threshold is not None:
        borrow["maxPriorityThreshold"] = policies.max_priority_threshold
    spec: Object = {
        "namespaceSelector": {},
        "preemption": {
            "borrowWithinCohort": borrow,
            "reclaimWithinCohort": policies.reclaim_within_cohort,
            "withinClusterQueue": policies.within_cluster_queue,
        },
        "resourceGroups": [_group(quotas)],
        **_said(cohortName=cohort_name),
    }
    return _thing("ClusterQueue", name, created) | {"spec": spec}


def local_queue(namespace: str, name: str, cluster_queue_name: str, *, created: datetime) -> Object:
    """Return a LocalQueue."""
    made = _thing("LocalQueue", name, created, namespace)
    return made | {"spec": {"clusterQueue": cluster_queue_name}}


def workload(  # noqa: PLR0913 - the fields that matter
    namespace: str,
    name: str,
    queue_name: str,
    priority: int,
    pod_sets: Sequence[PodSet],
    *,
    created: datetime,
    admission: Admission | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """Return a Workload: pending, or with quota reserved if it has an admission."""
    made = _thing("Workload", name, created, namespace)
    if annotations:
        made["metadata"]["annotations"] = dict(annotations)
    listed = list[Object]()
    for pods in pod_sets:
        requests = _quantities(pods.requests.items())
        spec: Object = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
        spec |= _said(nodeSelector=dict(pods.node_selector))
        listed.append({"name": pods.name, "count": pods.count, "template": {"spec": spec}})
        if pods.placement is not None:
            listed[-1]["topologyRequest"] = dict(pods.placement)
    made["spec"] = {"podSets": listed, "priority": priority, "queueName": queue_name}
    if admission is not None:
        made["status"] = _status(pod_sets, admission)
    return made


def configuration(**fields: object) -> Object:
    """Return Kueue's Configuration with some fields set."""
    return {"apiVersion": CONFIGURATION_API, "kind": "Configuration", **fields}


def _thing(kind: str, name: str, created: datetime, namespace: str = "") -> Object:
    uid = uid_of(kind, namespace, name)
    metadata = {"creationTimestamp": rfc3339(created), "name": name, "uid": uid}
    metadata |= _said(namespace=namespace)
    return {"apiVersion": API, "kind": kind, "metadata": metadata}


def _said(**fields: object) -> Object:
    """Return the fields that are not empty."""
    return {name: value for name, value in fields.items() if value}


def _group(quotas: Quotas) -> Object:
    covered = list(dict.fromkeys(name for by_resource in quotas.values() for name in by_resource))
    flavors = [
        {"name": flavor, "resources": [_quota(name, one) for name, one in by_resource.items()]}
        for flavor, by_resource in quotas.items()
    ]
    return {"coveredResources": covered, "flavors": flavors}


def _quota(resource: str, quota: Quota) -> Object:
    amounts = {
        "nominalQuota": quota.nominal,
        "borrowingLimit": quota.borrowing_limit,
        "lendingLimit": quota.lending_limit,
    }
    return {"name": resource} | {
        name: _UNLIMITED if units == UNLIMITED else format_units(units, resource)
        for name, units in amounts.items()
        if units is not None
    }


def _status(pod_sets: Iterable[PodSet], admission: Admission) -> Object:
    """Return the status that Kueue writes for a workload it has admitted."""
    queue, since = admission.cluster_queue, rfc3339(admission.since)
    assignments = []
    for pods in pod_sets:
        made: Object = {
            "count": pods.count,
            "flavors": {resource: admission.flavors[resource] for resource in pods.requests},
            "name": pods.name,
            "resourceUsage": _quantities((r, n * pods.count) for r, n in pods.requests.items()),
        }
        # The places of its pods, one slice per leaf.
        slices = [
            {
                "domainCount": 1,
                "valuesPerLevel": [{"universal": value} for value in values],
                "podCounts": {"universal": count},
            }
            for values, count in pods.places
        ]
        if slices:
            made["topologyAssignment"] = {"levels": list(pods.levels), "slices": slices}
        assignments.append(made)
    said = {
        "QuotaReserved": f"Quota reserved in ClusterQueue {queue}",
        "Admitted": "The workload is admitted",
    }
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": kind,
            "message": message,
            "lastTransitionTime": since,
        }
        for kind, message in said.items()
    ]
    return {
        "admission": {"clusterQueue": queue, "podSetAssignments": assignments},
        "conditions": conditions,
    }


def _quantities(amounts: Iterable[tuple[str, int]]) -> dict[str, str]:
    return {resource: format_units(amount, resource) for resource, amount in amounts}
