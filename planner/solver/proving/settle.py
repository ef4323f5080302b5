"""What an answer rests on: trees where they are found, two engines' word where not, or neither.

The trees of an answer are grown level by level, then for its ties. The solver's answer is only the
start: a better set that turns up takes its place, until a tree shows that there is no better one.
A plan is called optimal only if every level rests on a tree or on two engines.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from planner.errors import UnsupportedError
from planner.objective.profiles import Measure, with_names
from planner.plan import BoundByRows, Proof, Tree
from planner.proof.box import Box
from planner.proof.claims import (
    BETTER,
    INFEASIBLE,
    TIES,
    Claims,
    Limits,
    Stated,
    asking_claim,
    at_most,
    level_claim,
)
from planner.proof.question import Question, bound_by_rows
from planner.solver.attempt import Outcome
from planner.solver.deadline import Deadline, OutOfTime, Trees
from planner.solver.levels import Answer, Least, LevelResult, Shown
from planner.solver.proving.earlier import EarlierTree, renamed
from planner.solver.proving.grow import Before, Effort, Grown, grow
from planner.solver.search import Search
from planner.stage import begin

if TYPE_CHECKING:
    from planner.solver.second_opinion import Opinion, TwoEngines

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
                self._prove_level(done, measure)
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

        ``question`` is what is asked. If what is found keeps to all but the bounds of D11, the
        scheduler is asked, too.
        """
        grown = grow(question, self.deadline, effort, self.before)
        self._remember(grown, done)
        if grown.better is not None:
            found = question.rules.members.taken(grown.better)
            return (None, found) if self.is_allowed(found, done) else self._grow_asking(claim, ask)
        return None if grown.steps is None else Tree(claim=claim, steps=grown.steps), None

    def _grow_asking(self, claim: str, ask: Ask) -> tuple[Tree | None, list[int] | None]:
        """Return what `_grow` does, of a question with the bounds of D11."""
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

    def _prove_level(self, done: Certified, measure: Measure) -> None:
        """Lower the value of a level until a tree shows that it is least."""
        # After a level without a tree two engines are asked anyhow, and later levels are under
        # the same hard rows: their long trees were sought for seconds, and hardly found.
        whole = all(level.proved for level in done.levels)
        while not self._settle_level(done, measure, self.effort if whole else self.later):
            done.corrected += 1

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
            alike = self.is_allowed(canonical, done)  # else D11 tells members of a class apart
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


THOROUGH: Final = Effort(steps=50_000, entries=10**12)
"""The effort of a tree that may take as long as it needs."""

SHORT: Final = Effort(steps=2000, entries=1_500_000, largest=20)
"""The effort of a tree elsewhere: a few seconds."""

BRIEF: Final = Effort(steps=200, entries=150_000, largest=20)
"""The effort where one decision after the other is judged, and no tree may hold up the rest."""

_EFFORTS: Final[Mapping[Trees, Effort]] = {
    True: THOROUGH,
    None: SHORT,
    "brief": BRIEF,
    False: BRIEF,  # none is grown
}

_LATER: Final[Mapping[Trees, Effort]] = {**_EFFORTS, None: BRIEF}
"""The efforts after a level for which no tree was found."""


class Proved(Struct, frozen=True):
    """An answer, by positions of workloads, and what it rests on.

    ``searched`` says whether the solver was asked for it: trees alone can find and prove it.
    """

    outcome: Outcome
    victims: Sequence[int] | None
    levels: tuple[LevelResult, ...]
    trees: Sequence[Tree] = ()
    ties: Proof | None = None
    engines: Sequence[str] = ()
    corrected: int = 0
    sums: Sequence[BoundByRows] = ()
    searched: bool = True


class Absence(Struct, frozen=True):
    """What it rests on that no legal set is of some kind, or the positions of a set that is."""

    proof: Proof | None
    trees: tuple[Tree, ...] = ()
    engines: Sequence[str] = ()
    victims: Sequence[int] | None = None


def prove_absence(search: Search, claims: Claims, certify: Trees, claim: str) -> Absence:
    """Prove that a search has no answer; ``claims`` are of its sets, ``claim`` names the tree."""
    found = Settling(claims, search, (), certify).prove(Answer("infeasible", ()))
    if found.victims is not None:
        return Absence(None, victims=found.victims)
    if found.outcome != "infeasible":
        return Absence(None)
    names = [tree.claim.replace(INFEASIBLE, claim) for tree in found.trees]
    named = zip(found.trees, names, strict=True)
    trees = tuple(tree.model_copy(update={"claim": name}) for tree, name in named)
    return Absence("certified" if trees else "solver", trees, found.engines)


def say_proved(proved: Proved, deadline: Deadline) -> str:
    """Say of an answer whether it is proved best."""
    if proved.outcome == "optimal":
        return "proved best"
    return "not proved best" + (" within the time limit" if deadline.passed else "")


@dataclass
class Settling:
    """Prove an answer of a search.

    ``certify`` says whether to wait for trees; two engines are asked about a level without a tree.
    """

    claims: Claims
    search: Search
    measures: Sequence[Measure]
    certify: Trees = None

    _asked: TwoEngines | None = field(default=None, init=False)
    _showing: bool = field(default=True, init=False)

    @property
    def engines_asked(self) -> TwoEngines:
        """Two engines, for what no tree shows."""
        from planner.solver.second_opinion import TwoEngines  # noqa: PLC0415 - trees mostly do

        if self._asked is None:
            self._asked = TwoEngines(self.claims.wishes.most)
        return self._asked

    @property
    def _engines(self) -> tuple[str, ...]:
        """The engines that were asked."""
        return () if self._asked is None else tuple(self._asked.engines)

    @property
    def _trees_tell(self) -> bool:
        """Whether trees are wanted, and D11 is not counted: it asks the scheduler, not trees."""
        return self.certify is not False and self.search.rules.table.cascades is None

    def at_once(self) -> Proved | None:
        """Return the best answer where short trees find and prove it, or that there is none.

        Otherwise ``None``; the search then starts from what they found, and need not solve again
        the levels that they proved.
        """
        search = self.search
        if not self._trees_tell or search.undecided or search.deadline.passed:
            return None
        begin("certifying")
        victims = None if search.incumbent is None else search.classes.take(search.incumbent)
        try:
            done = self._certifier.at_once(with_names(self.measures), victims)
        except UnsupportedError:  # the rows cannot add the amounts up
            return None
        if done.infeasible:
            return Proved("infeasible", None, (), done.trees, searched=False)
        counts = None if done.victims is None else search.classes.counts(done.victims)
        if counts is None:
            return None
        search.incumbent = counts
        search.shown = [(level.measure, level.value) for level in done.levels]
        if not done.ties:
            return None
        levels = (LevelResult(m, Least("optimal", v, v), "certified") for m, v in search.shown)
        return Proved(
            "optimal",
            done.victims,
            tuple(levels),
            done.trees,
            "certified",
            sums=done.sums,
            searched=False,
        )

    def show(self, measure: Measure) -> Shown | None:
        """Return what a tree shows of the incumbent on a level while the levels are solved.

        ``None`` if no tree is found soon: then none is asked for before all levels are solved.
        """
        search = self.search
        if not self._trees_tell or not self._showing or search.incumbent is None:
            return None
        measures = with_names(self.measures)
        measures = measures[: measures.index(measure) + 1]
        done = None
        with suppress(UnsupportedError):  # the rows cannot add the amounts up
            self._certifier.deadline = search.deadline
            done = self._certifier.begin(measures, search.classes.take(search.incumbent))
        counts = None if done is None else search.classes.counts(done.victims or ())
        if done is None or counts is None:
            self._showing = False
            return None
        if len(done.levels) < len(measures):
            return Shown(counts, None)
        return Shown(counts, {*self._possible(self.claims.equal(done.levels), search.active)})

    def prove(self, answer: Answer) -> Proved:
        """Prove levels and ties of the answer found, or of a better one, or that there is none."""
        begin("certifying")
        search = self.search
        # A level that no tree shows takes two engines, and these take time, too.
        self._certifier.deadline = search.deadline.half()
        victims = None if search.incumbent is None else search.classes.take(search.incumbent)
        certified = self._certified(victims)
        if certified.victims is None:
            return self._nothing(answer, certified)
        while True:
            found, levels = self._levels(answer, certified)
            if found is None:
                break
            # Another engine found a better set: from there all begins anew.
            again = self._certified(found)
            certified = dataclasses.replace(
                again, corrected=certified.corrected + again.corrected + 1
            )
        # The solver's word on ties counts only if its own answer was kept.
        same = {*(victims or ())} == {*(certified.victims or ())}
        by_solver = answer.outcome == "optimal" and not certified.corrected and same
        return Proved(
            # Another plan might keep a cap that time left undecided.
            "optimal"
            if all(level.proof for level in levels) and not search.undecided
            else "feasible",
            certified.victims,
            levels,
            certified.trees,
            "certified" if certified.ties else "solver" if by_solver else None,
            self._engines,
            certified.corrected,
            certified.sums,
        )

    def _certified(self, victims: Sequence[int] | None) -> Certified:
        """Search the trees of an answer; none are searched if ``certify`` is ``False``."""
        measures = with_names(self.measures)
        if self.certify is not False:
            try:
                return self._certifier.certify(measures, victims)
            except (UnsupportedError, OutOfTime):
                pass  # the rows cannot add the amounts up, or D11 is not known: engines are asked
        if victims is None:
            return Certified(None)
        values = ((m, self.claims.value(m, victims)) for m in measures)
        return Certified(victims, [Stated(m, value, proved=False) for m, value in values])

    @cached_property
    def _certifier(self) -> Certifier:
        effort, later = _EFFORTS[self.certify], _LATER[self.certify]
        # No method of this object: it would be in a circle with what it keeps.
        is_allowed = partial(_is_allowed, self.search, self.claims)
        return Certifier(self.claims, self.search.deadline, effort, later, is_allowed)

    def _nothing(self, answer: Answer, certified: Certified) -> Proved:
        """Return what a search without an answer rests on: a tree, two engines, or neither."""
        if certified.infeasible:
            return Proved("infeasible", None, (), certified.trees)
        if answer.outcome == "infeasible" and self._ask((), (), None, 0).outcome == "none":
            return Proved("infeasible", None, (), (), None, self._engines)
        return Proved("unknown", None, ())

    def _levels(
        self, answer: Answer, certified: Certified
    ) -> tuple[Sequence[int] | None, tuple[LevelResult, ...]]:
        """Return the levels with their proofs, and a better set instead if an engine finds one."""
        claimed = {level.measure: level.least for level in answer.levels}
        terms = self.search.rules.table.evaluate(certified.victims or ())
        levels: list[LevelResult] = []
        limits: list[tuple[Measure, int]] = []
        asking = True
        for number, stated in enumerate(certified.levels):
            value, earlier = _value(stated.measure, terms), certified.levels[:number]
            proof: Proof | None = "certified" if stated.proved or value == 0 else None
            known = claimed.get(stated.measure, Least("unknown"))
            if proof is None and known.outcome == "optimal" and asking:
                opinion = self._ask(earlier, limits, stated.measure, value - 1)
                if opinion.outcome == "found" and opinion.counts is not None:
                    return self.search.classes.take(opinion.counts), ()
                proof = "solver" if opinion.outcome == "none" else None
                # One level that no engine settles is enough: the plan is not called optimal.
                asking = proof is not None
            bound = value if proof else self._bound(earlier, stated.measure, value, known)
            least = Least("optimal" if proof else "feasible", value, bound)
            levels.append(LevelResult(stated.measure, least, proof))
            limits.append((stated.measure, value))
        return None, tuple(levels)

    def _bound(self, earlier: Sequence[Stated], measure: Measure, value: int, known: Least) -> int:
        """Return a bound of a level that is not proved: from one engine, or from short trees."""
        bound = known.bound if known.outcome == "feasible" else 0
        if self.certify is not False and not self.claims.is_unknown(measure):
            with suppress(UnsupportedError, OutOfTime):
                bound = max(
                    bound, self._certifier.bound(earlier, measure, value, self.search.deadline)
                )
        return min(bound, value)

    def _ask(
        self, earlier: Sequence[Stated], limits: Limits, measure: Measure | None, most: int
    ) -> Opinion:
        """Ask two engines whether a set is better on a level, or whether there is any legal set.

        ``limits`` are the true values of the levels before, D11 included.
        """
        active = None
        with suppress(UnsupportedError):  # no classes are left out where rows cannot add up amounts
            question = self.claims.infeasible()
            if measure is not None:
                question = self.claims.level(earlier, measure, most + 1)
            active = self._possible(question, self.search.permitted)
        return self.engines_asked.ask(self.search, limits, measure, most, active)

    def _possible(self, question: Question, classes: Sequence[int]) -> list[int]:
        """Return the classes that can still give victims, by multipliers that narrowed levels."""
        search, box, members = (
            self.search,
            self._certifier.narrowed(question),
            question.rules.members,
        )
        left = set(members.taken(box.most))
        if search.rules.table.cascades is not None:  # D11 tells the members of a class apart
            left = set(members.taken(np.where(box.most > 0, members.sizes, 0)))
        return [k for k in classes if not left.isdisjoint(search.classes.members[k])]


def _is_allowed(search: Search, claims: Claims, victims: Sequence[int], done: Certified) -> bool:
    """Say whether victims keep to the bounds that no claim knows: those of D11.

    They are the wishes and caps of D11, and the answer's values of it on the levels before.
    """
    table = search.rules.table
    if table.cascades is None:
        return True
    found = table.evaluate(victims)
    known = {} if done.victims is None else table.evaluate(done.victims)
    bounds = [*claims.wishes.most.items(), *search.caps]
    earlier = [(each.measure, _value(each.measure, known)) for each in done.levels]
    return all(
        _value(measure, found) <= most
        for measure, most in (*bounds, *earlier)
        if claims.is_unknown(measure)
    )


def _value(measure: Measure, terms: Mapping[str, int]) -> int:
    return sum(terms[term] for term in measure)
