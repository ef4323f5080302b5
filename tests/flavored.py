"""Small clusters with several flavors, in a few words, for what chooses among them.

Amounts are GPUs unless said; every queue ``q`` has the LocalQueue ``ns/q``. What a workload of
the queue holds is given as flavor and amount.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from planner.state.record import AUTO

Object = dict[str, Any]
GPU = "nvidia.com/gpu"
NOW = "2026-05-01T13:00:00Z"
PENDING = "ns/pending"


def flavor(name: str, *, taint: str = "", labels: Mapping[str, str] | None = None) -> list[Object]:
    """Return a ResourceFlavor; a taint is a key, with effect NoSchedule."""
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    spec = {"nodeTaints": taints, "nodeLabels": dict(labels or {})}
    return [{"kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}]


def group(resource: str = GPU, **nominal: int | tuple[int, int]) -> Object:
    """Return a resource group: per flavor its nominal quota, or that and the borrowing limit."""
    flavors = []
    for name, amount in nominal.items():
        quota, limit = amount if isinstance(amount, tuple) else (amount, None)
        row: Object = {"name": resource, "nominalQuota": quota}
        row |= {} if limit is None else {"borrowingLimit": limit}
        flavors.append({"name": name, "resources": [row]})
    return {"coveredResources": [resource], "flavors": flavors}


def queue(  # noqa: PLR0913 - the words of the small language
    name: str,
    *groups: Object,
    cohort: str = "",
    within: str = "Never",
    reclaim: str = "Never",
    borrow: str = "Never",
    stops: bool = False,
) -> list[Object]:
    """Return a ClusterQueue; ``stops`` says that it takes the first flavor it can preempt in."""
    fungibility = {"whenCanPreempt": "MayStopSearch" if stops else "TryNextFlavor"}
    preemption = {
        "withinClusterQueue": within,
        "reclaimWithinCohort": reclaim,
        "borrowWithinCohort": {"policy": borrow},
    }
    spec = {
        "cohortName": cohort,
        "resourceGroups": list(groups),
        "flavorFungibility": fungibility,
        "preemption": preemption,
    }
    local = {"metadata": {"name": name, "namespace": "ns"}, "spec": {"clusterQueue": name}}
    return [
        {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec},
        {"kind": "LocalQueue", **local},
    ]


def running(  # noqa: PLR0913 - the words of the small language
    name: str, holder: str, where: str, amount: int, priority: int = 0, *, resource: str = GPU
) -> list[Object]:
    """Return a workload ``ns/NAME`` that holds quota in a flavor since 12:00."""
    workload = _workload(name, holder, [podset(amount, resource=resource)], priority)
    usage = {
        "name": "main",
        "count": 1,
        "flavors": {resource: where},
        "resourceUsage": {resource: str(amount)},
    }
    reserved = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"}
    workload["status"] = {
        "admission": {"clusterQueue": holder, "podSetAssignments": [usage]},
        "conditions": [{**reserved, "lastTransitionTime": "2026-05-01T12:00:00Z"}],
    }
    return [workload]


def podset(  # noqa: PLR0913 - the words of the small language
    amount: int = 0,
    name: str = "main",
    *,
    resource: str = GPU,
    together: str = "",
    tolerates: str = "",
    selects: Mapping[str, str] | None = None,
    also: Mapping[str, int] | None = None,
) -> Object:
    """Return a podset of one pod; ``together`` names its podset group."""
    requests = {resource: amount, **(also or {})}
    spec: Object = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    if tolerates:
        spec["tolerations"] = [{"key": tolerates, "operator": "Exists"}]
    if selects:
        spec["nodeSelector"] = dict(selects)
    found: Object = {"name": name, "count": 1, "template": {"spec": spec}}
    if together:
        found["topologyRequest"] = {"podSetGroupName": together}
    return found


def pending(holder: str, *pod_sets: Object, priority: int = 10) -> list[Object]:
    """Return the pending workload ``ns/pending``."""
    return waiting("pending", holder, *pod_sets, priority=priority)


def waiting(name: str, holder: str, *pod_sets: Object, priority: int = 10) -> list[Object]:
    """Return a pending workload ``ns/NAME``."""
    return [_workload(name, holder, list(pod_sets), priority)]


def listed(*parts: Iterable[Object]) -> Object:
    """Return a v1 List of a few parts, as kubectl would print it."""
    items = (item for part in parts for item in part)
    versioned = [{"apiVersion": "kueue.x-k8s.io/v1beta2", **item} for item in items]
    return {"apiVersion": "v1", "kind": "List", "items": versioned}


def state_of(*parts: Iterable[Object], release: str = AUTO) -> State:
    """Return the state of a few parts, under a release of Kueue."""
    return read_kueue_objects(listed(*parts), where="test", now=NOW, release=release)


def _workload(name: str, holder: str, pod_sets: list[Object], priority: int) -> Object:
    return {
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-05-01T11:00:00Z",
        },
        "spec": {"queueName": holder, "priority": priority, "podSets": pod_sets},
    }
