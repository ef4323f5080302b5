"""What to split where inequalities do not contradict one another: suggestions, nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from planner.plan.proof import CaseSplit, CountSplit
from planner.proof.box import Box
from planner.proof.question import IntArray, Question, Rules
from planner.scheduler import Part
from planner.solver.proving.look import FRACTION, Floats
from planner.solver.proving.phase_one import Suggestion

CHOICE: Final = 6
"""How many groups and how many classes are proposed."""

ByCase = tuple[CaseSplit | None, IntArray | None]
"""A split by cases, or classes that break a law at a suggested point."""

CASES: Final = Part[Callable[[Rules, Box, Suggestion | None], ByCase]]("cases")
"""What makes the laws of a scheduler linear: its splits by cases."""


def splits(
    question: Question, box: Box, found: Suggestion | None, known: int | None = None
) -> Sequence[CountSplit | CaseSplit]:
    """Return splits of a box that has more than one set, the most promising first.

    ``found`` is what a linear program suggests, if one was asked; ``known`` a class that is to be
    split where none was. The cases come first, as they make laws linear; then groups of classes
    that hold alike, which costs alone tell apart, and single classes.
    """
    if question.answer and "before" not in box.sums:
        return [CaseSplit(split="first")]
    rules = question.rules
    point = None if found is None else found.point
    by_case, doubtful = CASES.of(rules)(rules, box, found)
    if by_case is None and point is not None and _counts_queues(question):
        by_case = _queue_hardly_touched(rules, box, point)
    if by_case is not None:
        return [by_case]
    if point is not None:
        by_count = [*_shapes(rules.shape, box, point), *_classes(box, point)]
        if by_count:
            return by_count
    return [_class(box, point, doubtful, known)]


def _counts_queues(question: Question) -> bool:
    return bool(question.bounds) and "D8" in question.bounds[-1].measure


def _queue_hardly_touched(rules: Rules, box: Box, point: Floats) -> CaseSplit | None:
    """Split a queue of which a point takes few: touched or not decides how many queues are."""
    taken = np.bincount(rules.queue, weights=point)
    certain = {*box.touched, *np.unique(rules.queue[box.least > 0]).tolist()}
    doubtful = [q for q in np.flatnonzero(taken > FRACTION).tolist() if q not in certain]
    if not doubtful:
        return None
    return CaseSplit(split="below", at=rules.name(min(doubtful, key=lambda q: taken[q])))


def _shapes(shape: IntArray, box: Box, point: Floats) -> Iterator[CountSplit]:
    """Yield splits of groups that hold alike, of which a point takes a fraction together."""
    sums = np.bincount(shape, weights=point)
    groups = np.bincount(shape, weights=box.least < box.most)
    away = np.where(groups > 1, np.abs(sums - np.round(sums)), 0.0)
    for one in _most_doubtful(away):
        classes = np.flatnonzero(shape == one).tolist()
        yield CountSplit(of=tuple(classes), most=int(np.floor(sums[one])))


def _classes(box: Box, point: Floats) -> Iterator[CountSplit]:
    """Yield splits of classes of which a point takes a fraction."""
    free = np.flatnonzero(box.least < box.most)
    for one in _most_doubtful(np.abs(point[free] - np.round(point[free]))):
        k = int(free[one])
        yield CountSplit(of=(k,), most=int(np.floor(point[k])))


def _most_doubtful(away: Floats) -> list[int]:
    """Return where numbers are farthest from whole ones: a few places."""
    order = np.argsort(-away, kind="stable")[:CHOICE]
    return [one for one in order.tolist() if away[one] > FRACTION]


def _class(
    box: Box, point: Floats | None, doubtful: IntArray | None, known: int | None
) -> CountSplit:
    """Split a class where there is no program, or none of which its point takes a fraction."""
    free = np.flatnonzero(box.least < box.most)
    if point is None:
        k = int(free[0]) if known is None else known
        return CountSplit(of=(k,), most=int(box.least[k]))
    taken = free[point[free] > box.least[free] + 0.5]
    if doubtful is not None and np.isin(taken, doubtful).any():
        taken = taken[np.isin(taken, doubtful)]
    k = int(taken[0]) if taken.size else int(free[0])
    most = round(point[k]) - 1 if taken.size else 0
    return CountSplit(of=(k,), most=max(most, int(box.least[k])))
