"""Classes of candidates that nothing tells apart, by the verifier's own reckoning."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

HolderT = TypeVar("HolderT")


@dataclass(frozen=True)
class Members(Generic[HolderT]):
    """K classes; the members of each are in the scheduler's candidate order.

    ``holders`` are the candidates, ``positions`` where they stand in the table of terms and
    ``places`` their places in the candidate order, each class by class. Classes are numbered by
    the place of their first member.
    """

    holders: Sequence[Sequence[HolderT]]
    positions: Sequence[Sequence[int]]
    places: Sequence[Sequence[int]]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(K,) how many members each class has."""
        return np.array([len(each) for each in self.holders], dtype=np.int64)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(K,) the position of a representative of each class."""
        return np.array([each[0] for each in self.positions], dtype=np.int64)

    @cached_property
    def _place(self) -> dict[int, int]:
        pairs = zip(self.positions, self.places, strict=True)
        return {p: place for each, places in pairs for p, place in zip(each, places, strict=True)}

    def place_of(self, position: int) -> int:
        """Return the place of a candidate in the candidate order, by its position."""
        return self._place[position]

    def class_of(self, position: int) -> int:
        """Return the class of a candidate, by its position."""
        return self._class[position]

    def take(self, counts: Iterable[int]) -> list[HolderT]:
        """Return so many members of each class, the first ones."""
        return [one for each, n in zip(self.holders, counts, strict=True) for one in each[:n]]

    def taken(self, counts: Iterable[int]) -> list[int]:
        """Return the positions of so many members of each class."""
        return [one for each, n in zip(self.positions, counts, strict=True) for one in each[:n]]

    def counts(self, positions: Iterable[int]) -> list[int]:
        """Return how many of some positions are in each class."""
        counts = [0] * len(self.positions)
        for position in positions:
            counts[self._class[position]] += 1
        return counts

    @cached_property
    def _class(self) -> dict[int, int]:
        return {position: k for k, each in enumerate(self.positions) for position in each}


def group(
    candidates: Iterable[HolderT],
    position: Callable[[HolderT], int],
    order: Sequence[int],
    key: Callable[[HolderT], Hashable],
    costs: Sequence[NDArray[np.int64]],
) -> Members[HolderT]:
    """Group candidates of equal key and equal costs.

    Parameters
    ----------
    candidates, position
        The candidates, and where each stands in the table of terms.
    order
        (W,) the rank of each position in the scheduler's candidate order.
    key
        What the laws look at.
    costs
        Each (W,): what the measures look at.
    """
    found = sorted(
        ((order[position(one)], position(one), one) for one in candidates), key=lambda each: each[0]
    )
    listed = [cost.tolist() for cost in costs]
    classes: dict[Hashable, list[tuple[int, int, HolderT]]] = {}
    for each in found:
        told = key(each[2]), *(cost[each[1]] for cost in listed)
        classes.setdefault(told, []).append(each)
    return Members(
        holders=[[one for _, _, one in each] for each in classes.values()],
        positions=[[position for _, position, _ in each] for each in classes.values()],
        places=[[place for place, _, _ in each] for each in classes.values()],
    )
