"""How many pods PodDisruptionBudgets cover of each workload, and how many of them may go.

A budget covers the pods of its namespace whose labels match, of which a dump has what the podset
templates say: labels that a controller adds to pods are not known. How many may go is what the
cluster says (``status.disruptionsAllowed``). Where it says nothing it is worked out from
``maxUnavailable`` or ``minAvailable``, as if the pods of the admitted workloads were all that are
covered and all of them healthy; shares are rounded up, as Kubernetes does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.objective.terms import Budget
from planner.quota.kueue.holding import holding_of
from planner.quota.kueue.snapshot import Admitted, Snapshot
from planner.state.kueue import PodDisruptionBudget


def pod_budgets(workloads: Sequence[Admitted], snapshot: Snapshot) -> list[Budget]:
    """Return the budgets of a snapshot that cover any of some workloads."""
    found = []
    for budget in snapshot.budgets:
        covered = [_covered(budget, one, snapshot) for one in workloads]
        if not any(covered):
            continue
        # Shares are of all pods that are covered, also of those that nobody may evict here.
        held = (one for group in snapshot.admitted.values() for one in group)
        everywhere = sum(_covered(budget, one, snapshot) for one in held)
        found.append(Budget(_allowed(budget, everywhere), np.array(covered, dtype=np.int64)))
    return found


def _covered(budget: PodDisruptionBudget, one: Admitted, snapshot: Snapshot) -> int:
    """Return how many running pods of a workload a budget covers."""
    selector = budget.spec.selector
    if selector is None or one.namespace != budget.metadata.namespace:
        return 0
    # Pods that are there, not those of the spec: reclaimed ones are gone, a reduced count never
    # was.
    running = holding_of(one.workload, snapshot.configuration).running
    return sum(
        running.get(pod_set.name, 0)
        for pod_set in one.workload.spec.pod_sets
        if selector.matches(pod_set.template.metadata.labels)
    )


def _allowed(budget: PodDisruptionBudget, pods: int) -> int:
    """Return how many of the pods that a budget covers may go."""
    spec, said = budget.spec, budget.status.disruptions_allowed
    if said is not None:
        return said
    if spec.max_unavailable is not None:
        return _share(spec.max_unavailable, pods)
    if spec.min_available is not None:
        return max(0, pods - _share(spec.min_available, pods))
    return 0  # where neither is said, the disruption controller permits none


def _share(number: int | str, pods: int) -> int:
    if isinstance(number, int):
        return number
    return -(-int(number.removesuffix("%")) * pods // 100)
