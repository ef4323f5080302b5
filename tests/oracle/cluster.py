"""The objects of a state: ClusterQueues and cohorts as nodes, and who holds quota in them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from tests.oracle.amounts import exactly, quota, requested

Json = Mapping[str, Any]
FlavorResource = tuple[str, str]
"""A flavor, and a resource in it."""

Amounts = Mapping[FlavorResource, int]
NodeId = tuple[str, str]
"""``cohort`` or ``queue``, and the name: the two may share names."""


class UnsupportedError(ValueError):
    """The state has something this implementation does not know, and must not guess at."""


@dataclass(frozen=True)
class Node:
    """A ClusterQueue or a cohort, and its own quotas."""

    id: NodeId
    parent: NodeId | None = None
    nominal: Amounts = field(default_factory=dict)
    borrowing: Amounts = field(default_factory=dict)
    lending: Amounts = field(default_factory=dict)
    weight: float = 1.0
    active: bool = True
    preemption: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Held:
    """A workload that holds quota; ``uses`` names flavor-resources even where it uses nothing."""

    key: str
    uid: str
    queue: str
    usage: Amounts
    uses: frozenset[FlavorResource]
    priority: int
    ordered_at: datetime
    reserved_at: datetime
    evicted: bool
    source: Json


class Cluster:
    """A list of objects, read."""

    def __init__(self, objects: Iterable[Json], now: str) -> None:
        self.now = moment(now)
        self.objects: list[Json] = list(objects)
        self.configuration: Json = next(iter(self.of_kind("Configuration")), {})
        self.flavors = {name_of(item) for item in self.of_kind("ResourceFlavor")}
        self.nodes = self._nodes()

    def of_kind(self, kind: str) -> list[Json]:
        """List the objects of a kind."""
        return [item for item in self.objects if item["kind"] == kind]

    @property
    def fair(self) -> bool:
        """Whether fair sharing is on."""
        return "fairSharing" in self.configuration

    def gate(self, name: str, *, default: bool) -> bool:
        """Return a feature gate."""
        return bool(self.configuration.get("featureGates", {}).get(name, default))

    def _nodes(self) -> dict[NodeId, Node]:
        nodes: dict[NodeId, Node] = {}
        for item in self.of_kind("Cohort"):
            parent = item.get("spec", {}).get("parentName")
            nodes["cohort", name_of(item)] = self._node("cohort", item, parent)
        for item in self.of_kind("ClusterQueue"):
            parent = item["spec"].get("cohortName")
            nodes["queue", name_of(item)] = self._node("queue", item, parent)
        for node in list(nodes.values()):
            if node.parent is not None and node.parent not in nodes:
                nodes[node.parent] = Node(node.parent)
        return nodes

    def _node(self, kind: str, item: Json, parent: str | None) -> Node:
        spec: Json = item.get("spec") or {}
        nominal, borrowing, lending = {}, {}, {}
        for group in spec.get("resourceGroups", ()):
            for flavor in group["flavors"]:
                for row in flavor["resources"]:
                    at = flavor["name"], row["name"]
                    nominal[at] = quota(row["name"], row["nominalQuota"])
                    if row.get("borrowingLimit") is not None:
                        borrowing[at] = quota(row["name"], row["borrowingLimit"])
                    if row.get("lendingLimit") is not None:
                        lending[at] = quota(row["name"], row["lendingLimit"])
        known = all(flavor in self.flavors for flavor, _ in nominal)
        if spec.get("admissionChecks") or spec.get("admissionChecksStrategy"):
            raise UnsupportedError("admission checks")
        return Node(
            (kind, name_of(item)),
            ("cohort", parent) if parent else None,
            nominal,
            borrowing,
            lending,
            float(exactly((spec.get("fairSharing") or {}).get("weight", "1"))),
            kind == "cohort" or (known and spec.get("stopPolicy", "None") == "None"),
            spec.get("preemption") or {},
        )

    @cached_property
    def held(self) -> tuple[Held, ...]:
        """All workloads that hold quota, in the order of the list."""
        return tuple(self._held(item) for item in self.of_kind("Workload") if self._holds(item))

    def _holds(self, item: Json) -> bool:
        queue = item.get("status", {}).get("admission", {}).get("clusterQueue")
        return (
            condition(item, "QuotaReserved") is not None
            and condition(item, "Finished") is None
            and item["spec"].get("active") is not False
            and ("queue", queue) in self.nodes
        )

    def _held(self, item: Json) -> Held:
        usage: dict[FlavorResource, int] = {}
        if item["status"].get("reclaimablePods"):
            raise UnsupportedError("reclaimable pods")
        for pod_set in item["status"]["admission"]["podSetAssignments"]:
            for resource, flavor in pod_set.get("flavors", {}).items():
                amount = requested(resource, pod_set.get("resourceUsage", {}).get(resource, 0))
                at = flavor, resource
                usage[at] = usage.get(at, 0) + amount
        reserved = condition(item, "QuotaReserved") or {}
        since = reserved.get("lastTransitionTime")
        return Held(
            key_of(item),
            item["metadata"].get("uid", ""),
            item["status"]["admission"]["clusterQueue"],
            usage,
            frozenset(usage),
            self.priority(item),
            self.ordered_at(item),
            moment(since) if since else self.now,
            condition(item, "Evicted") is not None,
            item,
        )

    def priority(self, item: Json) -> int:
        """Return the effective priority of a workload."""
        own = int(item["spec"].get("priority", 0))
        boost = annotation(item, "kueue.x-k8s.io/priority-boost")
        if boost is None or not self.gate("PriorityBoost", default=False):
            return own
        whole = re.fullmatch(r"[+-]?[0-9]+", boost)
        return own + int(boost) if whole and -(2**31) <= int(boost) < 2**31 else own

    def ordered_at(self, item: Json) -> datetime:
        """Return the time by which a workload stands in its queue."""
        evicted, preempted = condition(item, "Evicted"), condition(item, "Preempted")
        waiting = self.configuration.get("waitForPodsReady") or {}
        strategy = (waiting.get("requeuingStrategy") or {}).get("timestamp", "Eviction")
        reason = evicted["reason"] if evicted else ""
        if evicted and reason == "PodsReadyTimeout" and strategy != "Creation":
            return moment(evicted["lastTransitionTime"])
        if evicted and reason == "AdmissionCheck":
            return moment(evicted["lastTransitionTime"])
        if (
            preempted
            and preempted.get("reason") == "InCohortReclaimWhileBorrowing"
            and not self.gate("PrioritySortingWithinCohort", default=True)
        ):
            return moment(preempted["lastTransitionTime"]) + timedelta(milliseconds=1)
        return moment(item["metadata"]["creationTimestamp"])


def name_of(item: Json) -> str:
    """Return the name of an object."""
    return str(item["metadata"]["name"])


def key_of(item: Json) -> str:
    """Return namespace/name."""
    return f"{item['metadata'].get('namespace', '')}/{name_of(item)}"


def moment(text: str) -> datetime:
    """Return a time of RFC 3339."""
    return datetime.fromisoformat(text)


def annotation(item: Json, name: str) -> str | None:
    """Return an annotation."""
    found: str | None = (item["metadata"].get("annotations") or {}).get(name)
    return found


def condition(item: Json, name: str) -> Json | None:
    """Return a condition if it is True."""
    for each in item.get("status", {}).get("conditions", ()):
        if each["type"] == name:
            return each if each["status"] == "True" else None
    return None
