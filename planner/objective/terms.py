"""The disruption terms: per workload where they are sums, and for a whole victim set.

Source: objectives.md. Amounts of work are measured in accelerators: one GPU-like device counts
1, a CPU core 1/32, memory nothing; internally in 1/32000 of an accelerator, so that a device is
32,000, a milli-core 1, and everything stays an integer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from planner.errors import LookupFailed, UnsupportedError
from planner.objective.annotation import Disruption, read_disruption
from planner.problem import BoolArray, IntArray, Problem
from planner.quota.snapshot import Admitted, Snapshot

ACCELERATOR: Final = 32_000
"""How many of the internal size units one accelerator is; one milli-core is 1."""

_ACCELERATOR_NAME = re.compile(r"(.*[/.])?(gpu|tpu|npu|xpu|gaudi|neuron|neuroncore|neurondevice)s?")
_HIGHEST_WEIGHT: Final = 2**20
_LARGEST: Final = 2**45
"""A hundred thousand workloads of this cost can still be added up in 64 bits."""


@dataclass(frozen=True, slots=True)
class Term:
    """A named non-negative integer that measures one side of disruption."""

    id: str
    title: str
    unit: str
    per_workload: bool


TERMS: Final[Mapping[str, Term]] = {
    term.id: term
    for term in (
        Term("D0", "last-tier victims", "workloads", per_workload=True),
        Term("D1", "highest victim priority", "rank", per_workload=False),
        Term("D2", "workloads evicted", "workloads", per_workload=True),
        Term("D3", "priority weight", "weight", per_workload=True),
        Term("D4", "lost work", "accelerator-seconds", per_workload=True),
        Term("D5", "restart cost", "accelerator-seconds", per_workload=True),
        Term("D7", "over-freed", "1/32000 accelerator", per_workload=False),
        Term("D8", "queues touched", "queues", per_workload=False),
        Term("count", "victims, those already being evicted included", "workloads", True),  # noqa: FBT003
        Term("cost", "cost given by the user", "cost units", True),  # noqa: FBT003
    )
}
"""All terms by id. What is being evicted already counts in ``count`` and ``cost`` only."""


@dataclass(frozen=True, slots=True)
class TermTable:
    """The terms of one problem.

    ``separable[term]`` is (W,): what each workload adds; ``rank`` is (W,), from 1 for the lowest
    priority among the candidates; ``weight`` is (F,), the size of one unit of a
    flavor-resource; ``need`` is (F,), what victims must free of a contested fr once those that
    are being evicted already are gone, and 0 elsewhere; ``disruptions`` are the details.
    """

    problem: Problem
    separable: Mapping[str, IntArray]
    rank: IntArray
    weight: Sequence[int]
    need: Sequence[int]
    disruptions: Sequence[Disruption]

    def evaluate(self, chosen: Iterable[int]) -> dict[str, int]:
        """Return every term of a victim set, given by positions in the problem's workloads."""
        victims = np.fromiter(chosen, dtype=np.int64)
        problem = self.problem
        going = victims[~problem.evicted[victims]]
        totals = {term: sum(costs[victims].tolist()) for term, costs in self.separable.items()}
        freed = [sum(problem.holding[going, fr].tolist()) for fr in range(len(problem.frs))]
        totals["D1"] = int(self.rank[going].max()) if going.size else 0
        totals["D7"] = sum(
            self.weight[fr] * max(0, freed[fr] - self.need[fr]) for fr in problem.contested
        )
        totals["D8"] = len(set(problem.queue[going].tolist()))
        return {term: totals[term] for term in TERMS if term in totals}


def unit_weight(resource: str) -> int:
    """Return the size of one integer unit of a resource, in 1/32000 accelerator."""
    if resource == "cpu":
        return 1
    return ACCELERATOR if _ACCELERATOR_NAME.fullmatch(resource) else 0


def term_table(
    problem: Problem,
    snapshot: Snapshot,
    eligible: BoolArray,
    costs: Mapping[str, int] | None = None,
) -> TermTable:
    """Compute the terms of a problem.

    Parameters
    ----------
    problem, snapshot
        The problem, and the snapshot it was built from (for what lies outside the problem's fr).
    eligible
        (W,) the candidates: ranks are counted among their priorities.
    costs
        Cost per ``namespace/name`` for the term ``cost``; a workload not named costs 1.

    Raises
    ------
    LookupFailed
        If a cost is given for a workload that holds no quota.
    SchemaError
        If an annotation has an unusable value.
    UnsupportedError
        If a workload is too large to add its cost up exactly.
    """
    disruptions = [read_disruption(w.workload, snapshot.now) for w in problem.workloads]
    sizes = [_size(workload, snapshot) for workload in problem.workloads]
    rank = _ranks(problem.priority, eligible)
    alive = (~problem.evicted).astype(np.int64)

    pairs = list(zip(sizes, disruptions, strict=True))
    array = partial(_array, problem)
    separable: dict[str, IntArray] = {
        "D0": array(d.last_tier for d in disruptions) * alive,
        "D2": alive,
        "D3": np.minimum(2 ** np.minimum(rank, 20), _HIGHEST_WEIGHT) * alive,
        "D4": array(_work(size, d.lost_s) for size, d in pairs) * alive,
        "D5": array(_work(size, d.restart_s) for size, d in pairs) * alive,
        "count": np.ones(len(problem.workloads), dtype=np.int64),
    }
    if costs is not None:
        _refuse_unknown(costs, snapshot)
    separable["cost"] = array((costs or {}).get(w.key, 1) for w in problem.workloads)
    return TermTable(
        problem=problem,
        separable=separable,
        rank=rank,
        weight=[unit_weight(fr.resource) for fr in problem.frs],
        need=_needs(problem, eligible),
        disruptions=disruptions,
    )


def _array(problem: Problem, values: Iterable[int]) -> IntArray:
    listed = list(values)
    for workload, value in zip(problem.workloads, listed, strict=True):
        if value > _LARGEST:
            raise UnsupportedError(
                f"Workload {workload.key}",
                f"evicting it would cost {value}, beyond what can be added up exactly",
                hint="its usage of cpu or accelerators is implausibly large",
            )
    return np.array(listed, dtype=np.int64)


def _size(workload: Admitted, snapshot: Snapshot) -> int:
    frs = snapshot.tree.frs
    return sum(unit_weight(frs[fr].resource) * amount for fr, amount in workload.usage.items())


def _work(size: int, seconds: int) -> int:
    """Return accelerator-seconds, rounded up."""
    return -(-size * seconds // ACCELERATOR)


def _ranks(priority: IntArray, eligible: BoolArray) -> IntArray:
    distinct = np.unique(priority[eligible])
    return np.searchsorted(distinct, priority, side="left").astype(np.int64) + 1


def _needs(problem: Problem, eligible: BoolArray) -> list[int]:
    going = problem.evicted & eligible
    needs = [0] * len(problem.frs)
    for fr in problem.contested:
        asked = problem.request[fr]
        short = max(0, asked - problem.available[fr]) if asked else 0
        needs[fr] = max(0, short - sum(problem.holding[going, fr].tolist()))
    return needs


def _refuse_unknown(costs: Mapping[str, int], snapshot: Snapshot) -> None:
    known = {workload.key for group in snapshot.admitted.values() for workload in group}
    for name in costs:
        if name not in known:
            raise LookupFailed("costs", f"there is no workload {name} that holds quota")
