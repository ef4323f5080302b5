"""State to snapshot: the quota tree, what runs in it, and who wants in.

Source: kueue-semantics.md, section 2: which objects count, inactive queues, implicit cohorts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from planner.errors import InputError, LookupFailed
from planner.quantity import NANO, to_quota
from planner.quota.holding import (
    effective_priority,
    held_amounts,
    named_flavor_resources,
    queue_order_time,
)
from planner.quota.request import Defaults, PodSetRequest, pod_set_requests
from planner.quota.tree import NO_PARENT, FlavorResource, Node, Quota, QuotaTree, Usage
from planner.state import ClusterQueue, Configuration, ResourceFlavor, State, Workload
from planner.state.queues import FairSharingWeight, ResourceGroup


@dataclass(frozen=True, slots=True)
class Admitted:
    """A workload that holds quota in an active or inactive ClusterQueue.

    ``usage`` is per fr in integer units; ``names`` are the fr it names a flavor for, which is
    what makes it a candidate; ``priority`` is the effective priority.
    """

    workload: Workload
    queue: int
    usage: Mapping[int, int]
    names: frozenset[int]
    priority: int
    queued_at: datetime
    reserved_at: datetime
    evicted: bool

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.workload.key

    @property
    def uid(self) -> str:
        """The UID: the last key of every order."""
        return self.workload.metadata.uid


@dataclass(frozen=True, slots=True)
class Preemptor:
    """The pending workload that wants in, and the ClusterQueue it waits for."""

    workload: Workload
    queue: int
    priority: int
    queued_at: datetime
    pod_sets: Sequence[PodSetRequest]

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.workload.key


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a decision needs, at one moment.

    ``usage`` is the usage of all admitted workloads; take a copy before changing it.
    ``queues`` maps a node to its ClusterQueue; ``admitted`` lists a node's workloads.
    """

    now: datetime
    configuration: Configuration
    tree: QuotaTree
    usage: Usage
    queues: Mapping[int, ClusterQueue]
    node_of: Mapping[str, int]
    flavors: Mapping[str, ResourceFlavor]
    admitted: Mapping[int, Sequence[Admitted]]
    fr_index: Mapping[FlavorResource, int]
    inactive: Mapping[str, str]
    notes: Sequence[str]

    def queue_name(self, node: int) -> str:
        """Return the name of a ClusterQueue or cohort node."""
        return self.tree.nodes[node].name

    def is_active(self, node: int) -> bool:
        """Say whether the ClusterQueue takes part in scheduling."""
        return self.tree.nodes[node].active

    def fr_or_none(self, flavor: str, resource: str) -> int | None:
        """Return the index of a flavor-resource, or ``None`` if nothing knows the pair."""
        return self.fr_index.get(FlavorResource(flavor, resource))

    def fr(self, flavor: str, resource: str) -> int:
        """Return the index of a flavor-resource.

        Raises
        ------
        LookupFailed
            If neither a quota nor a workload nor the given assignment knows the pair.
        """
        index = self.fr_or_none(flavor, resource)
        if index is None:
            raise LookupFailed(
                "assignment",
                f'no ClusterQueue or Cohort has quota for "{resource}" in flavor "{flavor}"',
            )
        return index


def take_snapshot(
    state: State,
    now: datetime | None = None,
    extra: Iterable[FlavorResource] = (),
) -> Snapshot:
    """Build the snapshot of a state.

    Parameters
    ----------
    state
        What was read.
    now
        The clock; the state's own when absent.
    extra
        Flavor-resources to index although no quota or workload names them.
    """
    configuration = state.configuration
    cohorts, looping = _cohort_parents(state)
    inactive = _inactive_queues(state, looping)
    held = [
        (workload, held_amounts(workload, configuration), named_flavor_resources(workload))
        for workload in state.workloads
        if workload.holds_quota
    ]
    index = _index_flavor_resources(state, [*(h for _, h, _ in held), *(n for *_, n in held)], extra)
    tree = QuotaTree(_nodes(state, cohorts, looping, inactive, index), tuple(index))
    node_of = {node.name: i for i, node in enumerate(tree.nodes) if node.is_queue}
    admitted: dict[int, list[Admitted]] = {node: [] for node in node_of.values()}
    usage = Usage(tree)
    clock = now or state.now
    for workload, amounts, names in held:
        admission = workload.status.admission
        node = node_of.get(admission.cluster_queue) if admission else None
        if node is None:
            continue
        by_index = {index[fr]: amount for fr, amount in amounts.items()}
        admitted[node].append(
            Admitted(
                workload=workload,
                queue=node,
                usage=by_index,
                names=frozenset(index[fr] for fr in names),
                priority=effective_priority(workload, configuration),
                queued_at=queue_order_time(workload, configuration),
                reserved_at=workload.reserved_at or clock,
                evicted=workload.is_true("Evicted"),
            )
        )
        usage.add_locally(node, by_index)
    usage.settle()
    return Snapshot(
        now=clock,
        configuration=configuration,
        tree=tree,
        usage=usage,
        queues={node_of[cq.name]: cq for cq in state.cluster_queues if cq.name in node_of},
        node_of=node_of,
        flavors={flavor.name: flavor for flavor in state.resource_flavors},
        admitted=admitted,
        fr_index=index,
        inactive=inactive,
        notes=_notes(state, cohorts, looping, inactive),
    )


def find_preemptor(state: State, snapshot: Snapshot, key: str) -> Preemptor:
    """Look up the pending workload ``namespace/name`` and the queue it waits for.

    Raises
    ------
    LookupFailed
        If the workload, its LocalQueue or its ClusterQueue is not in the dump.
    InputError
        If the workload does not wait: it holds quota, is finished or deactivated.
    """
    workload = next((item for item in state.workloads if item.key == key), None)
    if workload is None:
        waiting = [item.key for item in state.workloads if item.is_pending]
        raise LookupFailed(
            state.source,
            f"there is no workload {key}",
            "one of the pending workloads: " + (", ".join(waiting[:10]) or "there are none"),
        )
    if not workload.is_pending:
        reason = (
            "already holds quota"
            if workload.holds_quota
            else "is deactivated (spec.active is false)"
            if not workload.spec.active
            else "is finished"
        )
        raise InputError(state.source, f"workload {key} is not pending: it {reason}")
    return Preemptor(
        workload=workload,
        queue=_queue_of(state, snapshot, workload),
        priority=effective_priority(workload, state.configuration),
        queued_at=queue_order_time(workload, state.configuration),
        pod_sets=pod_set_requests(
            workload,
            state.configuration,
            Defaults.of(workload.metadata.namespace, state.limit_ranges, state.runtime_classes),
        ),
    )


def _queue_of(state: State, snapshot: Snapshot, workload: Workload) -> int:
    name, namespace = workload.spec.queue_name, workload.metadata.namespace
    local = next(
        (
            queue
            for queue in state.local_queues
            if queue.metadata.name == name and queue.metadata.namespace == namespace
        ),
        None,
    )
    if local is None:
        raise LookupFailed(
            state.source,
            f'workload {workload.key} waits in LocalQueue "{namespace}/{name}", '
            "which is not in the dump",
            hint="add localqueues to the kinds that kubectl get prints",
        )
    queue = local.spec.cluster_queue
    node = snapshot.node_of.get(queue)
    if node is not None:
        return node
    if queue in snapshot.inactive:
        raise InputError(
            state.source,
            f"workload {workload.key} waits for ClusterQueue {queue}, "
            f"which is inactive: {snapshot.inactive[queue]}",
        )
    raise LookupFailed(
        state.source,
        f'LocalQueue {namespace}/{name} points to ClusterQueue "{queue}", '
        "which is not in the dump",
        hint="add clusterqueues to the kinds that kubectl get prints",
    )


def _cohort_parents(state: State) -> tuple[dict[str, str], set[str]]:
    """Return every cohort's parent ("" for none), and the cohorts that lead into a cycle."""
    parents = {cohort.name: cohort.spec.parent_name for cohort in state.cohorts}
    named = [cq.spec.cohort_name for cq in state.cluster_queues] + list(parents.values())
    for name in named:
        if name:
            parents.setdefault(name, "")
    looping: set[str] = set()
    for name in parents:
        seen: set[str] = set()
        at = name
        while at and at not in seen:
            seen.add(at)
            at = parents[at]
        if at:
            looping.add(name)
    return parents, looping


def _inactive_queues(state: State, looping: set[str]) -> dict[str, str]:
    """Return the reason why each inactive ClusterQueue is inactive."""
    flavors = {flavor.name for flavor in state.resource_flavors}
    checks = {check.metadata.name: check for check in state.admission_checks}
    reasons = {}
    for cq in state.cluster_queues:
        reason = _inactive_reason(cq, flavors, looping)
        if not reason:
            status = cq.status.condition("Active")
            for name in cq.check_names:
                check = checks.get(name)
                active = check.status.condition("Active") if check else None
                if check is None and status and status.is_true:
                    continue  # a dump without admission checks: the queue itself knows better
                if check is None:
                    reason = f'its admission check "{name}" does not exist'
                elif active is None or not active.is_true:
                    reason = f'its admission check "{name}" is not active'
        if reason:
            reasons[cq.name] = reason
    return reasons


def _inactive_reason(cq: ClusterQueue, flavors: set[str], looping: set[str]) -> str:
    if cq.spec.cohort_name in looping:
        return f'its cohort "{cq.spec.cohort_name}" is in a cycle of parents'
    if cq.spec.stop_policy != "None":
        return f"its stopPolicy is {cq.spec.stop_policy}"
    for group in cq.spec.resource_groups:
        for flavor in group.flavors:
            if flavor.name not in flavors:
                return f'its flavor "{flavor.name}" does not exist as a ResourceFlavor'
    return ""


def _index_flavor_resources(
    state: State,
    named: Iterable[Iterable[FlavorResource]],
    extra: Iterable[FlavorResource],
) -> dict[FlavorResource, int]:
    index: dict[FlavorResource, int] = {}
    owners = [cq.spec for cq in state.cluster_queues] + [co.spec for co in state.cohorts]
    for owner in owners:
        for group in owner.resource_groups:
            for flavor in group.flavors:
                for quota in flavor.resources:
                    index.setdefault(FlavorResource(flavor.name, quota.name), len(index))
    for group_of_frs in (*named, extra):
        for fr in group_of_frs:
            index.setdefault(fr, len(index))
    return index


def _nodes(
    state: State,
    cohorts: Mapping[str, str],
    looping: set[str],
    inactive: Mapping[str, str],
    index: Mapping[FlavorResource, int],
) -> list[Node]:
    """Lay out the nodes: cohorts first, then ClusterQueues; cohorts in a cycle are left out."""
    specs = {cohort.name: cohort.spec for cohort in state.cohorts}
    names = [name for name in cohorts if name not in looping]
    position = {name: i for i, name in enumerate(names)}
    nodes = []
    for name in names:
        spec = specs.get(name)
        nodes.append(
            Node(
                name=name,
                parent=position.get(cohorts[name], NO_PARENT),
                is_queue=False,
                active=True,
                quotas=_quotas(spec.resource_groups, index) if spec else {},
                weight=_weight(spec.fair_sharing) if spec else 1.0,
            )
        )
    nodes.extend(
        Node(
            name=cq.name,
            parent=position.get(cq.spec.cohort_name, NO_PARENT),
            is_queue=True,
            active=cq.name not in inactive,
            quotas=_quotas(cq.spec.resource_groups, index),
            weight=_weight(cq.spec.fair_sharing),
        )
        for cq in state.cluster_queues
        if cq.spec.cohort_name not in looping
    )
    return nodes


def _quotas(
    groups: Iterable[ResourceGroup], index: Mapping[FlavorResource, int]
) -> dict[int, Quota]:
    def limit(nano: int | None, resource: str) -> int | None:
        return None if nano is None else to_quota(nano, resource)

    return {
        index[FlavorResource(flavor.name, quota.name)]: Quota(
            to_quota(quota.nominal_quota, quota.name),
            limit(quota.borrowing_limit, quota.name),
            limit(quota.lending_limit, quota.name),
        )
        for group in groups
        for flavor in group.flavors
        for quota in flavor.resources
    }


def _weight(fair_sharing: FairSharingWeight) -> float:
    # Kueue itself holds weights as doubles.
    return fair_sharing.weight / NANO


def _notes(
    state: State,
    cohorts: Mapping[str, str],
    looping: set[str],
    inactive: Mapping[str, str],
) -> tuple[str, ...]:
    """Say what was tolerated the way Kueue does, where it may surprise."""
    explicit = {cohort.name for cohort in state.cohorts}
    implicit = [
        f'cohort "{name}" has no Cohort object: it counts as one without quota or parent'
        for name in cohorts
        if name not in explicit
    ]
    cycles = [f'cohort "{name}" is in a cycle of parents: left out' for name in sorted(looping)]
    queues = [
        f"ClusterQueue {name} is inactive: {reason}; its workloads are no candidates"
        for name, reason in inactive.items()
    ]
    return (*state.notes, *implicit, *cycles, *queues)
