"""One choice of priorities, put to the replay of Kueue's algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.assignment import Assignment
from planner.quota.holding import BOOST_ANNOTATION
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reference.kueue.decision import Decision, decide
from planner.state import State, Workload

LARGEST_BOOST = 2**31 - 1
"""The annotation is a 32-bit integer."""


class Trial:
    """Kueue's decision for one preemptor under other priorities of what runs.

    Parameters
    ----------
    state
        The state, with the feature gate PriorityBoost on.
    pending
        The preemptor as ``namespace/name``.
    assignment
        The flavors of the plan.
    victims
        The planned victims as ``namespace/name``.
    """

    def __init__(
        self, state: State, pending: str, assignment: Assignment, victims: frozenset[str]
    ) -> None:
        self.state = state
        self.pending = pending
        self.assignment = assignment
        self.victims = victims
        self.snapshot: Snapshot = take_snapshot(state)
        self.preemptor: Preemptor = find_preemptor(state, self.snapshot, pending)

    def targets(self, priorities: Mapping[str, int]) -> frozenset[str]:
        """Return whom Kueue takes for the plan's flavors, at some effective priorities.

        Who is not named keeps the priority of today.
        """
        admitted = {
            queue: [
                one._replace(priority=priorities[one.key]) if one.key in priorities else one
                for one in workloads
            ]
            for queue, workloads in self.snapshot.admitted.items()
        }
        changed = replace(self.snapshot, admitted=admitted)
        return _taken(decide(changed, self.preemptor, self.assignment))

    def holds(self, boosts: Mapping[str, int]) -> bool:
        """Say whether Kueue takes the planned victims once the annotations are set.

        Everything is decided anew from the annotated state: flavors, attempts and victims. The
        flavors must be those of the plan.
        """
        state = annotated(self.state, boosts)
        snapshot = take_snapshot(state)
        decision = decide(snapshot, find_preemptor(state, snapshot, self.pending))
        same_flavors = decision.assignment.pod_sets == self.assignment.pod_sets
        return same_flavors and _taken(decision) == self.victims


def annotated(state: State, boosts: Mapping[str, int]) -> State:
    """Return the state with the boost annotation of some workloads set."""

    def with_boost(workload: Workload) -> Workload:
        if workload.key not in boosts:
            return workload
        value = {BOOST_ANNOTATION: str(boosts[workload.key])}
        annotations = {**workload.metadata.annotations, **value}
        metadata = workload.metadata.model_copy(update={"annotations": annotations})
        return workload.model_copy(update={"metadata": metadata})

    return state.model_copy(update={"workloads": tuple(map(with_boost, state.workloads))})


def _taken(decision: Decision) -> frozenset[str]:
    return frozenset(target.workload.key for target in decision.search.targets)
