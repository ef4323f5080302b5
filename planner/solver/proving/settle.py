"""What an answer rests on: trees where they are found, two engines' word where not, or neither.

A plan is called optimal only if every level rests on a tree or on two engines.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from planner.errors import UnsupportedError
from planner.objective.profiles import Measure, value_in, with_names
from planner.plan import BoundByRows, Proof, Tree
from planner.proof.claims import INFEASIBLE, Claims, Limits, Stated
from planner.proof.question import Question
from planner.solver.attempt import Outcome
from planner.solver.deadline import Deadline, OutOfTime, Trees
from planner.solver.levels import Answer, Least, LevelResult, Shown
from planner.solver.proving.certifier import BRIEF, SHORT, THOROUGH, Certified, Certifier
from planner.solver.proving.grow import Effort
from planner.solver.search import Search
from planner.stage import begin

if TYPE_CHECKING:
    from planner.solver.second_opinion import Opinion, TwoEngines

EFFORTS: Final[Mapping[Trees, Effort]] = {
    True: THOROUGH,
    None: SHORT,
    "brief": BRIEF,
    False: BRIEF,  # none is grown
}

LATER: Final[Mapping[Trees, Effort]] = {**EFFORTS, None: BRIEF}
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
        """Whether trees are wanted, and no scheduler has to be asked, as for ``unstable``."""
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
                pass  # amounts cannot be added up, or `unstable` is not known: engines are asked
        if victims is None:
            return Certified(None)
        values = ((m, self.claims.value(m, victims)) for m in measures)
        return Certified(victims, [Stated(m, value, proved=False) for m, value in values])

    @cached_property
    def _certifier(self) -> Certifier:
        effort, later = EFFORTS[self.certify], LATER[self.certify]
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
            value, earlier = value_in(terms, stated.measure), certified.levels[:number]
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

        ``limits`` are the true values of the levels before, ``unstable`` included.
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
        if search.rules.table.cascades is not None:  # `unstable` tells the members of a class apart
            left = set(members.taken(np.where(box.most > 0, members.sizes, 0)))
        return [k for k in classes if not left.isdisjoint(search.classes.members[k])]


def _is_allowed(search: Search, claims: Claims, victims: Sequence[int], done: Certified) -> bool:
    """Say whether victims keep to the bounds that no claim knows: those of ``unstable``.

    They are the wishes and caps of ``unstable``, and the answer's values of it on the levels
    before.
    """
    table = search.rules.table
    if table.cascades is None:
        return True
    found = table.evaluate(victims)
    known = {} if done.victims is None else table.evaluate(done.victims)
    bounds = [*claims.wishes.most.items(), *search.caps]
    earlier = [(each.measure, value_in(known, each.measure)) for each in done.levels]
    return all(
        value_in(found, measure) <= most
        for measure, most in (*bounds, *earlier)
        if claims.is_unknown(measure)
    )
