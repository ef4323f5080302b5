"""All sets of a few things: what every enumeration of victims goes through."""

from collections.abc import Collection, Iterator
from itertools import chain, combinations
from typing import TypeVar

Thing = TypeVar("Thing")


def subsets(things: Collection[Thing], least: int = 0) -> Iterator[tuple[Thing, ...]]:
    """Yield every set of at least so many things, the smaller ones first, each in order."""
    sizes = range(least, len(things) + 1)
    return chain.from_iterable(combinations(things, size) for size in sizes)
