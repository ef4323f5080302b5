"""A Kueue problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from planner.laws import (
    KQ_BORROW_WITHIN_COHORT,
    KQ_FITS,
    KQ_OVER_QUOTA,
    KQ_WITHOUT_BORROWING,
    Law,
)
from planner.models.kueue.columns import Columns
from planner.models.kueue.last_victim import over_quota_until_last_victim
from planner.models.kueue.laws import borrow_within_cohort, fits, without_borrowing
from planner.models.kueue.usage import TreeUsage
from planner.models.shared.builder import Builder, Linear, variable
from planner.problem import Problem


@dataclass(slots=True)
class Formulation:
    """The model of one problem, and what its variables mean.

    ``take[k]`` is the number of victims of class k; ``borrowing`` the literal of the attempt.
    The dictionaries name the auxiliary literals: whether a node is touched, which class or
    child holds its last victim, and which fr shows a node to be over quota.
    """

    problem: Problem
    columns: Columns
    builder: Builder
    take: list[int]
    borrowing: int
    usage: TreeUsage = field(init=False)
    classes_of: dict[int, tuple[int, ...]] = field(init=False)
    last_of_class: dict[int, int] = field(default_factory=dict)
    last_of_node: dict[int, int] = field(default_factory=dict)
    touched_cohort: dict[int, int] = field(default_factory=dict)
    witness: dict[tuple[int, int], int] = field(default_factory=dict)
    _touched: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the classes by queue."""
        by_queue: dict[int, list[int]] = {}
        for k, queue in enumerate(self.columns.queue.tolist()):
            by_queue.setdefault(queue, []).append(k)
        self.classes_of = {queue: tuple(classes) for queue, classes in by_queue.items()}
        self.usage = TreeUsage(self.builder, self.problem, self.columns, self.take)

    def touched(self, queue: int) -> int:
        """Return the literal that says whether a queue has a victim, made when first asked for."""
        if queue not in self._touched:
            literal = self.builder.new_bool()
            self._touched[queue] = literal
            taken = Linear({self.take[k]: 1 for k in self.classes_of[queue]})
            self.builder.at_least(taken.plus(variable(literal), -1), 0)
            for k in self.classes_of[queue]:
                count = self.columns.count(k)
                self.builder.at_most(variable(self.take[k]).plus(variable(literal), -count), 0)
        return self._touched[queue]


LAWS: Final[tuple[tuple[Law, Callable[[Formulation], None]], ...]] = (
    (KQ_FITS, fits),
    (KQ_WITHOUT_BORROWING, without_borrowing),
    (KQ_BORROW_WITHIN_COHORT, borrow_within_cohort),
    (KQ_OVER_QUOTA, over_quota_until_last_victim),
)


def assemble(
    problem: Problem,
    columns: Columns,
    attempts: Sequence[bool],
    without: Collection[str] = (),
) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    Parameters
    ----------
    attempts
        The attempts that law KQ-08 permits.
    """
    builder = Builder()
    take = [builder.new(0, columns.count(k)) for k in range(len(columns))]
    borrowing = builder.new(int(min(attempts)), int(max(attempts)))
    formulation = Formulation(problem, columns, builder, take, borrowing)
    for law, state in LAWS:
        if law.id not in without:
            state(formulation)
    return formulation
