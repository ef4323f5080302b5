"""Kueue's decision under other priorities of running workloads, or with annotations set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from msgspec.structs import replace

from planner.errors import UnsupportedError
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Holders
from planner.quota.kueue.placement import snapshot_for
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.decision import Decision, decide_under, outcomes
from planner.stage import begin
from planner.state.kueue import State, Workload
from planner.state.kueue_workload import BOOST_ANNOTATION, BOOST_GATE


def check_release(state: State) -> None:
    """Raise `UnsupportedError` if the release of Kueue does not know boosts, whatever is set."""
    if BOOST_GATE not in state.release.gates:
        found = f"Kueue {state.release.name} has no priority boosts"
        raise UnsupportedError(state.source, found, "Kueue 0.17 or newer")


@dataclass(eq=False)
class Trial:
    """Kueue's decision for one preemptor under other priorities of the running workloads.

    ``assignment`` has the flavors of the plan, ``victims`` are the planned victims, as
    ``namespace/name``. ``left_open`` are the reasons for which Kueue could have decided otherwise
    in a trial so far, as `planner.reference.kueue.chance` has them.
    """

    snapshot: Snapshot
    preemptor: Preemptor
    assignment: Assignment
    victims: frozenset[str]
    left_open: set[str] = field(default_factory=set, init=False)

    def targets(self, priorities: Mapping[str, int]) -> frozenset[str]:
        """Return the victims that Kueue takes for the plan's flavors under effective priorities.

        A workload that is not named keeps its priority of today.
        """
        begin("trying boosts")
        decision = decide_under(self._at(priorities), self.preemptor, self.assignment)
        self.left_open.update(decision.undetermined)
        return _taken(decision)

    def holds(self, boosts: Mapping[str, int]) -> bool:
        """Say whether Kueue takes the planned victims once workloads have these boosts.

        Flavors, attempts and victims are decided anew. The flavors must be those of the plan. Where
        past use leaves the order of candidates to chance, Kueue must take them in every order.
        """
        return all(
            decision.assignment.pod_sets == self.assignment.pod_sets
            and _taken(decision) == self.victims
            for decision in outcomes(*self._boosted(boosts))
        )

    def _boosted(self, boosts: Mapping[str, int]) -> tuple[Snapshot, Preemptor]:
        queues = self.snapshot.admitted.values()
        held = (one for some in queues if not boosts.keys().isdisjoint(some.keys) for one in some)
        own = {one.key: one.workload.priority for one in held if one.key in boosts}
        return self._at({key: own[key] + boosts[key] for key in boosts}), self.preemptor

    def _at(self, priorities: Mapping[str, int]) -> Snapshot:
        changed = {key for key, value in priorities.items() if value != self._today.get(key)}
        admitted = {
            queue: workloads  # what a queue's own columns say is read once
            if changed.isdisjoint(workloads.keys)
            else Holders.of_records(
                one._replace(priority=priorities[one.key]) if one.key in changed else one
                for one in workloads
            )
            for queue, workloads in self.snapshot.admitted.items()
        }
        return replace(self.snapshot, admitted=admitted)

    @cached_property
    def _today(self) -> Mapping[str, int]:
        every = self.snapshot.admitted.values()
        return {
            k: n
            for some in every
            for k, n in zip(some.keys, some.columns.priority.tolist(), strict=True)
        }


class StateTrial(Trial):
    """A trial that sets the annotations in a state with the feature gate PriorityBoost on."""

    def __init__(
        self, state: State, pending: str, assignment: Assignment, victims: frozenset[str]
    ) -> None:
        self.state, self.pending = state, pending
        super().__init__(*self._boosted({}), assignment, victims)

    def _boosted(self, boosts: Mapping[str, int]) -> tuple[Snapshot, Preemptor]:
        """Read the annotated state as if it had just come from the cluster.

        Pods need a place on nodes where they do for the plan.
        """
        state = annotated(self.state, boosts) if boosts else self.state
        snapshot = snapshot_for(state, None, (), self.pending)
        return snapshot, find_preemptor(state, snapshot, self.pending)


def annotated(state: State, boosts: Mapping[str, int]) -> State:
    """Return the state with the boost annotations of workloads set, by their keys."""

    def with_boost(workload: Workload) -> Workload:
        value = {BOOST_ANNOTATION: str(boosts[workload.key])}
        annotations = {**workload.metadata.annotations, **value}
        metadata = workload.metadata.model_copy(update={"annotations": annotations})
        return workload.model_copy(update={"metadata": metadata})

    return state.model_copy(update={"workloads": state.workloads.edited(boosts, with_boost)})


def _taken(decision: Decision) -> frozenset[str]:
    return frozenset(target.workload.key for target in decision.search.targets)
