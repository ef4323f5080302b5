"""A pending workload of Kueue in a state: what is decided for it, and by which rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.plan.kueue import HeldBack
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import Assignment, read_assignment
from planner.quota.kueue.modes import with_modes
from planner.quota.kueue.placement import concerns, not_replayed
from planner.quota.kueue.snapshot import Preemptor, Snapshot, build_snapshot
from planner.reference.kueue.cycle.nomination import (
    NotNominated,
    why_held_back,
    why_never_nominated,
    why_not_carried_out,
)
from planner.reference.kueue.decision import Decision, decide_under
from planner.rules import Piece, RuleSet
from planner.scheduler import Placement
from planner.state.kueue import State
from planner.verifier.kueue_topology import Floor
from planner.wing import find_rules

SMALL: Final = 300
"""Workloads with quota up to which decisions are replayed that nobody asked for."""


class Case(Struct, frozen=True, dict=True):
    """One pending workload in one snapshot of a state.

    ``fixed`` are its flavors, where they are given; ``costs`` those of evictions, by key, where
    they are given; ``options`` name rules beside Kueue's own, with their options.
    """

    state: State
    snapshot: Snapshot
    preemptor: Preemptor
    fixed: Assignment | None = None
    costs: Mapping[str, int] | None = None
    options: str = ""

    @cached_property
    def rules(self) -> RuleSet:
        """The rule set."""
        return find_rules(self.options or None)

    @property
    def replacing(self) -> str:
        """The rules with their options where they take the place of Kueue's own."""
        return self.options if self.rules.replaces else ""

    @cached_property
    def decision(self) -> Decision:
        """What the scheduler itself decides on targets, and on flavors, unless they are given."""
        return DECISION.for_rules(self.rules)(self)

    @property
    def assignment(self) -> Assignment:
        """The flavors of the decision."""
        return self.decision.assignment

    @cached_property
    def problem(self) -> Problem:
        """The decision in integers, with the table of those that hold quota."""
        return PROBLEM.for_rules(self.rules)(self)

    @property
    def cluster_queue(self) -> str:
        """The name of the preemptor's ClusterQueue."""
        return self.snapshot.queue_name(self.preemptor.queue)

    @property
    def is_small(self) -> bool:
        """Whether so few hold quota that further decisions of Kueue take next to no time."""
        return sum(map(len, self.snapshot.admitted.values())) <= SMALL

    @cached_property
    def placement(self) -> Placement | None:
        """Who places the pods on nodes; ``None`` if quota alone decides, or is all that is seen.

        Source: docs/semantics/kueue-topology.md §1 and §3.
        """
        placing = self.snapshot.topologies.looked_at and concerns(self.snapshot, self.preemptor)
        return "kueue" if placing else None

    @cached_property
    def held_back(self) -> HeldBack | None:
        """Why Kueue does nothing for the preemptor in its next cycle, if that is known."""
        if self.options:  # by other rules nobody knows
            return None
        found = why_held_back(self.state, self.snapshot, self.preemptor, self.decision)
        return None if found is None else _held_back(found)

    @property
    def never_nominated(self) -> HeldBack | None:
        """Why Kueue does nothing for the preemptor, whoever is before it and whatever is free."""
        found = why_never_nominated(self.state, self.snapshot, self.preemptor.workload)
        return None if found is None else _held_back(found)

    @property
    def not_carried_out(self) -> HeldBack | None:
        """Why Kueue does not do what it decides for the preemptor, whoever is before it."""
        found = why_not_carried_out(self.snapshot, self.preemptor, self.decision)
        return None if found is None else _held_back(found)


def _held_back(found: NotNominated) -> HeldBack:
    return HeldBack(why=found.why, message=found.message, text=found.text, head=found.head or None)


DECISION: Final = Piece[Callable[[Case], Decision]](
    "decision", lambda case: decide_under(case.snapshot, case.preemptor, case.fixed)
)
"""Replays the scheduler under a rule set."""
PROBLEM: Final = Piece[Callable[[Case], Problem]](
    "problem", lambda case: build_problem(case.snapshot, case.preemptor, case.assignment)
)
"""Builds the problem of a rule set, under the flavors of its decision."""


def with_topologies(case: Case) -> tuple[Case, str] | None:
    """Return a case with its pods placed on nodes, and why Kueue is not replayed then, if so.

    ``None`` where no topology decides about its pods. The snapshot of a plan may count quota only.

    Source: docs/semantics/kueue-topology.md §3 and §6.
    """
    state, workload, old = case.state, case.preemptor.workload, case.snapshot
    if not state.topology_of:
        return None
    snapshot = build_snapshot(state, old.now, old.tree.frs, placing=True)
    topologies, queue = snapshot.topologies, snapshot.queues[case.preemptor.queue]
    placed = any(topologies.is_placed(pods, queue) for pods in workload.spec.pod_sets)
    if not topologies.on or not placed or topologies.leaves_it_to_workers(queue):
        return None
    return replace(case, snapshot=snapshot), not_replayed(state, topologies, queue, workload)


def in_modes(
    flavors: Assignment, snapshot: Snapshot, preemptor: Preemptor, options: str
) -> Assignment:
    """Return flavors that are given, with the modes that follow from the state.

    Raises ``SchemaError`` if they do not suit the preemptor, or say a mode that is not so.
    """
    return with_modes(
        read_assignment(flavors, preemptor),
        preemptor,
        snapshot,
        lambda groups: Floor(snapshot, tuple(groups)).finds(()),
        borrows=find_rules(options or None).borrows(options),
    )
