"""What each workload adds to the terms that are sums over victims.

Source: docs/design/objectives.md §3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from msgspec import Struct

from planner.objective.annotation import Disruptions, plain_disruption
from planner.objective.terms import LARGEST_COST, work
from planner.problem.array import BoolArray, IntArray

TOLL_S: Final = 600
LAST_TIER_TOLL_S: Final = 86_400
"""What one eviction costs beside the work it loses, in seconds of the victim's own size: ten
minutes, and a day more for the last tier (docs/design/objectives.md §5, weighted)."""

_RAISED: Final = 2**31
"""What kube-scheduler adds to each priority, so that none is negative and none is free."""
_HIGHEST_WEIGHT: Final = 2**20
_LARGEST_PRODUCT: Final = 2**62


class Losses(Struct, frozen=True, dict=True):
    """What the evictions of W workloads lose, for terms to add up; all but ``costs`` are (W,).

    ``names`` are the keys of the workloads in ``costs``; one that is not named there costs 1.
    ``sizes`` are in 1/32000 accelerator, as `as_costs` returns them. ``pods`` is how many pods
    each workload runs, ``place`` its place in the scheduler's candidate order, from 1. ``rank``,
    ``priority`` and ``leaving`` are as in `TermTable`.
    """

    names: Sequence[str]
    sizes: IntArray
    pods: Sequence[int] | IntArray
    disruptions: Disruptions
    rank: IntArray
    place: IntArray
    priority: IntArray
    leaving: BoolArray
    costs: Mapping[str, int]

    @cached_property
    def costing(self) -> IntArray:
        """1 for each workload that is not being evicted already, else 0: (W,)."""
        return (~self.leaving).astype(np.int64)

    @cached_property
    def last_tier(self) -> IntArray:
        """1 for each workload of the last tier, else 0: (W,)."""
        return self.field_of("last_tier")

    @cached_property
    def running_s(self) -> IntArray:
        """For how many seconds each workload has run: (W,)."""
        return self.field_of("running_s")

    def field_of(self, name: str) -> IntArray:
        """Return a field of the `Disruption` of each workload, a flag as 0 or 1: (W,)."""
        # In a plain disruption a field is the run time, here -1, or a constant of 0 or more.
        plain, said = getattr(plain_disruption(-1), name), self.disruptions.said
        runs = self.disruptions.running_s
        found = runs.copy() if plain < 0 else np.full(runs.size, plain, dtype=np.int64)
        values = as_costs([getattr(one, name) for one in said.values()])
        found = found.astype(values.dtype, copy=False)
        found[[*said]] = values
        return found

    def worked(self, seconds: IntArray) -> IntArray:
        """Return each workload's work in the seconds given, in accelerator-seconds: (W,)."""
        largest = int(self.sizes.max(initial=0)) * int(seconds.max(initial=1))
        kind = np.int64 if largest <= _LARGEST_PRODUCT else object
        return as_costs(work(self.sizes.astype(kind), seconds.astype(kind))) * self.costing


SUMS: Final[dict[str, Callable[[Losses], IntArray]]] = {
    "last_resort": lambda w: w.last_tier * w.costing,
    "workloads": lambda w: w.costing,
    "pods": lambda w: as_costs(w.pods) * w.costing,
    # The exponent is cut as well: 2 to the power of a rank beyond 62 would leave 64 bits.
    "priority_weight": lambda w: (
        np.minimum(2 ** np.minimum(w.rank, 20), _HIGHEST_WEIGHT) * w.costing
    ),
    "lost_work": lambda w: w.worked(w.field_of("lost_s")),
    "restart_cost": lambda w: w.worked(w.field_of("restart_s")),
    "milestone_cost": lambda w: w.field_of("milestone_cost") * w.costing,
    "past_preemptions": lambda w: w.field_of("preemptions") * w.costing,
    "candidate_order": lambda w: w.place * w.costing,
    "priority_sum": lambda w: np.maximum(0, _RAISED + w.priority) * w.costing,
    "toll": lambda w: w.worked(TOLL_S + w.last_tier * LAST_TIER_TOLL_S),
    "run_time": lambda w: w.running_s * w.costing,
    "cut_short": lambda w: np.maximum(0, w.field_of("min_runtime_s") - w.running_s) * w.costing,
    # Workloads that are being evicted already count here: the tie-break is to name none of them
    # without need.
    "victims": lambda w: np.ones_like(w.rank),
    "cost": lambda w: (
        as_costs([w.costs.get(name, 1) for name in w.names]) if w.costs else np.ones_like(w.rank)
    ),
}
"""What each workload adds to every term that is a sum over victims: (W,) each."""


def separable_terms(losses: Losses) -> dict[str, IntArray]:
    """Return what each workload adds to every separable term: (W,) each."""
    return {term: of_each(losses) for term, of_each in SUMS.items()}


def as_costs(values: Sequence[int] | IntArray) -> IntArray:
    """Return costs as an array, of Python's own integers where sums could leave 64 bits."""
    largest = values.max(initial=0) if isinstance(values, np.ndarray) else max(values, default=0)
    return np.array(values, dtype=np.int64 if largest <= LARGEST_COST else object)


def places(order: IntArray, eligible: BoolArray) -> IntArray:
    """Return the place of each workload among the eligible in the scheduler's order: (W,).

    ``order`` (W,) has each rank from 0 once. The first has place 1; a workload that is not eligible
    has the place that it would have.
    """
    counts = np.zeros(order.size, dtype=np.int64)
    counts[order] = eligible
    return (np.cumsum(counts) - counts)[order] + 1


def ranks(priority: IntArray, eligible: BoolArray) -> tuple[IntArray, list[int]]:
    """Return the rank of each priority among the eligible's, from 1: (W,); and these, each once."""
    distinct = sorted({*priority[eligible].tolist()})
    found = np.searchsorted(np.array(distinct, dtype=np.int64), priority, side="left")
    return found.astype(np.int64) + 1, distinct
