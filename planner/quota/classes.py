"""Classes of interchangeable candidates: the same for every law and every measure that is asked.

How many members of a class are victims is what is decided; a canonical rule settles which: the
first in the scheduler's candidate order. Models and proofs make their classes by this one function,
each from what they themselves derive from the state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


class Classes(Struct, frozen=True, dict=True):
    """K classes; the members of each are in the scheduler's candidate order.

    ``positions`` is (C,): the members, class after class, by their positions among all workloads;
    ``starts`` is (K + 1,): where each class begins there, and where the last one ends.
    """

    positions: IntArray
    starts: IntArray

    @classmethod
    def of_members(cls, members: Collection[Sequence[int]]) -> Self:
        """Return the classes that have these members."""
        positions = np.fromiter(chain.from_iterable(members), dtype=np.int64)
        return cls(positions, np.cumsum([0, *map(len, members)]))

    def __len__(self) -> int:
        return self.starts.size - 1

    @cached_property
    def sizes(self) -> IntArray:
        """(K,) how many members each class has."""
        return np.diff(self.starts)

    @cached_property
    def first(self) -> IntArray:
        """(K,) the position of the first member of each class, which may stand for all."""
        return self.positions[self.starts[:-1]]

    @cached_property
    def members(self) -> list[list[int]]:
        """(K,) the positions of the members of each class."""
        positions: list[int] = self.positions.tolist()
        return [positions[start:end] for start, end in pairwise(self.starts.tolist())]

    def count(self, k: int) -> int:
        """Return how many members a class has."""
        return int(self.sizes[k])

    def subset(self, classes: Iterable[int]) -> Classes:
        """Return only the classes with these numbers, in the order given."""
        return Classes.of_members([self.members[k] for k in classes])

    def take(self, counts: Sequence[int] | IntArray) -> list[int]:
        """Return the positions of the first members of each class, as many as ``counts`` says."""
        # Most classes give nobody: arrays, not loops over a hundred thousand classes.
        taken = np.asarray(counts, dtype=np.int64)
        some = np.flatnonzero(taken)
        taken = taken[some]
        within = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
        found: list[int] = self.positions[np.repeat(self.starts[some], taken) + within].tolist()
        return found

    def counts(self, positions: Iterable[int]) -> list[int] | None:
        """Return how many of some positions are in each class; ``None`` if one is in none."""
        chosen = {*positions}
        known = [position for position in chosen if position < self._class_of.size]
        of = self._class_of[np.array(known, dtype=np.int64)]
        counts: list[int] = np.bincount(of[of >= 0], minlength=len(self)).tolist()
        return counts if sum(counts) == len(chosen) else None

    def class_of(self, position: int) -> int:
        """Return the class of a member, by its position."""
        return int(self._class_of[position])

    @cached_property
    def _class_of(self) -> IntArray:
        """The class of each position; -1 for a position that is in no class."""
        found = np.full(int(self.positions.max(initial=-1)) + 1, -1, dtype=np.int64)
        found[self.positions] = np.repeat(np.arange(len(self)), self.sizes)
        return found

    def agree_in(self, amounts: IntArray) -> bool:
        """Say whether the members of each class have equal ``amounts``: (W,)."""
        expected = np.repeat(amounts[self.first], self.sizes)
        return bool(np.array_equal(amounts[self.positions], expected))


def by_value(values: IntArray, classes: IntArray) -> dict[int, IntArray]:
    """Return the classes that have each value, values and classes in order; ``values`` is (K,)."""
    in_order = classes[np.argsort(values[classes], kind="stable")]
    ordered = values[in_order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    return dict(zip(ordered[starts].tolist(), np.split(in_order, starts[1:]), strict=False))


def group(order: IntArray, positions: IntArray, columns: Iterable[IntArray]) -> Classes:
    """Group candidates that agree in all columns, and number classes by their first members.

    - ``order``: (W,) the rank of each workload in the scheduler's candidate order, from 0.
    - ``positions``: (C,) the candidates, by their positions among the workloads.
    - ``columns``: (W,) or (W, X) each: what must be equal within a class.
    """
    positions = _in_order(order, positions)
    keys = _packed(key for column in columns for key in np.atleast_2d(column[positions].T))
    # Sorted by their keys, equal candidates follow one another, and keep their order.
    by_key = np.lexsort(keys) if keys else np.arange(positions.size)
    begins = np.zeros(positions.size, dtype=np.bool_)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[by_key[1:]] != key[by_key[:-1]]
    starts = np.flatnonzero(begins)
    number = np.argsort(by_key[starts])  # classes in the order of their first members
    sizes = np.diff(np.append(starts, positions.size))[number]
    ends = np.cumsum(sizes)
    within = np.arange(positions.size) - np.repeat(ends - sizes, sizes)
    return Classes(positions[by_key[np.repeat(starts[number], sizes) + within]], np.append(0, ends))


def _in_order(order: IntArray, positions: IntArray) -> IntArray:
    """Return positions by their ranks, without sorting them: each rank is there once."""
    ranked = np.full(order.size, -1, dtype=np.int64)
    ranked[order[positions]] = positions
    return ranked[ranked >= 0]


def _packed(keys: Iterable[IntArray]) -> list[IntArray]:
    """Return fewer keys that are equal where all of these are: most take a few bits of 64."""
    found, room = list[IntArray](), 1
    for key in keys:
        least = key.min(initial=0)
        size = int(key.max(initial=0)) - int(least) + 1
        if size == 1:
            continue
        if size <= room:
            found[-1] = found[-1] * size + (key - least)
            room //= size
        else:
            room = 2**62 // size  # 0 where integers of Python's own may be
            found.append(key - least if room else key)
    return found
