"""Print the quickstart's dump, as kubectl would print it on a cluster in this state.

    python instances/quickstart/make.py > instances/quickstart/cluster.json

Everything follows from table.py: no randomness, no clock.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from table import (
    COHORTS,
    FLAVORS,
    FOUNDED,
    GPU,
    LOCAL_QUEUES,
    NOW,
    OWNER_VERSIONS,
    PRIORITIES,
    QUEUES,
    QUOTAS,
    RUNS,
    WORK,
    Run,
    duration,
)

Object = dict[str, Any]
Amounts = dict[str, int]
Quotas = dict[str, Amounts]

API: Final = "kueue.x-k8s.io/v1beta2"
PLANNER: Final = "preemption-planner.io/"
PRODUCT: Final = "nvidia.com/gpu.product"
MANAGER: Final = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks:
  - batch/job
  - jobset.x-k8s.io/jobset
  - kubeflow.org/pytorchjob
  - leaderworkerset.x-k8s.io/leaderworkerset
  - ray.io/rayjob
  - statefulset
"""
RESOURCES: Final = ("cpu", "memory", GPU)
H100_TAINT: Final = {"effect": "NoSchedule", "key": "pool", "value": "h100"}


def main() -> None:
    """Write the dump to standard output."""
    items = [
        configuration(),
        *(namespace(name) for name in sorted({place for place, _ in LOCAL_QUEUES})),
        *(cluster_queue(name) for name in sorted(QUEUES)),
        *(cohort(name) for name in sorted(COHORTS)),
        *(local_queue(*key) for key in sorted(LOCAL_QUEUES)),
        *sorted((workload(run) for run in RUNS), key=place),
        *(resource_flavor(name) for name in sorted(FLAVORS)),
        *(priority_class(name) for name in sorted(PRIORITIES)),
    ]
    dump = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    sys.stdout.write(json.dumps(dump, indent=4, sort_keys=True) + "\n")


def place(item: Object) -> tuple[str, str]:
    """Return what kubectl sorts by."""
    return item["metadata"]["namespace"], item["metadata"]["name"]


def configuration() -> Object:
    """Return the ConfigMap with the Configuration of Kueue's manager: all as by default."""
    made = thing("ConfigMap", "kueue-manager-config", FOUNDED, namespace="kueue-system")
    return {**made, "apiVersion": "v1", "data": {"controller_manager_config.yaml": MANAGER}}


def namespace(name: str) -> Object:
    """Return the Namespace of a team."""
    made = thing("Namespace", name, FOUNDED)
    made["metadata"]["labels"] = {"kubernetes.io/metadata.name": name}
    return {**made, "apiVersion": "v1", "spec": {"finalizers": ["kubernetes"]}}


def cluster_queue(name: str) -> Object:
    """Return a ClusterQueue with its quotas, policies and usage."""
    cohort_name, team, within, reclaim, borrow = QUEUES[name]
    spec = {
        "cohortName": cohort_name,
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team}},
        "preemption": {
            "borrowWithinCohort": {"policy": borrow},
            "reclaimWithinCohort": reclaim,
            "withinClusterQueue": within,
        },
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": resource_groups(name),
        "stopPolicy": "None",
    }
    status = queue_status(
        lambda run: run.cluster_queue == name,
        condition("Active", "Ready", "Can admit new workloads", FOUNDED),
        nominal=QUOTAS[name],
    )
    return thing("ClusterQueue", name, FOUNDED, spec=spec, status=status)


def cohort(name: str) -> Object:
    """Return a Cohort with its parent and its own quotas, where it has them."""
    spec: Object = {"parentName": COHORTS[name]} if COHORTS[name] else {}
    if name in QUOTAS:
        spec["resourceGroups"] = resource_groups(name)
    return thing("Cohort", name, FOUNDED, spec=spec)


def local_queue(namespace: str, name: str) -> Object:
    """Return a LocalQueue with what was submitted to it."""
    message = "Can submit new workloads to localQueue"
    status = queue_status(
        lambda run: run.queue == f"{namespace}/{name}",
        condition("Active", "Ready", message, FOUNDED),
    )
    spec = {"clusterQueue": LOCAL_QUEUES[namespace, name], "stopPolicy": "None"}
    return thing("LocalQueue", name, FOUNDED, namespace=namespace, spec=spec, status=status)


def resource_flavor(name: str) -> Object:
    """Return a ResourceFlavor with the labels and taints of its nodes."""
    taints = [{"effect": "NoSchedule", "key": GPU, "value": "present"}]
    if name == "h100":
        taints.append(H100_TAINT)
    spec = {"nodeLabels": {PRODUCT: FLAVORS[name][0]}, "nodeTaints": taints}
    return thing("ResourceFlavor", name, FOUNDED, spec=spec)


def priority_class(name: str) -> Object:
    """Return a WorkloadPriorityClass."""
    value, description = PRIORITIES[name]
    return thing("WorkloadPriorityClass", name, FOUNDED, description=description, value=value)


def workload(run: Run) -> Object:
    """Return a Workload; without a status if it has just been created."""
    owner_uid = uid(run.owner, run.namespace, run.name)
    name = f"{run.owner.lower()}-{run.name}-{sha256(owner_uid.encode()).hexdigest()[:5]}"
    spec = {
        "active": True,
        "podSets": [pod_set(run, *each) for each in run.pod_sets],
        "priority": PRIORITIES[run.priority][0],
        "priorityClassRef": {
            "group": "kueue.x-k8s.io",
            "kind": "WorkloadPriorityClass",
            "name": run.priority,
        },
        "queueName": run.local_queue,
    }
    status = {"status": workload_status(run)} if run.runs else {}
    made = thing("Workload", name, run.created_at, namespace=run.namespace, spec=spec, **status)
    made["metadata"] |= {
        "labels": {"kueue.x-k8s.io/job-uid": owner_uid},
        "ownerReferences": [
            {
                "apiVersion": OWNER_VERSIONS[run.owner],
                "blockOwnerDeletion": True,
                "controller": True,
                "kind": run.owner,
                "name": run.name,
                "uid": owner_uid,
            }
        ],
    }
    if told := annotations(run):
        made["metadata"]["annotations"] = told
    return made


def annotations(run: Run) -> dict[str, str]:
    """Return what the team tells the planner about its workload."""
    said = {
        "checkpoint-seconds": str(run.on_signal) if run.on_signal else "",
        "last-checkpoint": rfc3339(NOW - duration(run.checkpoint)) if run.checkpoint else "",
        "restart-seconds": str(run.restart) if run.restart else "",
        "tier": "last" if run.last_tier else "",
    }
    return {PLANNER + key: value for key, value in said.items() if value}


def pod_set(run: Run, name: str, count: int, pod: Amounts) -> Object:
    """Return a podset with its template."""
    amounts = quantities(pod)
    requests = {"limits": amounts, "requests": amounts}
    image, _, _ = WORK[run.work]
    tolerations = [{"effect": "NoSchedule", "key": GPU, "operator": "Exists"}]
    if run.flavor == "h100":
        tolerations.append(H100_TAINT | {"operator": "Equal"})
    spec: Object = {
        "containers": [{"image": image, "name": run.work, "resources": requests}],
        "nodeSelector": {PRODUCT: FLAVORS[run.flavor][0]},
        "restartPolicy": "Always" if run.owner in {"StatefulSet", "LeaderWorkerSet"} else "Never",
        "terminationGracePeriodSeconds": 120 if run.on_signal else 30,
        "tolerations": tolerations,
    }
    labels = {"app.kubernetes.io/name": run.name}
    return {
        "count": count,
        "name": name,
        "template": {"metadata": {"labels": labels}, "spec": spec},
    }


def workload_status(run: Run) -> Object:
    """Return the admission, and the conditions that tell its story."""
    assignments = [
        {
            "count": count,
            "flavors": dict.fromkeys(sorted(pod), run.flavor),
            "name": name,
            "resourceUsage": quantities({key: each * count for key, each in pod.items()}),
        }
        for name, count, pod in run.pod_sets
    ]
    reserved = f"Quota reserved in ClusterQueue {run.cluster_queue}"
    conditions = [
        condition("QuotaReserved", "QuotaReserved", reserved, run.reserved_at),
        condition("Admitted", "Admitted", "The workload is admitted", run.reserved_at),
    ]
    if run.finished:
        ended = NOW - duration(run.finished)
        conditions.append(condition("Finished", "Succeeded", "Job finished successfully", ended))
    return {
        "admission": {"clusterQueue": run.cluster_queue, "podSetAssignments": assignments},
        "conditions": conditions,
    }


def queue_status(
    belongs: Callable[[Run], bool], active: Object, nominal: Quotas | None = None
) -> Object:
    """Return the status of a queue; one with quotas also says what is borrowed."""
    runs = [run for run in RUNS if belongs(run)]
    held = [run for run in runs if run.runs and not run.finished]
    usage = flavors_usage(held, nominal)
    return {
        "admittedWorkloads": len(held),
        "conditions": [active],
        "flavorsReservation": usage,
        "flavorsUsage": usage,
        "pendingWorkloads": sum(not run.runs for run in runs),
        "reservingWorkloads": len(held),
    }


def flavors_usage(held: Iterable[Run], nominal: Quotas | None) -> list[Object]:
    """Return the usage per flavor and resource, zeros included."""
    used: Counter[tuple[str, str]] = Counter()
    for run in held:
        for _, count, pod in run.pod_sets:
            used.update({(run.flavor, key): each * count for key, each in pod.items()})
    usage = []
    for flavor in sorted(FLAVORS):
        resources = []
        for name in RESOURCES:
            total = used[flavor, name]
            entry = {"name": name, "total": quantity(name, total)}
            if nominal is not None:
                over = total - per_gpu(flavor, name) * nominal[flavor]["nominalQuota"]
                entry["borrowed"] = quantity(name, max(0, over))
            resources.append(entry)
        usage.append({"name": flavor, "resources": resources})
    return usage


def resource_groups(owner: str) -> list[Object]:
    """Return the quotas of a ClusterQueue or Cohort; limits are on GPUs only."""
    flavors = []
    for flavor, gpus in sorted(QUOTAS[owner].items()):
        resources: list[Object] = []
        for name in RESOURCES:
            nominal = per_gpu(flavor, name) * gpus["nominalQuota"]
            limits = {key: str(limit) for key, limit in gpus.items()} if name == GPU else {}
            resources.append({**limits, "name": name, "nominalQuota": quantity(name, nominal)})
        flavors.append({"name": flavor, "resources": resources})
    return [{"coveredResources": list(RESOURCES), "flavors": flavors}]


def per_gpu(flavor: str, resource: str) -> int:
    """Return how much quota of a resource comes with each GPU."""
    _, cores, memory = FLAVORS[flavor]
    return {"cpu": cores, "memory": memory, GPU: 1}[resource]


def quantities(amounts: Amounts) -> dict[str, str]:
    """Return a resource list."""
    return {name: quantity(name, amount) for name, amount in amounts.items()}


def quantity(resource: str, amount: int) -> str:
    """Return an amount (memory: in GiB) as Kubernetes writes it."""
    if resource != "memory" or not amount:
        return str(amount)
    return f"{amount}Gi" if amount % 1024 else f"{amount // 1024}Ti"


def condition(kind: str, reason: str, message: str, since: datetime) -> Object:
    """Return a condition that is True since a moment."""
    return {
        "lastTransitionTime": rfc3339(since),
        "message": message,
        "observedGeneration": 1,
        "reason": reason,
        "status": "True",
        "type": kind,
    }


def thing(kind: str, name: str, created: datetime, *, namespace: str = "", **rest: Any) -> Object:  # noqa: ANN401 - whatever the kind has
    """Return an object of Kueue with its metadata."""
    conditions = rest.get("status", {}).get("conditions", ())
    changes = [datetime.fromisoformat(each["lastTransitionTime"]) for each in conditions]
    age = int((max([created, *changes]) - FOUNDED).total_seconds())
    metadata = {
        "creationTimestamp": rfc3339(created),
        "generation": 1,
        "name": name,
        "resourceVersion": str(48_210_000 + age * 3),
        "uid": uid(kind, namespace, name),
    }
    if namespace:
        metadata["namespace"] = namespace
    if kind in {"ClusterQueue", "ResourceFlavor", "Workload"}:
        metadata["finalizers"] = ["kueue.x-k8s.io/resource-in-use"]
    return {"apiVersion": API, "kind": kind, "metadata": metadata, **rest}


def uid(*names: str) -> str:
    """Return the UID of an object, always the same for the same names."""
    return str(UUID(bytes=sha256("/".join(names).encode()).digest()[:16], version=4))


def rfc3339(moment: datetime) -> str:
    """Return a time as Kubernetes writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
