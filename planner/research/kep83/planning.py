"""One pending workload being planned by KEP-83's rules; search and description are Kueue's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.errors import UnsupportedError
from planner.models.kueue.formulation import Columns, Formulation
from planner.objective.profiles import Profile
from planner.problem.array import BoolArray
from planner.quota.classes import Classes
from planner.research.kep83.model import assemble, eligible, reasons
from planner.research.kep83.options import Kep83, parse_rules, seconds_waiting
from planner.research.kep83.problem import Kep83Problem
from planner.research.kep83.replay import problem_of
from planner.solver.kueue.planning import Planning


class Kep83Planning(Planning):
    """The decision of KEP-83's algorithm, the problem and its terms, for one preemptor.

    The state must be one without fair sharing, which came later.
    """

    NEVER_LOOKED: ClassVar = (
        "its flavors are given as fitting, which they do not, so nothing is preempted"
    )

    @cached_property
    def _asked(self) -> Kep83:
        return parse_rules(self.case.options)

    @cached_property
    def _kep83(self) -> Kep83Problem:
        return problem_of(self.case)

    def _permitted(self) -> tuple[BoolArray, BoolArray]:
        lawful = eligible(self._kep83)
        return lawful, lawful

    @cached_property
    def _codes(self) -> list[str]:
        return reasons(self._kep83)

    @cached_property
    def attempts(self) -> Sequence[bool]:
        """The only attempt: an option says whether it may borrow."""
        return (self._asked.borrows,)

    @cached_property
    def restricted(self) -> BoolArray:
        """(W,) False everywhere: the options fix the only attempt."""
        return np.zeros(len(self.problem.workloads), dtype=np.bool_)

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self._kep83, Columns(self.problem, classes, self.restricted))

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
        waited = seconds_waiting(self.case.preemptor.workload, self.case.snapshot.now)
        if waited < self._asked.wait:
            return f"it has waited {waited} s and may not preempt before {self._asked.wait} s"
        return super().why_infeasible()

    def why_no_flavor(self) -> str:
        """Say in words why flavor assignment failed."""
        case = self.case
        inactive = case.snapshot.inactive.get(case.cluster_queue)
        if inactive:
            return f"ClusterQueue {case.cluster_queue} is inactive: {inactive}"
        done = {pods.name for pods in case.assignment.pod_sets}
        failed = [request.name for request in case.preemptor.pod_sets if request.name not in done]
        quota = "what the cohort could lend" if self._asked.borrows else "its min quota"
        return (
            f'podset "{failed[0] if failed else ""}" of {self.preemptor_key} fits in no flavor: '
            f"of those its pods may use, none has enough left in the cohort, and none holds the "
            f"request within {quota}"
        )
