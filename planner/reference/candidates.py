"""Who may be preempted, in Kueue's own order.

Source: kueue-semantics.md, sections 5.2 to 5.4; kueue ff69552e
pkg/scheduler/preemption/classical/{hierarchical_preemption,candidate_generator}.go and
pkg/scheduler/preemption/common/ordering.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import NO_PARENT, Usage

Variant = Literal[
    "WithinCQ", "HierarchicalReclaim", "ReclaimWithoutBorrowing", "ReclaimWhileBorrowing"
]

REASON: Mapping[Variant, str] = {
    "WithinCQ": "InClusterQueue",
    "HierarchicalReclaim": "InCohortReclamation",
    "ReclaimWithoutBorrowing": "InCohortReclamation",
    "ReclaimWhileBorrowing": "InCohortReclaimWhileBorrowing",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workload that may be preempted; ``lca`` is its lowest common ancestor with the queue."""

    workload: Admitted
    variant: Variant
    lca: int = NO_PARENT


@dataclass(frozen=True, slots=True)
class CandidateList:
    """The candidates in the order in which the search takes them."""

    ordered: Sequence[Candidate]
    any_from_other_queues: bool
    any_with_advantage: bool


def satisfies_policy(preemptor: Preemptor, candidate: Admitted, policy: str) -> bool:
    """Say whether a preemption policy of the preemptor's queue permits the candidate (5.2)."""
    if policy == "Any":
        return True
    if policy not in {"LowerPriority", "LowerOrNewerEqualPriority"}:
        return False
    if preemptor.priority != candidate.priority:
        return preemptor.priority > candidate.priority
    return policy == "LowerOrNewerEqualPriority" and preemptor.queued_at < candidate.queued_at


def collect_candidates(
    snapshot: Snapshot,
    usage: Usage,
    preemptor: Preemptor,
    request: Mapping[int, int],
    contested: frozenset[int],
) -> CandidateList:
    """Collect and order the candidates of classical preemption on the usage as it is."""
    preemption = snapshot.queues[preemptor.queue].spec.preemption
    own = [
        Candidate(workload, "WithinCQ")
        for workload in snapshot.admitted[preemptor.queue]
        if not contested.isdisjoint(workload.names)
        and satisfies_policy(preemptor, workload, preemption.within_cluster_queue)
    ]
    with_advantage: list[Candidate] = []
    by_priority: list[Candidate] = []
    if preemption.reclaim_within_cohort != "Never":
        advantage, remaining = usage.fits_in_quota(preemptor.queue, request)
        below = preemptor.queue
        for cohort in snapshot.tree.ancestors(preemptor.queue):
            target = with_advantage if advantage else by_priority
            for queue in _queues_over_nominal(snapshot, usage, cohort, below, contested):
                target.extend(_from_queue(snapshot, preemptor, queue, cohort, contested, advantage))
            fits, remaining = usage.fits_in_quota(cohort, remaining)
            advantage = advantage or fits
            below = cohort
    lists = [sorted(part, key=_order) for part in (with_advantage, by_priority, own)]
    evicted = [c for part in lists for c in part if c.workload.evicted]
    running = [c for part in lists for c in part if not c.workload.evicted]
    return CandidateList(
        ordered=evicted + running,
        any_from_other_queues=bool(with_advantage or by_priority),
        any_with_advantage=bool(with_advantage),
    )


def _queues_over_nominal(
    snapshot: Snapshot, usage: Usage, cohort: int, visited: int, contested: frozenset[int]
) -> Iterator[int]:
    """Yield the queues below a cohort that exceed their quota, as do all cohorts between."""
    nodes = snapshot.tree.nodes
    for child in snapshot.tree.children[cohort]:
        if child == visited or not nodes[child].active or usage.within_nominal(child, contested):
            continue
        if nodes[child].is_queue:
            yield child
        else:
            yield from _queues_over_nominal(snapshot, usage, child, visited, contested)


def _from_queue(  # noqa: PLR0913 - the search context of section 5.3
    snapshot: Snapshot,
    preemptor: Preemptor,
    queue: int,
    lca: int,
    contested: frozenset[int],
    advantage: bool,  # noqa: FBT001
) -> Iterator[Candidate]:
    preemption = snapshot.queues[preemptor.queue].spec.preemption
    borrow = preemption.borrow_within_cohort
    threshold = borrow.max_priority_threshold
    for workload in snapshot.admitted[queue]:
        if contested.isdisjoint(workload.names) or not satisfies_policy(
            preemptor, workload, preemption.reclaim_within_cohort
        ):
            continue
        variant: Variant
        if advantage:
            variant = "HierarchicalReclaim"
        elif (
            borrow.policy == "Never"
            or workload.priority >= preemptor.priority
            or (threshold is not None and workload.priority > threshold)
        ):
            variant = "ReclaimWithoutBorrowing"
        else:
            variant = "ReclaimWhileBorrowing"
        yield Candidate(workload, variant, lca)


def _order(candidate: Candidate) -> tuple[bool, int, float, str]:
    """Order within one list (5.4): evicted, lower priority, newer reservation, smaller UID."""
    workload = candidate.workload
    return (
        not workload.evicted,
        workload.priority,
        -workload.reserved_at.timestamp(),
        workload.uid,
    )
