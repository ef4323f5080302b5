"""The decision variables: how many victims of each class of workloads that nothing tells apart.

Workloads of the same queue, usage, variant and cost are one integer variable. Which of them are
meant is settled by a canonical rule: the first in the scheduler's candidate order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.problem import BoolArray, IntArray, Problem


@dataclass(frozen=True, slots=True)
class Columns:
    """K classes of interchangeable candidates.

    ``members[k]`` are positions in ``problem.workloads``, in the scheduler's order; the other
    arrays are per class: (K,) queue and whether the class is out of bounds while borrowing;
    (K, F) what one member holds; ``first[k]`` is a representative for cost tables.
    """

    members: Sequence[Sequence[int]]
    first: IntArray
    queue: IntArray
    holding: IntArray
    restricted: BoolArray

    def __len__(self) -> int:
        return len(self.members)

    def count(self, k: int) -> int:
        """Return how many candidates class k has."""
        return len(self.members[k])

    def subset(self, classes: Sequence[int]) -> Columns:
        """Return some of the classes, in the order given."""
        index = np.array(classes, dtype=np.int64)
        return Columns(
            members=[self.members[k] for k in classes],
            first=self.first[index],
            queue=self.queue[index],
            holding=self.holding[index],
            restricted=self.restricted[index],
        )

    def take(self, counts: Iterable[int]) -> tuple[int, ...]:
        """Return the positions of the victims that class counts stand for."""
        return tuple(
            position
            for members, count in zip(self.members, counts, strict=True)
            for position in members[:count]
        )

    def counts(self, positions: Iterable[int]) -> list[int] | None:
        """Return the class counts of a victim set, or ``None`` if one is in no class."""
        chosen = set(positions)
        counts = [len(chosen.intersection(members)) for members in self.members]
        return counts if sum(counts) == len(chosen) else None


def build_columns(
    problem: Problem,
    eligible: BoolArray,
    restricted: BoolArray,
    costs: Sequence[IntArray],
) -> Columns:
    """Group the eligible workloads into classes.

    Parameters
    ----------
    eligible
        (W,) workloads that no law excludes.
    restricted
        (W,) workloads that no attempt with borrowing may take.
    costs
        Each (W,): what must be equal within a class besides queue and usage.
    """
    positions = np.flatnonzero(eligible)
    if positions.size == 0:
        empty = np.zeros(0, dtype=np.int64)
        return Columns((), empty, empty, np.zeros((0, len(problem.frs)), np.int64), empty > 0)
    positions = positions[np.argsort(problem.order[positions], kind="stable")]
    key = np.column_stack(
        [
            problem.queue[positions],
            restricted[positions],
            problem.evicted[positions],
            *(cost[positions] for cost in costs),
            problem.holding[positions],
        ]
    )
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    # Number the classes by their first member, so that the model reads in the scheduler's order.
    renumber = np.empty(len(first), dtype=np.int64)
    renumber[np.argsort(first)] = np.arange(len(first))
    members: list[list[int]] = [[] for _ in first]
    for position, group in zip(positions.tolist(), renumber[inverse.ravel()].tolist(), strict=True):
        members[group].append(position)
    representative = np.array([group[0] for group in members], dtype=np.int64)
    return Columns(
        members=members,
        first=representative,
        queue=problem.queue[representative],
        holding=problem.holding[representative],
        restricted=restricted[representative],
    )
