"""The rules of one problem of Kueue, as a search uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from planner.errors import InternalError
from planner.models.kueue.build import assemble
from planner.models.kueue.formulation import Columns, Formulation
from planner.models.kueue.relaxation import cover_rows, relax
from planner.models.shared.classes import Classes, Parts, Relaxation, Row
from planner.objective.terms import TermTable
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.solver.engine import complete
from planner.solver.search import Rules

Arrangement = Mapping[str, tuple[Mapping[int, int], Mapping[int, int]]]
"""By group, room for pods of workers on leaves, and where the leader may be."""


class KueueRules(Rules, Struct, frozen=True):
    """The rules for one problem.

    ``attempts`` are those that law KQ-08 permits; ``restricted`` is (W,), what no attempt with
    borrowing may take; ``judge`` answers `is_lawful`, and ``finds_places`` the part of it that
    depends on nothing but what is left on the nodes.
    """

    problem: Problem
    table: TermTable
    attempts: Sequence[bool]
    restricted: BoolArray
    judge: Callable[[Sequence[int]], bool]
    finds_places: Callable[[Sequence[int]], bool]

    def columns(self, classes: Classes) -> Columns:
        """Return classes with what the laws ask of them."""
        return Columns(self.problem, classes, self.restricted)

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self.problem, self.columns(classes), self.attempts)

    def rows(self, classes: Classes) -> list[Row]:
        """Return what victims among these classes must free, as rows that every answer keeps."""
        return cover_rows(self.problem, self.columns(classes))

    def relaxation(self, classes: Classes) -> Relaxation:
        """Return all that a linear program is to know."""
        return relax(self.problem, self.columns(classes))

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether the verifier accepts the victims."""
        return self.judge(positions)

    def parts(self, classes: Classes) -> Parts:
        """Return the classes of each domain of a required level, where quota is not short.

        One domain has to hold all pods: who gives nothing back there need not go. Under fair
        sharing that is not so, as whoever goes from the preemptor's own side lowers its share.
        Domains that lack least come first.
        """
        problem, places = self.problem, self.problem.places
        alone = places is not None and len(places.rooms) == 1
        room = places.rooms[0] if places is not None and alone else None
        if places is None or room is None or room.aim is None or not room.aim.required:
            return Parts()
        # Where quota is short as well, others may have to go besides those of one domain.
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
        """Return groups of classes: sets of the same number of each are refused, too.

        They are by what victims give back on the nodes where that is what Kueue's placement fails
        on; 0 is for what does not matter. ``None`` where nothing is known of other sets.
        """
        places = self.problem.places
        if places is None or self.finds_places(classes.take(counts)):
            return None
        kinds: list[int] = places.kind[classes.first].tolist()
        return kinds

    def attempt_of(self, classes: Classes, counts: Sequence[int]) -> bool:
        """Return the attempt an answer belongs to, the first in Kueue's order.

        Raises `InternalError` if no attempt admits it.
        """
        for borrowing in self.attempts:
            if self._completed(classes, counts, [borrowing])[1] is not None:
                return borrowing
        message = "no attempt admits the answer"
        raise InternalError(message)

    def arrangement(self, classes: Classes, counts: Sequence[int]) -> Arrangement:
        """Return room for all groups with so many of each class gone; empty if there is none."""
        formulation, found = self._completed(classes, counts, self.attempts)
        if found is None:
            return {}
        return {
            one.room.name: (
                {leaf: found[index] for leaf, index in one.pods.items() if found[index]},
                {leaf: 1 for leaf, index in one.leader.items() if found[index]},
            )
            for one in formulation.standing
        }

    def _completed(
        self, classes: Classes, counts: Sequence[int], attempts: Sequence[bool]
    ) -> tuple[Formulation, Sequence[int] | None]:
        """Return a model in which so many of each class go, and its solution if it has one."""
        taken = [k for k, count in enumerate(counts) if count]
        model = assemble(self.problem, self.columns(classes.subset(taken)), attempts)
        return model, complete(model.builder, model.take, [counts[k] for k in taken])
