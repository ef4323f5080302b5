"""State dumps of YuniKorn as the core and its Kubernetes shim write them, in a few words."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.reader import read, read_objects
from planner.state.yunikorn import Claim, YuniKornState
from tests.reader.dumps import write

Json = dict[str, Any]

SECOND = 10**9
NOW = 1_800_000_000 * SECOND
ALLOW = "yunikorn.apache.org/allow-preemption"

QUEUES_YAML = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: batch
            resources: {max: {vcore: 4}}
          - name: prod
            resources: {guaranteed: {vcore: 2}}
            properties: {preemption.delay: 10s}
"""


def claim(key: str, pod: str = "", priority: int = 0, **more: Any) -> Json:
    """Return an ask of one core; ``pod`` is namespace/name."""
    namespace, _, name = pod.partition("/")
    tags = {"kubernetes.io/meta/namespace": namespace, "kubernetes.io/meta/podName": name}
    made = {"requestTime": NOW - 60 * SECOND, "resource": {"vcore": 1000}}
    tagged = {"allocationTags": {"creationTime": "1799999940", **(tags if pod else {})}}
    return {"allocationKey": key, "priority": str(priority), **made, **tagged, **more}


def allocation(key: str, pod: str = "", priority: int = 0, **more: Any) -> Json:
    """Return an allocation of one core on the only node."""
    placed = {"allocationTime": NOW - 50 * SECOND, "nodeId": "n1", "applicationId": "app"}
    return {**claim(key, pod, priority), **placed, **more}


def application(
    name: str, queue: str, running: Sequence[Json] = (), waiting: Sequence[Json] = ()
) -> Json:
    """Return an application; the core leaves empty lists out."""
    lists = {"allocations": list(running), "requests": list(waiting)}
    kept = {part: claims for part, claims in lists.items() if claims}
    base = {"applicationID": name, "partition": "default", "queueName": queue}
    return {**base, "applicationState": "Running", "user": "ada", **kept}


def queue(path: str, *children: Json, **more: Any) -> Json:
    """Return a queue object."""
    kept = {"children": list(children)} if children else {}
    return {"queuename": path, "isLeaf": not children, "isManaged": True, **kept, **more}


def dump(*applications: Json, **more: Any) -> Json:
    """Return a whole dump of one node of four cores."""
    root = queue(
        "root",
        queue("root.batch", maxResource={"vcore": 4000}),
        queue(
            "root.prod", guaranteedResource={"vcore": 2000}, properties={"preemption.delay": "10s"}
        ),
        partition="default",
    )
    node = {"nodeID": "n1", "capacity": {"vcore": 4000}, "schedulable": True, "isReserved": False}
    return {
        "timestamp": NOW,
        "partitions": [{"clusterId": "mycluster", "name": "default", "preemptionEnabled": True}],
        "applications": list(applications),
        "nodes": [{"partitionName": "default", "nodesInfo": [node]}],
        "queues": [root],
        **more,
    }


def priority_class(name: str, value: int, annotations: Json | None = None, **more: Any) -> Json:
    """Return a PriorityClass as the API server has it."""
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    base = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**base, "metadata": metadata, "value": value, **more}


def pod(name: str, uid: str = "", annotations: Json | None = None, **spec: Any) -> Json:
    """Return a pod as the API server has it; ``name`` is namespace/name."""
    namespace, _, own = name.partition("/")
    metadata = {"name": own, "namespace": namespace, "uid": uid, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def config_map(text: str = QUEUES_YAML, name: str = "yunikorn-configs") -> Json:
    """Return the ConfigMap that holds queues.yaml."""
    metadata = {"name": name, "namespace": "yunikorn"}
    data = {"queues.yaml": text}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def packed_map(packed: bytes, *, again: bool = False) -> Json:
    """Return the ConfigMap with a packed queues.yaml, in base64, or in that of its base64."""
    text = b64encode(b64encode(packed) if again else packed).decode()
    return {**config_map(), "data": None, "binaryData": {"queues.yaml.gz": text}}


def folder_of(folder: Path, *values: object) -> YuniKornState:
    """Read a folder with a file for each value."""
    for i, value in enumerate(values):
        write(folder, f"{i}.yaml" if isinstance(value, str) else f"{i}.json", value)
    state = read(folder)
    assert isinstance(state, YuniKornState)
    return state


def state_of(value: Json, **more: Any) -> YuniKornState:
    """Read a value that is parsed already."""
    state = read_objects(value, where="dump.json", **more)
    assert isinstance(state, YuniKornState)
    return state


def claims_of(state: YuniKornState) -> dict[str, Claim]:
    """Return every ask and allocation by its key."""
    claims: list[Claim] = []
    for partition in state.partitions:
        for each in partition.applications:
            claims += [*each.allocations, *each.requests]
    return {one.allocation_key: one for one in claims}
