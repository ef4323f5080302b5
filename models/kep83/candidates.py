"""The laws of KEP-83 that exclude workloads one by one, as masks; and what follows from them.

Every mask is (W,), True where the law forbids the workload. Nothing here depends on which other
workloads are victims, so excluded workloads get no variable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import numpy as np

from planner.laws import RULE_SETS, Register
from planner.laws.kep83 import (
    K83_BORROWS,
    K83_HOLDS_CONTESTED,
    K83_WAITED,
    K83_WITHIN_CLUSTER_QUEUE,
    K83_WITHIN_COHORT,
)
from planner.problem.array import BoolArray
from planner.problem.kep83 import Kep83Problem

EXCLUSIONS: Final[Register[Callable[[Kep83Problem], BoolArray]]] = Register()
"""Whom a law forbids by itself, by the law's id."""


@EXCLUSIONS.of(K83_HOLDS_CONTESTED)
def holds_contested_quota(problem: Kep83Problem) -> BoolArray:
    """K83-03: forbid workloads that name no flavor-resource whose assigned mode is Preempt.

    Only workloads of active queues in the preemptor's tree are in the problem at all.

    Source: KEP-83, Preemption, step 2.
    """
    return ~problem.base.names_contested


@EXCLUSIONS.of(K83_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(problem: Kep83Problem) -> BoolArray:
    """K83-04: forbid workloads of the own queue with priority >= the preemptor's; Never: all.

    Source: KEP-83, Preemption, step 2.2.
    """
    base = problem.base
    if problem.queue == "Never":
        return base.from_own_queue
    return base.from_own_queue & (base.priority >= base.preemptor_priority)


@EXCLUSIONS.of(K83_WITHIN_COHORT)
def within_cohort(problem: Kep83Problem) -> BoolArray:
    """K83-05: forbid workloads of other queues that ``withinCohort`` does not permit.

    Never: all. ReclaimFromLowerPriority and LowerPriority: those with priority >= the
    preemptor's. ReclaimFromAny: none.

    Source: KEP-83, ClusterQueue API changes; Preemption, step 2.1.
    """
    base = problem.base
    match problem.cohort:
        case "Never":
            return ~base.from_own_queue
        case "ReclaimFromAny":
            return np.zeros(len(base.workloads), dtype=np.bool_)
        case "ReclaimFromLowerPriority" | "LowerPriority":
            return ~base.from_own_queue & (base.priority >= base.preemptor_priority)


@EXCLUSIONS.of(K83_BORROWS)
def borrows_involved_flavors(problem: Kep83Problem) -> BoolArray:
    """K83-06: forbid workloads of other queues that borrow nothing involved to begin with.

    Source: KEP-83, Preemption, step 2.1.
    """
    base = problem.base
    borrows = np.array(
        # Usage as it is: the KEP looks once, before any removal.
        [
            any(used[fr] > quota[fr] for fr in base.contested)
            for used, quota in zip(base.usage, base.quota, strict=True)
        ],
        dtype=np.bool_,
    )
    return ~borrows[base.queue] & ~base.from_own_queue


@EXCLUSIONS.of(K83_WAITED)
def waited(problem: Kep83Problem) -> BoolArray:
    """K83-08: forbid everything while the preemptor has not waited long enough.

    Source: KEP-83, Extra knobs in ClusterQueue preemption policy.
    """
    return np.full(len(problem.base.workloads), not problem.waited, dtype=np.bool_)


def eligible(problem: Kep83Problem, without: Collection[str] = ()) -> BoolArray:
    """Return the workloads no law excludes: (W,); laws whose id is in ``without`` are dropped."""
    allowed = np.ones(len(problem.base.workloads), dtype=np.bool_)
    for law in RULE_SETS["kep83"]:
        if law.id in EXCLUSIONS and law.id not in without:
            allowed &= ~EXCLUSIONS[law.id](problem)
    return allowed


def reasons(problem: Kep83Problem) -> list[str]:
    """Return the reason code of each workload as a victim: (W,); Kueue's own of today."""
    other = "InCohortReclaimWhileBorrowing" if problem.borrows else "InCohortReclamation"
    own = problem.base.from_own_queue.tolist()
    return ["InClusterQueue" if mine else other for mine in own]
