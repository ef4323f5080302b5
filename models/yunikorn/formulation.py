"""The model of one YuniKorn problem while it is being built: its variables, and what they mean.

The decision variables say how many victims there are of each class: allocations of the same queue,
node, holding and cost are one integer variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from planner.laws.yunikorn import Spared
from planner.models.shared import classes as shared
from planner.models.shared.builder import Builder, Linear
from planner.problem.array import BoolArray, IntArray
from planner.problem.yunikorn import YuniKornProblem
from planner.quota.classes import Classes, by_value, group

_LARGEST: Final = 2**61


class Columns(shared.Columns[YuniKornProblem], frozen=True):
    """K classes with the arrays that YuniKorn's laws look at."""

    @cached_property
    def node(self) -> IntArray:
        """(K,) the node of each class, or -1."""
        return self.problem.node[self.classes.first]

    @cached_property
    def free_nodes(self) -> tuple[int, ...]:
        """The usable nodes with room for the ask without any victims.

        For an ask with a required node there are none: its victims have to be on that node.

        Source: docs/semantics/yunikorn.md §7 and §15.
        """
        return () if self.problem.ask.required_node else self.problem.roomy

    @cached_property
    def of_node(self) -> dict[int, IntArray]:
        """Per usable node the classes that a plan for it may take from: all, if it has room."""
        everything = np.arange(len(self), dtype=np.int64)
        there = by_value(self.node, everything)
        return {
            node: everything if node in self.free_nodes else there.get(node, everything[:0])
            for node in np.flatnonzero(self.problem.usable).tolist()
        }

    def sums(self, groups: Sequence[IntArray], leaves: BoolArray | None = None) -> IntArray:
        """Add up what all candidates of each group hold at or below each queue: (G, Q, T).

        - ``groups``: G groups of classes.
        - ``leaves``: (G, Q) the leaves that count, all by default.
        """
        # In doubles, which do not wrap around: only the order of magnitude matters.
        sizes = self.classes.sizes[:, None]
        largest = (np.abs(self.holding.astype(np.float64)) * sizes).sum(initial=0)
        exact = self.holding.astype(np.int64 if largest <= _LARGEST else object, copy=False)
        held = exact * sizes
        size = len(self.problem.queues)
        total = np.zeros((len(groups), size, held.shape[1]), dtype=held.dtype)
        for index, these in enumerate(groups):
            np.add.at(total[index], self.queue[these], held[these])
        if leaves is not None:
            total *= leaves[:, :, None]
        for queue in range(size - 1, 0, -1):  # children come after their parents
            total[:, self.problem.parent[queue]] += total[:, queue]
        return total


def build_classes(
    problem: YuniKornProblem, eligible: BoolArray, costs: Sequence[IntArray]
) -> Classes:
    """Group the eligible allocations into classes.

    - ``eligible``: (A,) allocations that no law excludes.
    - ``costs``: Arrays, (A,) each, whose values must be equal within a class, as queue, node and
      holding must.
    """
    columns = [problem.queue, problem.node, *costs, problem.holding]
    return group(problem.order, np.flatnonzero(eligible), columns)


@dataclass
class Formulation:
    """The model of one problem, and what its variables mean.

    ``take[k]`` is the number of victims of class k; ``alternatives[n]`` the literal that says
    whether node n is chosen: exactly one node is, and a usable one. ``one_node`` says whether
    YK-08 ties victims to the chosen node, ``spare`` whom YK-01 spares.
    """

    problem: YuniKornProblem
    columns: Columns
    builder: Builder
    take: Sequence[int]
    alternatives: Sequence[int]
    one_node: bool
    spare: Spared = "nobody"

    @property
    def classes(self) -> Classes:
        """The classes of candidates."""
        return self.columns.classes

    @cached_property
    def groups(self) -> Sequence[IntArray]:
        """Groups of classes that can have victims at the same time; groups exclude one another.

        There is one group per usable node; but a single group of all classes if victims are not
        tied to a node, or some node has room for the ask without any victims.
        """
        columns = self.columns
        if columns.free_nodes or not self.one_node:
            return [np.arange(len(columns), dtype=np.int64)]
        return [classes for classes in columns.of_node.values() if classes.size]

    def freed(self, classes: IntArray, t: int) -> Linear:
        """Return how much of a type the victims of these classes hold."""
        held = self.columns.holding[classes, t].tolist()
        return Linear({self.take[k]: h for k, h in zip(classes.tolist(), held, strict=True) if h})

    def freed_below(self, queue: int, t: int) -> Linear:
        """Return how much of a type the victims at or below a queue hold."""
        columns = self.columns
        return self.freed(np.flatnonzero(self.problem.within[queue, columns.queue]), t)
