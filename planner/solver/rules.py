"""What a search must know of a scheduler's rules, and nothing else of the scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from planner.models.shared.classes import Classes
from planner.models.shared.measure import Measured
from planner.models.shared.row import Row
from planner.objective.terms import TermTable
from planner.problem.array import IntArray
from planner.solver.bound import Bound


class Rules(Protocol):
    """The rules of one problem, as a search uses them."""

    @property
    def table(self) -> TermTable:
        """The disruption terms of the problem."""
        ...

    @property
    def order(self) -> IntArray:
        """(W,) the rank of each workload in the scheduler's candidate order."""
        ...

    def assemble(self, classes: Classes) -> Measured:
        """Build the exact model in which only these classes give victims."""
        ...

    def is_hopeless(self, classes: Classes) -> bool:
        """Say whether these classes hold too little, whichever of them go."""
        ...

    def quick_bound(self, classes: Classes, costs: IntArray) -> Bound:
        """Bound a separable cost from below without a linear program."""
        ...

    def close_bound(self, classes: Classes, costs: IntArray, limits: Sequence[Row]) -> Bound:
        """Bound a separable cost from below by a relaxation; ``limits`` hold besides the rules."""
        ...

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether victims are lawful in the scheduler's own arithmetic.

        The model may admit what floating-point numbers do not.
        """
        ...
