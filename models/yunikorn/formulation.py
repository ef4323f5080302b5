"""The model of one problem while it is being built: its variables, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.laws.yunikorn import Spared
from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Classes
from planner.models.yunikorn.columns import Columns
from planner.problem.array import IntArray
from planner.problem.yunikorn import YuniKornProblem


@dataclass
class Formulation:
    """The model of one problem, and what its variables mean.

    ``take[k]`` is the number of victims of class k; ``alternatives[n]`` the literal that says
    whether node n is chosen: exactly one is, and none that is not usable. ``one_node`` says
    whether YK-08 ties victims to the chosen node, ``spare`` whom YK-01 spares.
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
        """Classes that can have victims at the same time, in groups that exclude one another.

        One per usable node; but all together if victims are not tied to a node, or some node has
        room for the ask without any.
        """
        columns = self.columns
        if columns.free_nodes or not self.one_node:
            return [np.arange(len(columns), dtype=np.int64)]
        return [classes for classes in columns.of_node.values() if classes.size]

    def freed(self, classes: IntArray, t: int) -> Linear:
        """Return what the victims of some classes hold of a type."""
        held = self.columns.holding[classes, t].tolist()
        return Linear(
            {self.take[k]: h for k, h in zip(classes.tolist(), held, strict=True) if h},
        )

    def freed_below(self, queue: int, t: int) -> Linear:
        """Return what the victims at or below a queue hold of a type."""
        return self.freed(np.flatnonzero(self.columns.below(queue)), t)
