"""Who holds quota in a cluster of Kueue, how much is in use, and of how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from planner.commands.simulate.record import Use
from planner.errors import UnsupportedError
from planner.objective.terms import unit_weight
from planner.quantity import MAX_INT64
from planner.quota.snapshot import Admitted, Snapshot
from planner.quota.tree import QuotaTree, Usage
from planner.reference.kueue.cycle.record import Entry
from planner.solver.kueue.aftermath import admit
from planner.state.base import Condition

_READY: Final = "PodsReady"


def admitted(snapshot: Snapshot, entry: Entry) -> Admitted:
    """Return who a scheduling cycle admits as what holds its assignment.

    Where others are kept from being admitted until its pods are ready, they are so at once.

    Raises
    ------
    UnsupportedError
        If a podset has no entry in it. The scheduler stops assigning at a podset that requests
        nothing but zeros of what its queue does not cover, and still calls the rest fit; the API
        server then refuses the admission ("podSetAssignments must have the same number of podSets
        as the spec", a validation rule of the type Workload in apis/kueue).
    """
    preemptor, assignment = entry.preemptor, entry.assignment
    assert assignment is not None, "who is admitted has flavors"  # noqa: S101
    if len(assignment.pod_sets) < len(preemptor.pod_sets):
        last = assignment.pod_sets[-1].name
        raise UnsupportedError(
            f"Workload {preemptor.key}",
            f"Kueue assigns flavors up to podset {last} only, and cannot admit it so",
            hint="all that it requests there is zero of a resource that its queue does not have",
        )
    one = admit(snapshot, preemptor, assignment)
    if not snapshot.configuration.blocks_admission:
        return one
    status = one.workload.status
    kept = tuple(each for each in status.conditions if each.type != _READY)
    ready = Condition(type=_READY, status="True", lastTransitionTime=snapshot.now)
    told = status.model_copy(update={"conditions": (*kept, ready)})
    return one._replace(workload=one.workload.model_copy(update={"status": told}))


def used(usage: Usage, nodes: Iterable[int]) -> list[int]:
    """Return how much some ClusterQueues use of each flavor-resource, in the order of the tree."""
    rows = [usage.amount[node] for node in nodes]
    return [sum(row[fr] for row in rows) for fr in range(len(usage.tree.frs))]


def use(tree: QuotaTree, shares: Sequence[float]) -> tuple[Use, ...]:
    """Return the use of each flavor-resource; ``shares`` are the amounts used on average.

    The capacity is all nominal quota, lent out or not; an unlimited one counts as none.
    """
    found = []
    for fr, (flavor, resource) in enumerate(tree.frs):
        total = sum(tree.nominal(node, fr) for node in tree.top_down)
        capacity = total if total < MAX_INT64 else None
        share = round(shares[fr] / capacity, 6) if capacity else None
        found.append(Use(flavor=flavor, resource=resource, capacity=capacity, share=share))
    return tuple(found)


def size_of(one: Admitted, tree: QuotaTree) -> int:
    """Return what a workload holds, in 1/32000 accelerator."""
    return sum(unit_weight(tree.frs[fr].resource) * amount for fr, amount in one.usage.items())
