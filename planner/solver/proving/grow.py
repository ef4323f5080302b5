"""The search for a proof tree, or for the better set that shows there is none.

The tree is grown depth first. Where inequalities contradict one another a linear program says
with which multipliers; where they do not, its point says what to split. Nothing is believed that
the checker does not find true: a leaf is written only after ``Question`` accepts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.plan.proof import ByLaws, ByRows, Narrowing, Step
from planner.proof.box import Box, Row, add_up, is_contradiction, narrowed
from planner.proof.claims import BETTER
from planner.proof.question import Question
from planner.solver.engine import Deadline
from planner.solver.proving.guide import split
from planner.solver.proving.phase_one import Suggestion, integers, suggest

WITHOUT_PROGRAM: Final = 40
"""Steps that are tried before a linear program is asked at all: loading one takes a while."""

NARROWER: Final = 0.7
"""What is left of a box at most for a step that narrows it to be worth its length."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A tree; or a set that the claim denies, by class counts; or neither."""

    steps: tuple[Step, ...] | None = None
    better: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """A box with its rows."""

    box: Box
    rows: Mapping[str, Row]
    ranges: Mapping[str, tuple[int, int]]

    @classmethod
    def at(cls, question: Question, box: Box) -> _Look:
        return cls(box, question.rows(box), question.ranges(box))

    def contradict(self, multipliers: Mapping[str, int]) -> bool:
        """Say whether rows contradict one another with these multipliers."""
        pairs = [(self.rows[name], m) for name, m in multipliers.items()]
        return is_contradiction(pairs, self.box, self.ranges)


def grow(question: Question, deadline: Deadline, most_steps: int) -> Grown:
    """Search a tree of at most so many steps."""
    quick = _Growth(question, deadline, min(WITHOUT_PROGRAM, most_steps), program=False).run()
    if quick.steps is not None or quick.better is not None:
        return quick
    return _Growth(question, deadline, most_steps, program=True).run()


class _Growth:
    def __init__(
        self, question: Question, deadline: Deadline, most_steps: int, *, program: bool
    ) -> None:
        self.question = question
        self.deadline = deadline
        self.most_steps = most_steps
        self.program = program
        self.guide = BETTER

    def run(self) -> Grown:
        """Grow the tree until all is closed, a better set is found, or it is too much."""
        ahead, steps = [self.question.root], list[Step]()
        if self.program:
            for narrowing in self._narrow_root(ahead[0]):
                steps.append(narrowing)
                ahead = [*self.question.parts(ahead[0], narrowing)]
        while ahead:
            if len(steps) >= self.most_steps or self.deadline.passed:
                return Grown()
            box = ahead.pop()
            leaf = self._leaf(box)
            if leaf is None and box.is_single:
                return Grown(better=tuple(box.least.tolist()))
            step = leaf or self._inner(box)
            steps.append(step)
            if not isinstance(step, ByRows | ByLaws):
                ahead.extend(reversed(self.question.parts(box, step)))
        return Grown(steps=tuple(steps))

    def _leaf(self, box: Box) -> ByLaws | ByRows | None:
        """Return what closes a box without a linear program, if something is seen to."""
        if box.is_empty:
            return ByLaws(law="no set is left")
        look = _Look.at(self.question, box)
        one = next((name for name in look.rows if look.contradict({name: 1})), None)
        if one is not None:
            return ByRows(rows={one: 1})
        refused = self.question.refusal(box)
        if refused:
            return ByLaws(law=refused)
        return None if box.is_single else _one_against_measure(look)

    def _inner(self, box: Box) -> Step:
        """Return what closes, narrows or splits a box that has more than one set."""
        if not self.program:
            return split(self.question, box, None)
        look = _Look.at(self.question, box)
        found = suggest(look.rows, box, look.ranges, self.guide)
        if found is None:
            return split(self.question, box, None)
        for multipliers in _whole(found) if found.missed > 0 else ():
            if look.contradict(multipliers):
                return ByRows(rows=multipliers)
        narrowing = _narrowing(look, found, NARROWER * _width(box))
        return narrowing or split(self.question, box, found.point)

    def _narrow_root(self, box: Box) -> Iterator[Narrowing]:
        """Yield what the measures leave of a box: whatever is far from their least values goes.

        The measure that leaves least guides the search from then on.
        """
        most_gone = 0
        for bounded in reversed(self.question.bounds):
            look = _Look.at(self.question, box)
            if bounded.name not in look.rows:
                continue
            found = suggest(look.rows, box, look.ranges, bounded.name)
            narrowing = None if found is None else _narrowing(look, found, _width(box) - 1)
            if narrowing is not None:
                yield narrowing
                (part,) = self.question.parts(box, narrowing)
                if _width(box) - _width(part) > most_gone:
                    most_gone, self.guide = _width(box) - _width(part), bounded.name
                box = part


def _one_against_measure(look: _Look) -> ByRows | None:
    """Weigh one row against the measure: cheapest first, until enough is freed.

    For one row the best multiplier is known: the cost of a unit at which a fractional cover is
    complete.
    """
    box, measure = look.box, look.rows.get(BETTER)
    if measure is None:
        return None
    costs = np.zeros(box.least.size)
    costs[measure.classes] = -measure.amounts.astype(float)
    for name, row in look.rows.items():
        useful = (row.amounts > 0) & (box.most[row.classes] > box.least[row.classes])
        if name == BETTER or row.extra or row.least <= 0 or not useful.any():
            continue
        classes, amounts = row.classes[useful], row.amounts[useful]
        order = np.argsort(costs[classes] / amounts.astype(float), kind="stable")
        room = (box.most - box.least)[classes[order]]
        covered = np.cumsum(amounts[order].astype(float) * room)
        missing = row.least - sum((row.amounts * box.least[row.classes]).tolist())
        last = order[min(int(np.searchsorted(covered, float(missing))), order.size - 1)]
        pair = {name: int(costs[classes[last]]), BETTER: int(amounts[last])}
        if pair[name] > 0 and look.contradict(pair):
            return ByRows(rows=pair)
    return None


def _whole(found: Suggestion) -> Iterator[dict[str, int]]:
    """Yield multipliers as integers, the most readable first."""
    names = list(found.multipliers)
    for whole in integers([found.multipliers[name] for name in names]):
        yield {name: m for name, m in zip(names, whole, strict=True) if m > 0}


def _narrowing(look: _Look, found: Suggestion, most: float) -> Narrowing | None:
    """Return the step that narrows a box to at most so much, if the multipliers suggest one."""
    for multipliers in list(_whole(found))[-1:]:
        pairs = [(look.rows[name], m) for name, m in multipliers.items()]
        possible = bool(pairs) and add_up(pairs, look.box, look.ranges).spare >= 0
        if possible and _width(narrowed(pairs, look.box, look.ranges)) <= most:
            return Narrowing(narrow=multipliers)
    return None


def _width(box: Box) -> int:
    """Return how many members of classes are neither certain to go nor to stay."""
    return int((box.most - box.least).sum())
