"""What to split where inequalities do not contradict one another: suggestions, nothing more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from planner.plan.proof import CaseSplit, CountSplit
from planner.proof.box import Box
from planner.proof.kueue import KueueRules
from planner.proof.kueue.frame import IntArray
from planner.proof.kueue.inequalities import some_over
from planner.proof.kueue.refusal import stuck
from planner.proof.kueue.shares import may_dominate
from planner.proof.question import Question
from planner.proof.yunikorn import YuniKornRules
from planner.solver.proving.look import Floats
from planner.solver.proving.phase_one import Suggestion

FRACTION: Final = 1e-6
"""Less than this away from a whole number counts as whole."""

CHOICE: Final = 6
"""How many groups and how many classes are proposed."""


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
    rules, doubtful = question.rules, None
    point = None if found is None else found.point
    if isinstance(rules, KueueRules | YuniKornRules):
        if isinstance(rules, KueueRules):
            by_case, doubtful = _kueue_case(rules, box, found)
        else:
            by_case, doubtful = _yunikorn_case(rules, box, point)
        if by_case is None and point is not None and _counts_queues(question):
            by_case = _queue_hardly_touched(rules, box, point)
        if by_case is not None:
            return [by_case]
        if point is not None:
            by_count = [*_shapes(rules.shape, box, point), *_classes(box, point)]
            if by_count:
                return by_count
    return [_class(box, point, doubtful, known)]


def _kueue_case(
    rules: KueueRules, box: Box, found: Suggestion | None
) -> tuple[CaseSplit | None, IntArray | None]:
    """Return a split by cases of which a point keeps none, or classes that break a law there."""
    # Where nobody is left whom an attempt spares, what one attempt permits the other does, too.
    if box.attempt is None and len(rules.attempts) > 1 and box.most[rules.restricted].any():
        return CaseSplit(split="attempt"), None
    if found is None:
        return None, None
    priced = _priced_over(rules, box, found)
    if priced is not None:
        touched = priced in rules.touched(box)
        return CaseSplit(split="over" if touched else "below", at=rules.name(priced)), None
    point = found.point
    counts = np.clip(np.ceil(point - 0.5 + FRACTION).astype(np.int64), box.least, box.most)
    broken = stuck(rules, replace(box, least=counts, most=counts))
    if broken is None:
        return None, None
    node, law = broken
    kind: Literal["below", "over", "dominant"] | None = None
    if node not in rules.touched(box):
        kind = "below"
    elif node not in box.over and len(rules.watched[node]) > 1:
        kind = "over"
    elif law == "share" and node not in box.dominant and len(may_dominate(rules, node)) > 1:
        kind = "dominant"
    case = None if kind is None else CaseSplit(split=kind, at=rules.name(node))
    return case, rules.below[node]


def _priced_over(rules: KueueRules, box: Box, found: Suggestion) -> int | None:
    """Return the node that costs most if it is open in what it stays over its quota.

    While that is open, what its victims hold is bounded by a mixture of all that it may be over
    in, which bounds little. The multiplier of the row that asks for one of them says what that
    is worth.
    """
    worth, dearest = 0.0, None
    for node in rules.side_nodes:
        price = found.multipliers.get(some_over(rules, node), 0.0)
        if price > worth and node not in box.over and len(rules.watched[node]) > 1:
            worth, dearest = price, node
    return dearest


def _yunikorn_case(
    rules: YuniKornRules, box: Box, point: Floats | None
) -> tuple[CaseSplit | None, IntArray | None]:
    """Return the split by nodes, or the classes of a queue that a point leaves no last turn."""
    if rules.host(box) is None:
        return CaseSplit(split="host"), None
    if point is None:
        return None, None
    counts = np.clip(np.ceil(point - 0.5 + FRACTION).astype(np.int64), box.least, box.most)
    leaf = rules.stuck(counts)
    return None, None if leaf is None else np.flatnonzero(rules.queue == leaf)


def _counts_queues(question: Question) -> bool:
    return bool(question.bounds) and "D8" in question.bounds[-1].measure


def _queue_hardly_touched(
    rules: KueueRules | YuniKornRules, box: Box, point: Floats
) -> CaseSplit | None:
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
