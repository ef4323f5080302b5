"""Bounds of relaxations with choices: by hand, and against every point of small ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from planner.models.shared.classes import Classes, Relaxation, Row
from planner.problem.array import IntArray
from planner.solver import bound as linear_program
from planner.solver.bound import Bound, linear_programming_bound
from planner.solver.deadline import Deadline


def classes_of(counts: list[int]) -> Classes:
    """Return classes with so many members, numbered through."""
    ends = np.cumsum(counts).tolist()
    members = [list(range(end - count, end)) for count, end in zip(counts, ends, strict=True)]
    return Classes(members, np.array([each[0] for each in members], dtype=np.int64))


def row(coefficients: list[int], bound: int, *slack: tuple[int, int]) -> Row:
    return Row.of("", np.array(coefficients, dtype=np.int64), bound, tuple(slack))


def either(first: list[int], second: list[int], most: int, total: int) -> list[Row]:
    """Return the rows of a choice: one of two sums stays at ``most``, where both could be total."""
    return [
        row([-c for c in first], -total, (0, most - total)),
        row([-c for c in second], -total, (1, most - total)),
        row([0] * len(first), 1, (0, 1), (1, 1)),
    ]


def test_a_choice_is_made_and_not_blurred(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of a or b go and four of c or d, for 1 or 3 each; only one of a and c may go past 1.

    So b or d costs 1 + 3 * 3 instead of 4. One program mixes the two: of 10 members half a
    choice permits 5.5, which is more than 4.
    """
    costs = np.array([1, 3, 1, 3], dtype=np.int64)
    cover = [row([1, 1, 0, 0], 4), row([0, 0, 1, 1], 4)]
    choice = either([1, 0, 0, 0], [0, 0, 1, 0], most=1, total=10)
    relaxation = Relaxation([*cover, *choice], 2, [(0, 1)])
    classes = classes_of([10] * 4)
    assert linear_programming_bound(relaxation, classes, costs, [], Deadline()).whole == 14
    monkeypatch.setattr(linear_program, "PROGRAMS", 1)
    assert linear_programming_bound(relaxation, classes, costs, [], Deadline()).whole == 8


def test_no_choice_is_made_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program before the choice proved stands."""
    monkeypatch.setattr(Deadline, "passed", property(lambda _: True))
    costs = np.array([1, 3, 1, 3], dtype=np.int64)
    cover = [row([1, 1, 0, 0], 4), row([0, 0, 1, 1], 4)]
    choice = either([1, 0, 0, 0], [0, 0, 1, 0], most=1, total=10)
    relaxation = Relaxation([*cover, *choice], 2, [(0, 1)])
    bound = linear_programming_bound(relaxation, classes_of([10] * 4), costs, [], Deadline())
    assert bound.whole == 8


def test_what_is_impossible_costs_more_than_everything() -> None:
    """Six are needed and four permitted: no verdict in doubles says so, but a bound."""
    relaxation = Relaxation([row([1, 1], 6), row([-1, -1], -4)], 0)
    costs = np.array([5, 7], dtype=np.int64)
    bound = linear_programming_bound(relaxation, classes_of([5, 5]), costs, [], Deadline())
    assert bound.whole > 5 * 5 + 5 * 7


def test_a_branch_that_is_impossible_leaves_the_other_bound() -> None:
    """Seven of a or c must go, of c at most five: so not a but c stays at 1."""
    rows = [row([1, 0], 2), row([1, 1], 7), *either([1, 0], [0, 1], most=1, total=10)]
    relaxation = Relaxation(rows, 2, [(0, 1)])
    costs = np.array([4, 1], dtype=np.int64)
    bound = linear_programming_bound(relaxation, classes_of([10, 5]), costs, [], Deadline())
    assert bound.whole == 6 * 4 + 1


@pytest.mark.parametrize("seed", range(60))
def test_no_point_contradicts_a_bound(seed: int) -> None:
    """Neither its cost, nor what a class in it adds or saves."""
    chance = random.Random(seed)  # noqa: S311 - test data
    counts = [chance.randint(1, 3) for _ in range(5)]
    costs = np.array([chance.randint(0, 9) for _ in counts], dtype=np.int64)

    def some(low: int, high: int) -> list[int]:
        return [chance.randint(low, high) for _ in counts]

    sums = some(0, 4), some(0, 4)
    total = 1 + max(sum(c * n for c, n in zip(each, counts, strict=True)) for each in sums)
    most = chance.randint(0, total - 1)
    rows = [row(some(0, 5), chance.randint(1, 15)) for _ in range(2)]
    relaxation = Relaxation([*rows, *either(*sums, most, total)], 2, [(0, 1)])
    bound = linear_programming_bound(relaxation, classes_of(counts), costs, [], Deadline())
    for point in points(counts, rows, sums, most):
        check(bound, point, counts, costs)


def points(
    counts: list[int], rows: list[Row], sums: tuple[list[int], list[int]], most: int
) -> Iterator[tuple[int, ...]]:
    """Yield what keeps all rows, and one of two sums at most so large."""
    for point in product(*(range(count + 1) for count in counts)):
        covered = all(one.value(np.array(point)) >= one.bound for one in rows)
        if covered and min(int(np.dot(each, point)) for each in sums) <= most:
            yield point


def check(bound: Bound, point: tuple[int, ...], counts: list[int], costs: IntArray) -> None:
    cost = int(costs @ point)
    assert cost * bound.denominator >= bound.value
    for taken, count, reduced in zip(point, counts, bound.reduced, strict=True):
        deviates = taken * reduced if reduced > 0 else (taken - count) * reduced
        assert deviates <= bound.room(cost)
