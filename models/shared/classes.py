"""Classes of interchangeable candidates, one decision variable each, and rows over classes.

A model decides how many members of a class are victims; a canonical rule settles which: the first
in the scheduler's candidate order. Rows are linear, and every legal victim set satisfies them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain, compress
from operator import mul
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from msgspec import Struct

from planner.laws import Law, Register
from planner.models.shared.builder import Builder
from planner.problem.array import BoolArray, IntArray

F = TypeVar("F", bound=Callable[..., object])


def in_force(register: Register[F], laws: Iterable[Law], without: Collection[str] = ()) -> list[F]:
    """Return a register's entries for the laws of a rule set, in order, but ids in ``without``."""
    return [register[law.id] for law in laws if law.id in register and law.id not in without]


class Classes(Struct, frozen=True, dict=True):
    """K classes of interchangeable candidates.

    ``members[k]`` are positions among the problem's workloads, in the scheduler's order;
    ``first`` is (K,), a representative of each class for looking up costs and holdings.
    """

    members: Sequence[Sequence[int]]
    first: IntArray

    def __len__(self) -> int:
        return len(self.members)

    def count(self, k: int) -> int:
        """Return how many candidates class k has."""
        return len(self.members[k])

    @cached_property
    def sizes(self) -> IntArray:
        """(K,) how many candidates each class has."""
        return np.array([len(members) for members in self.members], dtype=np.int64)

    def subset(self, classes: Sequence[int]) -> Classes:
        """Return only the classes with these numbers, in the order given."""
        return Classes(
            members=[self.members[k] for k in classes],
            first=self.first[np.array(classes, dtype=np.int64)],
        )

    def take(self, counts: Iterable[int]) -> tuple[int, ...]:
        """Return the positions of the victims, given how many each class has."""
        taken = tuple(counts)
        some = compress(range(len(self)), taken)  # most classes have no victims
        return tuple(position for k in some for position in self.members[k][: taken[k]])

    def counts(self, positions: Iterable[int]) -> list[int] | None:
        """Return the victims per class of a victim set; ``None`` if a victim is in no class."""
        chosen = set(positions)
        counts = self.among(chosen)
        return counts if sum(counts) == len(chosen) else None

    def among(self, positions: Collection[int]) -> list[int]:
        """Return, per class, how many of the positions, each given once, are in it."""
        known = [position for position in positions if position < self._class_of.size]
        of = self._class_of[np.array(known, dtype=np.int64)]
        counts: list[int] = np.bincount(of[of >= 0], minlength=len(self)).tolist()
        return counts

    @cached_property
    def _class_of(self) -> IntArray:
        """The class of each position; -1 for a position that is in no class."""
        members = np.fromiter(chain.from_iterable(self.members), dtype=np.int64)
        found = np.full(int(members.max(initial=-1)) + 1, -1, dtype=np.int64)
        found[members] = np.repeat(np.arange(len(self)), self.sizes)
        return found


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
    def counts(self) -> IntArray:
        """(K,) how many candidates each class has."""
        return self.classes.sizes

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
    return [builder.new(0, classes.count(k)) for k in range(len(classes))]


def group_alike(order: IntArray, eligible: BoolArray, columns: Sequence[IntArray]) -> Classes:
    """Group the eligible workloads, (W,), that agree in all columns: (W,) or (W, X) each.

    Members come in the scheduler's ``order``, (W,), so that the first of a class are its canonical
    victims.
    """
    positions = np.flatnonzero(eligible)
    positions = positions[np.argsort(order[positions], kind="stable")]
    return group(positions, np.column_stack([column[positions] for column in columns]))


def group(positions: IntArray, key: IntArray) -> Classes:
    """Group candidates that have the same key.

    - ``positions``: (C,) the candidates in the scheduler's order.
    - ``key``: (C, X) what must be equal within a class.
    """
    if positions.size == 0:
        return Classes((), positions)
    # Sorted by key: candidates of equal keys follow one another, in the scheduler's order.
    by_key = np.lexsort(key.T)
    begins = np.ones(positions.size, dtype=np.bool_)
    begins[1:] = (key[by_key[1:]] != key[by_key[:-1]]).any(axis=1)
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], positions.size)
    # Number the classes by their first member, so that the model reads in the scheduler's order.
    number = np.argsort(by_key[starts])
    ordered: list[int] = positions[by_key].tolist()
    bounds = zip(starts[number].tolist(), ends[number].tolist(), strict=True)
    return Classes([ordered[start:end] for start, end in bounds], positions[by_key[starts[number]]])


def alone_in_class(size: int, positions: Iterable[int]) -> list[IntArray]:
    """Return a list of one key, (W,), by which workloads at ``positions`` are alone in classes.

    ``size`` is W. The list is empty if there are no positions.
    """
    key: IntArray = np.zeros(size, dtype=np.int64)
    for number, position in enumerate(positions, start=1):
        key[position] = number
    return [key] if key.any() else []


class Row(NamedTuple):
    """``amounts . take[classes] >= bound``; ``classes`` are those with an amount other than 0."""

    name: str
    classes: IntArray
    amounts: IntArray
    bound: int

    @classmethod
    def of(cls, name: str, coefficients: IntArray, bound: int) -> Row:
        """Return a row, given the coefficients of all classes: (K,)."""
        classes = np.flatnonzero(coefficients)
        return cls(name, classes, coefficients[classes], bound)

    def value(self, taken: IntArray) -> int:
        """Return the left side exactly; ``taken`` is victims per class: (K,)."""
        return sum(map(mul, self.amounts.tolist(), taken[self.classes].tolist()))
