"""Scheduling cycles in a few words: clusters of tests.cluster with many that wait."""

from collections.abc import Iterable, Mapping
from typing import Any

from planner.reference.kueue.cycle.processing import Cycle
from planner.reference.kueue.cycle.run import run_cycle
from planner.state.record import AUTO
from tests.cluster import KUEUE, Object, pending, queue, state_of
from tests.flavored import group


def waits(
    name: str,
    queue_name: str,
    amount: Mapping[str, int] | int = 1,
    priority: int = 0,
    *,
    minute: int = 0,
    **status: Any,
) -> list[Object]:
    """Return a workload ``ns/NAME`` that waits since a minute, with parts of its status."""
    (workload,) = pending(queue_name, amount, priority, created=minute)
    workload["metadata"] |= {"name": name, "uid": f"uid-{name}"}
    return [{**workload, "status": status}]


def with_spec(parts: Iterable[Object], **spec: Any) -> list[Object]:
    """Return objects with some fields of the first one's spec changed."""
    first, *rest = parts
    return [{**first, "spec": {**first["spec"], **spec}}, *rest]


def with_pod(parts: Iterable[Object], **pod: Any) -> list[Object]:
    """Return a workload with some fields of its pod changed."""
    (workload,) = parts
    (pods,) = workload["spec"]["podSets"]
    changed = {**pods, "template": {"spec": {**pods["template"]["spec"], **pod}}}
    return with_spec([workload], podSets=[changed])


def strict(*args: Any, **fields: Any) -> list[Object]:
    """Return a ClusterQueue with the strategy StrictFIFO, and its LocalQueue."""
    return with_spec(queue(*args, **fields), queueingStrategy="StrictFIFO")


def condition(kind: str, status: str = "True", reason: str = "") -> Object:
    """Return a condition."""
    return {"type": kind, "status": status, "reason": reason}


def namespace(name: str, **labels: str) -> list[Object]:
    """Return a Namespace."""
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}]


def container(requests: Object, limits: Object | None = None) -> Object:
    """Return a container."""
    return {"name": "c", "resources": {"requests": requests, "limits": limits or {}}}


def flavors(*names: str) -> list[Object]:
    """Return some ResourceFlavors."""
    return [
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}}
        for name in names
    ]


def several_flavors(
    resource: str = "gpu", **nominal: int | tuple[int, int]
) -> dict[str, list[Object]]:
    """Return one resource group: per flavor its nominal quota, or that and the borrowing limit."""
    return {"resourceGroups": [group(resource, **nominal)]}


def ran(*parts: Iterable[Object], release: str = AUTO) -> Cycle:
    """Run a cycle on a few parts."""
    return run_cycle(state_of(*parts, release=release))


def story(cycle: Cycle) -> list[str]:
    """Tell what became of the heads, in order: ``name outcome targets``, without namespaces."""
    return [
        " ".join(
            (
                entry.preemptor.workload.metadata.name,
                entry.outcome,
                *(target.workload.key.removeprefix("ns/") for target in entry.targets),
            )
        )
        for entry in cycle.entries
    ]


def names(waiting: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return who waits by queue, without namespaces."""
    return {queue: [key.removeprefix("ns/") for key in keys] for queue, keys in waiting.items()}
