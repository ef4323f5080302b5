"""The decision variables: how many victims of each class of workloads that nothing tells apart.

Workloads of the same queue, usage, variant and cost are one integer variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.models.shared.classes import Classes, group
from planner.problem.array import BoolArray, IntArray
from planner.problem.kueue import Problem
from planner.quota.kueue.tree import NO_PARENT


@dataclass(frozen=True)
class Columns:
    """K classes with what the laws ask of them.

    ``restricted_workloads`` is (W,): what no attempt with borrowing may take.
    """

    problem: Problem
    classes: Classes
    restricted_workloads: BoolArray

    def __len__(self) -> int:
        return len(self.classes)

    def count(self, k: int) -> int:
        """Return how many candidates class k has."""
        return self.classes.count(k)

    @cached_property
    def counts(self) -> IntArray:
        """(K,) how many candidates each class has."""
        return self.classes.sizes

    @cached_property
    def below(self) -> Mapping[int, IntArray]:
        """The classes at or below each node that has any."""
        found: dict[int, list[IntArray]] = {}
        by_queue = np.argsort(self.queue, kind="stable")
        ends = np.flatnonzero(np.diff(self.queue[by_queue])) + 1
        for classes in np.split(by_queue, ends) if len(self) else ():
            node = int(self.queue[classes[0]])
            while node != NO_PARENT:
                found.setdefault(node, []).append(classes)
                node = self.problem.parent[node]
        return {node: np.sort(np.concatenate(parts)) for node, parts in found.items()}

    @cached_property
    def queue(self) -> IntArray:
        """(K,) the queue of each class."""
        return self.problem.queue[self.classes.first]

    @cached_property
    def holding(self) -> IntArray:
        """(K, F) what one member of each class holds."""
        return self.problem.holding[self.classes.first]

    @cached_property
    def restricted(self) -> BoolArray:
        """(K,) whether a class is out of bounds while borrowing."""
        return self.restricted_workloads[self.classes.first]


def build_classes(
    problem: Problem,
    eligible: BoolArray,
    restricted: BoolArray,
    costs: Sequence[IntArray],
) -> Classes:
    """Group the eligible workloads into classes.

    Parameters
    ----------
    eligible
        (W,) workloads that no law excludes.
    restricted
        (W,) workloads that no attempt with borrowing may take.
    costs
        Each (W,): what must be equal within a class besides queue, usage and places on nodes.
    """
    positions = np.flatnonzero(eligible)
    # In the scheduler's order, so that the first members of a class are its canonical victims.
    positions = positions[np.argsort(problem.order[positions], kind="stable")]
    key = np.column_stack(
        [
            problem.queue[positions],
            restricted[positions].astype(np.int64),
            # Whoever is being evicted already costs nothing new, and comes first in the order.
            problem.evicted[positions].astype(np.int64),
            *(cost[positions] for cost in costs),
            *([] if problem.places is None else [problem.places.kind[positions]]),
            problem.holding[positions],
        ]
    )
    return group(positions, key)
