"""The rules of one problem of Kueue, as a search uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from planner.models.kueue.formulation import Columns, Formulation
from planner.models.kueue.laws import assemble
from planner.objective.terms import TermTable
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quota.classes import Classes
from planner.solver.search import Rules


class KueueRules(Rules, Struct, frozen=True):
    """The rules for one problem.

    ``attempts`` are those that law KQ-08 permits; ``restricted`` is (W,), whom no attempt with
    borrowing may take; ``judge`` answers `is_lawful`, and ``finds_places`` the part of that
    question that depends only on what is left on the nodes.
    """

    problem: Problem
    table: TermTable
    attempts: Sequence[bool]
    restricted: BoolArray
    judge: Callable[[Sequence[int]], bool]
    finds_places: Callable[[Sequence[int]], bool]

    def columns(self, classes: Classes) -> Columns:
        """Return classes with the arrays that the laws look at."""
        return Columns(self.problem, classes, self.restricted)

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self.problem, self.columns(classes), self.attempts)

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether the verifier accepts the victims."""
        return self.judge(positions)

    def alike(self, classes: Classes, counts: Sequence[int]) -> Sequence[int] | None:
        """Return the group of each class: sets with as many of each group are refused, too.

        If Kueue's placement refuses the set, classes are grouped by what members give back on the
        nodes; group 0 gives nothing that matters. ``None`` where nothing is known of other sets.
        """
        places = self.problem.places
        if places is None or self.finds_places(classes.take(counts)):
            return None
        kinds: list[int] = places.kind[classes.first].tolist()
        return kinds
