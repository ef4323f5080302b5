"""Write the state dumps of the YuniKorn examples, as the core and its Kubernetes shim would.

    python instances/yunikorn/make.py [FOLDER]

Everything follows from table.py and the queues.yaml of each folder: no randomness, no clock.
Without a folder, the state dumps are written beside the queues.yaml they belong to.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import yaml
from table import CLUSTERS, NOW, Cluster, Run

Object = dict[str, Any]
Amounts = dict[str, int]

HERE: Final = Path(__file__).parent
MIB: Final = 2**20
PODS_PER_NODE: Final = 110
LOWEST_PRIORITY: Final = -(2**31)
UNITS: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
REQUIRED_NODE: Final = "yunikorn.apache.org/requiredNode"
ALLOW_PREEMPTION: Final = "yunikorn.apache.org/allow-preemption"


@dataclass(frozen=True)
class Pod:
    """One pod of a run; ``node`` is empty while it waits."""

    run: Run
    name: str
    node: str
    created: datetime
    originator: bool

    @property
    def namespace(self) -> str:
        """Every leaf queue has the namespace of its own name."""
        return self.run.queue.rpartition(".")[2]

    @property
    def uid(self) -> str:
        """Return its UID, always the same for the same names."""
        digest = sha256(f"{self.namespace}/{self.name}".encode()).digest()
        return str(UUID(bytes=digest[:16], version=4))

    @property
    def resource(self) -> Amounts:
        """Return what it asks for, in the units of the core."""
        cores, memory = self.run.size
        return {"memory": memory * MIB, "pods": 1, "vcore": cores}


def main(target: Path) -> None:
    """Write every state dump."""
    for folder, cluster in CLUSTERS.items():
        config = yaml.safe_load((HERE / folder / "queues.yaml").read_text("utf-8"))
        text = json.dumps(state_dump(cluster, config), indent=2) + "\n"
        (target / folder).mkdir(parents=True, exist_ok=True)
        (target / folder / "statedump.json").write_text(text, "utf-8")


def state_dump(cluster: Cluster, config: Object) -> Object:
    """Return what ``/ws/v1/fullstatedump`` would say of a cluster."""
    pods = list(pods_of(cluster))
    (partition,) = config["partitions"]
    nodes = [node(cluster, name, pods) for name in cluster.nodes]
    root = partition["queues"][0]
    return {
        "timestamp": nanoseconds(NOW),
        "partitions": [partition_object(nodes, pods)],
        "applications": [application(cluster, name, pods) for name in names_of(pods)],
        "nodes": [{"partitionName": "default", "nodesInfo": nodes}],
        "clusterInfo": [
            {
                "startTime": nanoseconds(NOW - timedelta(days=41)),
                "partition": "default",
                "clusterName": "kubernetes",
            }
        ],
        "queues": [{**queue(root, "", {}, cluster, pods), "partition": "default"}],
        "rmDiagnostics": {"cache": shim_cache(cluster, pods)},
        "logLevel": "info",
        "config": capitalised(config),
    }


def pods_of(cluster: Cluster) -> Iterator[Pod]:
    """Yield every pod, those of an application one after the other."""
    counts: defaultdict[str, int] = defaultdict(int)
    for run in cluster.runs:
        ages = [run.age - i * run.step for i in range(len(run.nodes))]
        waits = [run.since - i for i in range(run.waiting)]
        for where, age in zip([*run.nodes, *[""] * run.waiting], [*ages, *waits], strict=True):
            counts[run.app] += 1
            number = counts[run.app]
            name = f"{run.pod or run.app}-{number}"
            yield Pod(run, name, where, NOW - timedelta(seconds=age), number == 1)


def names_of(pods: Iterable[Pod]) -> list[str]:
    """Return the applications in the order of their first pods."""
    return list(dict.fromkeys(pod.run.app for pod in pods))


def total(parts: Iterable[Mapping[str, int]]) -> Amounts:
    """Add amounts up."""
    amounts: defaultdict[str, int] = defaultdict(int)
    for part in parts:
        for name, amount in part.items():
            amounts[name] += amount
    return dict(sorted(amounts.items()))


def less(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    """Subtract amounts."""
    return total([one, {name: -amount for name, amount in other.items()}])


def claim(cluster: Cluster, pod: Pod) -> Object:
    """Return an ask or an allocation."""
    tags = {
        "creationTime": str(int(pod.created.timestamp())),
        "kubernetes.io/label/app": pod.run.app,
        "kubernetes.io/label/applicationId": pod.run.app,
        "kubernetes.io/meta/namespace": pod.namespace,
        "kubernetes.io/meta/podName": pod.name,
    }
    if pod.run.daemon:
        tags[REQUIRED_NODE] = pod.node
    known = cluster.classes.get(pod.run.priority)
    said: Object = {
        "allocationKey": pod.uid,
        "allocationTags": tags,
        "requestTime": nanoseconds(pod.created),
        "resource": pod.resource,
        "priority": str(known.value if known else 0),
        "applicationId": pod.run.app,
    }
    if pod.node:
        said |= {"allocationTime": nanoseconds(pod.created), "nodeId": pod.node}
    return said | ({"originator": True} if pod.originator else {})


def application(cluster: Cluster, name: str, pods: Iterable[Pod]) -> Object:
    """Return an application with its allocations and asks."""
    own = [pod for pod in pods if pod.run.app == name]
    running = [pod for pod in own if pod.node]
    waiting = [pod for pod in own if not pod.node]
    used, pending = total(p.resource for p in running), total(p.resource for p in waiting)
    claims = {
        "requests": [claim(cluster, pod) for pod in waiting],
        "allocations": [claim(cluster, pod) for pod in running],
    }
    return {
        "applicationID": name,
        **{
            key: each
            for key, each in (("usedResource", used), ("pendingResource", pending))
            if each
        },
        "partition": "default",
        "queueName": own[0].run.queue,
        "submissionTime": nanoseconds(own[0].created),
        **{key: each for key, each in claims.items() if each},
        "applicationState": "Running" if running else "Accepted",
        "user": own[0].namespace,
        "groups": [own[0].namespace],
    }


def node(cluster: Cluster, name: str, pods: Iterable[Pod]) -> Object:
    """Return a node with what is left on it."""
    cores, memory = cluster.nodes[name]
    capacity = {"memory": memory * MIB, "pods": PODS_PER_NODE, "vcore": cores}
    others, other_memory = cluster.occupied
    occupied = {"memory": other_memory * MIB, "vcore": others} if others else {}
    own = [pod for pod in pods if pod.node == name]
    allocated = total(pod.resource for pod in own)
    available = less(less(capacity, occupied), allocated)
    said = {
        "nodeID": name,
        "hostName": name,
        "attributes": {"si/node-partition": "[mycluster]default"},
        "capacity": capacity,
        "allocated": allocated,
        "occupied": occupied,
        "available": available,
        "utilized": {
            key: 100 * (capacity[key] - left) // capacity[key] for key, left in available.items()
        },
        "allocations": [claim(cluster, pod) for pod in own],
        "schedulable": True,
        "isReserved": False,
    }
    return {key: each for key, each in said.items() if each != {}}


def queue(
    config: Object, above: str, passed: Mapping[str, str], cluster: Cluster, pods: Iterable[Pod]
) -> Object:
    """Return a queue with those below it, and with the properties that hold there."""
    path = f"{above}{config['name']}"
    own = {key: str(value) for key, value in (config.get("properties") or {}).items()}
    stays = {k: v for k, v in passed.items() if k not in {"preemption.policy", "priority.offset"}}
    properties = {**stays, **own}
    below = [pod for pod in pods if f"{pod.run.queue}.".startswith(f"{path}.")]
    used = total(pod.resource for pod in below if pod.node)
    wanted = total(pod.resource for pod in below if not pod.node)
    resources = {key: amounts(each) for key, each in (config.get("resources") or {}).items()}
    if path == "root":
        resources["max"] = total(
            {"memory": memory * MIB, "pods": PODS_PER_NODE, "vcore": cores}
            for cores, memory in cluster.nodes.values()
        )
    children = [
        queue(each, f"{path}.", properties, cluster, pods) for each in config.get("queues") or ()
    ]
    optional = {
        "pendingResource": wanted,
        "maxResource": resources.get("max"),
        "guaranteedResource": resources.get("guaranteed"),
        "allocatedResource": used,
        "properties": properties,
        "children": children,
    }
    return {
        "queuename": path,
        "status": "Active",
        "partition": "",
        **{key: each for key, each in optional.items() if each},
        "isLeaf": not children,
        "isManaged": True,
        "preemptionEnabled": properties.get("preemption.policy") != "disabled",
        "isPreemptionFence": properties.get("preemption.policy") == "fence",
        "preemptionDelay": properties.get("preemption.delay", "30s"),
        "isPriorityFence": False,
        "priorityOffset": int(properties.get("priority.offset", "0")),
        "currentPriority": max(
            (priority(cluster, pod) for pod in below if not pod.node), default=LOWEST_PRIORITY
        ),
    }


def priority(cluster: Cluster, pod: Pod) -> int:
    """Return the priority of a pod: that of its class."""
    known = cluster.classes.get(pod.run.priority)
    return known.value if known else 0


def amounts(written: Mapping[str, object]) -> Amounts:
    """Return amounts of queues.yaml in the units of the core."""
    return {name: amount(name, str(text)) for name, text in written.items()}


def amount(name: str, text: str) -> int:
    """Return an amount of queues.yaml in the unit of the core."""
    if name == "vcore":
        return int(text[:-1]) if text.endswith("m") else int(text) * 1000
    return int(text[:-2]) * UNITS[text[-2:]] if text[-1] == "i" else int(text)


def partition_object(nodes: list[Object], pods: list[Pod]) -> Object:
    """Return the partition with its sums."""
    running = [pod for pod in pods if pod.node]
    capacity = total(each["capacity"] for each in nodes)
    return {
        "clusterId": "mycluster",
        "name": "default",
        "capacity": {
            "capacity": capacity,
            "usedCapacity": total(pod.resource for pod in running),
        },
        "nodeSortingPolicy": {"type": "fair", "resourceWeights": {"memory": 1, "vcore": 1}},
        "preemptionEnabled": True,
        "quotaPreemptionEnabled": False,
        "totalNodes": len(nodes),
        "totalContainers": len(running),
        "state": "Active",
    }


def shim_cache(cluster: Cluster, pods: Iterable[Pod]) -> Object:
    """Return what the Kubernetes shim knows of pods and PriorityClasses."""
    said = {}
    for pod in sorted(pods, key=lambda pod: (pod.namespace, pod.name)):
        known = cluster.classes.get(pod.run.priority)
        said[f"{pod.namespace}/{pod.name}"] = {
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
            "creationTimestamp": pod.created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            **({"nodeName": pod.node} if pod.node else {}),
            **({"priorityClassName": pod.run.priority} if pod.run.priority else {}),
            "priority": known.value if known else 0,
            "preemptionPolicy": "PreemptLowerPriority",
            "schedulerName": "yunikorn",
            "status": {"phase": "Running" if pod.node else "Pending"},
        }
    classes = {
        name: {
            "name": name,
            **({} if each.allow_preemption else {"annotations": {ALLOW_PREEMPTION: "false"}}),
            "value": each.value,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        for name, each in cluster.classes.items()
    }
    return {"pods": said, **({"priorityClasses": classes} if classes else {})}


def capitalised(value: object) -> object:
    """Write queues.yaml as the core dumps it: with capitals, amounts and properties as text."""
    if isinstance(value, list):
        return [capitalised(each) for each in value]
    if not isinstance(value, dict):
        return value
    capitals = {"submitacl": "SubmitACL"}
    written: Object = {}
    for key, each in value.items():
        if key in {"properties", "guaranteed", "max"}:
            written[key.capitalize()] = {name: str(text) for name, text in each.items()}
        else:
            written[capitals.get(key, key.capitalize())] = capitalised(each)
    return written


def nanoseconds(moment: datetime) -> int:
    """Return a time as the core has it."""
    return int(moment.timestamp()) * 10**9


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
