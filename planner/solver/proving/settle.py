"""What an answer rests on: a tree for each level, or the solver's word, which proves nothing.

A plan is called optimal only if every level has a tree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, NamedTuple

from msgspec import Struct

from planner.errors import UnsupportedError
from planner.garbage import without_garbage_collection
from planner.objective.profiles import Measure, value_in, with_names
from planner.plan import Proof, Tree
from planner.proof.claims import INFEASIBLE, Claims, Stated
from planner.proof.question import Question
from planner.solver.attempt import Outcome, within
from planner.solver.deadline import Deadline, OutOfTime, Trees
from planner.solver.levels import (
    Answer,
    Least,
    LevelResult,
    find_any,
    parts_of,
    solve_level,
    solve_levels,
)
from planner.solver.proving.certifier import BRIEF, SHORT, THOROUGH, Certified, Certifier
from planner.solver.proving.grow import Effort
from planner.solver.search import Search
from planner.solver.tie_break import break_ties
from planner.stage import begin

EFFORTS: Final[Mapping[Trees, Effort]] = {
    True: THOROUGH,
    None: SHORT,
    "brief": BRIEF,
    False: BRIEF,  # none is grown
}

LATER: Final[Mapping[Trees, Effort]] = {**EFFORTS, None: BRIEF}
"""The efforts after a level for which no tree was found."""

FINDING: Final = 10.0
"""The effort of the solver for a level: it is to find an answer, and need not prove it."""

BOUNDING: Final = 3 / 4
"""The share of the time left that trees of whole levels may take."""


class Proved(Struct, frozen=True):
    """An answer, by positions of workloads, and what it rests on.

    ``searched`` says whether the solver was asked for it: trees alone can find and prove it;
    ``cut_off`` counts the sets that it found and the scheduler refuses; ``claimed`` says that by
    the solver's word nothing is better, or that there is no answer.
    """

    outcome: Outcome
    victims: Sequence[int] | None
    levels: tuple[LevelResult, ...]
    trees: Sequence[Tree] = ()
    ties: Proof | None = None
    corrected: int = 0
    searched: bool = True
    cut_off: int = 0
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

    ``certify`` says whether to wait for trees. ``regroup`` makes a search with the same wishes in
    which only some measures tell workloads apart, and so has fewer classes.
    """

    claims: Claims
    search: Search
    measures: Sequence[Measure]
    certify: Trees = None
    regroup: Callable[[Sequence[Measure]], Search] | None = None
    _asked: bool = field(default=False, init=False)
    _cut_off: int = field(default=0, init=False)

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
        if not done.ties:
            return None
        levels = (
            LevelResult(m, Least("optimal", v, v), "certified", says=done.says.get(m, ""))
            for m, v, _ in done.levels
        )
        return Proved(
            "optimal",
            done.victims,
            tuple(levels),
            done.trees,
            "certified",
            searched=False,
        )

    def searching(self, measures: Sequence[Measure]) -> Search:
        """Return a search that nothing has narrowed, for these measures and the caps."""
        if self.regroup is not None:
            return self.regroup(measures)
        fresh = self.search.fork()
        return dataclasses.replace(
            fresh, active=list(fresh.permitted), limits=dict(self.claims.wishes.most)
        )

    def settle(self) -> Proved:
        """Return the best answer of a search, or that there is none, and what that rests on.

        Trees are asked first, for what is known. Where they neither prove it nor find a better set,
        the solver looks for one.
        """
        with without_garbage_collection():
            proved = self.at_once()
        if proved is not None:
            return proved
        search = self.search
        if self._trees_tell and not parts_of(search):
            if search.incumbent is None:
                self._asked = True
                outcome = find_any(search, search.active)
                if outcome != "optimal":
                    return self.prove(Answer(outcome, ()))
            with suppress(UnsupportedError), without_garbage_collection():
                return self._in_turn()
        self._asked = True
        answer = solve_levels(search, self.measures)
        with without_garbage_collection():
            return self.prove(answer)

    def _in_turn(self) -> Proved:
        """Prove the levels of the incumbent one after the other, each by a tree if one is found."""
        begin("certifying")
        search, measures = self.search, with_names(self.measures)
        claimed: dict[Measure, Least] = {}
        deadline = search.deadline

        def find(done: Certified, measure: Measure) -> bool:
            self._certifier.deadline = deadline.part(BOUNDING)
            search.deadline = self._certifier.deadline.half()
            begin(f"level {len(done.levels) + 1} of {len(measures)}")
            self._asked = True
            least = claimed[measure] = self._found(done, measure)
            return least.outcome == "optimal"

        self._certifier.deadline = deadline.part(BOUNDING)
        victims = search.classes.take(search.answer)
        certified = self._certifier.certify(measures, victims, find)
        search.deadline = deadline
        if all(level.proved for level in certified.levels) and not certified.ties:
            self._break_ties(certified)
        levels = (LevelResult(m, least) for m, least in claimed.items())
        return self._proved(Answer("feasible", tuple(levels)), certified)

    def _found(self, done: Certified, measure: Measure) -> Least:
        """Let the solver look for a better answer on a level; one takes the place of the answer."""
        victims = done.victims or ()
        terms = self.search.rules.table.evaluate(victims)
        search = self.searching([*(level.measure for level in done.levels), measure])
        search.deadline, search.cut = self.search.deadline, []
        search.attempts = within(FINDING)
        question = self.claims.level(done.levels, measure, value_in(terms, measure))
        search.active = self._possible(question, search)
        for limited, most in self.search.caps:
            search.limit(limited, most)
        for level in done.levels:
            search.limit(level.measure, value_in(terms, level.measure))
        search.incumbent = search.classes.counts(victims)
        least = solve_level(search, measure)
        self._cut_off += len(search.cut)
        if search.incumbent is not None:
            done.victims = search.classes.take(search.incumbent)
        return least

    def _break_ties(self, done: Certified) -> None:
        """Make a proved answer canonical by the solver, and show that by a tree."""
        search, self._asked = self.search, True
        search.active = self._possible(self.claims.equal(done.levels), search)
        for level in done.levels:
            search.limit(level.measure, level.value)
            if search.is_separable(level.measure):
                search.bounds[level.measure] = level.value
        search.incumbent = search.classes.counts(done.victims or ())
        if search.incumbent is not None and break_ties(search):
            done.victims = search.classes.take(search.answer)
            self._certifier.prove_ties(done)

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
            cut_off = self._cut_off + len(search.cut)
            return Proved(outcome, None, (), certified.trees, cut_off=cut_off, claimed=said)
        return self._proved(answer, certified)

    def _proved(self, answer: Answer, certified: Certified) -> Proved:
        """Return an answer with what is proved of each level, and else claimed."""
        self._certifier.deadline = self.search.deadline
        levels = tuple(self._levels(answer, certified))
        # Another plan might keep a cap that time left undecided.
        proved = all(level.proof for level in levels) and not self.search.undecided
        known = (level.proof or level.claimed == level.least.value for level in levels)
        return Proved(
            "optimal" if proved else "feasible",
            certified.victims,
            levels,
            certified.trees,
            "certified" if certified.ties else None,
            certified.corrected,
            self._asked,
            cut_off=self._cut_off + len(self.search.cut),
            claimed=not proved and all(known),
        )

    def _certified(self, victims: Sequence[int] | None) -> Certified:
        """Search the trees of an answer; none are searched if ``certify`` is ``False``."""
        measures = with_names(self.measures)
        if self.certify is not False:
            try:
                return self._certifier.certify(measures, victims)
            except (UnsupportedError, OutOfTime):
                pass  # the rows cannot add the amounts up, or unstable is not known
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

    def _possible(self, question: Question, search: Search) -> list[int]:
        """Return the classes that can still give victims, by multipliers that narrowed levels."""
        box, members = self._certifier.narrowed(question), question.rules.members
        left = set(members.taken(box.most))
        return [k for k in search.active if not left.isdisjoint(search.classes.members[k])]


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
