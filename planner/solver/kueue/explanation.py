"""Short answers in words: why nothing can be done, or nothing needs to be."""

from __future__ import annotations

import numpy as np

from planner.assignment import Assignment
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quantity import format_units
from planner.quota.snapshot import Preemptor


def victims_in_words(count: int) -> str:
    """Return ``1 workload`` or ``n workloads``."""
    return f"{count} workload{'' if count == 1 else 's'}"


def explain_no_flavor(assignment: Assignment, preemptor: Preemptor) -> str:
    """Say which podset gets no flavor: then no preemption is tried at all."""
    failed = next((pods.name for pods in assignment.pod_sets if not pods.flavors), None)
    which = f'podset "{failed}"' if failed else "a podset"
    return (
        f"{which} of {preemptor.key} fits in no flavor: its request exceeds what the queue could "
        "ever use there, or no flavor matches its node selector and tolerations"
    )


def explain_infeasible(problem: Problem, eligible: BoolArray) -> str:
    """Say what is missing although every candidate may go, or that the rules protect too many."""
    count = int(eligible.sum())
    shortfalls = []
    for fr in problem.requested:
        missing = problem.request[fr] - problem.available[fr]
        freed = sum(problem.holding[np.flatnonzero(eligible), fr].tolist())
        resource = problem.frs[fr].resource
        if missing > freed:
            shortfalls.append(
                f"{format_units(missing, resource)} {problem.frs[fr]} missing, "
                f"all candidates together hold {format_units(freed, resource)}"
            )
    if count == 0:
        return "no workload may be preempted for it, and it does not fit"
    if shortfalls:
        return f"{count} candidates are not enough: " + "; ".join(shortfalls)
    reason = (
        "queues that stop being over their quota, or limits on the way, protect what is needed"
        if problem.fair is None
        else "what would be needed is protected by queues that stop borrowing, by limits on the "
        "way, or because the preemptor's side would then be the more unfair one"
    )
    return f"no set of the {count} candidates is legal: {reason}"
