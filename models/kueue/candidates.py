"""The laws that exclude workloads one by one, as masks; and what follows from them.

Every mask is (W,), True where the law forbids the workload. Nothing here depends on which other
workloads are victims, so excluded workloads get no variable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import numpy as np

from planner.laws import RULE_SETS, Law, Register
from planner.laws.kueue import (
    FS_BORROWING,
    FS_BORROWS_CONTESTED,
    FS_HOLDS_CONTESTED,
    FS_RECLAIM,
    FS_WITHIN_CLUSTER_QUEUE,
    KQ_ATTEMPT,
    KQ_HOLDS_CONTESTED,
    KQ_OVER_QUOTA,
    KQ_RECLAIM,
    KQ_WITHIN_CLUSTER_QUEUE,
)
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem

Exclusion = Callable[[Problem], BoolArray]

EXCLUSIONS: Final[Register[Exclusion]] = Register()
"""Whom a law forbids by itself, by the law's id."""

ATTEMPTS: Final[Register[Callable[[Problem, BoolArray], tuple[bool, ...]]]] = Register()
"""Which attempts a law permits, given whom no law excludes."""


@EXCLUSIONS.of(KQ_HOLDS_CONTESTED, FS_HOLDS_CONTESTED)
def holds_contested_quota(problem: Problem) -> BoolArray:
    """KQ-03, FS-02: forbid workloads that name no contested flavor-resource.

    Only workloads of active queues in the preemptor's tree are in the problem at all.

    Source: kueue ff69552e candidate_generator.go ``WorkloadUsesResources``.
    """
    return ~problem.names_contested


@EXCLUSIONS.of(KQ_WITHIN_CLUSTER_QUEUE, FS_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(problem: Problem) -> BoolArray:
    """KQ-04, FS-03: forbid workloads of the own queue that ``withinClusterQueue`` does not permit.

    Never: all. LowerPriority: those with priority >= the preemptor's.
    LowerOrNewerEqualPriority: those with a higher priority, and those with an equal one unless
    the preemptor queued strictly earlier.

    Source: kueue ff69552e preemption_policy.go.
    """
    higher = problem.priority > problem.preemptor_priority
    equal = problem.priority == problem.preemptor_priority
    match problem.policy.within_cluster_queue:
        case "Never" | "":
            forbidden = np.ones_like(higher)
        case "LowerPriority":
            forbidden = higher | equal
        case "LowerOrNewerEqualPriority":
            forbidden = higher | (equal & ~problem.queued_later)
    return forbidden & problem.from_own_queue


@EXCLUSIONS.of(KQ_RECLAIM, FS_RECLAIM)
def reclaim_within_cohort(problem: Problem) -> BoolArray:
    """KQ-05, FS-04: forbid workloads of other queues that ``reclaimWithinCohort`` does not permit.

    Never: all. LowerPriority: those with priority >= the preemptor's. Any: none.

    Source: kueue ff69552e preemption_policy.go.
    """
    match problem.policy.reclaim_within_cohort:
        case "Never" | "":
            forbidden = np.ones_like(problem.names_contested)
        case "LowerPriority":
            forbidden = problem.priority >= problem.preemptor_priority
        case "Any":
            forbidden = np.zeros_like(problem.names_contested)
    return forbidden & ~problem.from_own_queue


@EXCLUSIONS.of(FS_BORROWS_CONTESTED)
def borrows_contested_quota(problem: Problem) -> BoolArray:
    """FS-05: forbid workloads of other queues that borrow nothing contested to begin with.

    Source: kueue ff69552e preemption.go ``findCandidates``.
    """
    borrows = np.array([_is_over(problem, n, problem.contested) for n in _nodes(problem)])
    return ~borrows[problem.queue] & ~problem.from_own_queue


def exclusions(problem: Problem) -> Sequence[tuple[Law, Exclusion]]:
    """Return the laws in force that exclude workloads one by one, in order, each with how."""
    rules = RULE_SETS[problem.rules]
    return [(law, EXCLUSIONS[law.id]) for law in rules if law.id in EXCLUSIONS]


def eligible(problem: Problem, without: Collection[str] = ()) -> BoolArray:
    """Return the workloads no law excludes: (W,); laws whose id is in ``without`` are dropped.

    Workloads of other queues are left out too where their queue, or a cohort below the lowest
    common ancestor, is not over its quota to begin with: KQ-07 or FS-06 could never hold for
    them.
    """
    allowed = np.ones(len(problem.workloads), dtype=bool)
    for law, forbids in exclusions(problem):
        if law.id not in without:
            allowed &= ~forbids(problem)
    # Only what these laws imply; a model without them must admit what breaks them.
    if not {KQ_OVER_QUOTA.id, FS_BORROWING.id}.intersection(without):
        over = np.array(_over_quota_up_to_lca(problem), dtype=bool)
        allowed &= over[problem.queue] | problem.from_own_queue
    return allowed


def restricted_while_borrowing(problem: Problem) -> BoolArray:
    """Return which workloads an attempt with borrowing may not take: (W,), law KQ-06.

    Workloads of other queues without hierarchical advantage, unless ``borrowWithinCohort`` is
    on, their priority is lower than the preemptor's, and at most maxPriorityThreshold. Fair
    sharing does not ask for it.

    Source: kueue ff69552e hierarchical_preemption.go ``classifyPreemptionVariant``.
    """
    borrow = problem.policy.borrow_within_cohort
    if problem.fair is not None:
        return np.zeros(len(problem.workloads), dtype=bool)
    if borrow.policy == "Never":
        forbidden = np.ones(len(problem.workloads), dtype=bool)
    else:
        forbidden = problem.priority >= problem.preemptor_priority
        if borrow.max_priority_threshold is not None:
            forbidden |= problem.priority > borrow.max_priority_threshold
    return forbidden & ~problem.from_own_queue & ~problem.has_advantage


@ATTEMPTS.of(KQ_ATTEMPT)
def attempts(problem: Problem, allowed: BoolArray) -> tuple[bool, ...]:
    """KQ-08: return the attempts Kueue would make; an attempt is whether it may borrow.

    Under fair sharing there is one, and it may.

    Source: kueue ff69552e preemption.go ``classicalPreemptions``; docs/semantics/kueue.md §5.5.
    """
    if problem.fair is not None:
        return (True,)
    queue = problem.own_queue
    # As Kueue sees them: candidates before any removal, whoever goes in the end.
    others = allowed & ~problem.from_own_queue
    forbidden = problem.policy.borrow_within_cohort.policy == "Never"
    under_nominal = all(
        problem.usage[queue][fr] < problem.quota[queue][fr] for fr in problem.contested
    )
    if not others.any() or (forbidden and not under_nominal):
        return (True,)
    if forbidden and not (others & problem.has_advantage).any():
        return (False, True)
    return (True, False)


def reasons(problem: Problem) -> list[str]:
    """Return the reason code Kueue would give each workload as a victim: (W,)."""
    own = problem.from_own_queue.tolist()
    if problem.fair is not None:
        other = "InCohortReclamation" if problem.fair.within_nominal else "InCohortFairSharing"
        return ["InClusterQueue" if mine else other for mine in own]
    reclaimed = (problem.has_advantage | restricted_while_borrowing(problem)).tolist()
    return [
        "InClusterQueue"
        if mine
        else "InCohortReclamation"
        if plainly
        else "InCohortReclaimWhileBorrowing"
        for mine, plainly in zip(own, reclaimed, strict=True)
    ]


def _nodes(problem: Problem) -> range:
    return range(len(problem.parent))


def _is_over(problem: Problem, node: int, frs: Iterable[int]) -> bool:
    """Say whether a node uses more than its (subtree) quota in some fr."""
    used, quota = problem.usage[node], problem.quota[node]
    return any(used[fr] > quota[fr] for fr in frs)


def _over_quota_up_to_lca(problem: Problem) -> list[bool]:
    """Say for each node whether it and all nodes up to its LCA exceed their quota.

    Classical preemption looks at contested flavor-resources, fair sharing at all it knows.
    """
    fair = problem.fair
    over = [
        _is_over(problem, node, problem.contested if fair is None else fair.known[node])
        for node in _nodes(problem)
    ]
    whole_way = []
    for node in _nodes(problem):
        at, holds = node, True
        while at != problem.lca[node]:
            holds = holds and over[at]
            at = problem.parent[at]
        whole_way.append(holds)
    return whole_way
