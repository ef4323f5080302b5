"""Level after level to a plan that is proved: the scheduler's own answer, trees, and the solver.

The search begins with the best answer that is known, mostly the scheduler's own. On each level a
tree is grown, which shows that no set is better, or finds one, which takes the answer's place.
Where it does neither, CP-SAT looks for a better set, and another tree is to prove that; where none
does, the level is not proved: what the solver says of it is its word. A plan is called optimal only
if every level has a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planner.errors import UnsupportedError
from planner.garbage import without_garbage_collection
from planner.objective.profiles import (
    Measure,
    measure_name,
    measure_title,
    measure_unit,
    with_names,
)
from planner.plan import Level, Proof, Tree
from planner.proof.box import Box
from planner.proof.claims import (
    BETTER,
    INFEASIBLE,
    TIES,
    Claims,
    Stated,
    at_most,
    level_claim,
)
from planner.proof.question import Question, in_words
from planner.solver.deadline import Deadline, OutOfTime, Trees
from planner.solver.finder import Least, break_ties, find_any, minimise
from planner.solver.proving.earlier import EarlierTree
from planner.solver.proving.grow import Before, Effort, Grown, grow
from planner.solver.search import Outcome, Search
from planner.stage import begin

THOROUGH: Final = Effort(steps=50_000, entries=10**12)
"""The effort of a tree that may take as long as it needs."""

SHORT: Final = Effort(steps=5000, entries=12_000_000, largest=20)
"""The effort of a tree elsewhere: some ten seconds."""

BRIEF: Final = Effort(steps=200, entries=150_000, largest=20)
"""The effort where one decision after the other is judged, and no tree may hold up the rest."""

SOON: Final = Effort(steps=200, entries=3000, near=0.9)
"""The effort before the solver is asked: small programs, and of a wide box only its narrowing, by
which the solver's model is narrowed. Larger trees of an answer that is not the best are in vain, as
mostly are those of one that costs far more than a program needs."""

CLASSES_PER_ENTRY: Final = 3
"""Of so many classes one entry more is worth it then: the more classes there are, the longer it
takes to ask the solver."""

GLANCE: Final = Effort(steps=8, entries=30_000)
"""The effort of a tree that only bounds a level."""

EFFORTS: Final[Mapping[Trees, Effort]] = {True: THOROUGH, None: SHORT, "brief": BRIEF}

LATER: Final[Mapping[Trees, Effort]] = {**EFFORTS, None: BRIEF}
"""The efforts after a level for which no tree was found: the plan is not proved anyhow, and later
levels are under the same hard rows."""

ROUNDS: Final = 4
"""How often an equal set that comes before the answer takes its place: there can be millions."""

MOST_BETTER: Final = 4
"""Better sets that trees find one after the other before the solver is asked for the best."""

FINDING: Final = 4.0
"""The effort of the solver for a level: it is to find an answer, and need not prove it."""

NEAR: Final = 500
"""How many victims a box may leave open in which the solver is to look first: it soon tells whether
a set is there, and the best one is mostly there or nearly so."""

GRAIN: Final = 1000
"""The part of its value to which the edge of such a box is known."""

BEYOND: Final = 0, 1, 3, 7
"""How many such parts beyond the edge the solver looks, one after the other."""

GROWING: Final = 3 / 4
"""The share of the time left that one tree may take, or a half where it asks the scheduler: where
it is in vain, better answers are still to be found on later levels."""

BOUNDING: Final = 1 / 4
"""The share of the time left that is kept for short trees, which bound levels without a proof."""

BOUNDING_S: Final = 5.0
"""The most seconds that are kept for these: each takes eight steps."""

Ask = Callable[[Claims], Question]
"""Makes a question of claims."""


class Proved(Struct, frozen=True):
    """An answer, by positions of workloads, and what it rests on.

    ``searched`` says whether the solver was asked for it: trees alone can find and prove it;
    ``corrected`` counts the better sets that trees found where the solver claimed none;
    ``cut_off`` counts the sets that it found and the scheduler refuses; ``claimed`` says that by
    the solver's word nothing is better, or that there is no answer.
    """

    outcome: Outcome
    victims: Sequence[int] | None
    levels: tuple[Level, ...]
    trees: Sequence[Tree] = ()
    ties: Proof | None = None
    corrected: int = 0
    searched: bool = True
    cut_off: int = 0
    claimed: bool = False


def level_of(measure: Measure, value: int, bound: int = 0, claimed: int | None = None) -> Level:
    """Return the record of a level of which no proof is known."""
    return Level(
        term=measure_name(measure),
        title=measure_title(measure),
        unit=measure_unit(measure),
        value=value,
        bound=bound,
        claimed=claimed,
    )


class Absence(NamedTuple):
    """The tree that shows that no legal set is of some kind, or the positions of a set that is."""

    tree: Tree | None = None
    victims: Sequence[int] | None = None


def prove_absence(search: Search, claims: Claims, certify: Trees, claim: str) -> Absence:
    """Prove that a search has no answer; ``claims`` are of its sets, ``claim`` names the tree."""
    begin("certifying")
    settling = Settling(claims, search, (), lambda *_: search, certify)
    if certify is not False:
        settling.first(settling.effort)
    if settling.victims is not None or not settling.trees:
        return Absence(victims=settling.victims)
    (tree,) = settling.trees
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
    """One decision whose levels are being settled.

    ``search`` has the best answer that is known; ``fresh`` makes a search with the same wishes that
    nothing has narrowed, in which only some measures need tell workloads apart, and only some
    positions give victims, if such are given. ``certify`` says
    whether to wait for trees, ``undecided`` whether time left a cap undecided.

    ``victims`` are those of the answer, by positions; ``levels`` are stated with its values;
    ``says`` tells in words the trees that one sum of inequalities makes; ``claimed`` is what the
    solver said of each level that it was asked about. ``before`` is what trees leave for later
    ones. ``denied`` says that a set was better on some level but for bounds that no inequality
    states: trees that leave these out are mostly in vain from then on.
    """

    claims: Claims
    search: Search
    measures: Sequence[Measure]
    fresh: Callable[[Sequence[Measure], AbstractSet[int] | None], Search]
    certify: Trees = None
    undecided: bool = False
    victims: Sequence[int] | None = field(default=None, init=False)
    levels: list[Stated] = field(default_factory=list, init=False)
    trees: list[Tree] = field(default_factory=list, init=False)
    says: dict[Measure, str] = field(default_factory=dict, init=False)
    claimed: dict[Measure, Least] = field(default_factory=dict, init=False)
    corrected: int = field(default=0, init=False)
    searched: bool = field(default=False, init=False)
    cut_off: int = field(default=0, init=False)
    before: Before = field(default_factory=Before, init=False)
    denied: bool = field(default=False, init=False)

    def settle(self) -> Proved:
        """Return the best answer of the search, or that there is none, and what that rests on."""
        whole, search = self.search.deadline, self.search
        kept = min(BOUNDING, BOUNDING_S / max(whole.left() or 0.0, BOUNDING_S))
        search.deadline = whole.part(1 - kept)
        with without_garbage_collection():
            begin("certifying")
            if search.incumbent is not None:
                self.victims = search.classes.take(search.incumbent)
            elif not self.first(self.soon):
                self.searched = True
                found = find_any(search)
                if search.incumbent is not None:
                    self.victims = search.classes.take(search.incumbent)
                if found != "optimal" and not self.first(self.effort):
                    search.deadline = whole
                    cut_off, said = len(search.cut), found == "infeasible"
                    return Proved("unknown", None, (), cut_off=cut_off, claimed=said)
            if self.victims is None:
                return Proved("infeasible", None, (), self.trees, searched=self.searched)
            for measure in with_names(self.measures):
                if not self.is_proved_soon(measure):
                    self.find(measure)
                    while not self.settle_level(measure, self.effort):
                        self.corrected += self.claimed[measure].outcome == "optimal"
                self.before.settled(at_most(measure, self.levels[-1].value))
            tied = self.settle_ties()
            search.deadline = whole
            return self.proved(tied=tied)

    @property
    def effort(self) -> Effort | None:
        """How much a tree of a level may take; ``None`` where no trees are wanted."""
        whole = all(level.proved for level in self.levels)
        return (EFFORTS if whole else LATER).get(self.certify)

    @property
    def soon(self) -> Effort | None:
        """How much a tree may take before the solver is asked."""
        if self.certify is False:
            return None
        # Of a term that asks the scheduler the solver learns set by set, and trees part by part.
        if self.claims.asking is not None:
            return BRIEF
        classes = len(self.search.classes)
        return replace(SOON, entries=max(SOON.entries, classes // CLASSES_PER_ENTRY))

    def first(self, effort: Effort | None) -> bool:
        """Look for any answer by a tree; say whether one is found, or proved not to be there."""
        tree, found = self.grow(INFEASIBLE, Claims.infeasible, effort)
        self.trees += [] if tree is None else [tree]
        self.victims = found
        return tree is not None or found is not None

    def is_proved_soon(self, measure: Measure) -> bool:
        """Say whether a tree soon proves a level, of the answer or of the better sets it finds."""
        for _ in range(1 + MOST_BETTER):
            if self.settle_level(measure, self.soon):
                if self.levels[-1].proved:
                    return True
                self.levels.pop()
                break
        return False

    def settle_level(self, measure: Measure, effort: Effort | None) -> bool:
        """Say whether no better set was found on a level; one that was takes the answer's place.

        If none was, the level is stated, as proved if there is a tree.
        """
        value, claim = self.claims.value(measure, self.victims or ()), level_claim(measure)
        if value == 0:  # no term is negative
            self.levels.append(Stated(measure, 0, proved=True))
            return True
        ask = self.less_than(measure, value)
        tree, found = self.grow(claim, ask, effort, measure)
        if found is not None:
            self.victims = found
            return False
        if tree is not None:
            self.trees.append(tree)
            if tree.claim == claim:
                question = ask(self.claims)
                earlier = EarlierTree.of(question.rules, tree.steps, at_most(measure, value))
                self.before.tree = earlier or self.before.tree
                self.says[measure] = in_words(question, tree.steps, measure, value)
        self.levels.append(Stated(measure, value, proved=tree is not None))
        return True

    def find(self, measure: Measure) -> None:
        """Let the solver look for a better answer on a level; one takes the answer's place."""
        self.searched, whole = True, self.search.deadline
        begin(f"level {len(self.levels) + 1} of {len(with_names(self.measures))}")
        for most in self.near_least(measure):
            search = self.narrowed(self.less_than(measure, most + 1), measure)
            search.deadline, search.incumbent = whole.half(), None
            search.limit(measure, most)
            least = minimise(search, measure, FINDING)
            self.took(search)
            if least.outcome == "optimal":  # so it is the best of all, and not only of the box
                self.claimed[measure] = least
                return
            if search.incumbent is not None:
                break
        ask: Ask = partial(Claims.equal, levels=self.levels)
        if not self.claims.is_unknown(measure):
            ask = self.less_than(measure, self.claims.value(measure, self.victims or ()))
        search = self.narrowed(ask, measure)
        for guessing in self.ways:
            search.deadline = whole.half()
            least = minimise(search, measure, FINDING, guessing=guessing)
            self.claimed[measure] = Least("unknown") if guessing else least
        self.took(search)

    @property
    def ways(self) -> Sequence[bool]:
        """The ways in which the solver is asked, each as whether it guesses what replays say."""
        if not self.search.rules.table.replayed:
            return [False]
        # What no guess finds may be there all the same: trees that ask find it, or show it is not.
        trees = self.effort is not None and self.claims.asking is not None
        return [True] if trees else [True, False]

    def less_than(self, measure: Measure, value: int) -> Ask:
        """Return what asks for less than a value, with the levels so far."""
        return partial(Claims.level, earlier=self.levels, measure=measure, value=value)

    def near_least(self, measure: Measure) -> Iterator[int]:
        """Yield values of a measure so near the least that few victims are left open, then higher.

        The multipliers that narrowed the boxes of trees leave the fewer the less is asked for.
        """
        if self.claims.is_unknown(measure):
            return
        known = [multipliers for multipliers in self.before.narrowed if BETTER in multipliers]
        value = self.claims.value(measure, self.victims or ())

        def left(most: int) -> int:
            box = _narrowed(self.less_than(measure, most + 1)(self.claims), known)
            return 0 if box.is_empty else int((box.most - box.least).sum())

        least, most, grain = -1, value - 1, max(1, value // GRAIN)
        if not known or left(most) <= NEAR:  # the whole level is no harder
            return
        while most - least > grain:
            middle = (least + most) // 2
            least, most = (middle, most) if left(middle) <= NEAR else (least, middle)
        if least >= 0:  # else what narrowed says nothing of this measure
            tried = (least + beyond * grain for beyond in BEYOND)
            yield from (at for at in tried if at < value - 1)

    def narrowed(self, ask: Ask, *measures: Measure) -> Search:
        """Return a search for answers no worse on the levels so far, from the answer on.

        The multipliers that narrowed the boxes of trees narrow it, too.
        """
        left = None
        if self.effort is not None:
            question = ask(self.claims)
            box, classes = _narrowed(question, self.before.narrowed), question.rules.classes
            # An empty box says that no set is better, and a tree is to show that.
            left = {*(() if box.is_empty else classes.take(box.most)), *(self.victims or ())}
        search = self.fresh([*(level.measure for level in self.levels), *measures], left)
        search.deadline, search.cut = self.search.deadline, []
        for measure, most in self.claims.caps:
            search.limit(measure, most)
        for level in self.levels:
            search.limit(level.measure, level.value)
        search.incumbent = search.classes.counts(self.victims or ())
        return search

    def took(self, search: Search) -> None:
        """Take over the answer of a search of one level."""
        self.cut_off += len(search.cut)
        if search.incumbent is not None:
            self.victims = search.classes.take(search.incumbent)

    def settle_ties(self) -> bool:
        """Make the answer the first of its equals; say whether a tree shows that it is."""
        if not all(level.proved for level in self.levels):
            unproved = (level.measure for level in self.levels if not level.proved)
            said = (self.claimed[each].outcome == "optimal" for each in unproved)
            if self.effort is None and all(said):
                self.break_ties()
            return False
        if self.prove_ties():
            return True
        tried = {*(self.victims or ())}
        return self.break_ties() and {*(self.victims or ())} != tried and self.prove_ties()

    def break_ties(self) -> bool:
        """Make the answer canonical by the solver."""
        self.searched = True
        search = self.narrowed(partial(Claims.equal, levels=self.levels))
        settled = search.incumbent is not None and break_ties(search)
        if settled:
            self.took(search)
        return settled

    def prove_ties(self) -> bool:
        """Show that no equal set comes before the answer; begin anew with one that does."""
        effort, levels = self.effort, self.levels
        if effort is None or not self.victims:
            return False
        # Ties are worth less than levels: without a tree the search's own word stands.
        effort = replace(effort, entries=effort.entries // 10)
        for left in reversed(range(ROUNDS)):
            place_of = self.search.rules.order.__getitem__
            canonical = self.claims.canonical(levels, self.victims)
            # Else a term that asks the scheduler tells members of a class apart.
            alike = self.is_allowed(canonical)
            self.victims = sorted(canonical if alike else self.victims, key=place_of)
            ask = partial(Claims.ties, levels=levels, victims=self.victims)
            tree, found = self.grow(TIES, ask, effort, asks=not alike)
            if tree is not None:
                self.trees.append(tree)
                return True
            if found is None or not left:  # no tree was asked about the last that is found
                break
            self.victims = found
        return False

    def grow(
        self,
        claim: str,
        ask: Ask,
        effort: Effort | None,
        measure: Measure | None = None,
        *,
        asks: bool = False,
    ) -> tuple[Tree | None, Sequence[int] | None]:
        """Return the tree of a claim, and the positions of an allowed set that denies it instead.

        If what is found keeps to all but the bounds that no inequality states, the scheduler is
        asked, too.
        """
        deadline = self.search.deadline
        if effort is None:
            return None, None
        try:
            if not asks and not (measure and self.claims.is_unknown(measure)):
                question = ask(self.claims)
                plain = min(BRIEF, effort, key=attrgetter("entries")) if self.denied else effort
                grown = grow(question, deadline.part(GROWING), plain, self.before)
                if self.victims is not None:
                    self.before.remember(grown.narrowed_by)
                if grown.steps is not None:
                    return _as_tree(claim, grown), None
                if grown.better is not None:
                    found = question.rules.classes.take(grown.better)
                    if self.is_allowed(found):
                        return None, found
                    self.denied = self.claims.asking is not None
            if self.claims.asking is None:
                return None, None
            question = ask(self.claims.asking)
            grown = grow(question, deadline.half(), effort)
        except (UnsupportedError, OutOfTime):
            return None, None  # rows cannot add the amounts up, or a term is not known in time
        better = grown.better and question.rules.classes.take(grown.better)
        return _as_tree(self.claims.replaying(claim), grown), better

    def is_allowed(self, victims: Sequence[int]) -> bool:
        """Say whether victims keep to the bounds that no inequality states.

        They are among the wishes and caps, and the answer's values on the levels before.
        """
        claims = self.claims
        bounds = [*claims.wishes.most.items(), *claims.caps]
        bounds += [(level.measure, level.value) for level in self.levels]
        asked = ((measure, most) for measure, most in bounds if claims.is_unknown(measure))
        return all(claims.value(measure, victims) <= most for measure, most in asked)

    def proved(self, *, tied: bool) -> Proved:
        """Return the answer with what is proved of each level, and else claimed."""
        levels = tuple(self.results())
        # Another plan might keep a cap that time left undecided.
        proved = all(level.proof for level in levels) and not self.undecided
        known = (level.proof or level.claimed == level.value for level in levels)
        return Proved(
            "optimal" if proved else "feasible",
            self.victims,
            levels,
            self.trees,
            "certified" if tied else None,
            self.corrected,
            self.searched,
            self.cut_off + len(self.search.cut),
            claimed=not proved and all(known),
        )

    def results(self) -> Iterator[Level]:
        """Yield the levels with their proofs, or with the bounds that trees show."""
        for number, (measure, _, shown) in enumerate(self.levels):
            value = self.claims.value(measure, self.victims or ())
            if shown or value == 0:
                proof = {"proof": "certified", "says": self.says.get(measure, "")}
                yield level_of(measure, value, value).model_copy(update=proof)
                continue
            word = min(value, self.claimed[measure].bound) if measure in self.claimed else 0
            yield level_of(measure, value, self.bound(number), claimed=word)

    def bound(self, number: int) -> int:
        """Return the bound of a level that short trees show, within a thousandth of its value.

        The tree of that bound is kept.
        """
        measure, value, _ = self.levels[number]
        shown, possible, kept = 0, value, None
        if self.effort is None or self.claims.is_unknown(measure):
            return 0
        while possible - shown > value // 1000 and not self.search.deadline.passed:
            middle = (shown + possible + 1) // 2
            # The claim is that no set has less than this: a tree makes it a bound.
            ask = partial(Claims.level, earlier=self.levels[:number], measure=measure, value=middle)
            try:
                known = Before(narrowed=self.before.narrowed)
                grown = grow(ask(self.claims), self.search.deadline, GLANCE, known)
                tree = _as_tree(level_claim(measure), grown)
            except UnsupportedError:
                break
            if tree is not None:
                shown, kept = middle, tree
            else:
                possible = middle - 1
        self.trees += [] if kept is None else [kept]
        return shown


def _narrowed(question: Question, known: Sequence[Mapping[str, int]]) -> Box:
    """Return the root box of a question as known multipliers leave it."""
    box = question.root
    for multipliers in known:
        box = box if box.is_empty else question.narrowed(box, multipliers)
    return box


def _as_tree(claim: str, grown: Grown) -> Tree | None:
    return None if grown.steps is None else Tree(claim=claim, steps=grown.steps)
