"""What holds in every order of serving: lower bounds on the levels, from cover rows alone.

The steps are left out of the model, and with them all rules but that enough must be freed for
everybody who is admitted. Nothing that a joint plan may do is excluded, whatever its order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from planner.models.kueue.joint_relaxation import joint_cover_rows
from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Classes
from planner.models.shared.row import Relaxation, Row
from planner.objective.profiles import Measure
from planner.objective.terms import TermTable
from planner.problem.array import IntArray
from planner.solver.bound import Bound, best_single_row
from planner.solver.joint.question import Question
from planner.solver.levels import LevelResult, solve_levels
from planner.solver.linear_program import linear_programming_bound
from planner.solver.search import Search


@dataclass(frozen=True)
class Freeing:
    """A model that only says how much must be freed: ``take[k]`` are victims of class k."""

    builder: Builder
    classes: Classes
    take: Sequence[int]
    alternatives: Sequence[int] = ()


@dataclass(frozen=True)
class RelaxedRules:
    """The cover rows as rules: what entrants in ``admit`` need, in whatever order."""

    question: Question
    table: TermTable
    admit: Collection[int]

    @property
    def order(self) -> IntArray:
        """(W,) the rank of each workload in the common candidate order."""
        return self.question.forest.problem.order

    def assemble(self, classes: Classes) -> Freeing:
        """Build the model in which only these classes give victims."""
        builder = Builder()
        take = [builder.new(0, classes.count(k)) for k in range(len(classes))]
        builder.new(0, 0)  # without any variable the empty solution would read as none
        state_rows(builder, take, self.rows(classes))
        return Freeing(builder, classes, take)

    def rows(self, classes: Classes) -> list[Row]:
        """Return the cover rows over some classes."""
        return joint_cover_rows(self.question.entrants, self.admit, classes)

    def is_hopeless(self, classes: Classes) -> bool:
        """Say whether these classes hold too little of some flavor-resource."""
        counts = classes.sizes.tolist()
        return any(
            sum(c * n for c, n in zip(row.coefficients.tolist(), counts, strict=True)) < row.bound
            for row in self.rows(classes)
        )

    def quick_bound(self, classes: Classes, costs: IntArray) -> Bound:
        """Bound a separable cost from below by the best single cover row."""
        bound, _ = best_single_row(self.rows(classes), costs, classes.sizes.tolist())
        return bound

    def close_bound(self, classes: Classes, costs: IntArray, limits: Sequence[Row]) -> Bound:
        """Bound a separable cost from below by all cover rows together."""
        relaxation = Relaxation(self.rows(classes), 0)
        return linear_programming_bound(relaxation, classes, costs, limits)

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say that no set is refused."""
        del positions
        return True


def bounds_in_any_order(
    rules: RelaxedRules,
    unsolved: Search,
    levels: Sequence[Measure],
    found: Sequence[LevelResult],
) -> tuple[LevelResult, ...]:
    """Return levels with the bounds that hold in every order.

    A level is bounded as long as all levels before it are closed; after that nothing is known.

    Parameters
    ----------
    unsolved
        The search as it was before its levels, its caps and wishes included, with the answer.
    found
        The levels of the answer.
    """
    search = replace(unsolved, rules=rules, cut=[])
    free = solve_levels(search, levels).levels
    closed, bounded = True, []
    for number, level in enumerate(found):
        least = free[number].least.bound if closed and number < len(free) else 0
        bound = min(least, level.least.value)
        closed = closed and bound == level.least.value
        bounded.append(replace(level, least=replace(level.least, bound=bound)))
    return tuple(bounded)


def state_rows(builder: Builder, take: Sequence[int], rows: Sequence[Row]) -> None:
    """State rows over the victims of each class in a model."""
    for row in rows:
        terms = zip(take, row.coefficients.tolist(), strict=True)
        builder.at_least(Linear({index: c for index, c in terms if c}), row.bound)
