"""Kueue by the rules of KEP-83: snapshot and options to a problem.

Nodes, flavor-resources and workloads are those of Kueue's own problem; policies, order and the
time of waiting are the KEP's. What its text leaves open is decided in `laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from planner.objective.annotation import read_disruption
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.research.kep83.options import CohortPolicy, Kep83, QueuePolicy, seconds_waiting


class Kep83Problem(Struct, frozen=True):
    """One preemption decision by KEP-83's rules.

    - ``base``: Nodes, quotas and workloads; ``base.order`` ranks the workloads as the KEP would
      order them as candidates, ``base.contested`` are the involved flavors. Its rule set, its
      policies, ``queued_later`` and ``advantage`` are Kueue's and mean nothing here.
    - ``cohort``, ``queue``: The policies for victims of other queues and of the own one.
    - ``borrows``: Whether the preemptor may borrow what it preempts for.
    - ``waited``: Whether the preemptor has waited long enough to preempt.
    """

    base: Problem
    cohort: CohortPolicy
    queue: QueuePolicy
    borrows: bool
    waited: bool


def build_kep83(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    options: Kep83,
    cost: Mapping[str, int],
) -> Kep83Problem:
    """Build the problem of one preemptor with its flavors assigned.

    ``cost`` is what evicting a workload costs now, by ``namespace/name``, for the criterion
    ByLowestDisruptionCost; a workload that is not named costs nothing.

    Raises ``UnsupportedError`` if usage has saturated 64 bits: removals would no longer lower it.
    """
    base = build_problem(snapshot, preemptor, assignment, pods=False)
    policy = snapshot.queues[preemptor.queue].spec.preemption
    # Other queues' workloads first; then by the criteria in turn; then the smaller UID first.
    workloads = base.workloads
    by: Mapping[str, Callable[[Admitted], float]] = {
        "ByLowestPriority": lambda one: one.priority,
        "ByLowestRuntime": lambda one: -one.reserved_s,
        "ByLongestRuntime": lambda one: one.reserved_s,
        "ByLowestDisruptionCost": lambda one: cost.get(one.key, 0),
    }
    keys = [
        (mine, *(by[criterion](one) for criterion in options.criteria), one.uid)
        for one, mine in zip(workloads, base.from_own_queue.tolist(), strict=True)
    ]
    places = np.empty(len(keys), dtype=np.int64)
    places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return Kep83Problem(
        base=replace(base, order=places),
        cohort=options.within_cohort(policy),
        queue=options.within_cluster_queue(policy),
        borrows=options.borrows,
        waited=options.wait <= seconds_waiting(preemptor.workload, snapshot.now),
    )


def compared_costs(snapshot: Snapshot, options: Kep83) -> dict[str, int]:
    """Return what evicting workloads costs now by their milestones, if the order asks for it.

    Workloads are named by ``namespace/name``; those that are not named cost nothing.
    """
    if "ByLowestDisruptionCost" not in options.criteria:
        return {}
    running = (one for some in snapshot.admitted.values() for one in some if one.remarks)
    costs = (
        (one.key, read_disruption(one.remarks, snapshot.now, one.running_s).milestone_cost)
        for one in running
    )
    return {key: cost for key, cost in costs if cost}
