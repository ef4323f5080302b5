"""The workload that waits: what it asks for, what is contested, and whom it may preempt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from tests.oracle.amounts import exactly, in_units
from tests.oracle.cluster import Cluster, FlavorResource, Held, Json, NodeId, UnsupportedError
from tests.oracle.cluster import key_of as key_of_object
from tests.oracle.tree import Tree

PREEMPT = "Preempt"


@dataclass(frozen=True)
class Question:
    """A pending workload in a cluster, its flavors being assigned."""

    cluster: Cluster
    queue: NodeId
    priority: int
    ordered_at: datetime
    request: dict[FlavorResource, int]
    contested: frozenset[FlavorResource]
    tree: Tree

    @property
    def policies(self) -> Json:
        """The preemption policies of its queue."""
        return self.cluster.nodes[self.queue].preemption

    def names(self, sets: Iterable[int]) -> set[frozenset[str]]:
        """Return sets by the names of their members."""
        keys = [each.key for each in self.cluster.held]
        return {frozenset(k for i, k in enumerate(keys) if gone >> i & 1) for gone in sets}

    def ancestor(self, queue: NodeId) -> NodeId | None:
        """Return the lowest cohort that a queue shares with its own, which itself has none."""
        above = self.tree.above(self.queue)
        shared = (cohort for cohort in self.tree.above(queue) if cohort in above)
        return None if queue == self.queue else next(shared)

    def permits(self, policy: str, candidate: Held) -> bool:
        """Whether a policy lets it preempt a candidate."""
        if policy == "Any":
            return True
        if policy == "LowerPriority":
            return self.priority > candidate.priority
        if policy == "LowerOrNewerEqualPriority":
            newer = self.ordered_at < candidate.ordered_at
            return self.priority > candidate.priority or (
                self.priority == candidate.priority and newer
            )
        return False

    def within_nominal(self, node: NodeId, gone: int) -> bool:
        """Whether a node uses no more than its quota of anything contested."""
        tree = self.tree
        return all(tree.usage(node, at, gone) <= tree.subtree(node, at) for at in self.contested)

    def fits(self, gone: int, *, borrow: bool) -> bool:
        """Whether it fits in its queue."""
        return self.tree.fits(gone, borrow=borrow)

    def may_take(self, candidate: Held) -> bool:
        """Whether policy and flavors make a workload a candidate, wherever it runs."""
        own = ("queue", candidate.queue) == self.queue
        policy = self.policies.get("withinClusterQueue" if own else "reclaimWithinCohort", "Never")
        return self.permits(policy, candidate) and not candidate.uses.isdisjoint(self.contested)


def ask(
    cluster: Cluster, pending: str, assignment: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> Question:
    """Put the question of a pending workload; ``assignment`` says flavor and mode by podset."""
    item = next(each for each in cluster.of_kind("Workload") if key_of_object(each) == pending)
    local = next(
        each
        for each in cluster.of_kind("LocalQueue")
        if each["metadata"]["name"] == item["spec"]["queueName"]
        and each["metadata"]["namespace"] == item["metadata"]["namespace"]
    )
    queue = "queue", local["spec"]["clusterQueue"]
    if cluster.of_kind("LimitRange") or cluster.configuration.get("resources"):
        raise UnsupportedError("requests that something else changes")
    if item.get("status", {}).get("reclaimablePods"):
        raise UnsupportedError("reclaimable pods")
    request: dict[FlavorResource, int] = {}
    contested = set()
    for pod_set in item["spec"]["podSets"]:
        if pod_set.get("minCount"):
            raise UnsupportedError("partial admission")
        flavors = assignment[pod_set["name"]]
        for resource, per_pod in _per_pod(pod_set["template"]["spec"]).items():
            total = per_pod * pod_set.get("count", 1)
            if total and resource in flavors:
                at = flavors[resource]["flavor"], resource
                request[at] = request.get(at, 0) + total
        contested |= {
            (chosen["flavor"], resource)
            for resource, chosen in flavors.items()
            if chosen["mode"] == PREEMPT
        }
    return Question(
        cluster,
        queue,
        cluster.priority(item),
        cluster.ordered_at(item),
        request,
        frozenset(contested),
        Tree(cluster, queue, request),
    )


def _per_pod(spec: Json) -> dict[str, int]:
    if spec.keys() & {"initContainers", "overhead", "resources", "runtimeClassName"}:
        raise UnsupportedError("a pod of more than containers")
    total: dict[str, Fraction] = {}
    for container in spec["containers"]:
        resources = container.get("resources", {})
        named = {**resources.get("limits", {}), **resources.get("requests", {})}
        for resource, quantity in named.items():
            total[resource] = total.get(resource, Fraction(0)) + exactly(quantity)
    return {resource: max(0, in_units(resource, amount)) for resource, amount in total.items()}
