"""Workloads that hold the same: what follows from their holdings is worked out once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.problem.array import IntArray
from planner.quota.snapshot import Admitted


def one_of_each_holding(workloads: Sequence[Admitted]) -> tuple[list[Admitted], IntArray]:
    """Return one workload for each that holds differently, and (W,) which stands for whom.

    A snapshot shares what equal ones hold, so that identity says whether they do.
    """
    identity = np.array([id(workload.usage) for workload in workloads], dtype=np.int64)
    _, first, which = np.unique(identity, return_index=True, return_inverse=True)
    return [workloads[position] for position in first.tolist()], which.astype(np.int64)
