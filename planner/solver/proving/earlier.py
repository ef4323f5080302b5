"""The tree of an earlier level, followed where its steps hold for a later one, too.

The questions of two levels hardly differ: a later one looks for less of another measure, and what
the earlier one looked for may be no more than its value. So most leaves close the same boxes, and
only where they do not is a tree grown anew. To follow takes a fifth of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from planner.plan.proof import ByLaws, ByRows, CaseSplit, CountSplit, Narrowing, Step
from planner.proof.box import Box
from planner.proof.claims import BETTER
from planner.proof.question import Question, Rules

Ahead = tuple[Box, int | None]
"""A box, and the step of the earlier tree that belongs to it, if one does."""


class EarlierTree(NamedTuple):
    """Steps of a tree, from the one on that follows what narrowed the box of the whole.

    Their rows have the names that these have in later questions; their classes are those of
    ``rules``. For each step ``beyond`` is the number of the first one that is not below it. By the
    rows ``bounds`` the questions differ.
    """

    rules: Rules
    steps: Sequence[Step]
    beyond: Sequence[int]
    bounds: Sequence[str]

    @classmethod
    def of(cls, rules: Rules, steps: Sequence[Step], bound: str) -> Self | None:
        """Return what later questions can follow, in which the measure has a bound of that name.

        ``None`` if that is only a leaf, or has cases of which another box may have more or fewer.
        """
        start = next(i for i, step in enumerate(steps) if not isinstance(step, Narrowing))
        later = [_for_later(step, bound) for step in steps[start:]]
        parts = [_parts(step) for step in later]
        if parts == [0] or None in parts:
            return None
        beyond = [0] * len(later)
        for number in reversed(range(len(later))):
            end = number + 1
            for _ in range(parts[number] or 0):
                end = beyond[end]
            beyond[number] = end
        return cls(rules, later, beyond, (BETTER, bound))

    def step(self, question: Question, box: Box, number: int) -> tuple[Step, list[Ahead]] | None:
        """Return what a step does in a box of another question; ``None`` if it does nothing."""
        step = self.steps[number]
        while isinstance(step, CountSplit) and len(step.of) == 1:
            (k,) = step.of
            if box.least[k] <= step.most < box.most[k]:
                break
            # All of the box is in one part, and the split would say nothing.
            number = number + 1 if box.most[k] <= step.most else self.beyond[number + 1]
            step = self.steps[number]
        for row in self.bounds:
            if question.closes(box, ByRows(rows={row: 1})):
                return ByRows(rows={row: 1}), []
        if isinstance(step, ByLaws):
            refused = question.refusal(box)
            return (ByLaws(law=refused), []) if refused else None
        if isinstance(step, ByRows):
            return (step, []) if question.closes(box, step) else None
        try:
            parts = question.parts(box, step)
        except ValueError:  # it names what is not there in this question
            return None
        first = number + 1
        return step, list(zip(parts, (first, self.beyond[first]), strict=False))


def renamed(multipliers: Mapping[str, int], bound: str) -> dict[str, int]:
    """Return multipliers of rows where the measure in question has a bound of that name."""
    named = dict(multipliers)
    if BETTER in named:
        named[bound] = named.pop(BETTER)
    return named


def _for_later(step: Step, bound: str) -> Step:
    """Return a step as later questions can take it."""
    if isinstance(step, ByRows):
        return ByRows(rows=renamed(step.rows, bound))
    return Narrowing(narrow=renamed(step.narrow, bound)) if isinstance(step, Narrowing) else step


def _parts(step: Step) -> int | None:
    """Return how many parts a step leaves; ``None`` where that depends on the box."""
    if isinstance(step, ByRows | ByLaws):
        return 0
    if isinstance(step, CaseSplit) and step.split != "below":
        return None
    return 1 if isinstance(step, Narrowing) else 2
