"""The planner's own search: whole, and without each of the parts that can be taken out cleanly.

The engines in the part of proofs, and the branching of proof trees, begin where the search has
ended: they are in ``certified``, and in none of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Final

from planner.models.shared.builder import Linear
from planner.models.shared.classes import Classes, Parts, Row
from planner.models.shared.measure import Measured
from planner.objective.terms import TermTable
from planner.problem.array import IntArray
from planner.rivals.contest import Contest, Found
from planner.solver.bound import Bound, trivial_bound
from planner.solver.engine import ATTEMPTS
from planner.solver.levels import solve_levels
from planner.solver.search import Rules, Search
from planner.solver.start import solve

Change = Callable[[Search], Search]


class WithoutHints(Search):
    """A search whose solver starts from nothing, though an answer is known."""

    __slots__ = ()

    def hint(self, formulation: Measured, classes: Sequence[int], objective: Linear | None) -> None:
        """Return nothing."""


class WithoutFixing(Search):
    """A search that keeps all classes, whatever their reduced costs."""

    __slots__ = ()

    def fix(self, reduced: Mapping[int, int], room: int) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Rules that bound no cost from below: neither by single rows nor by a linear program."""

    rules: Rules

    @property
    def table(self) -> TermTable:
        """The disruption terms of the problem."""
        return self.rules.table

    @property
    def order(self) -> IntArray:
        """(W,) the rank of each workload in the scheduler's candidate order."""
        return self.rules.order

    def assemble(self, classes: Classes) -> Measured:
        """Build the exact model in which only these classes give victims."""
        return self.rules.assemble(classes)

    def is_hopeless(self, classes: Classes) -> bool:
        """Say whether these classes hold too little, whichever of them go."""
        return self.rules.is_hopeless(classes)

    def quick_bound(self, classes: Classes, costs: IntArray) -> Bound:
        """Bound a cost by nothing."""
        del classes
        return trivial_bound(costs)

    def close_bound(self, classes: Classes, costs: IntArray, limits: Sequence[Row]) -> Bound:
        """Bound a cost by nothing."""
        del classes, limits
        return trivial_bound(costs)

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether victims are lawful in the scheduler's own arithmetic."""
        return self.rules.is_lawful(positions)

    def parts(self, classes: Classes) -> Parts:
        """Return groups of classes that may each hold an answer by themselves."""
        return self.rules.parts(classes)

    def alike(self, classes: Classes, counts: Sequence[int]) -> Sequence[int] | None:
        """Return groups of classes such that what refuses a set refuses all sets like it."""
        return self.rules.alike(classes, counts)


def changed(kind: type[Search], search: Search) -> Search:
    """Return a search as one of another kind."""
    return kind(**{one.name: getattr(search, one.name) for one in fields(search)})


def with_one_attempt(search: Search) -> Search:
    """Return a search that asks the solver once, thoroughly and without a limit."""
    search.attempts = ATTEMPTS[-1:]
    return search


def _without_bounds(search: Search) -> Search:
    search.rules = Unbounded(search.rules)
    return search


def _as_it_is(search: Search) -> Search:
    return search


def by_search(change: Change, *, classes: bool = True) -> Callable[[Contest], Found]:
    """Return the rival that searches as the planner does, with a change.

    Without ``classes`` each candidate is one of its own.
    """

    def answer(contest: Contest) -> Found:
        apart: Collection[int] = () if classes else range(len(contest.planning.keys))
        search = change(
            contest.part.prepare(contest.planning, contest.profile, contest.deadline, apart)
        )
        found = solve_levels(search, contest.profile.levels)
        chosen = None if search.incumbent is None else list(search.classes.take(search.incumbent))
        if found.outcome == "infeasible":
            chosen = None
        return Found(chosen, found.outcome in {"optimal", "infeasible"})

    return answer


def certified(contest: Contest) -> Found:
    """Answer as ``planner solve`` does, with a proof tree for every level."""
    plan = solve(contest.planning, contest.profile, contest.deadline)
    position = {key: place for place, key in enumerate(contest.planning.keys)}
    chosen = [position[victim.key] for victim in plan.victims]
    return Found(chosen or None, plan.status in {"optimal", "infeasible"})


SEARCHES: Final[Mapping[str, Callable[[Contest], Found]]] = {
    "search": by_search(_as_it_is),
    "search-classes": by_search(_as_it_is, classes=False),
    "search-relaxation": by_search(_without_bounds),
    "search-fixing": by_search(partial(changed, WithoutFixing)),
    "search-hints": by_search(partial(changed, WithoutHints)),
    "search-attempts": by_search(with_one_attempt),
}
"""The search, and the search without what its name takes away."""
