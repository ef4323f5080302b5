"""Which queues and cohorts take part: inactive queues, implicit cohorts, cycles of parents.

Source: docs/semantics/kueue.md §2; kueue ff69552e pkg/cache/scheduler/clusterqueue.go
``updateQueueStatus`` and pkg/cache/hierarchy/cycle.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.errors import UnsupportedError
from planner.state import AdmissionCheck, ClusterQueue, State

_DEEPEST = 200
"""Cohorts on one path; nobody nests them deeper, and a hostile dump could."""


@dataclass(frozen=True, slots=True)
class Activity:
    """Who takes part.

    ``parents`` has every cohort, object or not, and its parent ("" for none); ``looping`` are
    the cohorts that lead into a cycle of parents; ``inactive`` says why a ClusterQueue is.
    """

    parents: Mapping[str, str]
    looping: frozenset[str]
    inactive: Mapping[str, str]

    @classmethod
    def of(cls, state: State) -> Activity:
        """Find out who takes part in a state."""
        parents = _cohort_parents(state)
        looping = frozenset(name for name in parents if _leads_into_cycle(name, parents))
        flavors = {flavor.name for flavor in state.resource_flavors}
        checks = {check.metadata.name: check for check in state.admission_checks}
        reasons = {
            cq.name: _inactive_reason(cq, flavors, looping) or _check_reason(cq, checks)
            for cq in state.cluster_queues
        }
        return cls(parents, looping, {name: why for name, why in reasons.items() if why})


def _cohort_parents(state: State) -> dict[str, str]:
    nested = state.configuration.gate("HierarchicalCohorts")
    parents = {cohort.name: cohort.spec.parent_name if nested else "" for cohort in state.cohorts}
    named = [cq.spec.cohort_name for cq in state.cluster_queues] + list(parents.values())
    for name in named:
        if name:
            parents.setdefault(name, "")
    return parents


def _leads_into_cycle(name: str, parents: Mapping[str, str]) -> bool:
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        if len(seen) > _DEEPEST:
            raise UnsupportedError(f"Cohort {name}", f"has more than {_DEEPEST} cohorts below it")
        name = parents[name]
    return bool(name)


def _inactive_reason(cq: ClusterQueue, flavors: set[str], looping: frozenset[str]) -> str:
    if cq.spec.cohort_name in looping:
        return f'its cohort "{cq.spec.cohort_name}" is in a cycle of parents'
    if cq.spec.stop_policy != "None":
        return f"its stopPolicy is {cq.spec.stop_policy}"
    for group in cq.spec.resource_groups:
        for flavor in group.flavors:
            if flavor.name not in flavors:
                return f'its flavor "{flavor.name}" does not exist as a ResourceFlavor'
    return ""


def _check_reason(cq: ClusterQueue, checks: Mapping[str, AdmissionCheck]) -> str:
    status = cq.status.condition("Active")
    for name in cq.check_names:
        check = checks.get(name)
        if check is None:
            if status and status.is_true:
                continue  # a dump without admission checks: the queue itself knows better
            return f'its admission check "{name}" does not exist'
        active = check.status.condition("Active")
        if active is None or not active.is_true:
            return f'its admission check "{name}" is not active'
    return ""


def notes_on(state: State, activity: Activity) -> tuple[str, ...]:
    """Say what was tolerated the way Kueue does, where it may surprise."""
    explicit = {cohort.name for cohort in state.cohorts}
    implicit = [
        f'cohort "{name}" has no Cohort object: it counts as one without quota or parent'
        for name in activity.parents
        if name not in explicit
    ]
    cycles = [
        f'cohort "{name}" is in a cycle of parents: left out' for name in sorted(activity.looping)
    ]
    queues = [
        f"ClusterQueue {name} is inactive: {reason}; its workloads are no candidates"
        for name, reason in activity.inactive.items()
    ]
    return (*state.notes, *implicit, *cycles, *queues)
