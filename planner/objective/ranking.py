"""Where workloads stand among the candidates: in the scheduler's order, and by priority."""

from __future__ import annotations

import numpy as np

from planner.problem.array import BoolArray, IntArray


def places(order: IntArray, eligible: BoolArray) -> IntArray:
    """Return the place of each workload among the eligible in the scheduler's order: (W,).

    The first has 1; what is not eligible has the place it would have.
    """
    before = np.searchsorted(np.sort(order[eligible]), order, side="left")
    return before.astype(np.int64) + 1


def ranks(priority: IntArray, eligible: BoolArray) -> tuple[IntArray, list[int]]:
    """Rank priorities among the distinct ones of the eligible, from 1: (W,); return these, too."""
    distinct = np.unique(priority[eligible])
    found = np.searchsorted(distinct, priority, side="left").astype(np.int64) + 1
    return found, distinct.tolist()
