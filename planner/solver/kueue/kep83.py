"""One pending workload being planned by KEP-83's rules; search and description are Kueue's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.errors import UnsupportedError
from planner.models.kep83 import assemble, eligible, reasons, relax, rows
from planner.models.kueue.formulation import Formulation
from planner.models.shared.classes import Classes, Relaxation, Row
from planner.objective.annotation import read_disruption
from planner.objective.profiles import Profile
from planner.problem.kep83 import Kep83Problem, build_kep83
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import seconds_waiting
from planner.reference.kep83 import decide_kep83
from planner.solver.kueue.describe import Decided
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.rules import KueueRules
from planner.state.kep83 import Kep83


class Kep83Rules(KueueRules, frozen=True):
    """The rules for one problem; the options fix the only attempt.

    ``kep83`` is the problem with its policies; ``restricted`` is False everywhere.
    """

    kep83: Kep83Problem

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self.kep83, self.columns(classes))

    def rows(self, classes: Classes) -> list[Row]:
        """Return what victims among these classes must free, as rows that every answer keeps."""
        return rows(self.kep83, self.columns(classes))

    def relaxation(self, classes: Classes) -> Relaxation:
        """Return the rows, with their witnesses, that a linear program gets."""
        return relax(self.kep83, self.columns(classes))


class Kep83Planning(Planning):
    """The decision of KEP-83's algorithm, the problem and its terms, for one preemptor.

    The state must be one without fair sharing, which came later.
    """

    NAME: ClassVar = "KEP-83"
    NEVER_LOOKED: ClassVar = (
        "its flavors are given as fitting, which they do not, so nothing is preempted"
    )
    by_own_rules = False
    options: Kep83

    @cached_property
    def _cost(self) -> dict[str, int]:
        """By workload: the cost of evicting it now by its milestones, if the order asks for it."""
        if "ByLowestDisruptionCost" not in self.options.criteria:
            return {}
        running = (one for some in self.snapshot.admitted.values() for one in some if one.remarks)
        costs = (
            (one.key, read_disruption(one.remarks, self.snapshot.now, one.running_s).milestone_cost)
            for one in running
        )
        return {key: cost for key, cost in costs if cost}

    def _decided(self, assignment: Assignment | None) -> Decided:
        given = self.snapshot, self.preemptor
        decision = decide_kep83(*given, self.options, assignment, self._cost)
        self._kep83: Kep83Problem = build_kep83(
            *given, decision.assignment, self.options, self._cost
        )
        lawful = eligible(self._kep83)
        return Decided(decision, self._kep83.base, lawful, lawful)

    @cached_property
    def _codes(self) -> list[str]:
        return reasons(self._kep83)

    @cached_property
    def attempts(self) -> Sequence[bool]:
        """The only attempt: an option says whether it may borrow."""
        return (self.options.borrows,)

    def rules(self) -> Kep83Rules:
        """Return the rules as a search uses them."""
        nobody = np.zeros(len(self.problem.workloads), dtype=np.bool_)
        return Kep83Rules(
            self.problem,
            self.table,
            self.attempts,
            nobody,
            self.is_lawful,
            self.finds_places,
            self._kep83,
        )

    def set_objective(self, profile: Profile) -> Profile:
        """Let the terms count what an objective asks for, as under Kueue's own rules.

        Raises `UnsupportedError` if it counts what victims would do next: Kueue decides that.
        """
        if profile.counts("unstable"):
            raise UnsupportedError(
                f"objective {profile.name}",
                "unstable asks what Kueue would decide for the victims, not KEP-83",
            )
        return super().set_objective(profile)

    def why_infeasible(self) -> str:
        """Say in words why no legal victim set exists."""
        waited = seconds_waiting(self.preemptor.workload, self.snapshot.now)
        if waited < self.options.wait:
            return f"it has waited {waited} s and may not preempt before {self.options.wait} s"
        return super().why_infeasible()

    def why_no_flavor(self) -> str:
        """Say in words why flavor assignment failed."""
        inactive = self.snapshot.inactive.get(self.subject.cluster_queue)
        if inactive:
            return f"ClusterQueue {self.subject.cluster_queue} is inactive: {inactive}"
        done = {pods.name for pods in self.decision.assignment.pod_sets}
        failed = [request.name for request in self.preemptor.pod_sets if request.name not in done]
        quota = "what the cohort could lend" if self.options.borrows else "its min quota"
        return (
            f'podset "{failed[0] if failed else ""}" of {self.preemptor.key} fits in no flavor: '
            f"of those its pods may use, none has enough left in the cohort, and none holds the "
            f"request within {quota}"
        )
