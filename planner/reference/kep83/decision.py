"""What KEP-83's algorithm decides for one pending workload: flavors and victims."""

from __future__ import annotations

from collections.abc import Mapping

from planner.quota.kueue.assignment import Assignment, contested, total_request
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kep83.context import Kep83Context
from planner.reference.kep83.flavors import Kep83Flavors
from planner.reference.kep83.search import search_kep83
from planner.reference.kueue.assigned import Assigned
from planner.reference.kueue.decision import Decision
from planner.reference.kueue.target import Search
from planner.state.kep83 import Kep83


def decide_kep83(
    snapshot: Snapshot,
    preemptor: Preemptor,
    options: Kep83,
    assignment: Assignment | None = None,
    cost: Mapping[str, int] | None = None,
) -> Decision:
    """Run the algorithm; a given assignment takes the place of flavor assignment.

    ``cost`` is what evicting a workload costs now, by ``namespace/name``, for the criterion
    ByLowestDisruptionCost; a workload that is not named costs nothing. A workload of an inactive
    queue is never looked at: no flavors, no victims.
    """
    nothing = Search((), ())
    if not snapshot.is_active(preemptor.queue):
        return Decision(Assigned(Assignment(mode="NoFit")), nothing)
    usage = snapshot.usage.copy()
    if assignment is None:
        assignment = Kep83Flavors(snapshot, usage, preemptor, options).assign()
    assigned = Assigned(assignment)
    # Podsets without flavors would be missing in the request, which then fits too easily.
    if assignment.mode != "Preempt" or len(assignment.pod_sets) < len(preemptor.pod_sets):
        return Decision(assigned, nothing)
    request = total_request(assignment, preemptor, snapshot)
    involved = contested(assignment, snapshot)
    context = Kep83Context(snapshot, usage, preemptor, request, involved, options, cost or {})
    return Decision(assigned, search_kep83(context))
