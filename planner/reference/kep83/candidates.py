"""Who may be preempted by KEP-83, and in which order they are tried.

Source: KEP-83, "Preemption", steps 1 to 3; "Extra knobs in ClusterQueue preemption policy".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from planner.laws.kep83 import (
    K83_BORROWS,
    K83_HOLDS_CONTESTED,
    K83_WAITED,
    K83_WITHIN_CLUSTER_QUEUE,
    K83_WITHIN_COHORT,
)
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.waiting import seconds_waiting
from planner.reference.kep83.context import Kep83Context
from planner.reference.laws import keeps
from planner.state.kep83 import Criterion

Key = tuple[float | str, ...]


def candidates_in_order(context: Kep83Context) -> list[Admitted]:
    """Return the candidates as the algorithm would remove them, empty if it may not preempt."""
    if not _may_preempt(context):
        return []
    found = [*_of_other_queues(context), *_of_own_queue(context)]
    # Whoever is being evicted already is one like all others: the KEP says nothing of it.
    return sorted(found, key=lambda workload: _key(context, workload))


@keeps(K83_WAITED)
def _may_preempt(context: Kep83Context) -> bool:
    """Say whether the preemptor has waited long enough."""
    waited = seconds_waiting(context.preemptor.workload, context.snapshot.now)
    return waited >= context.options.wait


@keeps(K83_BORROWS, K83_WITHIN_COHORT)
def _of_other_queues(context: Kep83Context) -> Iterator[Admitted]:
    """Step 2.1: in the cohort only ClusterQueues that are borrowing are considered."""
    policy = context.options.within_cohort(context.policy)
    if policy == "Never":
        return
    tree = context.snapshot.tree
    root = tree.path(context.queue)[-1]
    for queue, workloads in context.snapshot.admitted.items():
        # The whole tree is the cohort: hierarchies came after the KEP.
        elsewhere = queue == context.queue or tree.path(queue)[-1] != root
        if elsewhere or not context.snapshot.is_active(queue) or not context.is_borrowing(queue):
            continue
        for workload in workloads:
            lower = workload.priority < context.preemptor.priority
            if _uses_involved(context, workload) and (lower or policy == "ReclaimFromAny"):
                yield workload


@keeps(K83_WITHIN_CLUSTER_QUEUE)
def _of_own_queue(context: Kep83Context) -> Iterator[Admitted]:
    """Step 2.2: in the ClusterQueue only workloads with lower priority are selected."""
    if context.options.within_cluster_queue(context.policy) == "Never":
        return
    for workload in context.snapshot.admitted[context.queue]:
        if _uses_involved(context, workload) and workload.priority < context.preemptor.priority:
            yield workload


@keeps(K83_HOLDS_CONTESTED)
def _uses_involved(context: Kep83Context, workload: Admitted) -> bool:
    """Step 2: workloads that do not use the flavors selected for the preemptor are left out."""
    return not context.involved.isdisjoint(workload.names)


_COMPARED_BY: Final[Mapping[Criterion, Callable[[Kep83Context, Admitted], float]]] = {
    "ByLowestPriority": lambda _, workload: workload.priority,
    "ByLowestRuntime": lambda _, workload: -workload.reserved_s,
    "ByLongestRuntime": lambda _, workload: workload.reserved_s,
    "ByLowestDisruptionCost": lambda context, workload: context.cost.get(workload.key, 0),
}


def _key(context: Kep83Context, workload: Admitted) -> Key:
    """Step 3: other queues first, then by the criteria; at last by UID, so that no tie is left.

    A workload runs since its quota was reserved.
    """
    compared = [_COMPARED_BY[name](context, workload) for name in context.options.criteria]
    return (workload.queue == context.queue, *compared, workload.uid)
