"""Who holds quota in a tree, in the order of its queues, and their fields as columns.

A large state has a hundred thousand of them, each somewhere else in memory: to go through all takes
as long for one field as for most of them, so it is done once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, Final

import numpy as np

from planner.problem.array import BoolArray, IntArray
from planner.quota.kueue.snapshot import Admitted

_WANTED: Final = frozenset(
    {
        "key",
        "namespace",
        "uid",
        "usage",
        "pods",
        "priority",
        "reserved_s",
        "running_s",
        "evicted",
        "remarks",
        "past",
    }
)


class Holders(list[Admitted]):
    """W workloads that hold quota."""

    @cached_property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """(W,) each: fields of all, by name."""
        columns = zip(*self, strict=True) if self else repeat(())
        named = zip(Admitted._fields, columns, strict=False)
        return {name: column for name, column in named if name in _WANTED}

    @cached_property
    def priority(self) -> IntArray:
        """(W,) their effective priorities."""
        return np.array(self.columns["priority"], dtype=np.int64)

    @cached_property
    def evicted(self) -> BoolArray:
        """(W,) whether they are being evicted."""
        return np.array(self.columns["evicted"], dtype=np.bool_)

    @cached_property
    def alike(self) -> tuple[Sequence[Admitted], IntArray]:
        """One for each that holds differently, and (W,) which stands for whom.

        A snapshot shares what equal ones hold, so that identity says whether they do.
        """
        identity = np.fromiter(map(id, self.columns["usage"]), np.int64, len(self))
        _, first, which = np.unique(identity, return_index=True, return_inverse=True)
        return [self[position] for position in first.tolist()], which.astype(np.int64)
