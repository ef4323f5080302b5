"""Classes of candidates that nothing tells apart, by the verifier's own reckoning."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

HolderT = TypeVar("HolderT")
IntArray = NDArray[np.int64]


def by_value(values: IntArray, classes: IntArray) -> dict[int, IntArray]:
    """Return which of some classes have each value, both in order; ``values`` is (K,)."""
    in_order = classes[np.argsort(values[classes], kind="stable")]
    told = values[in_order]
    starts = np.flatnonzero(np.diff(told, prepend=told[:1] - 1))
    return dict(zip(told[starts].tolist(), np.split(in_order, starts[1:]), strict=False))


@dataclass(frozen=True)
class Members(Generic[HolderT]):
    """K classes; the members of each are in the scheduler's candidate order.

    Attributes
    ----------
    holders, positions, places
        (C,) class by class: the candidates, where they stand in the table of terms, and their
        places in the candidate order. Classes are numbered by the place of their first member.
    starts
        (K + 1,) where each class begins among these, and where the last one ends.
    """

    holders: Sequence[HolderT]
    positions: IntArray
    places: IntArray
    starts: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        """(K,) how many members each class has."""
        return np.diff(self.starts)

    @cached_property
    def first(self) -> IntArray:
        """(K,) the position of a representative of each class."""
        return self.positions[self.starts[:-1]]

    @cached_property
    def representatives(self) -> list[HolderT]:
        """(K,) the first member of each class."""
        return [self.holders[start] for start in self.starts[:-1].tolist()]

    @cached_property
    def first_places(self) -> IntArray:
        """(K,) the place of the first member of each class."""
        return self.places[self.starts[:-1]]

    @cached_property
    def _numbers_of(self) -> IntArray:
        found = np.full(int(self.positions.max(initial=-1)) + 1, -1, dtype=np.int64)
        found[self.positions] = np.arange(self.positions.size)
        return found

    def _number(self, position: int) -> int:
        """Return where a candidate stands among these, by its position."""
        number = int(self._numbers_of[position]) if position < self._numbers_of.size else -1
        if number < 0:
            raise KeyError(position)
        return number

    def place_of(self, position: int) -> int:
        """Return the place of a candidate in the candidate order, by its position."""
        return int(self.places[self._number(position)])

    def class_of(self, position: int) -> int:
        """Return the class of a candidate, by its position."""
        number = self._number(position)
        return int(np.searchsorted(self.starts, number, side="right")) - 1

    def place_in(self, k: int, member: int) -> int | None:
        """Return the place of a member of a class, counted from 0; ``None`` behind the last."""
        number = int(self.starts[k]) + member
        return int(self.places[number]) if number < self.starts[k + 1] else None

    def take(self, counts: Iterable[int]) -> list[HolderT]:
        """Return so many members of each class, the first ones."""
        return [self.holders[i] for i in self._numbers(counts)]

    def taken(self, counts: Iterable[int]) -> list[int]:
        """Return the positions of so many members of each class."""
        positions: list[int] = self.positions[self._numbers(counts)].tolist()
        return positions

    def _numbers(self, counts: Iterable[int]) -> list[int]:
        # A plan of a few victims is asked for over a hundred thousand classes: arrays, not loops.
        listed = counts if isinstance(counts, np.ndarray) else np.array(list(counts), np.int64)
        taken = np.flatnonzero(listed).tolist()  # most classes give nobody
        return [int(self.starts[k]) + i for k in taken for i in range(int(listed[k]))]

    def counts(self, positions: Iterable[int]) -> list[int]:
        """Return how many of some positions are in each class."""
        counts = [0] * (self.starts.size - 1)
        for position in positions:
            counts[self.class_of(position)] += 1
        return counts

    def agree_in(self, amounts: IntArray) -> bool:
        """Say whether the members of each class are equal in something: (W,)."""
        expected = np.repeat(amounts[self.first], self.sizes)
        return bool(np.array_equal(amounts[self.positions], expected))


def group(
    candidates: Sequence[HolderT],
    positions: Sequence[int],
    order: Sequence[int],
    keys: Sequence[Hashable],
    costs: Sequence[IntArray],
) -> Members[HolderT]:
    """Group candidates of equal key and equal costs.

    Parameters
    ----------
    candidates, positions, keys
        (C,) the candidates, where each stands in the table of terms, and what the laws look at.
    order
        (W,) the rank of each position in the scheduler's candidate order.
    costs
        Each (W,): what the measures look at.
    """
    where = np.array(positions, dtype=np.int64)
    places = np.array(order, dtype=np.int64)[where] if where.size else where
    numbers: dict[Hashable, int] = {}
    kinds = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    told = [kinds, *(cost[where] for cost in costs)]
    # By what tells them apart, then by place: equal ones follow one another, the first one first.
    by_kind = np.lexsort([places, *told])
    begins = np.zeros(where.size, dtype=np.bool_)
    begins[:1] = True
    for each in told:
        begins[1:] |= each[by_kind[1:]] != each[by_kind[:-1]]
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, where.size))
    first = places[by_kind[starts]]
    # Classes in the order of their first members.
    rank = np.empty(starts.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(starts.size)
    by_class = by_kind[np.lexsort([places[by_kind], np.repeat(rank, sizes)])]
    ends = np.cumsum(sizes[np.argsort(first)])
    return Members(
        holders=[candidates[i] for i in by_class.tolist()],
        positions=where[by_class],
        places=places[by_class],
        starts=np.concatenate([[0], ends]).astype(np.int64),
    )
