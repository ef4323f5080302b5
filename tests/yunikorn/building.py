"""Small YuniKorn clusters, written in a few words."""

from pathlib import Path
from typing import Any

import planner
from planner.quota.yunikorn.cluster import Asking, Cluster, prepare
from planner.quota.yunikorn.lowered import find_asking
from planner.reader.yunikorn import read_yunikorn_objects
from planner.reference.yunikorn.decision import Decision, decide
from planner.state.yunikorn import YuniKornState

Json = dict[str, Any]

SECOND = 10**9
NOW = 1_800_000_000 * SECOND


def queue(name: str, *queues: Json, guaranteed: Json | None = None, **more: Any) -> Json:
    """Build a queue; ``max`` and ``guaranteed`` are resources, other words are properties."""
    resources = {"guaranteed": guaranteed or {}, "max": more.pop("max", {})}
    properties = {key.replace("_", "."): value for key, value in more.items()}
    return {"name": name, "queues": list(queues), "resources": resources, "properties": properties}


def node(name: str, capacity: Json, **more: Any) -> Json:
    """Build a node; its available amount is worked out from its allocations."""
    return {"nodeID": name, "capacity": capacity, "schedulable": True, **more}


def allocation(key: str, resource: Json, age: int = 1, on: str = "n1", **more: Any) -> Json:
    """Build an allocation made ``age`` seconds ago."""
    made = NOW - age * SECOND
    base = {"allocationKey": key, "resource": resource, "nodeId": on, "priority": "0"}
    return {**base, "requestTime": made, "allocationTime": made, **more}


def gpus(**amounts: int) -> list[Json]:
    """Build allocations of so many GPUs each, by their keys."""
    return [allocation(key, {"gpu": amount}) for key, amount in amounts.items()]


def ask(key: str, resource: Json, age: int = 86_400, **more: Any) -> Json:
    """Build an ask made ``age`` seconds ago, by default long before any delay."""
    made = NOW - age * SECOND
    return {"allocationKey": key, "resource": resource, "requestTime": made, "priority": "0"} | more


def application(name: str, path: str, *allocations: Json, asks: tuple[Json, ...] = ()) -> Json:
    """Build an application."""
    return {
        "applicationID": name,
        "queueName": path,
        "partition": "default",
        "allocations": list(allocations),
        "requests": list(asks),
    }


def cluster_value(
    queues: list[Json], nodes: list[Json], applications: list[Json], **more: Any
) -> Json:
    """Build an instance; ``preemption`` goes to the partition."""
    partition = {
        "name": "default",
        "queues": [{"name": "root", "queues": queues}],
        "preemption": more.pop("preemption", {}),
    }
    return {
        "now": NOW,
        "queues": {"partitions": [partition]},
        "nodes": [{"partitionName": "default", "nodesInfo": nodes}],
        "applications": applications,
        **more,
    }


def of_release(value: Json, release: str) -> Json:
    """Return an instance whose core is of a release."""
    return {**value, "clusterInfo": [{"rmBuildInformation": [{"buildVersion": release}]}]}


def read_yunikorn(source: str | Path) -> YuniKornState:
    """Read a file or a folder, where a state of YuniKorn is meant: anything else fails the test."""
    state = planner.read(source)
    assert isinstance(state, YuniKornState)
    return state


def state_of(value: Json) -> YuniKornState:
    """Read an instance."""
    return read_yunikorn_objects(value, where="test")


def asking_of(value: Json, key: str = "ask", rules: str = "") -> tuple[Cluster, Asking]:
    """Make an instance ready, and find its ask, or the queue of this path by the rules for one."""
    return find_asking(prepare(state_of(value)), key, rules)


def decided(value: Json, key: str = "ask", rules: str = "", **more: Any) -> Decision:
    """Decide for the ask, or a queue, of an instance."""
    cluster, asking = asking_of(value, key, rules)
    return decide(cluster, asking, **more)


def two_queues(*running: Json, size: int = 4, guaranteed: int = 2, **of_ask: Any) -> Json:
    """Build a full node: ``low`` runs everything, ``high`` asks for 1 of its guaranteed."""
    return cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": guaranteed})],
        [node("n1", {"gpu": size})],
        [
            application("runs", "root.low", *running),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}, **of_ask),)),
        ],
    )


def above_max(most: int = 4) -> Json:
    """Build a queue that uses 6 GPUs, and 14 of memory, of which 10 are guaranteed to it."""
    sizes = {"large": (2, 8), "other": (2, 4), "lean-1": (1, 1), "lean-2": (1, 1)}
    held = [
        allocation(key, {"gpu": gpu, "mem": mem}, 7200 * age)
        for age, (key, (gpu, mem)) in enumerate(sizes.items(), start=1)
    ]
    research = queue(
        "research",
        guaranteed={"gpu": 2, "mem": 10},
        max={"gpu": most},
        quota_preemption_delay="10s",
    )
    return cluster_value(
        [research, queue("batch")],
        [node("n1", {"gpu": 8, "mem": 20})],
        [application("runs", "root.research", *held)],
        preemption={"quotapreemptionenabled": True},
    )


def pod(uid: str, on: str = "", app: str = "x", namespace: str = "a", **spec: Any) -> Json:
    """Build a pod as kubectl prints it; ``spec`` is more of its spec."""
    container = {"name": "c", "resources": {"requests": {"gpu": "1"}}, **spec.pop("container", {})}
    more = {"nodeName": on} if on else {}
    metadata = {"name": uid, "namespace": namespace, "uid": uid, "labels": {"app": app}}
    inside = {"containers": [container], **more, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": inside}


def machine(name: str, pods: int = 9, zone: str = "", gpus: int = 1, **spec: Any) -> Json:
    """Build a Node, by default of one GPU."""
    labels = {"kubernetes.io/hostname": name} | ({"zone": zone} if zone else {})
    status = {"allocatable": {"gpu": str(gpus), "pods": str(pods)}}
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }
