"""Small clusters in a few words, as the objects kubectl would print.

One flavor, ``default``, and a second one where ``with_spare_flavor`` is asked for; amounts are
integers of a resource, ``gpu`` unless said. Minutes count from 12:00 on a fixed day; ``now`` is
13:00.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from planner.state.record import AUTO

Object = dict[str, Any]
NOW = "2026-05-01T13:00:00Z"
FLAVOR = "default"
SPARE = "spare"
KUEUE = "kueue.x-k8s.io/v1beta2"
PENDING = "ns/pending"


def at(minute: int) -> str:
    """Return the timestamp so many minutes after 12:00."""
    return f"2026-05-01T12:{minute:02d}:00Z"


def quotas(
    nominal: Mapping[str, int] | int,
    borrowing: Mapping[str, int] | int | None = None,
    lending: Mapping[str, int] | int | None = None,
) -> list[Object]:
    """Return one resource group of the default flavor."""
    by_resource = _each(nominal)
    rows = []
    for resource, amount in by_resource.items():
        row: Object = {"name": resource, "nominalQuota": amount}
        for field, limit in (("borrowingLimit", borrowing), ("lendingLimit", lending)):
            value = None if limit is None else _each(limit, by_resource).get(resource)
            if value is not None:
                row[field] = value
        rows.append(row)
    flavors = [{"name": FLAVOR, "resources": rows}]
    return [{"coveredResources": list(by_resource), "flavors": flavors}]


def queue(  # noqa: PLR0913 - the words of the small language
    name: str,
    nominal: Mapping[str, int] | int,
    cohort: str = "",
    *,
    borrowing: Mapping[str, int] | int | None = None,
    lending: Mapping[str, int] | int | None = None,
    within: str = "Never",
    reclaim: str = "Never",
    borrow: str = "Never",
    threshold: int | None = None,
    weight: str | None = None,
    stop: str = "None",
) -> list[Object]:
    """Return a ClusterQueue and its LocalQueue ``ns/NAME``."""
    borrow_within: Object = {"policy": borrow}
    if threshold is not None:
        borrow_within["maxPriorityThreshold"] = threshold
    spec: Object = {
        "namespaceSelector": {},
        "cohortName": cohort,
        "stopPolicy": stop,
        "resourceGroups": quotas(nominal, borrowing, lending),
        "preemption": {
            "withinClusterQueue": within,
            "reclaimWithinCohort": reclaim,
            "borrowWithinCohort": borrow_within,
        },
    }
    if weight is not None:
        spec["fairSharing"] = {"weight": weight}
    return [
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": "ns"},
            "spec": {"clusterQueue": name},
        },
    ]


def cohort(  # noqa: PLR0913 - the words of the small language
    name: str,
    parent: str = "",
    *,
    nominal: Mapping[str, int] | int | None = None,
    borrowing: Mapping[str, int] | int | None = None,
    lending: Mapping[str, int] | int | None = None,
    weight: str | None = None,
) -> list[Object]:
    """Return a Cohort."""
    spec: Object = {"parentName": parent}
    if nominal is not None:
        spec["resourceGroups"] = quotas(nominal, borrowing, lending)
    if weight is not None:
        spec["fairSharing"] = {"weight": weight}
    return [{"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}]


def running(  # noqa: PLR0913 - the words of the small language
    name: str,
    queue_name: str,
    amount: Mapping[str, int] | int,
    priority: int = 0,
    *,
    minute: int = 0,
    created: int | None = None,
    evicted: bool = False,
    deleted: bool = False,
    annotations: Mapping[str, str] | None = None,
    flavor: str = FLAVOR,
) -> list[Object]:
    """Return a workload ``ns/NAME`` that holds quota since a minute."""
    usage = _each(amount)
    conditions = [_condition("QuotaReserved", "QuotaReserved", minute)]
    if evicted:
        conditions.append(_condition("Evicted", "Preempted", minute))
    assignment = {
        "name": "main",
        "count": 1,
        "flavors": dict.fromkeys(usage, flavor),
        "resourceUsage": {resource: str(value) for resource, value in usage.items()},
    }
    workload = _workload(name, queue_name, usage, priority, minute if created is None else created)
    workload["metadata"]["annotations"] = dict(annotations or {})
    if deleted:
        workload["metadata"]["deletionTimestamp"] = NOW
    workload["status"] = {
        "admission": {"clusterQueue": queue_name, "podSetAssignments": [assignment]},
        "conditions": conditions,
    }
    return [workload]


def pending(
    queue_name: str, amount: Mapping[str, int] | int, priority: int = 10, *, created: int = 30
) -> list[Object]:
    """Return the pending workload ``ns/pending``."""
    return [_workload("pending", queue_name, _each(amount), priority, created)]


def with_spare_flavor(parts: Iterable[Object]) -> list[Object]:
    """Return the parts with a second flavor in every quota, of which nobody has any."""
    kind = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": SPARE}}
    found = deepcopy(list(parts))
    for item in found:
        for group in item["spec"].get("resourceGroups", ()) if "spec" in item else ():
            rows = [{"name": name, "nominalQuota": 0} for name in group["coveredResources"]]
            group["flavors"].append({"name": SPARE, "resources": rows})
    return [kind, *found]


def admission_check(name: str, controller: str, status: str = "True") -> Object:
    """Return an AdmissionCheck that is active or not."""
    return {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": name},
        "spec": {"controllerName": controller},
        "status": {"conditions": [{"type": "Active", "status": status}]},
    }


def configuration(**fields: object) -> list[Object]:
    """Return Kueue's Configuration with some fields set."""
    return [{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **fields}]


def fair_sharing(*strategies: str, within_nominal: bool = True) -> list[Object]:
    """Return a Configuration with fair sharing on; without strategies named it has both."""
    return configuration(
        fairSharing={"preemptionStrategies": list(strategies)},
        featureGates={"FairSharingPreemptWithinNominal": within_nominal},
    )


def state_of(*parts: Iterable[Object], release: str = AUTO) -> State:
    """Return the state of a few parts, with the default flavor, under a release of Kueue."""
    return read_kueue_objects(dump_of(*parts), where="test", now=NOW, release=release)


def dump_of(*parts: Iterable[Object]) -> Object:
    """Return the List that kubectl would print of a few parts, with the default flavor."""
    flavor = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": FLAVOR}}
    items = [flavor, *(item for part in parts for item in part)]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def preempt(state: State) -> dict[str, Any]:
    """Return the flavors of the pending workload; by themselves all need preemption.

    In a state they have the modes that they have there.
    """
    workload = next(item for item in state.workloads if item.key == PENDING)
    requests = workload.spec.pod_sets[0].template.spec.containers[0].resources.requests
    return {"main": {name: {"flavor": FLAVOR} for name in requests}}


def problem_of(state: State) -> tuple[Problem, Snapshot, Preemptor]:
    """Return the problem of the pending workload, all its resources contested."""
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    assignment = read_assignment(preempt(state), preemptor)
    return build_problem(snapshot, preemptor, assignment), snapshot, preemptor


def _each(
    amount: Mapping[str, int] | int, resources: Iterable[str] = ("gpu",)
) -> Mapping[str, int]:
    return dict.fromkeys(resources, amount) if isinstance(amount, int) else amount


def _condition(kind: str, reason: str, minute: int) -> Object:
    return {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": at(minute)}


def _workload(
    name: str, queue_name: str, requests: Mapping[str, int], priority: int, created: int
) -> Object:
    container = {"name": "main", "resources": {"requests": dict(requests)}}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "creationTimestamp": at(created),
        },
        "spec": {
            "queueName": queue_name,
            "priority": priority,
            "podSets": [
                {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
            ],
        },
    }
