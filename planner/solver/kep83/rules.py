"""KEP-83's rules as a search uses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.models.kep83.build import assemble
from planner.models.kep83.relaxation import relax, rows
from planner.models.kueue.formulation import Formulation
from planner.models.shared.classes import Classes
from planner.models.shared.row import Row
from planner.problem.array import IntArray
from planner.problem.kep83 import Kep83Problem
from planner.solver.bound import Bound
from planner.solver.kueue.rules import KueueRules
from planner.solver.linear_program import linear_programming_bound


@dataclass(frozen=True)
class Kep83Rules(KueueRules):
    """The rules for one problem; the only attempt is that of the options.

    ``kep83`` is the problem with its policies; ``restricted`` is False everywhere.
    """

    kep83: Kep83Problem

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self.kep83, self.columns(classes))

    def rows(self, classes: Classes) -> list[Row]:
        """Return what victims among these classes must free, as rows that every answer keeps."""
        return rows(self.kep83, self.columns(classes))

    def close_bound(self, classes: Classes, costs: IntArray, limits: Sequence[Row]) -> Bound:
        """Bound a separable cost from below by the linear relaxation."""
        relaxation = relax(self.kep83, self.columns(classes))
        return linear_programming_bound(relaxation, classes, costs, limits)

    def attempt_of(self, classes: Classes, counts: Sequence[int]) -> bool:
        """Return whether the answer may borrow: that is an option, and not for it to say."""
        del classes, counts
        return self.kep83.borrows
