"""Racks and nodes in a few words, as the objects kubectl would print.

One flavor, ``default``, with the topology ``dc`` of racks and hosts; a node has 110 ``pods``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import Decision, decide
from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.cluster import FLAVOR, KUEUE, NOW, PENDING, Object, at, queue
from tests.kueue_state import read_objects

RACK = "rack"
Amounts = Mapping[str, int | str]


def topology(*levels: str, name: str = "dc") -> list[Object]:
    """Return a Topology; racks of hosts unless said."""
    rows = [{"nodeLabel": level} for level in levels or (RACK, HOST)]
    spec = {"levels": rows}
    return [{"apiVersion": KUEUE, "kind": "Topology", "metadata": {"name": name}, "spec": spec}]


def flavor(name: str = FLAVOR, topology_name: str = "dc", **spec: Any) -> list[Object]:
    """Return a ResourceFlavor with a topology."""
    whole = {"topologyName": topology_name, **spec} if topology_name else spec
    metadata = {"name": name}
    return [{"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": metadata, "spec": whole}]


def node(  # noqa: PLR0913 - the words of the small language
    name: str,
    rack: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Object] = (),
    unschedulable: bool = False,
    ready: str = "True",
    **amounts: int | str,
) -> list[Object]:
    """Return a node in a rack."""
    own = {HOST: name, **({RACK: rack} if rack else {}), **(labels or {})}
    status = {
        "allocatable": {"pods": 110, **amounts},
        "conditions": [{"type": "Ready", "status": ready}],
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": own},
            "spec": {"taints": list(taints), "unschedulable": unschedulable},
            "status": status,
        }
    ]


def pod(name: str, on: str, *, phase: str = "Running", placed: bool = False, **amounts: int) -> Any:
    """Return a pod on a node; ``placed`` says that Kueue placed it."""
    annotation = {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}
    metadata = {"name": name, "namespace": "ns", "annotations": annotation if placed else {}}
    container = {"name": "main", "resources": {"requests": amounts, "limits": {"gpu": 99}}}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"nodeName": on, "containers": [container]},
            "status": {"phase": phase},
        }
    ]


def pods(name: str, count: int, amounts: Amounts, asked: Object | None = None) -> Object:
    """Return a podset; ``asked`` is its topologyRequest."""
    container = {"name": "main", "resources": {"requests": dict(amounts)}}
    found: Object = {
        "name": name,
        "count": count,
        "template": {"spec": {"containers": [container]}},
    }
    return found if asked is None else {**found, "topologyRequest": asked}


def waits(*pod_sets: Object, priority: int = 5, queue_name: str = "q") -> list[Object]:
    """Return the pending workload."""
    namespace, name = PENDING.split("/")
    metadata = {"name": name, "namespace": namespace, "uid": "u", "creationTimestamp": at(50)}
    spec = {"queueName": queue_name, "podSets": list(pod_sets), "priority": priority}
    return [{"apiVersion": KUEUE, "kind": "Workload", "metadata": metadata, "spec": spec}]


def runs(  # noqa: PLR0913 - the words of the small language
    name: str,
    amounts: Amounts,
    on: Mapping[str, int],
    *,
    priority: int = 0,
    minute: int = 0,
    queue_name: str = "q",
    flavor_name: str = FLAVOR,
) -> list[Object]:
    """Return a workload with so many pods on each node; ``amounts`` are of one pod."""
    count = sum(on.values())
    slices = [
        {"domainCount": 1, "valuesPerLevel": [{"universal": leaf}], "podCounts": {"universal": n}}
        for leaf, n in on.items()
    ]
    assignment = {
        "name": "main",
        "count": count,
        "flavors": dict.fromkeys(amounts, flavor_name),
        "resourceUsage": {key: str(int(value) * count) for key, value in amounts.items()},
        "topologyAssignment": {"levels": [HOST], "slices": slices},
    }
    reserved = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": at(minute)}
    return [
        {
            "apiVersion": KUEUE,
            "kind": "Workload",
            "metadata": {
                "name": name,
                "namespace": "ns",
                "uid": name,
                "creationTimestamp": at(minute),
            },
            "spec": {
                "queueName": queue_name,
                "podSets": [pods("main", count, amounts, {"unconstrained": True})],
                "priority": priority,
            },
            "status": {
                "admission": {"clusterQueue": queue_name, "podSetAssignments": [assignment]},
                "conditions": [reserved],
            },
        }
    ]


def room(amount: Mapping[str, int] | int = 100, name: str = "q", **policies: Any) -> list[Object]:
    """Return a queue with quota to spare, which may preempt its own workloads."""
    return queue(name, amount, **{"within": "LowerPriority", **policies})


LOADER = pods("a", 2, {"cpu": 8}, {"required": RACK})
TRAIN = pods("b", 3, {"cpu": 8, "gpu": 1}, {"required": RACK})
SMALL = (1, 2, 5)


def best_fit(
    *small: int, cores: int = 32, waiting: Sequence[Object] = (LOADER, TRAIN)
) -> list[Object]:
    """Return two racks of a node: n1 of 32 cores with nobody, and n2 with all who run, and GPUs.

    Without ``large`` there is room for 2 on n1 and 3 on n2. But Kueue puts the 2 on n2, which then
    has room for 3, n1 for 4: it is the smaller rack that is enough. With 32 cores and the ``small``
    ones of so many cores, 8 together, only the name decides once all are gone: n1 it is.
    """
    return [
        *topology(),
        *flavor(),
        *node("n1", "ra", cpu=32, gpu=0),
        *node("n2", "rb", cpu=cores, gpu=3),
        *runs("large", {"cpu": 8}, {"n2": 3}),
        *(one for n in small for one in runs(f"small{n}", {"cpu": n}, {"n2": 1}, minute=20 + n)),
        *room({"cpu": 1_000, "gpu": 100}),
        *waits(*waiting),
    ]


def state_of(*parts: Sequence[Object]) -> State:
    """Read a state."""
    items = [item for part in parts for item in part]
    whole = {"apiVersion": "v1", "kind": "List", "items": items}
    return read_objects(whole, where="state", now=NOW)


def decided(*parts: Sequence[Object]) -> Decision:
    """Return what Kueue decides for the pending workload."""
    state = state_of(*parts)
    snapshot = take_snapshot(state, placing=True)
    return decide(snapshot, find_preemptor(state, snapshot, PENDING))


def victims(decision: Decision) -> list[str]:
    """Return the names of the victims in Kueue's order."""
    return [target.workload.key.removeprefix("ns/") for target in decision.targets]


def placed(decision: Decision, name: str = "main") -> dict[str, int] | None:
    """Return the pods of a podset by leaf; ``None`` where it has no place."""
    placement = decision.assigned.placements.get(name)
    return None if placement is None else dict(placement.leaves)
