"""The rules of one problem of Kueue, as a search uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from planner.models.kueue.formulation import Columns, Formulation
from planner.models.kueue.laws import assemble
from planner.models.kueue.relaxation import cover_rows, relax
from planner.models.shared.classes import Classes, Parts, Relaxation, Row
from planner.objective.terms import TermTable
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
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

    def rows(self, classes: Classes) -> list[Row]:
        """Return what victims among these classes must free, as rows that every answer keeps."""
        return cover_rows(self.problem, self.columns(classes))

    def relaxation(self, classes: Classes) -> Relaxation:
        """Return the rows, with their witnesses, that a linear program gets."""
        return relax(self.problem, self.columns(classes))

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether the verifier accepts the victims."""
        return self.judge(positions)

    def parts(self, classes: Classes) -> Parts:
        """Return the classes of each domain of a required level, where quota is not short.

        One domain has to hold all pods: who gives nothing back there need not be evicted. Under
        fair sharing that is not so: each eviction on the preemptor's own side lowers the share of
        that side. Domains that lack least come first.
        """
        problem, places = self.problem, self.problem.places
        alone = places is not None and len(places.rooms) == 1
        room = places.rooms[0] if places is not None and alone else None
        if places is None or room is None or room.aim is None or not room.aim.required:
            return Parts()
        # Where quota is short as well, workloads outside the domain may have to be evicted, too.
        if self.rows(classes):
            return Parts()
        domains, level = places.domains[room.flavor], room.aim.level
        found: dict[int, list[int]] = {}
        for k, kind in enumerate(places.kind[classes.first].tolist()):
            here = {domains.at(leaf, level) for _, leaf in places.gives[kind]}
            for domain in here:
                found.setdefault(domain, []).append(k)
        now = places.as_it_is.slices if places.as_it_is else [0] * domains.count(level)
        nearest = sorted(found, key=lambda domain: (-now[domain], domain))
        are_all = problem.fair is None and problem.fits_within_nominal
        return Parts([found[domain] for domain in nearest], are_all)

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
