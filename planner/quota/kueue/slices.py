"""Slices of elastic workloads as one run: a slice that is replaced leaves its pods to the next.

Source: docs/design/objectives.md §2; kueue ff69552e pkg/workloadslicing/workloadslicing.go
``EnsureWorkloadSlices``, ``IsReplaced``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from planner.state.kueue import Workload
from planner.state.kueue_workload import NEVER
from planner.state.kueue_workloads import Workloads


class Slices:
    """The slices of a state that were replaced."""

    def __init__(self, workloads: Workloads) -> None:
        self._workloads: Final = workloads

    def started_at(self, one: Workload) -> datetime | None:
        """Return since when the job of a slice runs, as far as its slices in the dump tell."""
        starts = [each.run.started_at for each in self._run(one)]
        return min((start for start in starts if start is not None), default=None)

    def missing(self, one: Workload) -> str:
        """Return the key of the slice before the first of a run; empty if it was the first."""
        *_, first = self._run(one)
        return "" if _began_anew(first) else first.replaces

    def _run(self, one: Workload) -> Iterator[Workload]:
        """Yield a slice and those before it in its run, the newest first."""
        seen: set[str] = set()
        before: Workload | None = one
        while before is not None and before.key not in seen:
            yield before
            seen.add(before.key)
            before = None if _began_anew(before) else self._before(before)

    def _before(self, one: Workload) -> Workload | None:
        """Return the slice that another replaced, or else the last of its job before that."""
        if not one.replaces:
            return None
        found = self._replaced.get(one.replaces)
        if found is not None and found.namespace == one.namespace:
            return found
        older = [each for each in self._of_job.get(one.job_uid, ()) if _age(each) < _age(one)]
        return max(older, key=_age, default=None)

    @cached_property
    def _replaced(self) -> Mapping[str, Workload]:
        return {one.key: one for one in self._workloads.unusual() if one.is_replaced}

    @cached_property
    def _of_job(self) -> Mapping[str, Sequence[Workload]]:
        found: dict[str, list[Workload]] = defaultdict(list)
        for one in self._replaced.values():
            if one.job_uid:
                found[one.job_uid].append(one)
        return found


def _age(one: Workload) -> tuple[datetime, str]:
    return one.metadata.creation_timestamp or NEVER, one.key


def _began_anew(one: Workload) -> bool:
    """Say whether a slice was evicted and admitted again: its pods began anew then."""
    evicted = one.condition("Evicted")
    return evicted is not None and not evicted.is_true
