"""Workloads that nothing tells apart are one class; the first in the scheduler's order are meant.

The scheduler's order among equals: the one that got its quota last first, then the smaller UID.
"""

from collections.abc import Iterable

import pytest

import planner
from planner.models.kueue.formulation import build_classes
from planner.models.kueue.laws import eligible, restricted_while_borrowing
from planner.problem.array import IntArray
from planner.problem.kueue import Problem
from planner.quota.classes import Classes
from tests.cluster import (
    PENDING,
    Object,
    cohort,
    fair_sharing,
    pending,
    preempt,
    problem_of,
    queue,
    running,
    state_of,
)

TWINS = [
    *cohort("org", nominal=8),
    *queue("a", 0, "org", within="LowerPriority", reclaim="Any", borrow="LowerPriority"),
    *queue("b", 0, "org"),
    *queue("c", 0, "org"),
    *running("first", "b", 1, minute=1),
    *running("third", "b", 1, minute=3),
    *running("second", "b", 1, minute=2),
    *running("second-too", "b", 1, minute=2),
    *running("other-queue", "c", 1, minute=9),
    *running("other-size", "b", 3, minute=9),
    *pending("a", 3),
]


def classes_of(problem: Problem, costs: Iterable[IntArray] = ()) -> Classes:
    return build_classes(
        problem, eligible(problem), restricted_while_borrowing(problem), list(costs)
    )


def named(problem: Problem, classes: Classes) -> list[list[str]]:
    """Return the members of every class without their namespace."""
    return [
        [problem.workloads[member].key.removeprefix("ns/") for member in group]
        for group in classes.members
    ]


@pytest.mark.parametrize("more", [[], fair_sharing()])
def test_same_queue_and_size_is_one_class_in_the_schedulers_order(more: list[Object]) -> None:
    problem, *_ = problem_of(state_of(TWINS, more))
    classes = named(problem, classes_of(problem))
    assert sorted(classes) == [
        ["other-queue"],
        ["other-size"],
        ["third", "second", "second-too", "first"],
    ]


def test_what_costs_more_is_a_class_of_its_own() -> None:
    problem, *_ = problem_of(state_of(TWINS))
    dearer = problem.order * 0
    dearer[[w.key for w in problem.workloads].index("ns/second")] = 1
    classes = named(problem, classes_of(problem, [dearer]))
    assert ["third", "second-too", "first"] in classes
    assert ["second"] in classes


def test_counts_and_members_translate_into_each_other() -> None:
    problem, *_ = problem_of(state_of(TWINS))
    classes = classes_of(problem)
    counts = [min(2, classes.count(k)) for k in range(len(classes))]
    assert classes.counts(classes.take(counts)) == counts
    assert classes.counts([len(problem.workloads)]) is None


@pytest.mark.parametrize("more", [[], fair_sharing()])
def test_the_members_named_are_the_first_in_the_schedulers_order(more: list[Object]) -> None:
    """Cost 1 for the twins and 9 for the rest: three twins make room, the oldest may stay."""
    state = state_of(TWINS, more)
    costs = {"ns/other-size": 9, "ns/other-queue": 9}
    plan = planner.solve(
        state, PENDING, objective="min-cost", costs=costs, assignment=preempt(state)
    )
    assert plan.status == "optimal"
    assert plan.keys == ("ns/third", "ns/second", "ns/second-too")
