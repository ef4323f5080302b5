"""The set of victim sets a model admits: enumerated, never only "feasible if solved"."""

from collections.abc import Collection, Iterable
from itertools import product
from typing import Final

import numpy as np

from planner.models.kueue.formulation import Columns, Formulation, build_classes
from planner.models.kueue.laws import assemble, attempts, eligible, restricted_while_borrowing
from planner.problem.kueue import Problem
from tests.exact import admits, solutions

VictimSets = dict[bool, set[frozenset[str]]]
"""Per attempt (whether it may borrow), the admitted victim sets."""

_MOST: Final = 10
"""Eligible workloads of which every subset can be tried."""


def admitted(
    problem: Problem,
    without: Collection[str] = (),
    both_attempts: bool = False,  # noqa: FBT001, FBT002 - drops law KQ-08 for a test
) -> VictimSets:
    """Enumerate what the model admits, per attempt; laws in ``without`` are left out."""
    formulation = _formulate(problem, without, both_attempts=both_attempts)
    builder, attempt = formulation.builder, formulation.borrowing
    tried = {bool(builder.lower[attempt]), bool(builder.upper[attempt])}
    sets: VictimSets = {borrowing: set() for borrowing in tried}
    for borrowing, *taken in solutions(builder, [attempt, *formulation.take]):
        sets[bool(borrowing)].add(_named(formulation, taken))
    return sets


def admitted_fairly(problem: Problem, without: Collection[str] = ()) -> set[frozenset[str]]:
    """Return what the model admits in the only attempt of fair sharing.

    Its auxiliary variables have too many values to enumerate, so every subset of the eligible
    workloads is tried. Keep them few.
    """
    formulation = _formulate(problem, without)
    if len(formulation.take) > _MOST:
        message = f"{len(formulation.take)} eligible workloads have too many subsets"
        raise ValueError(message)
    return {
        _named(formulation, taken)
        for taken in product((0, 1), repeat=len(formulation.take))
        if admits(formulation.builder, formulation.take, taken)
    }


def _formulate(
    problem: Problem, without: Collection[str], *, both_attempts: bool = False
) -> Formulation:
    """Return the model with a variable for every eligible workload."""
    allowed = eligible(problem, without)
    every_workload_apart = [np.arange(len(problem.workloads), dtype=np.int64)]
    restricted = restricted_while_borrowing(problem)
    classes = build_classes(problem, allowed, restricted, every_workload_apart)
    columns = Columns(problem, classes, restricted)
    permitted = (True, False) if both_attempts else attempts(problem, allowed)
    return assemble(problem, columns, permitted, without)


def _named(formulation: Formulation, taken: Iterable[int]) -> frozenset[str]:
    problem, members = formulation.problem, formulation.classes.members
    return frozenset(
        problem.workloads[group[0]].key
        for group, count in zip(members, taken, strict=True)
        if count
    )
