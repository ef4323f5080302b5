"""A Kueue problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from planner.laws import (
    FS_BORROWING,
    FS_FITS,
    FS_SHARES,
    KQ_BORROW_WITHIN_COHORT,
    KQ_FITS,
    KQ_OVER_QUOTA,
    KQ_WITHOUT_BORROWING,
    Law,
)
from planner.models.kueue.columns import Columns
from planner.models.kueue.fair_sharing import borrowing_until_last_victim, shares
from planner.models.kueue.last_victim import LastVictims
from planner.models.kueue.laws import (
    borrow_within_cohort,
    fits,
    over_quota_until_last_victim,
    without_borrowing,
)
from planner.models.kueue.usage import TreeUsage
from planner.models.shared.builder import Builder, Linear, variable
from planner.problem import FairRules, Problem


@dataclass
class Formulation:
    """The model of one problem, and what its variables mean.

    ``take[k]`` is the number of victims of class k; ``borrowing`` the literal of the attempt.
    """

    problem: Problem
    columns: Columns
    builder: Builder
    take: list[int]
    borrowing: int
    _touched: dict[int, int] = field(default_factory=dict)

    @cached_property
    def classes_of(self) -> dict[int, tuple[int, ...]]:
        """The classes of each queue that has any."""
        by_queue: dict[int, list[int]] = {}
        for k, queue in enumerate(self.columns.queue.tolist()):
            by_queue.setdefault(queue, []).append(k)
        return {queue: tuple(classes) for queue, classes in by_queue.items()}

    @cached_property
    def usage(self) -> TreeUsage:
        """The usage of every node after all removals."""
        return TreeUsage(self.builder, self.problem, self.columns, self.take)

    @cached_property
    def usage_with_request(self) -> TreeUsage:
        """The same with the preemptor's request counted at its queue."""
        request = self.problem.request
        return TreeUsage(self.builder, self.problem, self.columns, self.take, request)

    @cached_property
    def last_victims(self) -> LastVictims:
        """The last victims of every node."""
        return LastVictims(self)

    @property
    def fair(self) -> FairRules:
        """The rules of fair sharing.

        Raises
        ------
        ValueError
            If the problem is one of classical preemption.
        """
        if self.problem.fair is None:
            message = "a law of fair sharing on a problem without it"
            raise ValueError(message)
        return self.problem.fair

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


Laws = tuple[tuple[Law, Callable[[Formulation], None]], ...]

CLASSICAL: Final[Laws] = (
    (KQ_FITS, fits),
    (KQ_WITHOUT_BORROWING, without_borrowing),
    (KQ_BORROW_WITHIN_COHORT, borrow_within_cohort),
    (KQ_OVER_QUOTA, over_quota_until_last_victim),
)

FAIR: Final[Laws] = (
    (FS_FITS, fits),
    (FS_BORROWING, borrowing_until_last_victim),
    (FS_SHARES, shares),
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
    for law, state in CLASSICAL if problem.fair is None else FAIR:
        if law.id not in without:
            state(formulation)
    return formulation
