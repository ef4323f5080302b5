"""YuniKorn's laws as a search uses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.laws import Spared
from planner.models.shared.classes import Classes
from planner.models.shared.row import Row
from planner.models.yunikorn.build import assemble
from planner.models.yunikorn.formulation import Formulation
from planner.models.yunikorn.relaxation import NodeRows, node_rows
from planner.objective.terms import TermTable
from planner.problem.array import IntArray
from planner.problem.yunikorn import YuniKornProblem
from planner.solver.bound import Bound, best_single_row, trivial_bound


@dataclass(frozen=True)
class YuniKornRules:
    """The laws for one problem.

    ``rules`` names the rule set; ``spare`` says whom YK-01 spares.
    """

    problem: YuniKornProblem
    table: TermTable
    rules: str
    spare: Spared

    @property
    def order(self) -> IntArray:
        """(A,) the rank of each allocation in the core's candidate order."""
        return self.problem.order

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self.problem, classes, self.rules, spare=self.spare)

    def is_hopeless(self, classes: Classes) -> bool:
        """Say whether there is no node on which these classes hold enough."""
        counts = classes.sizes
        return all(_is_short(rows, counts) for rows in self._rows(classes).values())

    def quick_bound(self, classes: Classes, costs: IntArray) -> Bound:
        """Bound a separable cost from below, node by node.

        A victim set is for one node. So its cost is at least the least bound of any node, and a
        set with a victim of some class costs at least what the class adds to the bound of its
        node. What no node can use would cost more than everything together.
        """
        counts = classes.sizes
        out_of_reach = int((costs * counts).sum()) + 1
        least = np.full(len(classes), out_of_reach, dtype=np.int64)
        lowest = out_of_reach
        for rows in self._rows(classes).values():
            if _is_short(rows, counts):
                continue
            mine = rows.classes
            bound, _ = best_single_row(rows.cover, costs[mine], counts[mine].tolist())
            lowest = min(lowest, bound.whole)
            with_class = [_with_member(bound, reduced) for reduced in bound.reduced]
            least[mine] = np.minimum(least[mine], np.array(with_class, dtype=np.int64))
        if lowest == out_of_reach:
            return trivial_bound(costs)
        return Bound(lowest, (least - lowest).tolist(), 1)

    def close_bound(self, classes: Classes, costs: IntArray, limits: Sequence[Row]) -> Bound:
        """Bound a separable cost from below: one node has few classes, so the quick bound is it.

        The limits are left to the exact model.
        """
        del limits
        return self.quick_bound(classes, costs)

    def is_lawful(self, positions: Sequence[int]) -> bool:  # noqa: ARG002 - the protocol's
        """Return True: the core's amounts are integers, as the model's are."""
        return True

    def _rows(self, classes: Classes) -> dict[int, NodeRows]:
        return node_rows(self.problem, classes, self.rules)


def _is_short(rows: NodeRows, counts: IntArray) -> bool:
    """Say whether all candidates of a node together are not enough."""
    mine = counts[rows.classes]
    return any(int((row.coefficients * mine).sum()) < row.bound for row in rows.cover)


def _with_member(bound: Bound, reduced: int) -> int:
    """Return what a set for a node costs at least, if it has a member of a class."""
    return max(0, -(-(bound.value + max(0, reduced)) // bound.denominator))
