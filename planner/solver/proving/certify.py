"""The trees of a whole answer: level by level, then for its ties.

The solver's answer is where the search for proofs begins, no more: a better set that turns up
takes its place, until a tree shows that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from planner.objective.profiles import Measure
from planner.plan import BoundByRows
from planner.plan.proof import Tree
from planner.proof.claims import (
    BETTER,
    INFEASIBLE,
    TIES,
    Claims,
    Stated,
    at_most,
    level_claim,
)
from planner.proof.question import Question
from planner.proof.sums import bound_by_rows
from planner.solver.engine import Deadline
from planner.solver.proving.grow import Effort, Grown, grow

ROUNDS: Final = 4
"""How often an equal set that comes first takes the place of an answer: there can be millions."""

GLANCE: Final = Effort(steps=8, entries=30_000)
"""What a tree may take that only bounds a level."""


@dataclass
class Certified:
    """What is proved of an answer, given by positions of workloads; ``None`` for no answer.

    ``levels`` have the values of the answer; ``sums`` say of those that one sum of inequalities
    proves what it is. ``ties`` says whether it is proved that it comes
    first among equals. ``corrected`` counts the better sets that took the place of the answer.
    """

    victims: Sequence[int] | None
    levels: list[Stated] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
    sums: list[BoundByRows] = field(default_factory=list)
    infeasible: bool = False
    ties: bool = False
    corrected: int = 0


@dataclass
class Certifier:
    """Grows the trees of one decision, none with more than so much effort.

    ``is_allowed`` says of a set whether it keeps to bounds that no claim knows. ``measure`` is
    that of the level in question, ``known`` what narrowed the boxes of levels before.
    """

    claims: Claims
    deadline: Deadline
    effort: Effort
    is_allowed: Callable[[Sequence[int], Certified], bool]
    measure: Measure | None = None
    known: list[Mapping[str, int]] = field(default_factory=list)

    def certify(self, measures: Sequence[Measure], victims: Sequence[int] | None) -> Certified:
        """Prove an answer, or that there is none; ``measures`` are all levels, names included."""
        done = Certified(victims)
        if victims is None:
            self._prove_infeasible(done)
        if done.victims is not None:
            for measure in measures:
                self._prove_level(done, measure)
            if all(level.proved for level in done.levels):
                self._prove_ties(done)
        return done

    def bound(
        self, earlier: Sequence[Stated], measure: Measure, value: int, deadline: Deadline
    ) -> int:
        """Return what short trees show that every answer has at least, within a thousandth."""
        shown, possible = 0, value
        while possible - shown > value // 1000 and not deadline.passed:
            middle = (shown + possible + 1) // 2
            grown = grow(self.claims.level(earlier, measure, middle), deadline, GLANCE)
            if grown.steps is not None:
                shown = middle
            else:
                possible = middle - 1
        return shown

    def _grow(
        self, question: Question, done: Certified, effort: Effort | None = None
    ) -> tuple[Grown, list[int] | None]:
        """Return what grew, and the positions of a better set if that was one."""
        grown = grow(question, self.deadline, effort or self.effort, self.known)
        self._remember(grown, done)
        if grown.better is None:
            return grown, None
        found = question.rules.members.taken(grown.better)
        return grown, found if self.is_allowed(found, done) else None

    def _remember(self, grown: Grown, done: Certified) -> None:
        """Keep what narrowed a box: on later levels the measure is bounded by its value."""
        if done.victims is None:
            return
        for multipliers in grown.narrowed_by:
            named = dict(multipliers)
            if BETTER in named and self.measure is not None:
                value = self.claims.value(self.measure, done.victims)
                named[at_most(self.measure, value)] = named.pop(BETTER)
            if named not in self.known:
                self.known.append(named)

    def _prove_infeasible(self, done: Certified) -> None:
        grown, found = self._grow(self.claims.infeasible(), done)
        if grown.steps is not None:
            done.trees.append(Tree(claim=INFEASIBLE, steps=grown.steps))
            done.infeasible = True
        elif found is not None:
            done.victims, done.corrected = found, done.corrected + 1

    def _prove_level(self, done: Certified, measure: Measure) -> None:
        """Lower the value of a level until a tree shows that it is least."""
        self.measure = measure
        while True:
            value = self.claims.value(measure, done.victims or ())
            if self.claims.is_unknown(measure):
                done.levels.append(Stated(measure, value, proved=False))
                return
            if value == 0:  # no term is negative
                done.levels.append(Stated(measure, 0, proved=True))
                return
            question = self.claims.level(done.levels, measure, value)
            grown, found = self._grow(question, done)
            if found is None:
                break
            done.victims, done.corrected = found, done.corrected + 1
        if grown.steps is not None:
            done.trees.append(Tree(claim=level_claim(measure), steps=grown.steps))
            sum_ = bound_by_rows(question, grown.steps, measure, value)
            done.sums += [] if sum_ is None else [sum_]
        done.levels.append(Stated(measure, value, proved=grown.steps is not None))

    def _prove_ties(self, done: Certified) -> None:
        """Show that no equal set comes first; begin anew with one that does, a few times."""
        self.measure = None
        grown, effort = Grown(), replace(self.effort, entries=self.effort.entries // 10)
        for _ in range(ROUNDS):
            victims = self._in_order(done, self.claims.canonical(done.levels, done.victims or ()))
            if not victims or not self.is_allowed(victims, done):
                return
            grown, found = self._grow(self.claims.ties(done.levels, victims), done, effort)
            done.victims = victims
            if found is None:
                break
            done.victims = found
        if grown.steps is not None:
            done.trees.append(Tree(claim=TIES, steps=grown.steps))
            done.ties = True

    def _in_order(self, done: Certified, victims: Sequence[int]) -> list[int]:
        return sorted(victims, key=self.claims.place_of(done.levels))
