"""What is known of class counts narrows the model, and changes nothing else in it.

With classes of which at least and at most so many members go, the model admits exactly those of
its victim sets that keep to that.
"""

import random
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final

import pytest

from planner.models.kueue.formulation import Columns, build_classes
from planner.models.kueue.laws import assemble, attempts, eligible, restricted_while_borrowing
from planner.models.shared.classes import Classes
from planner.models.yunikorn.candidates import eligible as eligible_allocations
from planner.models.yunikorn.formulation import build_classes as build_yunikorn_classes
from planner.models.yunikorn.laws import assemble as assemble_yunikorn
from planner.problem.kueue import Problem, build_problem
from planner.solver.engine import complete
from tests.random_trees import random_instance
from tests.yunikorn.admitted import problem_of
from tests.yunikorn.random_clusters import random_cluster

POINTS: Final = 200
"""Combinations of class counts up to which all are tried."""

Ranges = list[tuple[int, int]]


def drawn(chance: random.Random, classes: Classes) -> Ranges:
    """Draw how many members of each class go, at least and at most; mostly that is not known."""
    ranges = []
    for k in range(len(classes)):
        low, high = sorted(chance.randint(0, classes.count(k)) for _ in range(2))
        known = chance.random() < 1 / 3
        ranges.append((low, max(high, 1)) if known else (0, classes.count(k)))
    return ranges


def narrowed(classes: Classes, ranges: Ranges) -> Classes:
    return classes.narrowed(
        {k: low for k, (low, _) in enumerate(ranges) if low},
        {k: high for k, (_, high) in enumerate(ranges) if high < classes.count(k)},
    )


def points(classes: Classes) -> Sequence[tuple[int, ...]]:
    """Return all combinations of class counts, or none if they are too many."""
    counts = [classes.count(k) for k in range(len(classes))]
    many = prod(count + 1 for count in counts) > POINTS
    return [] if many else list(product(*(range(count + 1) for count in counts)))


def of_kueue(problem: Problem, classes: Classes, point: Sequence[int]) -> bool:
    """Say whether the model of Kueue's laws over some classes admits class counts."""
    restricted = restricted_while_borrowing(problem)
    permitted = attempts(problem, eligible(problem))
    built = assemble(problem, Columns(problem, classes, restricted), permitted)
    return complete(built.builder, built.take, point) is not None


def keeps_to(ranges: Ranges, point: Sequence[int]) -> bool:
    return all(low <= count <= high for (low, high), count in zip(ranges, point, strict=True))


@pytest.mark.parametrize("fair", [False, True])
def test_kueue(*, fair: bool) -> None:
    admitted = refused = 0
    for seed in range(150):
        chance = random.Random(seed)  # noqa: S311 - test data
        instance = random_instance(chance.randint, 7, fair=fair)
        problem = build_problem(instance.snapshot, instance.preemptor, instance.assignment)
        allowed = eligible(problem)
        classes = build_classes(problem, allowed, restricted_while_borrowing(problem), [])
        ranges = drawn(chance, classes)
        for point in points(classes):
            if keeps_to(ranges, point):
                whole = of_kueue(problem, classes, point)
                assert of_kueue(problem, narrowed(classes, ranges), point) == whole, (seed, point)
                admitted += whole
                refused += not whole
    assert admitted > 50
    assert refused > 50


def test_yunikorn() -> None:
    admitted = refused = 0
    for seed in range(100):
        chance = random.Random(seed)  # noqa: S311 - test data
        problem = problem_of(random_cluster(seed, plain=seed % 2 == 0, twins=True))
        rules = "yunikorn-required-node" if problem.ask.required_node else "yunikorn-design"
        classes = build_yunikorn_classes(problem, eligible_allocations(problem), [])
        ranges = drawn(chance, classes)
        for point in points(classes):
            if keeps_to(ranges, point):
                one, other = (
                    assemble_yunikorn(problem, each, rules, spare="nobody")
                    for each in (classes, narrowed(classes, ranges))
                )
                whole = complete(one.builder, one.take, point) is not None
                less = complete(other.builder, other.take, point) is not None
                assert whole == less, (seed, point)
                admitted += whole
                refused += not whole
    assert admitted > 20
    assert refused > 20


def test_counts_out_of_range_have_no_variable() -> None:
    """Two members of one class, of which exactly one goes."""
    instance = random_instance(random.Random(0).randint, 7)  # noqa: S311 - test data
    problem = build_problem(instance.snapshot, instance.preemptor, instance.assignment)
    classes = Classes([[0, 1]], problem.order[:1] * 0).narrowed({0: 1}, {0: 1})
    built = assemble(
        problem, Columns(problem, classes, restricted_while_borrowing(problem)), [True]
    )
    (take,) = built.take
    assert (built.builder.lower[take], built.builder.upper[take]) == (1, 1)
    assert classes.take([1]) == (0,)
