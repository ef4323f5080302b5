"""The search for a proof tree, or for the better set that shows there is none.

The tree is grown depth first. Where inequalities contradict one another a linear program finds
the multipliers; where they do not, its point says what to split. Nothing is believed that the
checker does not find true: a leaf is written only after ``Question`` accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import nlargest
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from planner.plan.proof import ByLaws, ByRows, CaseSplit, Narrowing, Split, Step
from planner.proof.box import Box, add_up
from planner.proof.claims import BETTER
from planner.proof.question import MOST_HELD, Question, room_of
from planner.solver.deadline import Deadline
from planner.solver.proving.cover import Cover, one_against_measure
from planner.solver.proving.earlier import Ahead, EarlierTree, renamed
from planner.solver.proving.multipliers import NARROWING, plain, precise, readable
from planner.solver.proving.program import Optimum, Program, Suggestion
from planner.solver.proving.rounding import rounded
from planner.solver.proving.rows import FRACTION, BoxRows, Entries, binding_rows
from planner.solver.proving.split import splits
from planner.stage import going_on

WITHOUT_PROGRAM: Final = 40
"""Steps of a tree over few victims that are tried before a linear program is asked at all: to
load its solver takes longer than a small plan."""

FEW: Final = 12
"""Victims left open up to which a tree begins without a program: with more, one has to lead."""

READABLE: Final = 5
"""Rows up to which a reader can follow their sum."""

SOME: Final = 60
"""Victims left open up to which a short tree is tried without a program first."""

QUICK_STEPS: Final = 40
"""The most steps of such a short tree."""

NARROWER: Final = 0.7
"""The share of a box that a narrowing may leave at most to be worth its length."""

LITTLE: Final = 0.25
"""The share of a box that one row may leave at most for a step to narrow by it."""

MORE: Final = 2
"""How many victims a narrowing has to leave out to be worth more than a split with a leaf."""

CLOSED: Final = 1.0
"""What a part of a split counts in which the program misses much: it is as good as closed."""

FINALISTS: Final = 2
"""How many splits are tried with all rows of their parts, of all that seem good without."""

QUICKER: Final = 10
"""A program that goes on from its last optimum takes one part in so many of the time."""

NOTHING: Final = 1e-12
"""What a part of a split counts in which the program misses no more than before."""


class Effort(Struct, frozen=True):
    """How much a tree may take: steps, and entries of all linear programs asked for it.

    A program counts ``ASKED`` entries besides its own, for what any call takes. As many as
    ``largest`` of the largest size may be asked in any case: narrowing the root of a million
    workloads takes a few, each with as many entries as all programs of a thousand workloads.
    The tree is given up where a program of the root box needs less than ``near``, a part of what
    the measure in question may be at most: mostly the best set is far from the answer then.
    """

    steps: int
    entries: int
    largest: int = 0
    near: float = 0.0


ASKED: Final = 200


EASY: Final = 20
"""Steps of a tree without rounded sums that is tried before them: mostly these are enough."""

LARGE: Final = 2000
"""Classes from which rounded sums take so long that three times as many steps are tried first."""

PATIENT: Final = 300
"""Steps up to which an effort is too short for rounded sums to be worth their time."""


class Tried(NamedTuple):
    """A box with its rows, and what a program suggests if the box was tried as part of a split."""

    look: BoxRows
    found: Suggestion | None


class Grown(NamedTuple):
    """A tree; or a better set, which the claim denies, by class counts; or neither.

    ``narrowed_by`` are the multipliers of the tree's narrowings, finished or not.
    """

    steps: tuple[Step, ...] | None = None
    better: tuple[int, ...] | None = None
    narrowed_by: Sequence[Mapping[str, int]] = ()


@dataclass
class Before:
    """What the answers to earlier questions leave for the next one.

    ``narrowed`` are multipliers that narrowed boxes there. ``tree`` is the tree of an earlier
    question: it is followed where a box is not closed at once, unless its classes are others.
    ``entries`` are the rows of the last question in its root box.
    """

    narrowed: list[Mapping[str, int]] = field(default_factory=list)
    tree: EarlierTree | None = None
    entries: Entries | None = None

    def remember(self, narrowed_by: Iterable[Mapping[str, int]]) -> None:
        """Keep multipliers that narrowed a box; ``better`` in them is the level in question."""
        self.narrowed += [each for each in narrowed_by if each not in self.narrowed]

    def settled(self, bound: str) -> None:
        """Name the measure's row in multipliers as on later levels, as a level is settled."""
        named = [renamed(each, bound) for each in self.narrowed]
        self.narrowed = [each for i, each in enumerate(named) if each not in named[:i]]

    def written(self, question: Question, box: Box) -> Entries:
        """Return the rows of a question in its root box."""
        rows, last = binding_rows(question, box).common, self.entries
        # Classes that give nobody are not written down; in another root box they can be others.
        if last is None or last.most is None or not np.array_equal(last.most, box.most):
            last = Entries.of({}, box.most)
        self.entries = last.updated(rows)
        return self.entries


def grow(
    question: Question, deadline: Deadline, effort: Effort, before: Before | None = None
) -> Grown:
    """Search a tree, or a better set, with at most ``effort``."""
    before = before or Before()
    earlier = before.tree
    if earlier is not None and (
        earlier.rules is not question.rules
        # What is left of the effort has to do where its steps do not hold.
        or len(earlier.steps) > effort.steps // 2
    ):
        earlier = None
    width = _width(question.root)
    if FEW < width <= SOME:
        brief = replace(effort, steps=min(QUICK_STEPS, effort.steps))
        quick = _Growth(question, deadline, brief, before, (), earlier, some=SOME).run()
        if quick.steps is not None or quick.better is not None:
            return quick
    is_level = any(one.name == BETTER for one in question.bounds)
    known = before.narrowed
    if is_level and effort.steps > PATIENT:
        easy = EASY if question.root.most.size < LARGE else 3 * EASY
        brief = replace(effort, steps=easy)
        grown = _Growth(question, deadline, brief, before, known, earlier).run()
        if grown.steps is not None or grown.better is not None:
            return grown
        return _Growth(question, deadline, effort, before, known, rounds=True).run()
    return _Growth(question, deadline, effort, before, known, earlier).run()


@dataclass
class _Growth:
    question: Question
    deadline: Deadline
    effort: Effort
    before: Before
    known: Sequence[Mapping[str, int]]
    earlier: EarlierTree | None = None
    some: int = FEW
    rounds: bool = False
    guide: str = BETTER
    steps: list[Step] = field(default_factory=list)
    begun: bool = False
    part: Entries | None = None
    look: BoxRows | None = None
    found: Suggestion | None = None
    program: Program | None = None
    cut: Box | None = None
    tried: dict[int, Tried] = field(default_factory=dict)
    chosen: tuple[Split, Sequence[Box]] | None = None
    cover: Cover | None = None
    entries: int = 0
    largest: int = 0
    far: bool = False

    def run(self) -> Grown:
        """Grow the tree until every box is closed, a better set is found, or it takes too much."""
        ahead: list[Ahead] = [(self.question.root, None)]
        while ahead:
            going_on()
            # No checker would walk a tree that leaves more open at once.
            if self._is_too_much or len(ahead) * room_of(ahead[-1][0]) > MOST_HELD:
                return Grown(narrowed_by=self._narrowed_by)
            box, number = ahead.pop()
            if self.earlier is not None and number is not None:
                followed = self.earlier.step(self.question, box, number)
                if followed is not None:
                    self.steps.append(followed[0])
                    ahead.extend(reversed(followed[1]))
                    continue
            leaf = self._leaf(box)
            better = self._better(box) if leaf is None else None
            if better is not None:
                # What is closed so far is closed to sets better than that, too.
                part = EarlierTree.of(self.question.rules, self.steps, BETTER)
                self.before.tree = part or self.before.tree
                return Grown(better=better)
            narrower = self._narrower(box) if leaf is None else box
            if self.far:
                return Grown(narrowed_by=self._narrowed_by)
            if narrower is not box:
                ahead.append((narrower, None))
                continue
            step = leaf or self._inner(box)
            if step is None:
                ahead.append((box, 0))
                continue
            self.steps.append(step)
            if not isinstance(step, ByRows | ByLaws):
                ahead.extend((part, None) for part in reversed(self._parts(box, step)))
        return Grown(steps=tuple(self.steps), narrowed_by=self._narrowed_by)

    @property
    def _narrowed_by(self) -> list[Mapping[str, int]]:
        """The multipliers of the narrowings so far."""
        return [step.narrow for step in self.steps if isinstance(step, Narrowing)]

    def _better(self, box: Box) -> tuple[int, ...] | None:
        """Return the set of a box that is not closed, or at the root one that seems near the best.

        Where ties are in question, only sets before the answer count, not the answer itself.
        """
        if not box.is_single:
            if self.steps or self.cover is None:
                return None
            box = self.cover.within(box)
            if self._leaf(box) is not None:
                return None
        return tuple(box.least.tolist()) if self.question.is_asked(box) else None

    @property
    def _is_too_much(self) -> bool:
        entries = max(self.effort.entries, self.effort.largest * self.largest)
        beyond = len(self.steps) >= self.effort.steps or self.entries > entries
        return beyond or self.deadline.passed

    def _look(self, box: Box) -> BoxRows:
        """Return the rows of a box; the last are kept: a box that is not closed is split next."""
        if self.look is None or self.look.box is not box:
            known = self.tried.pop(id(box), None)
            self.look, self.found = known or Tried(BoxRows(self.question, box, self.part), None)
        return self.look

    def _suggest(self, look: BoxRows, guide: str) -> Suggestion | None:
        if self.deadline.passed:
            return None
        if look is self.look and self.found is not None and guide:
            return self.found
        entries = ASKED + look.size
        self.entries, self.largest = self.entries + entries, max(self.largest, entries)
        if self.program is None or self.program.look is not look:
            kept = None if look is not self.look or self.found is None else self.found.program
            self.program = kept or Program(look)
        found = self.program.solve(guide, self.deadline.left())
        if look is self.look and guide == self.guide:
            self.found = found
        return found

    def _leaf(self, box: Box) -> ByLaws | ByRows | None:
        """Return the leaf that closes a box, if one is found without splitting it."""
        if box.is_empty:
            return ByLaws(law="no set is left")
        if self.part is None:  # the first box is the root: every other one is within it
            self.part = self.before.written(self.question, box)
        look = self._look(box)
        # The cheapest first, and what a reader can follow: one row, then the laws, then sums of
        # rows.
        one = look.closing_row()
        if one is not None:
            return ByRows(rows={one: 1})
        # What left little of the box of an earlier question may leave nothing of this one.
        for multipliers in () if self.steps else self.known:
            known = ByRows(rows=dict(multipliers))
            if self.question.closes(box, known):
                return known
        refused = self.question.refusal(box)
        if refused:
            return ByLaws(law=refused)
        if box.is_single:
            return None
        leaf, self.cover = one_against_measure(look)
        return leaf or self._sum_of_rows(look)

    def _sum_of_rows(self, look: BoxRows) -> ByRows | None:
        """Return the leaf that closes a whole level by one sum of rows, if a program finds one.

        A sum of rows is shorter than a tree, and a reader can add it up. A wide box is narrowed
        first: its program is large, and its narrowing serves the levels that follow, too. Of a
        narrow one with many rows nobody could read the sum, its tree is short, and without
        programs a small plan needs no solver at all.
        """
        is_level = any(bounded.name == BETTER for bounded in self.question.bounds)
        width = _width(look.box)
        if self.steps or not is_level or width > self.some:
            return None
        if width <= FEW and len(look.binding) > READABLE:
            return None
        found = self._suggest(look, BETTER)
        closing = None if found is None else _contradiction(look, found)
        return None if closing is None else ByRows(rows=readable(look, closing.rows))

    def _inner(self, box: Box) -> Step | None:
        """Return the step that closes, narrows or splits a box that is not closed yet.

        ``None`` the first time that a box would be split, if there is an earlier tree to follow.
        """
        if box.is_single:
            return splits(self.question, box, None)[0]
        found = None
        if len(self.steps) >= WITHOUT_PROGRAM or _width(box) > self.some:
            look = self._look(box)
            found = self._suggest(look, self.guide)
            step = None if found is None else self._by_program(look, found)
            if step is not None:
                return step
        if self.earlier is not None and not self.begun:
            self.begun = True
            return None
        if found is None:
            # The class that completes the dearest cover is the one to split.
            doubtful = None if self.cover is None else self.cover.last
            return self._by_one_row(box) or splits(self.question, box, None, doubtful)[0]
        proposed = splits(self.question, box, found)
        return proposed[0] if len(proposed) == 1 else self._strongest(box, proposed, found)

    def _by_program(self, look: BoxRows, found: Suggestion) -> ByRows | Narrowing | None:
        """Return the leaf or the narrowing that a program suggests, if it does."""
        closing = _contradiction(look, found)
        if closing is None and found.missed > FRACTION:
            # Rows are missed for the measure's sake: perhaps not all of them need be.
            unguided = self._suggest(look, "")
            closing = None if unguided is None else _contradiction(look, unguided)
        if closing is not None:
            return closing
        multipliers = _exact(look, found.multipliers)
        if _is_narrower(look, multipliers, NARROWER * _width(look.box)):
            return Narrowing(narrow=multipliers)
        return None

    def _by_one_row(self, box: Box) -> Narrowing | None:
        """Return the narrowing by one row that leaves little of a box, where ties are in question.

        In boxes of ties the certain victims mostly use up a cap, and its row leaves room for nobody
        else. In boxes of levels that is rarer, and to narrow takes longer than to split a few
        times.
        """
        if "before" not in box.sums:
            return None
        look = self._look(box)
        row = look.narrowing_row()
        if row is None or not _is_narrower(look, {row: 1}, LITTLE * _width(box)):
            return None
        return Narrowing(narrow={row: 1})

    def _strongest(
        self, box: Box, proposed: Sequence[Split], found: Suggestion
    ) -> Split | Narrowing:
        """Return the split that raises the program's least value most in both of its parts.

        Where one part of a split is closed, what closes it may leave out further classes of the
        whole box: then the narrowing by that is returned.
        """
        whole, best, highest = self._look(box), proposed[0], -1.0
        finalists = self._finalists(box, proposed, found)
        if isinstance(finalists, Narrowing):
            return finalists
        tried: list[Tried] = []
        for step in finalists:
            worth, looks = 1.0, list[Tried]()
            for part in self.question.parts(box, step):
                if worth <= highest:  # no part makes a split worth more
                    break
                look = BoxRows(self.question, part, self.part)
                one = look.closing_row()
                other = None if one else self._suggest(look, self.guide)
                narrowing = _beyond(whole, {one: 1.0} if one else _closing(other))
                if narrowing is not None:
                    return narrowing
                worth *= _gained(found, other)
                looks.append(Tried(look, other))
            if worth > highest:
                best, highest, tried = step, worth, looks
        # Its parts are the next boxes: what was found there need not be looked for again.
        self.chosen = best, [one.look.box for one in tried]
        self.tried.update((id(one.look.box), one) for one in tried)
        return best

    def _finalists(
        self, box: Box, proposed: Sequence[Split], found: Suggestion
    ) -> Sequence[Split] | Narrowing:
        """Return the splits that seem best by the rows of the whole box, or a narrowing of it.

        Only cases change rows so much that they have to be tried with their own.
        """
        whole, counts = self._look(box), [one for one in proposed if not isinstance(one, CaseSplit)]
        if found.program is None or len(counts) <= FINALISTS:
            return proposed
        worths = dict[Split, float]()
        for step in counts:
            worth, least = 1.0, min(nlargest(FINALISTS, worths.values()), default=0.0)
            for part in self.question.parts(box, step):
                if len(worths) >= FINALISTS and worth <= least:  # no part makes a split worth more
                    break
                self.entries += ASKED + whole.size // QUICKER
                late = self.deadline.passed
                left = self.deadline.left()
                trial = None if late else found.program.tried(part, self.guide, left)
                narrowing = _beyond(whole, _closing(trial))
                if narrowing is not None:
                    return narrowing
                worth *= _gained(found, trial)
            worths[step] = worth
        best = sorted(counts, key=worths.__getitem__, reverse=True)[:FINALISTS]
        return [one for one in proposed if one in best or isinstance(one, CaseSplit)]

    def _parts(self, box: Box, step: Split) -> Sequence[Box]:
        """Return the parts of a box by a split: the very boxes that were tried, if they were."""
        if self.chosen is not None and self.chosen[0] is step:
            return self.chosen[1]
        return self.question.parts(box, step)

    def _narrower(self, box: Box) -> Box:
        """Return a box that is not closed with what programs narrow or cut off, once."""
        if not self.steps and _width(box) > self.some:
            self.cut = self._rounded_root(self._narrowed_root(box))
        elif self.rounds and not box.is_single and box is not self.cut:
            self.cut = self._rounded(self._look(box), self.guide, once=True)
        else:
            return box
        return self.cut

    def _narrowed_root(self, box: Box) -> Box:
        """Narrow the root box by its measures, and write down the rows of what is left.

        Multipliers that narrowed earlier questions are tried first. The measure that narrows most
        guides the search from then on.
        """
        look = BoxRows(self.question, box, self.part)
        for multipliers in self.known:
            known = all(look.layers.find(name) is not None for name in multipliers)
            if known and _is_narrower(look, multipliers, NARROWER * _width(box)):
                box = self._narrowed(box, multipliers)
                look = BoxRows(self.question, box)
        most_gone = 0
        # From the measure in question, which comes last, back to the caps.
        for bounded in reversed(self.question.bounds):
            if bounded.most == 0 and bounded.is_of_a_priority:
                continue  # the root box has no victims of that priority
            # What a first narrowing leaves is split with less effort than it is narrowed again.
            if _width(box) <= (SOME if self.steps else FEW):
                break
            if look.layers.find(bounded.name) is None:
                continue
            found = self._suggest(look, bounded.name)
            if bounded.name == BETTER and found is not None:
                self.far = self._is_far(look, found)
            multipliers = {} if found is None else _exact(look, found.multipliers)
            if _is_narrower(look, multipliers, _width(box) - 1):
                wider, box = _width(box), self._narrowed(box, multipliers)
                look = BoxRows(self.question, box)
                if wider - _width(box) > most_gone:
                    most_gone, self.guide = wider - _width(box), bounded.name
        self.part = Entries.of(binding_rows(self.question, box).common, box.most)
        return box

    def _is_far(self, look: BoxRows, found: Suggestion) -> bool:
        """Say whether a program needs far less of the measure than the question leaves it.

        It knows little of a measure that counts by further quantities.
        """
        row = look.layers.find(BETTER)
        if row is None or row.extra or found.missed > FRACTION:
            return False
        needed = -float((row.amounts * found.point[row.classes]).sum())
        return needed < self.effort.near * -row.least

    def _rounded_root(self, box: Box) -> Box:
        """Add rounded sums to the rows of the root box, if any are worth it."""
        if self.rounds:
            box = self._rounded(BoxRows(self.question, box, self.part), BETTER)
        common, own = binding_rows(self.question, box).common, box.sums
        self.part = Entries.of(common, box.most).within(own) if own else self.part
        return box

    def _rounded(self, look: BoxRows, guide: str, *, once: bool = False) -> Box:
        """Add rounded sums of rows for the points of a box: for the first one only, if ``once``."""
        ask = partial(self._suggest, guide=guide)
        steps, box = rounded(self.question, look, self.part, ask, once=once)
        self.steps += steps
        return box

    def _narrowed(self, box: Box, multipliers: Mapping[str, int]) -> Box:
        narrowing = Narrowing(narrow=dict(multipliers))
        self.steps.append(narrowing)
        (part,) = self.question.parts(box, narrowing)
        return part


def _gained(whole: Suggestion, part: Suggestion | Optimum | None) -> float:
    """Return what a part of a split counts, by what a program says of it, if it says anything.

    A product: a split is worth little if one of its parts is as open as before.
    """
    gained = CLOSED if part is None else min(CLOSED, part.least - whole.least)
    return max(gained, NOTHING)


def _closing(part: Suggestion | Optimum | None) -> Mapping[str, float]:
    """Return the multipliers by which rows contradict one another in a part, if they do."""
    return {} if part is None or part.missed <= FRACTION else part.multipliers


def _beyond(whole: BoxRows, multipliers: Mapping[str, float]) -> Narrowing | None:
    """Return the narrowing of a box by what closes a part of it, if it leaves out more than that.

    ``multipliers`` are those by which rows contradict one another in the part, if they do.
    """
    if any(whole.layers.find(name) is None for name in multipliers):
        return None
    exact = _exact(whole, multipliers)
    if not _is_narrower(whole, exact, _width(whole.box) - MORE):
        return None
    return Narrowing(narrow=exact)


def _contradiction(look: BoxRows, found: Suggestion) -> ByRows | None:
    """Return the most readable multipliers that make rows contradict one another, if any do."""
    if found.missed <= 0 or not found.multipliers:
        return None
    doubles = [*found.multipliers.values()]
    for whole in chain([plain(doubles)], precise(doubles, _largest(look, found.multipliers))):
        multipliers = _named(found.multipliers, whole)
        if look.contradict(multipliers):
            return ByRows(rows=multipliers)
    return None


def _exact(look: BoxRows, multipliers: Mapping[str, float]) -> dict[str, int]:
    """Return multipliers as the integers that are closest to the doubles."""
    if len(multipliers) <= 1:
        return dict.fromkeys(multipliers, 1)
    largest = _largest(look, multipliers)
    return _named(multipliers, precise([*multipliers.values()], largest, NARROWING)[-1])


def _largest(look: BoxRows, multipliers: Iterable[str]) -> list[int]:
    return [look.row(name).largest for name in multipliers]


def _named(multipliers: Iterable[str], whole: Sequence[int]) -> dict[str, int]:
    return {name: m for name, m in zip(multipliers, whole, strict=True) if m > 0}


def _is_narrower(look: BoxRows, multipliers: Mapping[str, int], most: float) -> bool:
    """Say whether multipliers leave something of a box, with at most ``most`` members open."""
    pairs = [(look.row(name), m) for name, m in multipliers.items()]
    if not pairs:
        return False
    added = add_up(pairs, look.box, look.ranges)
    return added.spare >= 0 and _width(added.narrowed(look.box)) <= most


def _width(box: Box) -> int:
    """Return how many members of classes are left open: victims in some sets of a box only."""
    return int((box.most - box.least).sum())
