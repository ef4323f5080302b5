"""What users wish on top of a scheduler's rules: run time to be granted, budgets of evictions.

Source: docs/design/objectives.md §3; docs/design/needs.md §7 and §12
(waiting before preempting).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from msgspec import Struct, field

from planner.objective.terms import TermTable
from planner.problem.array import BoolArray, IntArray

EVERYBODY: Final = "all"
"""The group that everybody is in."""

Group = str
"""``all``, or a kind and a name: ``queue/team-a``, ``cohort/org``, ``namespace/ml``."""


class Wishes(Struct, frozen=True):
    """Conditions of an objective, which bind like laws but are not the scheduler's.

    ``min_runtime_s`` says for groups how many seconds a workload may run before it may be
    evicted; where several apply, the longest counts. ``annotated`` says that the run time which
    a workload itself asks for applies, too. ``budget`` says how many evictions a group suffers
    at most. None of these applies to workloads that are being evicted already. ``most`` bounds
    measures, which must be among the levels or caps of the objective.

    ``soft_runtime_s`` is like ``min_runtime_s``, but forbids nothing: the term ``cut_short`` counts
    the seconds that a victim lacks of it, or of the run time it asks for itself if that is longer.
    """

    min_runtime_s: Mapping[Group, int] = field(default_factory=dict)
    budget: Mapping[Group, int] = field(default_factory=dict)
    most: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    soft_runtime_s: Mapping[Group, int] = field(default_factory=dict)
    annotated: bool = False

    def __bool__(self) -> bool:
        """Whether there is a condition that can forbid a plan."""
        return bool(self.min_runtime_s or self.budget or self.most or self.annotated)

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups with a name, each once."""
        named = dict.fromkeys((*self.min_runtime_s, *self.soft_runtime_s, *self.budget))
        return tuple(group for group in named if group != EVERYBODY)

    def protected(self, table: TermTable) -> BoolArray:
        """Say which workloads may not be evicted, as they have not run for long enough: (W,)."""
        if not (self.min_runtime_s or self.annotated):  # to look at each one takes time
            return np.zeros_like(table.leaving)
        found = [
            disruption.running_s < _longest(self.min_runtime_s, groups)
            or (self.annotated and disruption.running_s < disruption.min_runtime_s)
            for disruption, groups in zip(table.disruptions, table.groups, strict=True)
        ]
        return np.array(found, dtype=np.bool_) & ~table.leaving

    def early(self, table: TermTable) -> IntArray:
        """Return the seconds that each workload lacks of its softly protected run time: (W,)."""
        lacking = [
            max(disruption.min_runtime_s, _longest(self.soft_runtime_s, groups))
            - disruption.running_s
            for disruption, groups in zip(table.disruptions, table.groups, strict=True)
        ]
        return np.maximum(0, np.array(lacking, dtype=np.int64)) * ~table.leaving

    def counted(self, table: TermTable, group: Group) -> BoolArray:
        """Say which workloads count against a group's budget if evicted: (W,)."""
        inside = [group == EVERYBODY or group in groups for groups in table.groups]
        return np.array(inside, dtype=np.bool_) & ~table.leaving

    def are_kept(self, table: TermTable, victims: Iterable[int]) -> bool:
        """Say whether victims, given by positions of the workloads, keep to all wishes."""
        listed = list(victims)
        # Only where needed: a term that is replayed takes decisions of the scheduler, and time.
        terms = table.evaluate(listed) if self.most else {}
        counts = ((self.counted(table, group)[listed].sum(), n) for group, n in self.budget.items())
        return (
            all(sum(terms[t] for t in measure) <= most for measure, most in self.most.items())
            and not self.protected(table)[listed].any()
            and all(count <= most for count, most in counts)
        )

    def in_words(self) -> str:
        """Return all wishes in words."""
        return "; ".join(
            [f"no eviction{_of(g)} before {s} s of run time" for g, s in self.min_runtime_s.items()]
            + ["no eviction before the run time that a workload asks for"] * self.annotated
            + [f"evictions{_of(g)}: at most {most}" for g, most in self.budget.items()]
            + [f"{'+'.join(measure)}: at most {most}" for measure, most in self.most.items()]
        )


NO_WISHES: Final = Wishes()


def _longest(windows: Mapping[Group, int], groups: Iterable[Group]) -> int:
    return max(windows.get(group, 0) for group in (EVERYBODY, *groups))


def _of(group: Group) -> str:
    kind, _, name = group.partition("/")
    return "" if group == EVERYBODY else f" in {kind} {name}"
