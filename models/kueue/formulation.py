"""The model of one problem while it is being built: its variables, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from planner.models.kueue.columns import Columns
from planner.models.kueue.last_victim import LastVictims
from planner.models.kueue.places import Standing
from planner.models.kueue.usage import TreeUsage
from planner.models.shared.builder import Builder, Linear, variable
from planner.models.shared.classes import Classes
from planner.problem.kueue import FairRules, Problem


@dataclass
class Formulation:
    """The model of one problem, and what its variables mean.

    ``take[k]`` is the number of victims of class k; ``borrowing`` the literal of the attempt;
    ``last_victims`` the last victims of every node; ``standing`` has the pods on the nodes, group
    by group.
    """

    problem: Problem
    columns: Columns
    builder: Builder
    take: list[int]
    borrowing: int
    last_victims: LastVictims = field(init=False)
    standing: Sequence[Standing] = ()
    _touched: dict[int, int] = field(default_factory=dict)

    @property
    def classes(self) -> Classes:
        """The classes of candidates."""
        return self.columns.classes

    @property
    def alternatives(self) -> Sequence[int]:
        """Nothing is chosen besides the victims that the disruption terms depend on."""
        return ()

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
        request = self.problem.searched
        return TreeUsage(self.builder, self.problem, self.columns, self.take, request)

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
            taken = {k: self.take[k] for k in self.classes_of[queue]}
            certain = self.builder.is_positive(taken.values())
            literal = self.builder.new(int(certain), 1)
            self._touched[queue] = literal
            if not certain:
                some = Linear(dict.fromkeys(taken.values(), 1))
                self.builder.add(some >= variable(literal))
                for k, index in taken.items():
                    count = self.columns.count(k)
                    self.builder.add(variable(index) <= count * variable(literal))
        return self._touched[queue]
