"""Small dumps made of some ClusterQueues of a state: one flavor-resource, and a few workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from planner.commands.lint.kueue.facts import Facts
from planner.quantity import NANO, UNLIMITED, format_units, is_milli
from planner.quota.tree import NO_PARENT, Quota

Object = dict[str, Any]
Change = Callable[[list[Object]], None]
"""What is done to the objects of a dump before it is read."""

KUEUE: Final = "kueue.x-k8s.io/v1beta2"
CONFIG: Final = "config.kueue.x-k8s.io/v1beta2"
NAMESPACE: Final = "example"
NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
_MISSING: Final = "example.com/other"
_GIBIBYTE: Final = 2**30
_UNLIMITED: Final = "10E"
"""A quantity that Kueue counts as unlimited, of any resource."""


@dataclass(frozen=True, slots=True)
class Job:
    """A workload of a dump: one pod that asks for an amount.

    It runs, or was made, since so many minutes after noon; ``created`` is when it was made if
    that was earlier.
    """

    name: str
    queue: int
    amount: int
    priority: int = 0
    running: bool = True
    minute: int = 0
    boost: str = ""
    created: int | None = None

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{NAMESPACE}/{self.name}"


@dataclass(frozen=True, slots=True)
class World:
    """Some ClusterQueues, their cohorts, and one flavor-resource of theirs."""

    facts: Facts
    queues: Sequence[int]
    fr: int

    @property
    def unit(self) -> int:
        """A small amount that reads well: a core, a gibibyte, or one."""
        resource = self.facts.snapshot.tree.frs[self.fr].resource
        quotas = [self.facts.nominal(queue, self.fr) for queue in self.queues]
        least = min((quota for quota in quotas if quota), default=1)
        unit = 1000 if is_milli(resource) else _GIBIBYTE
        return unit if least >= unit else 1

    def dump(self, jobs: Iterable[Job], *changes: Change) -> Object:
        """Return the List that kubectl would print, once some changes are made."""
        items = [
            *self._configuration(),
            {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": self._flavor}},
            *self._cohorts(),
            *(self._cluster_queue(queue) for queue in self.queues),
            *(self._local_queue(queue) for queue in self.queues),
            *(self._workload(job) for job in jobs),
        ]
        for change in changes:
            change(items)
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def and_lender(self) -> World | None:
        """Return the world with one ClusterQueue more: that which lends most; None if none does."""
        facts, tree = self.facts, self.facts.snapshot.tree
        root = tree.path(self.queues[0])[-1]
        others = [
            queue
            for queue in facts.active(facts.snapshot.queues)
            if queue not in self.queues and tree.path(queue)[-1] == root
        ]
        lendable = {q: tree.subtree[q][self.fr] - tree.kept[q][self.fr] for q in others}
        best = max(lendable, key=lendable.__getitem__, default=None)
        if best is None or not lendable[best]:
            return None
        return replace(self, queues=(*self.queues, best))

    @property
    def _flavor(self) -> str:
        return self.facts.snapshot.tree.frs[self.fr].flavor

    def _configuration(self) -> list[Object]:
        told = self.facts.state.configuration
        fields: Object = {"featureGates": dict(told.feature_gates)} if told.feature_gates else {}
        if told.fair_sharing_on and told.fair_sharing is not None:
            strategies = list(told.fair_sharing.strategies)
            fields["fairSharing"] = {"preemptionStrategies": strategies} if strategies else {}
        if told.release_known_by != "assumed":
            version = {"app.kubernetes.io/version": f"v{told.release.name}"}
            fields["metadata"] = {"labels": {"app.kubernetes.io/name": "kueue", **version}}
        return [{"apiVersion": CONFIG, "kind": "Configuration", **fields}] if fields else []

    def _cohorts(self) -> list[Object]:
        tree = self.facts.snapshot.tree
        above = dict.fromkeys(node for queue in self.queues for node in tree.ancestors(queue))
        found = []
        for cohort in above:
            node = tree.nodes[cohort]
            spec: Object = self._weight(node.weight_nano)
            if node.parent != NO_PARENT:
                spec["parentName"] = tree.nodes[node.parent].name
            if self.fr in node.quotas:
                spec["resourceGroups"] = [self._group(node.quotas[self.fr])]
            metadata = {"name": node.name}
            found.append({"apiVersion": KUEUE, "kind": "Cohort", "metadata": metadata} | _of(spec))
        return found

    def _cluster_queue(self, queue: int) -> Object:
        facts, tree = self.facts, self.facts.snapshot.tree
        told, node = facts.snapshot.queues[queue].spec, tree.nodes[queue]
        spec: Object = {"namespaceSelector": {}, "queueingStrategy": told.queueing_strategy}
        if told.cohort_name:
            spec["cohortName"] = told.cohort_name
        if told.stop_policy != "None":
            spec["stopPolicy"] = told.stop_policy
        checks = facts.snapshot.queues[queue].check_names
        if checks and not node.active:
            named = [{"name": name} for name in checks]
            spec["admissionChecksStrategy"] = {"admissionChecks": named}
        spec["resourceGroups"] = [self._group(node.quotas.get(self.fr, Quota(0)))]
        spec["resourceGroups"] += self._missing(queue)
        spec["preemption"] = facts.policies(queue).model_dump(by_alias=True, exclude_none=True)
        spec |= self._weight(node.weight_nano)
        metadata = {"name": node.name}
        return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": metadata, "spec": spec}

    def _missing(self, queue: int) -> list[Object]:
        """Return a group of each flavor that a ClusterQueue names and nobody has."""
        known = self.facts.snapshot.flavors
        groups = self.facts.snapshot.queues[queue].spec.resource_groups
        named = (flavor.name for group in groups for flavor in group.flavors)
        return [
            {
                "coveredResources": [f"{_MISSING}-{number}"],
                "flavors": [
                    {
                        "name": name,
                        "resources": [{"name": f"{_MISSING}-{number}", "nominalQuota": "0"}],
                    }
                ],
            }
            for number, name in enumerate(dict.fromkeys(n for n in named if n not in known))
            if name != self._flavor
        ]

    def _local_queue(self, queue: int) -> Object:
        name = self.facts.snapshot.queue_name(queue)
        return {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"clusterQueue": name},
        }

    def _group(self, quota: Quota) -> Object:
        resource = self.facts.snapshot.tree.frs[self.fr].resource
        told = {"nominalQuota": quota.nominal, "borrowingLimit": quota.borrowing_limit}
        told |= {"lendingLimit": quota.lending_limit}
        row: Object = {"name": resource}
        row |= {name: _quota(n, resource) for name, n in told.items() if n is not None}
        return {
            "coveredResources": [resource],
            "flavors": [{"name": self._flavor, "resources": [row]}],
        }

    def _weight(self, nano: int) -> Object:
        if nano == NANO:
            return {}
        text = str(nano // NANO) if nano % NANO == 0 else f"{nano}n"
        return {"fairSharing": {"weight": text}}

    def _workload(self, job: Job) -> Object:
        flavor, resource = self.facts.snapshot.tree.frs[self.fr]
        queue = self.facts.snapshot.queue_name(job.queue)
        asked = {resource: format_units(job.amount, resource)}
        container = {"name": "main", "image": "example", "resources": {"requests": asked}}
        metadata: Object = {"name": job.name, "namespace": NAMESPACE, "uid": job.name}
        metadata["creationTimestamp"] = at(job.minute if job.created is None else job.created)
        if job.boost:
            metadata["annotations"] = {"kueue.x-k8s.io/priority-boost": job.boost}
        pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
        spec = {"queueName": queue, "priority": job.priority, "podSets": [pods]}
        found = {"apiVersion": KUEUE, "kind": "Workload", "metadata": metadata, "spec": spec}
        if job.running:
            row = {"name": "main", "count": 1, "flavors": {resource: flavor}}
            row["resourceUsage"] = asked
            found["status"] = {
                "admission": {"clusterQueue": queue, "podSetAssignments": [row]},
                "conditions": [_true("QuotaReserved", job.minute), _true("Admitted", job.minute)],
            }
        return found


def at(minute: int) -> str:
    """Return the time so many minutes after noon."""
    return (NOON + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def policies(names: Iterable[str], **changed: object) -> Change:
    """Return what sets preemption policies of some ClusterQueues."""
    wanted = set(names)

    def change(items: list[Object]) -> None:
        for item in items:
            if item["kind"] == "ClusterQueue" and item["metadata"]["name"] in wanted:
                item["spec"]["preemption"] |= changed

    return change


def spec_of(kind: str, names: Iterable[str], **changed: object) -> Change:
    """Return what sets fields of the spec of some objects; ``None`` takes one away."""
    wanted = set(names)

    def change(items: list[Object]) -> None:
        for item in items:
            if item["kind"] == kind and item["metadata"]["name"] in wanted:
                spec = item.setdefault("spec", {}) | changed
                item["spec"] = {name: value for name, value in spec.items() if value is not None}

    return change


def configured(**fields: object) -> Change:
    """Return what sets fields of the Configuration; ``None`` takes one away."""

    def change(items: list[Object]) -> None:
        told = next((item for item in items if item["kind"] == "Configuration"), None)
        if told is None:
            told = {"apiVersion": CONFIG, "kind": "Configuration"}
            items.insert(0, told)
        told |= fields
        for name in [name for name, value in told.items() if value is None]:
            del told[name]

    return change


def _quota(units: int, resource: str) -> str:
    return _UNLIMITED if units == UNLIMITED else format_units(units, resource)


def _of(spec: Mapping[str, Any]) -> Object:
    return {"spec": dict(spec)} if spec else {}


def _true(kind: str, minute: int) -> Object:
    return {"type": kind, "status": "True", "reason": kind, "lastTransitionTime": at(minute)}
