"""How much is in use in a cluster of Kueue, and of how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.objective.terms import unit_weight
from planner.quantity import MAX_INT64
from planner.quota.snapshot import Admitted
from planner.quota.tree import QuotaTree, Usage
from planner.simulation.record import Use


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
