"""Other flavors than those of a plan: that nothing is better there, by trees or by two engines.

The trees are grown and checked, but not kept: a plan has those of its own flavors only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.errors import UnsupportedError
from planner.objective.profiles import Measure, Profile, with_names
from planner.proof.claims import Claims, Stated
from planner.proof.question import Question
from planner.solver.engine import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.proving.grow import Effort, grow
from planner.solver.search import Search
from planner.solver.second_opinion import Witnesses

TREES: Final = "trees that are not kept"
"""What stands beside the names of engines where trees closed some flavors."""

LITTLE: Final = Effort(steps=300, entries=300_000)
"""What a tree may take: there are many flavors."""

_Bounds = Sequence[tuple[Measure, int]]


@dataclass
class Elsewhere:
    """What nothing may beat: the values of a plan, names included, or ``None`` if there is none.

    ``caps`` bind under all flavors.
    """

    profile: Profile
    caps: Mapping[Measure, int]
    values: Sequence[int] | None
    deadline: Deadline

    @cached_property
    def witnesses(self) -> Witnesses:
        """Two engines, for what trees do not close."""
        return Witnesses(self.profile.wishes.most)

    def is_no_better(self, planning: Planning, search: Search) -> bool:
        """Say whether it is proved that nothing under some flavors is better.

        Parameters
        ----------
        planning
            The preemptor under these flavors, with the terms of the profile.
        search
            The same, ready to be searched, with the wishes of the profile.
        """
        claims = planning.claims(self.profile, list(self.caps.items()))
        with_trees = planning.trees is not False
        if self.values is None:
            closed = with_trees and self._is_closed(claims, (), None, 0)
            return closed or self._agreed(search, (), None, 0)
        earlier: list[tuple[Measure, int]] = []
        for measure, value in zip(with_names(self.profile.levels), self.values, strict=True):
            if with_trees and self._is_closed(claims, earlier, measure, value):
                return True  # nothing is even as good
            closed = value == 0 or (
                with_trees and self._is_closed(claims, earlier, measure, value - 1)
            )
            if not closed and not self._agreed(search, earlier, measure, value - 1):
                return False
            earlier.append((measure, value))
        return True

    def _is_closed(
        self, claims: Claims, earlier: _Bounds, measure: Measure | None, most: int
    ) -> bool:
        """Say whether a tree shows that nothing has at most so much."""
        if measure is not None and claims.is_unknown(measure):
            return False
        try:
            grown = grow(_question(claims, earlier, measure, most), self.deadline, LITTLE)
        except UnsupportedError:
            return False  # amounts that the rows cannot add up exactly
        if grown.steps is not None:
            self.witnesses.engines[TREES] = None
        return grown.steps is not None

    def _agreed(self, search: Search, earlier: _Bounds, measure: Measure | None, most: int) -> bool:
        """Say whether two engines find that nothing has at most so much."""
        limits = (*self.caps.items(), *earlier)
        return self.witnesses.ask(search, limits, measure, most).outcome == "none"


def _question(claims: Claims, earlier: _Bounds, measure: Measure | None, most: int) -> Question:
    if measure is None:
        return claims.infeasible()
    stated = [Stated(each, value, proved=False) for each, value in earlier]
    return claims.level(stated, measure, most + 1)
