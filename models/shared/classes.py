"""Classes of candidates as a model sees them: one decision variable each; the laws in force."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from msgspec import Struct

from planner.laws import Law, Register
from planner.models.shared.builder import Builder
from planner.problem.array import IntArray
from planner.quota.classes import Classes

F = TypeVar("F", bound=Callable[..., object])


def in_force(register: Register[F], laws: Iterable[Law], without: Collection[str] = ()) -> list[F]:
    """Return a register's entries for the laws of a rule set, in order, but ids in ``without``."""
    return [register[law.id] for law in laws if law.id in register and law.id not in without]


class _Grouped(Protocol):
    @property
    def queue(self) -> IntArray: ...
    @property
    def holding(self) -> IntArray: ...


ProblemT = TypeVar("ProblemT", bound=_Grouped)


class Columns(Struct, Generic[ProblemT], frozen=True, dict=True):
    """K classes with the arrays that the laws of every scheduler look at."""

    problem: ProblemT
    classes: Classes

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def queue(self) -> IntArray:
        """(K,) the queue of each class."""
        return self.problem.queue[self.classes.first]

    @cached_property
    def holding(self) -> IntArray:
        """(K, F) what one member of each class holds."""
        return self.problem.holding[self.classes.first]


def new_takes(builder: Builder, classes: Classes) -> list[int]:
    """Return a new variable per class: how many of its members are victims."""
    return [builder.new(0, count) for count in classes.sizes.tolist()]


def alone_in_class(size: int, positions: Iterable[int]) -> list[IntArray]:
    """Return a list of one key, (W,), by which workloads at ``positions`` are alone in classes.

    ``size`` is W. The list is empty if there are no positions.
    """
    key: IntArray = np.zeros(size, dtype=np.int64)
    for number, position in enumerate(positions, start=1):
        key[position] = number
    return [key] if key.any() else []
