"""Trees for the levels of one answer, and for its ties.

The trees of an answer are grown level by level, then for its ties. The solver's answer is only the
start: a better set that turns up takes its place, until a tree shows that there is no better one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from msgspec.structs import replace

from planner.objective.profiles import Measure
from planner.plan import BoundByRows, Tree
from planner.proof.box import Box
from planner.proof.claims import (
    BETTER,
    INFEASIBLE,
    TIES,
    Claims,
    Stated,
    asking_claim,
    at_most,
    level_claim,
)
from planner.proof.question import Question, bound_by_rows
from planner.solver.deadline import Deadline, OutOfTime
from planner.solver.proving.earlier import EarlierTree, renamed
from planner.solver.proving.grow import Before, Effort, Grown, grow

THOROUGH: Final = Effort(steps=50_000, entries=10**12)
"""The effort of a tree that may take as long as it needs."""

SHORT: Final = Effort(steps=2000, entries=1_500_000, largest=20)
"""The effort of a tree elsewhere: a few seconds."""

BRIEF: Final = Effort(steps=200, entries=150_000, largest=20)
"""The effort where one decision after the other is judged, and no tree may hold up the rest."""

ROUNDS: Final = 4
"""How often an equal set that comes before the answer takes its place: there can be millions."""

MOST_BETTER: Final = 4
"""Better sets that are taken one after the other before the solver is asked for the best."""

AT_ONCE: Final = Effort(steps=100, entries=0)
"""The effort of a tree that is tried before the solver is asked: less than to state its model."""

GLANCE: Final = Effort(steps=8, entries=30_000)
"""The effort of a tree that only bounds a level."""


Ask = Callable[[Claims], Question]
"""Makes a question of claims."""


@dataclass
class Certified:
    """What is proved of an answer, given by positions of workloads; ``None`` for no answer.

    ``levels`` have the values of the answer; ``sums`` are the inequalities of those levels that
    one sum proves. ``ties`` says whether it is proved that the answer comes first among equals.
    ``corrected`` counts the better sets that took the place of an answer.
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
    """Grows the trees of one decision, each with at most ``effort``.

    ``later`` is the effort after a level for which no tree was found. ``is_allowed`` says whether a
    set keeps to bounds that no claim knows. ``measure`` is the measure of the level in question,
    ``before`` what the trees of earlier levels leave for it. ``begun`` is what was proved while the
    levels were still solved.
    """

    claims: Claims
    deadline: Deadline
    effort: Effort
    later: Effort
    is_allowed: Callable[[Sequence[int], Certified], bool]
    measure: Measure | None = None
    before: Before = field(default_factory=Before)
    begun: Certified | None = None

    def certify(self, measures: Sequence[Measure], victims: Sequence[int] | None) -> Certified:
        """Prove an answer, or that there is none; ``measures`` are all levels, names included."""
        done = self._resumed(victims)
        if victims is None:
            self._prove_infeasible(done, self.effort)
        if done.victims is not None:
            for measure in measures[len(done.levels) :]:
                # After a level without a tree two engines are asked anyhow, and later levels are
                # under the same hard rows: their long trees were sought for seconds, and hardly
                # found.
                whole = all(level.proved for level in done.levels)
                while not self._settle_level(done, measure, self.effort if whole else self.later):
                    done.corrected += 1
            if all(level.proved for level in done.levels):
                # Ties are worth less than levels: without a tree the search's own word stands.
                effort = replace(self.effort, entries=self.effort.entries // 10)
                self._prove_ties(done, effort)
        return done

    def begin(self, measures: Sequence[Measure], victims: Sequence[int]) -> Certified | None:
        """Prove an answer on its first levels by brief trees, or find a better one on the last.

        ``None`` if one of the levels has no such tree. On levels before the last none is better.
        """
        done = self._resumed(victims)
        for number, measure in enumerate(measures[len(done.levels) :], len(done.levels) + 1):
            settled = self._settle_level(done, measure, BRIEF)
            if (settled and not done.levels[-1].proved) or (not settled and number < len(measures)):
                return None
        self.begun = done
        return done

    def at_once(self, measures: Sequence[Measure], victims: Sequence[int] | None) -> Certified:
        """Prove an answer, or better ones in its place, as far as trees show it at once.

        Without an answer one is looked for, or shown not to be.
        """
        done = self.begun = Certified(victims)
        if victims is None:
            self._prove_infeasible(done, AT_ONCE)
        if done.victims is None:
            return done
        for measure in measures:
            while not self._settle_level(done, measure, AT_ONCE):
                done.corrected += 1
                if done.corrected > MOST_BETTER:
                    return done
            if not done.levels[-1].proved:
                done.levels.pop()
                return done
        self._prove_ties(done, AT_ONCE)
        return done

    def _resumed(self, victims: Sequence[int] | None) -> Certified:
        """Return what is proved of an answer so far: what was begun, if it has the same values."""
        begun = self.begun
        if begun is None or victims is None:
            return Certified(victims)
        if any(self.claims.value(m, victims) != value for m, value, _ in begun.levels):
            return Certified(victims)
        return Certified(victims, [*begun.levels], [*begun.trees], [*begun.sums])

    def bound(
        self, earlier: Sequence[Stated], measure: Measure, value: int, deadline: Deadline
    ) -> int:
        """Return the bound of a level that short trees show, within a thousandth of ``value``."""
        shown, possible = 0, value
        while possible - shown > value // 1000 and not deadline.passed:
            middle = (shown + possible + 1) // 2
            # The claim is that no set has less than this: a tree makes it a bound.
            grown = grow(self.claims.level(earlier, measure, middle), deadline, GLANCE)
            if grown.steps is not None:
                shown = middle
            else:
                possible = middle - 1
        return shown

    def _grow(
        self, claim: str, ask: Ask, question: Question, done: Certified, effort: Effort
    ) -> tuple[Tree | None, list[int] | None]:
        """Return the tree of a claim, and the positions of an allowed set that denies it instead.

        ``question`` is what is asked. If what is found keeps to all but the bounds of ``unstable``,
        the scheduler is asked, too.
        """
        grown = grow(question, self.deadline, effort, self.before)
        self._remember(grown, done)
        if grown.better is not None:
            found = question.rules.members.taken(grown.better)
            return (None, found) if self.is_allowed(found, done) else self._grow_asking(claim, ask)
        return None if grown.steps is None else Tree(claim=claim, steps=grown.steps), None

    def _grow_asking(self, claim: str, ask: Ask) -> tuple[Tree | None, list[int] | None]:
        """Return what `_grow` does, of a question with the bounds of ``unstable``."""
        if self.claims.asking is None:
            return None, None
        question, effort = ask(self.claims.asking), self.effort
        # A third: the scheduler is asked once for each victim of a set.
        effort = replace(effort, steps=effort.steps // 3, entries=effort.entries // 3)
        try:
            grown = grow(question, self.deadline, effort)
        except OutOfTime:
            return None, None
        if grown.better is not None:
            return None, question.rules.members.taken(grown.better)
        if grown.steps is None:
            return None, None
        return Tree(claim=asking_claim(claim), steps=grown.steps), None

    def _remember(self, grown: Grown, done: Certified) -> None:
        """Keep multipliers that narrowed a box, with the measure's row named as on later levels."""
        if done.victims is None:
            return
        for multipliers in grown.narrowed_by:
            named = multipliers
            if self.measure is not None and BETTER in named:
                value = self.claims.value(self.measure, done.victims)
                named = renamed(named, at_most(self.measure, value))
            if named not in self.before.narrowed:
                self.before.narrowed.append(named)

    def _prove_infeasible(self, done: Certified, effort: Effort) -> None:
        question = self.claims.infeasible()
        tree, found = self._grow(INFEASIBLE, Claims.infeasible, question, done, effort)
        if tree is not None:
            done.trees.append(tree)
            done.infeasible = True
        elif found is not None:
            done.victims, done.corrected = found, done.corrected + 1

    def _settle_level(self, done: Certified, measure: Measure, effort: Effort) -> bool:
        """Say whether no better set was found on a level; one that was takes the answer's place.

        If none was, the level is stated, as proved if there is a tree.
        """
        self.measure = measure
        value, claim = self.claims.value(measure, done.victims or ()), level_claim(measure)
        if value == 0:  # no term is negative
            done.levels.append(Stated(measure, 0, proved=True))
            return True
        ask = partial(Claims.level, earlier=done.levels, measure=measure, value=value)
        question = None if self.claims.is_unknown(measure) else ask(self.claims)
        if question is None:
            tree, found = self._grow_asking(claim, ask)
        else:
            tree, found = self._grow(claim, ask, question, done, effort)
        if found is not None:
            done.victims = found
            return False
        if tree is not None:
            done.trees.append(tree)
        if tree is not None and tree.claim == claim and question is not None:
            bound = at_most(measure, value)
            earlier = EarlierTree.of(question.rules, tree.steps, bound)
            self.before.tree = earlier or self.before.tree
            sum_ = bound_by_rows(question, tree.steps, measure, value)
            done.sums += [] if sum_ is None else [sum_]
        done.levels.append(Stated(measure, value, proved=tree is not None))
        return True

    def narrowed(self, question: Question) -> Box:
        """Return the root box of a question, narrowed by the multipliers that narrowed others."""
        box = question.root
        for multipliers in self.before.narrowed:
            box = question.narrowed(box, multipliers)
        return box

    def _prove_ties(self, done: Certified, effort: Effort) -> None:
        """Show that no equal set comes before the answer; begin anew with one that does."""
        self.measure, tree = None, None
        for _ in range(ROUNDS if done.victims else 0):
            place_of = self.claims.place_of(done.levels)
            canonical = self.claims.canonical(done.levels, done.victims or ())
            alike = self.is_allowed(
                canonical, done
            )  # else `unstable` tells members of a class apart
            victims = sorted(canonical if alike else done.victims or (), key=place_of)
            ask = partial(Claims.ties, levels=done.levels, victims=victims)
            if alike:
                tree, found = self._grow(TIES, ask, ask(self.claims), done, effort)
            else:
                tree, found = self._grow_asking(TIES, ask)
            done.victims = victims
            if found is None:
                break
            done.victims = found
        if tree is not None:
            done.trees.append(tree)
            done.ties = True
