"""Workloads that hold the same: what follows from their holdings is worked out once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.problem.array import IntArray
from planner.quota.snapshot import Admitted


def alike(workloads: Sequence[Admitted]) -> tuple[list[Admitted], IntArray]:
    """Return one workload for each that holds differently, and (W,) which stands for whom.

    A snapshot shares what equal ones hold, so it is told apart by identity.
    """
    places: dict[int, int] = {}
    first: list[Admitted] = []
    which: list[int] = []
    for workload in workloads:
        place = places.setdefault(id(workload.usage), len(first))
        if place == len(first):
            first.append(workload)
        which.append(place)
    return first, np.array(which, dtype=np.int64)
