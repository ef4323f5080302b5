"""The full state dump that the core and the Kubernetes shim would write of a cluster.

Source: yunikorn-core be3bb487, webservice/state_dump.go and webservice/dao; yunikorn-k8shim
23b6b47f, cache/external/scheduler_cache_dao.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final

from planner.commands.generate import names
from planner.commands.generate.yunikorn.draw import (
    CORE,
    MEMORY,
    MIB_PER_CORE,
    PODS,
    PRESETS,
    VCORE,
    WAITING,
    Amount,
    Layout,
    Pod,
    YuniKornKnobs,
    lay_out,
)
from planner.state.clock import to_nanoseconds
from planner.state.yunikorn import (
    ALLOW_PREEMPTION,
    NAMESPACE_TAG,
    POD_NAME_TAG,
    format_yunikorn_quantity,
)

__all__ = ["FOLDER", "KNOBS", "PRESETS", "made"]

KNOBS: Final = YuniKornKnobs
FOLDER: Final = "statedump"

Object = dict[str, Any]

MIB: Final = 2**20
PODS_OF_A_NODE: Final = 1000
PARTITION: Final = "default"


def state_dump(layout: Layout, seed: int) -> Object:
    """Return what ``/ws/v1/fullstatedump`` would say of a cluster."""
    pods = [*layout.running, *layout.asks]
    first = {pod.app: pod for pod in reversed(pods)}
    claims = {pod: _claim(layout, pod, seed, originator=first[pod.app] is pod) for pod in pods}
    return {
        "timestamp": to_nanoseconds(names.NOW),
        "partitions": [{"name": PARTITION, "preemptionEnabled": True, "state": "Active"}],
        "applications": list(_applications(layout, claims)),
        "nodes": [{"partitionName": PARTITION, "nodesInfo": list(_nodes(layout))}],
        "rmDiagnostics": {"cache": _shim(layout, pods, seed)},
        "config": {"Partitions": [{"Name": PARTITION, "Queues": [_root(layout)]}]},
    }


def path(layout: Layout, queue: int) -> str:
    """Return the path of a leaf queue."""
    parents = list(_parents(layout, queue))
    return ".".join(("root", *reversed(parents), names.numbered(names.TEAMS, queue)))


def _parents(layout: Layout, queue: int) -> Iterator[str]:
    """Yield the names of a leaf queue's parents from the last level up."""
    place = layout.leaf[queue]
    for level in reversed(range(len(layout.widths))):
        yield _parent_name(level, place)
        place = _above(layout, level, place)


def _above(layout: Layout, level: int, place: int) -> int:
    """Return the place of the parent of a parent queue on the level above."""
    return place * layout.widths[level - 1] // layout.widths[level] if level else 0


def _parent_name(level: int, place: int) -> str:
    return names.numbered(names.DEPARTMENTS, place) + (f"-{level + 1}" if level else "")


def _root(layout: Layout) -> Object:
    """Return the queues as queues.yaml has them, with the capitals of a dump."""
    below: list[list[Object]] = [[] for _ in range(layout.widths[-1] if layout.widths else 1)]
    for queue in range(layout.knobs.queues):
        below[layout.leaf[queue]].append(_leaf(layout, queue))
    for level in reversed(range(len(layout.widths))):
        above: list[list[Object]] = [[] for _ in range(layout.widths[level - 1] if level else 1)]
        for place, queues in enumerate(below):
            parent: Object = {"Name": _parent_name(level, place), "Parent": True, "Queues": queues}
            if layout.fences[level][place]:
                parent["Properties"] = {"preemption.policy": "fence"}
            above[_above(layout, level, place)].append(parent)
        below = above
    return {"Name": "root", "SubmitACL": "*", "Queues": below[0]}


def _leaf(layout: Layout, queue: int) -> Object:
    resources = {"Guaranteed": _written(layout.guaranteed[queue])}
    most = layout.maxima[queue]
    if most is not None:
        resources["Max"] = _written(most)
    written: Object = {"Name": names.numbered(names.TEAMS, queue), "Resources": resources}
    if layout.offsets[queue]:
        written["Properties"] = {"priority.offset": str(layout.offsets[queue])}
    return written


def _written(amount: Amount) -> dict[str, str]:
    return {
        VCORE: format_yunikorn_quantity(amount.milli, VCORE),
        MEMORY: format_yunikorn_quantity(amount.mib * MIB, MEMORY),
    }


def _class(layout: Layout, pod: Pod) -> names.Class:
    return (
        names.CLASSES[pod.level] if pod.level < layout.knobs.priorities else names.PREEMPTOR_CLASS
    )


def _pod_name(pod: Pod) -> str:
    return f"{pod.app}-{pod.number}"


def _key(pod: Pod, seed: int) -> str:
    return names.uid(seed, "pod", pod.queue, _pod_name(pod))


def _claim(layout: Layout, pod: Pod, seed: int, *, originator: bool) -> Object:
    """Return an ask or an allocation."""
    made = to_nanoseconds(names.NOW - timedelta(seconds=pod.age_s))
    written: Object = {
        "allocationKey": _key(pod, seed),
        "allocationTags": {
            NAMESPACE_TAG: names.numbered(names.TEAMS, pod.queue),
            POD_NAME_TAG: _pod_name(pod),
        },
        "requestTime": made,
        "resource": _resource(layout, pod),
        "priority": str(_class(layout, pod).value),
        "applicationId": pod.app,
    }
    if pod.node != WAITING:
        written |= {"allocationTime": made, "nodeId": _node_name(pod.node)}
    return written | ({"originator": True} if originator else {})


def _applications(layout: Layout, claims: dict[Pod, Object]) -> Iterator[Object]:
    """Yield the applications in the order of their first pods."""
    members: dict[str, list[Pod]] = {}
    for pod in claims:
        members.setdefault(pod.app, []).append(pod)
    for app, pods in members.items():
        queue = pods[0].queue
        yield {
            "applicationID": app,
            "partition": PARTITION,
            "queueName": path(layout, queue),
            "submissionTime": to_nanoseconds(
                names.NOW - timedelta(seconds=max(p.age_s for p in pods))
            ),
            "requests": [claims[pod] for pod in pods if pod.node == WAITING],
            "allocations": [claims[pod] for pod in pods if pod.node != WAITING],
            "applicationState": "Accepted" if pods[0].node == WAITING else "Running",
            "user": names.numbered(names.TEAMS, queue),
        }


def _node_name(node: int) -> str:
    return f"worker-{node + 1}"


def _nodes(layout: Layout) -> Iterator[Object]:
    """Yield the nodes with what is left on them."""
    cores = layout.knobs.cores
    capacity = {MEMORY: 2 * cores * MIB_PER_CORE * MIB, VCORE: cores * CORE}
    if layout.knobs.count_pods:
        capacity[PODS] = PODS_OF_A_NODE
    allocated = [dict.fromkeys(capacity, 0) for _ in range(layout.knobs.nodes)]
    for pod in layout.running:
        for resource, amount in _resource(layout, pod).items():
            allocated[pod.node][resource] += amount
    for node, used in enumerate(allocated):
        yield {
            "nodeID": _node_name(node),
            "capacity": capacity,
            "occupied": {},
            "allocated": used,
            "available": {one: amount - used[one] for one, amount in capacity.items()},
            "schedulable": True,
            "isReserved": False,
        }


def _resource(layout: Layout, pod: Pod) -> dict[str, int]:
    counted = {PODS: 1} if layout.knobs.count_pods else {}
    return {MEMORY: pod.mib * MIB, **counted, VCORE: pod.milli}


def _shim(layout: Layout, pods: Iterable[Pod], seed: int) -> Object:
    """Return what the shim knows of the pods: who opted out, and their priority classes."""
    written = {}
    for pod in pods:
        namespace, cls = names.numbered(names.TEAMS, pod.queue), _class(layout, pod)
        written[f"{namespace}/{_pod_name(pod)}"] = {
            "namespace": namespace,
            "name": _pod_name(pod),
            "uid": _key(pod, seed),
            "creationTimestamp": names.ago(pod.age_s),
            **({"annotations": {ALLOW_PREEMPTION: "false"}} if pod.opted_out else {}),
            "priorityClassName": cls.name,
            "priority": cls.value,
            "preemptionPolicy": "PreemptLowerPriority",
        }
    known = (*names.CLASSES[: layout.knobs.priorities], names.PREEMPTOR_CLASS)
    classes = {
        cls.name: {"name": cls.name, "value": cls.value, "preemptionPolicy": "PreemptLowerPriority"}
        for cls in known
    }
    return {"pods": written, "priorityClasses": classes}


def made(knobs: YuniKornKnobs, seed: int) -> dict[str, Any]:
    """Return what is printed of a cluster."""
    return state_dump(lay_out(knobs, seed), seed)
