"""What an answer rests on: a tree for each level, or the solver's word, which proves nothing.

A plan is called optimal only if every level has a tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from planner.errors import UnsupportedError
from planner.objective.profiles import Measure, value_in, with_names
from planner.plan import Proof, Tree
from planner.proof.claims import INFEASIBLE, Claims, Stated
from planner.proof.question import Question
from planner.solver.attempt import Outcome
from planner.solver.deadline import Deadline, OutOfTime, Trees
from planner.solver.levels import Answer, Least, LevelResult, Shown
from planner.solver.proving.certifier import BRIEF, SHORT, THOROUGH, Certified, Certifier
from planner.solver.proving.grow import Effort
from planner.solver.search import Search
from planner.stage import begin

EFFORTS: Final[Mapping[Trees, Effort]] = {
    True: THOROUGH,
    None: SHORT,
    "brief": BRIEF,
    False: BRIEF,  # none is grown
}

LATER: Final[Mapping[Trees, Effort]] = {**EFFORTS, None: BRIEF}
"""The efforts after a level for which no tree was found."""

BOUNDING: Final = 3 / 4
"""The share of the time left that trees of whole levels may take."""


class Proved(Struct, frozen=True):
    """An answer, by positions of workloads, and what it rests on.

    ``searched`` says whether the solver was asked for it: trees alone can find and prove it;
    ``claimed`` that by the solver's word nothing is better, or that there is no answer.
    """

    outcome: Outcome
    victims: Sequence[int] | None
    levels: tuple[LevelResult, ...]
    trees: Sequence[Tree] = ()
    ties: Proof | None = None
    corrected: int = 0
    searched: bool = True
    claimed: bool = False


class Absence(NamedTuple):
    """The tree that shows that no legal set is of some kind, or the positions of a set that is."""

    tree: Tree | None = None
    victims: Sequence[int] | None = None


def prove_absence(search: Search, claims: Claims, certify: Trees, claim: str) -> Absence:
    """Prove that a search has no answer; ``claims`` are of its sets, ``claim`` names the tree."""
    found = Settling(claims, search, (), certify).prove(Answer("infeasible", ()))
    if found.outcome != "infeasible":
        return Absence(victims=found.victims)
    (tree,) = found.trees
    return Absence(tree.model_copy(update={"claim": tree.claim.replace(INFEASIBLE, claim)}))


def say_proved(proved: Proved, deadline: Deadline) -> str:
    """Say of an answer whether it is proved best, or what else is known."""
    if proved.outcome == "optimal":
        return "proved best"
    in_time = " within the time limit" if deadline.passed else ""
    word = "; the solver finds nothing better, which is its word alone" if proved.claimed else ""
    return f"not proved best{in_time}{word}"


@dataclass
class Settling:
    """Prove an answer of a search.

    ``certify`` says whether to wait for trees.
    """

    claims: Claims
    search: Search
    measures: Sequence[Measure]
    certify: Trees = None

    _showing: bool = field(default=True, init=False)

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
        levels = (
            LevelResult(m, Least("optimal", v, v), "certified", says=done.says.get(m, ""))
            for m, v in search.shown
        )
        return Proved(
            "optimal",
            done.victims,
            tuple(levels),
            done.trees,
            "certified",
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
        # A level without a tree is bounded by shorter ones, which take time, too.
        self._certifier.deadline = search.deadline.part(BOUNDING)
        victims = None if search.incumbent is None else search.classes.take(search.incumbent)
        certified = self._certified(victims)
        if certified.victims is None:
            outcome: Outcome = "infeasible" if certified.infeasible else "unknown"
            said = outcome == "unknown" and answer.outcome == "infeasible"
            return Proved(outcome, None, (), certified.trees, claimed=said)
        self._certifier.deadline = search.deadline
        levels = tuple(self._levels(answer, certified))
        # Another plan might keep a cap that time left undecided.
        proved = all(level.proof for level in levels) and not search.undecided
        return Proved(
            "optimal" if proved else "feasible",
            certified.victims,
            levels,
            certified.trees,
            "certified" if certified.ties else None,
            certified.corrected,
            claimed=not proved and answer.outcome == "optimal" and not certified.corrected,
        )

    def _certified(self, victims: Sequence[int] | None) -> Certified:
        """Search the trees of an answer; none are searched if ``certify`` is ``False``."""
        measures = with_names(self.measures)
        if self.certify is not False:
            try:
                return self._certifier.certify(measures, victims)
            except (UnsupportedError, OutOfTime):
                pass  # the rows cannot add the amounts up, or D11 is not known
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

    def _levels(self, answer: Answer, certified: Certified) -> Iterator[LevelResult]:
        """Yield the levels with their proofs, or with the bounds that trees show."""
        claimed = {level.measure: level.least.bound for level in answer.levels}
        terms = self.search.rules.table.evaluate(certified.victims or ())
        for number, (measure, _, shown) in enumerate(certified.levels):
            value = value_in(terms, measure)
            if shown or value == 0:
                says = certified.says.get(measure, "")
                yield LevelResult(measure, Least("optimal", value, value), "certified", says=says)
                continue
            bound, word = 0, min(value, claimed.get(measure, 0))
            if self.certify is not False and not self.claims.is_unknown(measure):
                with suppress(UnsupportedError, OutOfTime):
                    bound = self._certifier.bound(certified, number)
            yield LevelResult(measure, Least("feasible", value, bound), claimed=word)

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
    earlier = [(each.measure, value_in(known, each.measure)) for each in done.levels]
    return all(
        value_in(found, measure) <= most
        for measure, most in (*bounds, *earlier)
        if claims.is_unknown(measure)
    )
