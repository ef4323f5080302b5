"""The seven written laws of YuniKorn's preemption, on clusters of one resource, by enumeration.

Source: "The Laws of Preemption" in the design document. Queues are leaves below a parent without
limits of its own; there are no maxima, no fences and no offsets. What is not so is refused.

Law 4 is read as it is written: the ask's queue *is under* its guaranteed. Whether the whole ask
fits in what is left of that is the core's test, and not the document's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Pod:
    """An allocation."""

    key: str
    queue: str
    application: str
    node: str
    size: int
    priority: int
    opted_out: bool


@dataclass(frozen=True)
class Cluster:
    """What the laws look at: one resource, by queue and by node."""

    guaranteed: Mapping[str, int]
    capacity: Mapping[str, int]
    pods: tuple[Pod, ...]
    ask: Pod

    def used(self, queue: str) -> int:
        """Return what a queue uses."""
        return sum(pod.size for pod in self.pods if pod.queue == queue)


def read(value: Json, resource: str, ask: str) -> Cluster:
    """Read an instance."""
    (partition,) = value["queues"]["partitions"]
    (root,) = partition["queues"]
    (nodes,) = value["nodes"]
    found = [
        _pod(each, application, resource)
        for application in value["applications"]
        for each in (*application.get("allocations", ()), *application.get("requests", ()))
    ]
    return Cluster(
        dict(_guaranteed(root, "", resource)),
        {node["nodeID"]: node["capacity"][resource] for node in nodes["nodesInfo"]},
        tuple(pod for pod in found if pod.node),
        next(pod for pod in found if pod.key == ask),
    )


def _pod(item: Json, application: Json, resource: str) -> Pod:
    extra = item.get("x", {})
    if set(item["resource"]) != {resource}:
        message = f"more than {resource}: {item}"
        raise ValueError(message)
    return Pod(
        item["allocationKey"],
        application["queueName"],
        application["applicationID"],
        item.get("nodeId", ""),
        item["resource"][resource],
        int(item["priority"]),
        not extra.get("allowPreemptSelf", True),
    )


def _guaranteed(queue: Json, above: str, resource: str) -> Iterator[tuple[str, int]]:
    path = f"{above}.{queue['name']}".removeprefix(".")
    if queue.get("properties", {}).keys() - {"preemption.delay"}:
        message = f"{path} has properties"
        raise ValueError(message)
    resources = queue.get("resources", {})
    if resources.get("max"):
        message = f"{path} has a maximum"
        raise ValueError(message)
    own = resources.get("guaranteed", {}).get(resource, 0)
    if own and queue.get("queues"):
        message = f"{path} is a parent with a guaranteed amount"
        raise ValueError(message)
    yield path, int(own)
    for child in queue.get("queues", ()):
        yield from _guaranteed(child, path, resource)


def legal_sets(cluster: Cluster) -> set[frozenset[str]]:
    """Return every set of victims that satisfies all laws, on one node, with room for the ask.

    By law 1 sets with pods that opted out are there only if there is no other.
    """
    sets = [chosen for node in cluster.capacity for chosen in _on(cluster, node)]
    kind = [chosen for chosen in sets if not any(pod.opted_out for pod in chosen)]
    return {frozenset(pod.key for pod in chosen) for chosen in kind or sets}


def _on(cluster: Cluster, node: str) -> Iterator[tuple[Pod, ...]]:
    ask = cluster.ask
    if cluster.used(ask.queue) >= cluster.guaranteed[ask.queue]:  # law 4
        return
    there = [pod for pod in cluster.pods if pod.node == node]
    free = cluster.capacity[node] - sum(pod.size for pod in there)
    candidates = [
        pod
        for pod in there
        if pod.application != ask.application  # law 3, and no preemption within a queue
        and pod.queue != ask.queue
        and pod.priority <= ask.priority  # law 6
    ]
    for count in range(1, len(candidates) + 1):
        for chosen in combinations(candidates, count):
            enough = free + sum(pod.size for pod in chosen) >= ask.size
            if enough and cluster.capacity[node] >= ask.size and _spares_queues(cluster, chosen):
                yield chosen


def _spares_queues(cluster: Cluster, chosen: tuple[Pod, ...]) -> bool:
    """Whether law 2 holds; with it law 5 does, as every pod has a size."""
    for queue in {pod.queue for pod in chosen}:
        taken = sum(pod.size for pod in chosen if pod.queue == queue)
        if cluster.used(queue) - taken < cluster.guaranteed[queue]:
            return False
    return True
