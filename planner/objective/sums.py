"""What each workload adds to the terms that are sums over victims.

Source: docs/design/objectives.md §3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

import numpy as np

from planner.errors import UnsupportedError
from planner.objective.annotation import Disruption
from planner.objective.terms import LARGEST_COST, work
from planner.problem.array import BoolArray, IntArray

TOLL_S: Final = 600
LAST_TIER_TOLL_S: Final = 86_400
"""What one eviction is worth beside the work it loses, in seconds of the victim's own size: ten
minutes, and a day more for the last tier (docs/design/objectives.md §5, weighted)."""

_RAISED: Final = 2**31
"""What kube-scheduler adds to each priority, so that none is negative and none is free."""
_HIGHEST_WEIGHT: Final = 2**20
_LARGEST_SIZE: Final = 2**62


def separable_terms(  # noqa: PLR0913, PLR0917 - one parameter a table
    names: Sequence[str],
    sizes: Sequence[int],
    pods: Sequence[int],
    disruptions: Sequence[Disruption],
    rank: IntArray,
    place: IntArray,
    priority: IntArray,
    evicted: BoolArray,
    costs: Mapping[str, int],
) -> dict[str, IntArray]:
    """Return what each workload adds to every separable term: (W,) each.

    Parameters
    ----------
    names
        (W,) under which ``costs`` knows them; one it does not name costs 1.
    sizes
        (W,) in 1/32000 accelerator.
    pods
        (W,) how many each of them runs.
    rank, evicted
        As in the table.
    priority
        (W,) the priorities themselves.
    place
        (W,) in the scheduler's candidate order, from 1.

    Raises
    ------
    UnsupportedError
        If a workload is too large to add its cost up exactly.
    """

    def array(values: Sequence[int]) -> IntArray:
        return _array(names, values)

    def told(field: str) -> IntArray:
        return array([*map(attrgetter(field), disruptions)])

    def worked(seconds: IntArray) -> IntArray:
        largest = max(sizes, default=0) * int(seconds.max(initial=1))
        kind = np.int64 if largest <= _LARGEST_SIZE else np.object_  # Python's own are exact
        return array(work(np.array(sizes, dtype=kind), seconds.astype(kind)).tolist()) * costing

    costing = (~evicted).astype(np.int64)
    last_tier, running_s = told("last_tier"), told("running_s")
    lacking_s = told("min_runtime_s") - running_s
    return {
        "D0": last_tier * costing,
        "D2": costing,
        "D2p": array(pods) * costing,
        # The exponent is cut as well: 2 to the power of a rank beyond 62 would leave 64 bits.
        "D3": np.minimum(2 ** np.minimum(rank, 20), _HIGHEST_WEIGHT) * costing,
        "D4": worked(told("lost_s")),
        "D5": worked(told("restart_s")),
        "D6": told("milestone_cost") * costing,
        "D10": told("preemptions") * costing,
        "D12": place * costing,
        "prio": array([max(0, each + _RAISED) for each in priority.tolist()]) * costing,
        "toll": worked(TOLL_S + last_tier * LAST_TIER_TOLL_S),
        "time": running_s * costing,
        "early": np.maximum(0, lacking_s) * costing,
        # Those that are being evicted count here: to name them without need is what the tie-break
        # avoids.
        "count": np.ones(len(names), dtype=np.int64),
        "cost": array([costs.get(name, 1) for name in names] if costs else [1] * len(names)),
    }


def exact_sizes(names: Sequence[str], sizes: Sequence[int]) -> IntArray:
    """Return sizes in 1/32000 accelerator as an array: (W,).

    Raises
    ------
    UnsupportedError
        If a workload is too large to calculate with.
    """
    return _array(names, sizes, _LARGEST_SIZE)


def _array(names: Sequence[str], values: Sequence[int], most: int = LARGEST_COST) -> IntArray:
    if max(values, default=0) <= most:
        return np.array(values, dtype=np.int64)
    for name, value in zip(names, values, strict=True):
        if value > most:
            raise UnsupportedError(
                name,
                f"evicting it would cost {value}, beyond what can be added up exactly",
                hint="its usage of processors or accelerators is implausibly large",
            )
    return np.array(values, dtype=np.int64)


def places(order: IntArray, eligible: BoolArray) -> IntArray:
    """Return the place of each workload among the eligible in the scheduler's order: (W,).

    The first has 1; what is not eligible has the place it would have.
    """
    before = np.searchsorted(np.sort(order[eligible]), order, side="left")
    return before.astype(np.int64) + 1


def ranks(priority: IntArray, eligible: BoolArray) -> tuple[IntArray, list[int]]:
    """Rank priorities among the distinct ones of the eligible, from 1: (W,); return these, too."""
    distinct = sorted({*priority[eligible].tolist()})
    found = np.searchsorted(np.array(distinct, dtype=np.int64), priority, side="left")
    return found.astype(np.int64) + 1, distinct
