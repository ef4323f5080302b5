"""Trees that were accepted, checked again: every step by looking at all sets of its box.

Which rows there are and what they say is the checker's; that they contradict one another, and that
the parts of a split are all there is, is found here by counting, not by bounds.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

import pytest

from planner.plan.proof import ByLaws, ByRows, CountSplit, Narrowing, Rounding, Step
from planner.proof.box import Box, Row
from planner.proof.question import Question

MOST_POINTS = 4096
"""Sets of a box that are looked at, at most; of larger boxes so many are drawn."""

Counts = tuple[int, ...]
Walked = tuple[Question, tuple[Step, ...]]


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Walked]:
    """Return a list into which every tree goes that the checker accepts from now on."""
    found: list[Walked] = []
    check = Question.check

    def checked(self: Question, steps: Iterable[Step]) -> None:
        walked = tuple(steps)
        check(self, walked)
        found.append((self, walked))

    monkeypatch.setattr(Question, "check", checked)
    return found


def faults(question: Question, steps: Sequence[Step]) -> Iterator[str]:
    """Yield what is wrong with a tree."""
    ahead = [question.root]
    for number, step in enumerate(steps, start=1):
        if not ahead:
            yield f"step {number} belongs to nothing"
            return
        box = ahead.pop()
        parts: Sequence[Box] = ()
        if not isinstance(step, ByRows | ByLaws):
            parts = question.parts(box, step)
        for point in points(box):
            said = _fault(question, box, parts, step, point)
            if said:
                yield f"step {number}: {point} {said}"
        ahead.extend(reversed(parts))
    if ahead:
        yield "parts are left open"


def points(box: Box) -> Iterator[Counts]:
    """Yield the sets of a box, as counts per class, that have its sums, too."""
    ranges = [
        range(least, most + 1)
        for least, most in zip(box.least.tolist(), box.most.tolist(), strict=True)
    ]
    if not all(ranges):
        return
    if prod(len(each) for each in ranges) <= MOST_POINTS:
        drawn: Iterator[Counts] = iter(product(*ranges))
    else:
        chance = random.Random(0)  # noqa: S311 - a test wants the same numbers again
        drawn = (tuple(map(chance.choice, ranges)) for _ in range(MOST_POINTS))
    yield from (point for point in drawn if _has_sums(box, point))


def _has_sums(box: Box, point: Counts) -> bool:
    """Say whether a set has the sums of a box; of further quantities it says nothing."""
    return all(row.extra or _left(row, point) >= row.least for row in box.sums.values())


def _left(row: Row, point: Counts) -> int:
    """Return the left side of a row without its further quantities."""
    pairs = zip(row.classes.tolist(), row.amounts.tolist(), strict=True)
    return sum(int(amount) * point[k] for k, amount in pairs)


def _fault(question: Question, box: Box, parts: Sequence[Box], step: Step, point: Counts) -> str:
    if isinstance(step, ByRows):
        return "" if not _possible(question, box, step.rows, point) else "satisfies the sum"
    if isinstance(step, Narrowing):
        lost = not _inside(parts[0], point)
        return "satisfies the sum" if lost and _possible(question, box, step.narrow, point) else ""
    if isinstance(step, Rounding):
        rows = [question.rows(box)[name] for name in step.round]
        held = all(not row.extra and _left(row, point) >= row.least for row in rows)
        return "satisfies the rows" if held and not _has_sums(parts[0], point) else ""
    if isinstance(step, CountSplit):
        return "" if any(_inside(part, point) for part in parts) else "is in no part"
    return ""


def _inside(box: Box, point: Counts) -> bool:
    least, most = box.least.tolist(), box.most.tolist()
    bounded = all(low <= n <= high for low, n, high in zip(least, point, most, strict=True))
    return bounded and _has_sums(box, point)


def _possible(question: Question, box: Box, weights: Mapping[str, int], point: Counts) -> bool:
    """Say whether weighed rows can hold together at a point, whatever the further quantities."""
    rows, ranges = question.rows(box), question.ranges(box)
    spare, extra = 0, dict[str, int]()
    for name, weight in weights.items():
        if weight < 0:
            return True
        spare += weight * (_left(rows[name], point) - rows[name].least)
        for quantity, coefficient in rows[name].extra.items():
            extra[quantity] = extra.get(quantity, 0) + weight * coefficient
    return spare + sum(max(c * value for value in ranges[q]) for q, c in extra.items()) >= 0
