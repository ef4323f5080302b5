"""What can be set in a state of Kueue, with the values it has: queues, cohorts, workloads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from planner.commands.whatif.edit import ABSENT
from planner.commands.whatif.kueue_edit import QUOTA
from planner.commands.whatif.settings import Editable, Settable, Waiting
from planner.quantity import format_quantity, format_units, from_units, to_quota
from planner.state.kueue import ClusterQueue, Cohort, State
from planner.state.queues import ResourceGroup

PREEMPTION: Final = "Preemption"
LABELS: Final = {
    "nominal": "Nominal quota",
    "borrowingLimit": "Borrowing limit",
    "lendingLimit": "Lending limit",
}
_NEVER, _LOWER = "Never", "LowerPriority"
POLICIES: Final[Mapping[str, tuple[str, ...]]] = {
    "withinClusterQueue": (_NEVER, _LOWER, "LowerOrNewerEqualPriority"),
    "reclaimWithinCohort": (_NEVER, _LOWER, "Any"),
    "borrowWithinCohort.policy": (_NEVER, _LOWER),
}


def waiting(state: State, pending: Collection[str]) -> Iterator[Waiting]:
    """Yield the pending workloads, each with its ClusterQueue, or else its LocalQueue."""
    wanted = set(pending)
    led = {
        (one.metadata.namespace, one.metadata.name): one.spec.cluster_queue
        for one in state.local_queues
    }
    for one in state.workloads.entries:
        if one.key in wanted:
            queue = led.get((one.namespace, one.queue_name), one.queue_name)
            yield Waiting(key=one.key, name=one.key, queue=queue, priority=one.priority)


def queues(state: State) -> Iterator[Editable]:
    """Yield the Cohorts that are objects, then the ClusterQueues."""
    for cohort in state.cohorts:
        yield Editable(kind="Cohort", name=cohort.name, settings=tuple(_quotas("cohort", cohort)))
    for queue in state.cluster_queues:
        found = (*_quotas("clusterqueue", queue), *_policies(queue))
        yield Editable(kind="ClusterQueue", name=queue.name, settings=found)


def workloads(state: State) -> Iterator[Editable]:
    """Yield the pending workloads, then those that hold quota."""
    entries = state.workloads.entries
    for one in (
        *(one for one in entries if one.is_pending),
        *(one for one in entries if one.holds_quota and not one.is_pending),
    ):
        priority = Settable(
            target=f"workload/{one.key}.priority",
            group="",
            label="Priority",
            value=str(one.priority),
        )
        yield Editable(kind="Workload", name=one.key, settings=(priority,))


def _quotas(kind: str, owner: ClusterQueue | Cohort) -> Iterator[Settable]:
    groups: tuple[ResourceGroup, ...] = owner.spec.resource_groups
    for flavor in (flavor for group in groups for flavor in group.flavors):
        for quota in flavor.resources:
            values = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
            for limit, nano in zip(QUOTA, values, strict=True):
                yield Settable(
                    target=f"{kind}/{owner.name}.quota.{flavor.name}/{quota.name}.{limit}",
                    group=f"{quota.name} in flavor {flavor.name}",
                    label=LABELS[limit],
                    value=ABSENT if nano is None else written(nano, quota.name),
                )


def written(nano: int, resource: str) -> str:
    """Return a quota as people write it, such as ``1536Gi``, if that is exactly what it is."""
    units = to_quota(nano, resource)
    exact = from_units(units, resource) == nano
    return format_units(units, resource) if exact else format_quantity(nano)


def _policies(queue: ClusterQueue) -> Iterator[Settable]:
    rules = queue.spec.preemption
    threshold = rules.borrow_within_cohort.max_priority_threshold
    values = (
        rules.within_cluster_queue,
        rules.reclaim_within_cohort,
        rules.borrow_within_cohort.policy,
    )
    target = f"clusterqueue/{queue.name}.preemption"
    for (name, choices), value in zip(POLICIES.items(), values, strict=True):
        yield Settable(
            target=f"{target}.{name}", group=PREEMPTION, label=name, value=value, choices=choices
        )
    name = "borrowWithinCohort.maxPriorityThreshold"
    highest = ABSENT if threshold is None else str(threshold)
    yield Settable(target=f"{target}.{name}", group=PREEMPTION, label=name, value=highest)
