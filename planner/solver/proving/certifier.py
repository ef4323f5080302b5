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
from planner.plan import Tree
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
from planner.proof.question import Question, in_words
from planner.solver.deadline import Deadline, OutOfTime
from planner.solver.proving.earlier import EarlierTree, renamed
from planner.solver.proving.grow import Before, Effort, Grown, grow

THOROUGH: Final = Effort(steps=50_000, entries=10**12)
"""The effort of a tree that may take as long as it needs."""

SHORT: Final = Effort(steps=5000, entries=12_000_000, largest=20)
"""The effort of a tree elsewhere: some ten seconds."""

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

    ``levels`` have the values of the answer; ``says`` tells the trees of those levels that one sum
    of inequalities proves. ``ties`` says whether it is proved that the answer comes first among
    equals.
    ``corrected`` counts the better sets that took the place of an answer.
    """

    victims: Sequence[int] | None
    levels: list[Stated] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
    says: dict[Measure, str] = field(default_factory=dict)
    infeasible: bool = False
    ties: bool = False
    corrected: int = 0


Find = Callable[[Certified, Measure], bool]
"""Asks the solver for better victims on a level, which take the answer's place; says whether it
claims that none are better."""


@dataclass
class Certifier:
    """Grows the trees of one decision, each with at most ``effort``.

    ``later`` is the effort after a level for which no tree was found. ``is_allowed`` says whether a
    set keeps to bounds that no claim knows. ``measure`` is the measure of the level in question,
    ``before`` what the trees of earlier levels leave for it. ``begun`` is what was proved at once.
    """

    claims: Claims
    deadline: Deadline
    effort: Effort
    later: Effort
    is_allowed: Callable[[Sequence[int], Certified], bool]
    measure: Measure | None = None
    before: Before = field(default_factory=Before)
    begun: Certified | None = None

    def certify(
        self, measures: Sequence[Measure], victims: Sequence[int] | None, find: Find | None = None
    ) -> Certified:
        """Prove an answer, or that there is none; ``measures`` are all levels, names included.

        Without ``find`` the answer is the one that the solver claims to be best.
        """
        done = self._resumed(victims)
        if victims is None:
            self._prove_infeasible(done, self.effort)
        if done.victims is not None:
            for measure in measures[len(done.levels) :]:
                # After a level without a tree the plan is not proved anyhow, and later levels are
                # under the same hard rows: their long trees were sought for seconds, and hardly
                # found.
                whole = all(level.proved for level in done.levels)
                effort = self.effort if whole else self.later
                if find is None or not self._is_proved_soon(done, measure):
                    claimed = find is None or find(done, measure)
                    while not self._settle_level(done, measure, effort):
                        done.corrected += claimed
            if all(level.proved for level in done.levels):
                self.prove_ties(done)
        return done

    def _is_proved_soon(self, done: Certified, measure: Measure) -> bool:
        """Say whether a brief tree proves a level, of the answer or of the better sets it finds."""
        for _ in range(1 + MOST_BETTER):
            if self._settle_level(done, measure, BRIEF):
                if done.levels[-1].proved:
                    return True
                done.levels.pop()
                break
        return False

    def prove_ties(self, done: Certified) -> None:
        """Show that no equal set comes before the answer, or begin anew with those that do."""
        # Ties are worth less than levels: without a tree the search's own word stands.
        self._prove_ties(done, replace(self.effort, entries=self.effort.entries // 10))

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
        return Certified(victims, [*begun.levels], [*begun.trees], {**begun.says})

    def bound(self, done: Certified, number: int) -> int:
        """Return the bound of a level that short trees show, within a thousandth of its value.

        The tree of that bound is kept.
        """
        measure, value, _ = done.levels[number]
        shown, possible, kept = 0, value, None
        while possible - shown > value // 1000 and not self.deadline.passed:
            middle = (shown + possible + 1) // 2
            # The claim is that no set has less than this: a tree makes it a bound.
            question = self.claims.level(done.levels[:number], measure, middle)
            grown = grow(question, self.deadline, GLANCE)
            if grown.steps is not None:
                shown, kept = middle, Tree(claim=level_claim(measure), steps=grown.steps)
            else:
                possible = middle - 1
        done.trees += [] if kept is None else [kept]
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
            done.says[measure] = in_words(question, tree.steps, measure, value)
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
