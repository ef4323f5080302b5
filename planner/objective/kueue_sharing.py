"""What ClusterQueues and cohorts borrow, as the quota tree sees it, by their weights.

A ClusterQueue borrows what it uses above its nominal quota, a cohort what it uses above the quota
of its subtree. Where fair sharing is on, both are divided by the weight: who is entitled to twice
as much counts as borrowing half as much, and to take from it weighs twice.

A cohort shares with others what it borrows: its victims are taken from it only if the preemptor is
in another one, and if it borrows at all; else they are taken from their queues alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from planner.objective.terms import PER_MILLE
from planner.problem.kueue import Problem
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import NO_PARENT, QuotaTree
from planner.term import ACCELERATOR, unit_weight

_WHOLE_WEIGHT: Final = 10**9
"""Weights are in nano-units."""


def sharing(
    problem: Problem, snapshot: Snapshot, asking: Collection[int]
) -> tuple[list[int], Mapping[int, Sequence[int]]]:
    """Return what each node of a problem borrows: (N,), and the nodes that each queue takes from.

    Everything counts that workloads hold quota for, whether contested or not, as in their sizes.
    ``asking`` are the nodes that the preemptors are in.
    """
    tree = snapshot.tree
    borrowed = [0] * len(problem.names)
    sharers: dict[int, Sequence[int]] = {}
    queues, first = np.unique(problem.queue, return_index=True)
    nodes = [problem.workloads[place].queue for place in first.tolist()]
    everything = None
    if problem.fair is not None:
        everything = sum(_size(snapshot.usage.amount[node], tree) for node in nodes)
    for node, queue in zip(nodes, queues.tolist(), strict=True):
        # Two numberings of one tree: the snapshot's, for amounts, and the problem's, for what is
        # returned.
        found, above, position = [queue], node, queue
        while position != NO_PARENT:
            borrowed[position] = _borrowed(snapshot, above, everything)
            if position != queue and borrowed[position] and position not in asking:
                found.append(position)
            above, position = tree.nodes[above].parent, problem.parent[position]
        sharers[queue] = found
    return borrowed, sharers


def _borrowed(snapshot: Snapshot, node: int, everything: int | None) -> int:
    """Return what a node uses above the quota of its subtree, by its weight, rounded down.

    Of weight 0, and close to it, it is a thousand times ``everything`` that anybody could take:
    more makes no difference of a per mille. Without that, weights do not count.
    """
    tree, usage = snapshot.tree, snapshot.usage.amount[node]
    own = tree.subtree[node]
    over = _size([max(0, used - own[fr]) for fr, used in enumerate(usage)], tree)
    if everything is None:
        return over
    most, weight = PER_MILLE * max(everything, ACCELERATOR), tree.nodes[node].weight_nano
    if not weight:
        return most if over else 0
    return min(over * _WHOLE_WEIGHT // weight, most)


def _size(amounts: Sequence[int], tree: QuotaTree) -> int:
    """Return the size of amounts of all flavor-resources, in 1/32000 accelerator."""
    return sum(unit_weight(fr.resource) * n for fr, n in zip(tree.frs, amounts, strict=True) if n)
