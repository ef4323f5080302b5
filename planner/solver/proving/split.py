"""How a box that no leaf closes is split: by cases of the laws, or by counts of victims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from planner.plan.proof import CaseSplit, CountSplit, Narrowing, Split, WholeSplit
from planner.problem.array import FloatArray
from planner.proof.box import Box, Row
from planner.proof.question import Question
from planner.quota.classes import IntArray
from planner.scheduler import scheduler_of
from planner.solver.proving.program import Suggestion
from planner.solver.proving.rows import FRACTION

CHOICE: Final = 8
"""The most splits of whole quantities, of either kind of groups, and of single classes proposed."""

LINEAR: Final = frozenset({"below", "over", "dominant"})
"""Cases that make a law linear: where counts are split first, its rows may close a part as well."""

MANY: Final = 20
"""Amounts that a row has at most to tell groups apart by it: a bound on lost work has one for
nearly every class."""

ByCase = tuple[CaseSplit | None, IntArray | None]
"""A split by cases, which make laws linear, or classes that break one at a suggested point."""


def splits(  # noqa: PLR0911 - a kind of split each
    question: Question,
    box: Box,
    found: Suggestion | None,
    known: int | None = None,
) -> Sequence[Split]:
    """Return splits of a box that is not closed, the most promising first.

    ``found`` is what a linear program suggests, if one was asked; ``known`` a class to split where
    none was. Cases come first, as they make laws linear; then whole quantities, groups of classes
    that are worth the same, or have the same usage in the same queue, and single classes.
    """
    if question.answer and "before" not in box.sums:
        return [CaseSplit(split="first")]
    nobody = _nobody(question, box)
    if nobody is not None:
        return [nobody]
    rules = question.rules
    by_case, doubtful = scheduler_of(rules).planning.cases(rules, box, found)
    if by_case is not None and (found is None or by_case.split not in LINEAR):
        return [by_case]
    if found is None:
        k = int((box.least < box.most).argmax()) if known is None else known
        return [CountSplit(of=(k,), most=int(box.least[k]))]
    point = found.point
    first: Split | None = _hardly_touched(question, box, found)
    first = first or _more_than_count(question, box, found)
    first = first or _too_many_touched(question, box, found)
    if first is not None:
        return [first]
    rows = question.rows(box)
    kinds = _worth(rows, box, found), rules.shape
    groups = (split for kind in kinds for split in _groups(kind, box, point))
    classes = _classes(box, point)
    quantities = _quantities(rows, rules.whole, found)
    proposed: dict[Split, None] = dict.fromkeys((*quantities, *groups, *classes))
    if by_case is not None:
        proposed[by_case] = None
    if proposed:
        return [*proposed]
    # The point takes a fraction of no class.
    free = np.flatnonzero(box.least < box.most)
    taken = free[point[free] > box.least[free] + 0.5]
    if doubtful is not None and np.isin(taken, doubtful).any():
        taken = taken[np.isin(taken, doubtful)]
    k = int(taken[0]) if taken.size else int(free[0])
    most = round(point[k]) - 1 if taken.size else 0
    return [CountSplit(of=(k,), most=max(most, int(box.least[k])))]


def _hardly_touched(question: Question, box: Box, found: Suggestion) -> CaseSplit | None:
    """Split by whether a queue is touched of which a point takes few, where queues are counted."""
    rules, bounds = question.rules, question.bounds
    if not bounds or "queues" not in bounds[-1].measure:
        return None
    taken = np.bincount(rules.queue, weights=found.point)
    certain = {*box.touched, *rules.queue[box.least > 0].tolist()}
    hardly = [q for q in np.flatnonzero(taken > FRACTION).tolist() if q not in certain]
    if not hardly:
        return None
    return CaseSplit(split="below", at=rules.name(min(hardly, key=lambda q: taken[q])))


def _more_than_count(question: Question, box: Box, found: Suggestion) -> CountSplit | None:
    """Split by whether more victims go than may count, of those that a point does not spare."""
    point = found.point
    for limit in question.limits:
        for amounts, least in limit.spared.values():
            lacking = least > amounts @ point + FRACTION
            taken = least[lacking & (point > FRACTION)]
            if taken.size:
                some = (least >= taken.min()) & (box.most > 0)
                if point[some].sum() > limit.most + FRACTION:
                    return CountSplit(of=tuple(some.nonzero()[0].tolist()), most=limit.most)
    return None


def _nobody(question: Question, box: Box) -> Narrowing | None:
    """Narrow the part of such a split in which nobody of some classes goes."""
    for name, row in box.sums.items() if question.limits else ():
        none = row.least == 0 and not row.extra and (row.amounts < 0).all()
        if none and box.most[row.classes].any():
            return Narrowing(narrow={name: 1})
    return None


def _too_many_touched(
    question: Question, box: Box, found: Suggestion
) -> CaseSplit | WholeSplit | None:
    """Split by whether the queue or namespace that a point takes most of is touched.

    Only where the point touches too many. In the rows parts of a victim in many queues count
    little, so that they hardly bound how many queues are touched; once as many as may be are known,
    no other is. Near a point with no more victims than queues may be touched, no set touches more.
    """
    point = found.point
    for bounded in question.bounds:
        if point.sum() < bounded.most + FRACTION:
            continue
        for term in ("queues", "namespaces"):
            if term not in bounded.measure:
                continue
            of = question.touched(box).get(term, {})
            taken = {name: point[of[name]].sum() for name in of if name in found.quantities}
            taken = {name: amount for name, amount in taken.items() if amount > FRACTION}
            ahead = sorted(taken, key=lambda name: -taken[name])
            for name in ahead if len(taken) > bounded.most else ():
                if box.least[of[name]].any():
                    continue  # it is touched for certain: the other part would be empty
                # Unless that was split before.
                if term == "queues":
                    queue = int(question.rules.queue[of[name][0]])
                    if queue not in box.touched:
                        return CaseSplit(split="below", at=question.rules.name(queue))
                elif {f"{name} at most", f"{name} at least"}.isdisjoint(box.sums):
                    return WholeSplit(whole=name, most=0)
    return None


def _worth(rows: Mapping[str, Row], box: Box, found: Suggestion) -> IntArray:
    """(K,) return a number for each class, equal where members are worth the same at a point.

    The multipliers say what they are worth to the rows that bind there, whatever their queue. Once
    a group of equal worth gives a whole number, the cheapest of it go, and these are whole.
    """
    worth, free = np.zeros(box.most.size), box.least < box.most
    for name, multiplier in found.multipliers.items():
        row = rows[name]
        amounts = np.where(free[row.classes], row.amounts, 0).astype(float)
        if len({*amounts.tolist()}) <= MANY:
            worth[row.classes] += multiplier * amounts
    # Doubles that are equal but for their last digits.
    relative = np.round(worth / (np.abs(worth).max(initial=0.0) or 1.0), 9)
    numbers: IntArray = np.unique(relative, return_inverse=True)[1]
    return numbers


def _quantities(
    rows: Mapping[str, Row], whole: AbstractSet[str], found: Suggestion
) -> Iterator[WholeSplit]:
    """Yield splits of whole quantities of which a point takes a fraction.

    Only of rows that bind there: elsewhere a fraction costs nothing, and a whole number is as good.
    """
    binding = {name for row in found.multipliers for name in rows[row].extra}
    names = sorted(found.quantities.keys() & whole & binding)
    away = np.array([abs(found.quantities[name] - round(found.quantities[name])) for name in names])
    for one in _most_doubtful(away):
        yield WholeSplit(whole=names[one], most=int(np.floor(found.quantities[names[one]])))


def _groups(kind: IntArray, box: Box, point: FloatArray) -> Iterator[CountSplit]:
    """Yield splits of classes of the same kind of which a point takes a fraction in all."""
    free = np.flatnonzero(box.least < box.most)
    sums, sizes = np.bincount(kind[free], weights=point[free]), np.bincount(kind[free])
    away = np.where(sizes > 1, np.abs(sums - np.round(sums)), 0.0)
    for one in _most_doubtful(away):
        classes = free[kind[free] == one].tolist()
        yield CountSplit(of=tuple(classes), most=int(np.floor(sums[one])))


def _classes(box: Box, point: FloatArray) -> Iterator[CountSplit]:
    """Yield splits of classes of which a point takes a fraction."""
    free = np.flatnonzero(box.least < box.most)
    for one in _most_doubtful(np.abs(point[free] - np.round(point[free]))):
        k = int(free[one])
        yield CountSplit(of=(k,), most=int(np.floor(point[k])))


def _most_doubtful(away: FloatArray) -> list[int]:
    """Return the few places where numbers are farthest from whole ones, by how far they are."""
    order = np.argsort(-away, kind="stable")[:CHOICE]
    return [one for one in order.tolist() if away[one] > FRACTION]
