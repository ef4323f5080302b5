"""Slices of elastic workloads in a few words, for clusters of tests.cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.state.kueue_workload import REPLACEMENT_FOR
from tests.cluster import FLAVOR, KUEUE, Object, at

PODS = ("main", "aux", "more")
"""The names of podsets, in their order."""


@dataclass(frozen=True)
class Pods:
    """Some pods of one shape: how many, what each asks for, and in which flavor they run."""

    count: int
    each: int | Mapping[str, int] = 1
    flavor: str = FLAVOR

    @property
    def asked(self) -> Mapping[str, int]:
        """What each pod asks for, per resource."""
        return {"gpu": self.each} if isinstance(self.each, int) else self.each


def old(
    name: str, queue: str, *pods: Pods, priority: int = 0, namespace: str = "ns", minute: int = 0
) -> list[Object]:
    """Return a slice that holds quota since a minute."""
    workload = _slice(name, queue, pods, priority, namespace, minute)
    reserved = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": at(minute)}
    assignments = [
        {
            "name": podset,
            "count": some.count,
            "flavors": dict.fromkeys(some.asked, some.flavor),
            "resourceUsage": {one: str(amount * some.count) for one, amount in some.asked.items()},
        }
        for podset, some in zip(PODS, pods, strict=False)
    ]
    admission = {"clusterQueue": queue, "podSetAssignments": assignments}
    return [{**workload, "status": {"admission": admission, "conditions": [reserved]}}]


def new(
    queue: str,
    *pods: Pods,
    replaces: str | None = "ns/old",
    name: str = "pending",
    priority: int = 0,
    minute: int = 30,
) -> list[Object]:
    """Return a slice that waits since a minute, and says whom it replaces."""
    workload = _slice(name, queue, pods, priority, "ns", minute)
    if replaces is not None:
        workload["metadata"]["annotations"] = {REPLACEMENT_FOR: replaces}
    return [workload]


def _slice(  # noqa: PLR0913, PLR0917 - what a workload is made of
    name: str, queue: str, pods: Sequence[Pods], priority: int, namespace: str, minute: int
) -> dict[str, Any]:
    pod_sets = [
        {
            "name": podset,
            "count": some.count,
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "c",
                            "resources": {
                                "requests": {n: str(amount) for n, amount in some.asked.items()}
                            },
                        }
                    ]
                }
            },
        }
        for podset, some in zip(PODS, pods, strict=False)
    ]
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "creationTimestamp": at(minute),
        },
        "spec": {"queueName": queue, "priority": priority, "podSets": pod_sets},
    }
