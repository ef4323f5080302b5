"""The least disruptive plan in the place of the scheduler's own victims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from planner.assignment import Assignment
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.quota.holding import seconds_since, started_at
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.kueue.assignment import Tried
from planner.reference.kueue.decision import Decision, decide
from planner.reference.kueue.target import Search, Target
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.decision import Decision as YuniKornDecision
from planner.reference.yunikorn.decision import decide as decide_yunikorn
from planner.reference.yunikorn.preconditions import Preconditions
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.solver.yunikorn.planning import Laws, YuniKornPlanning
from planner.solver.yunikorn.start import solve
from planner.state import State, YuniKornState


@dataclass(slots=True)
class Doubts:
    """How many decisions were not proved best."""

    unproved: int = 0

    def note(self, plan: AnyPlan) -> None:
        """Count a plan without proof."""
        self.unproved += plan.status in {"feasible", "unknown"}


class KueueOptimum:
    """Decides like Kueue, flavors included, but for the victims.

    Where the best plan has none, Kueue's own targets stand: only pods are short, or fair sharing
    led Kueue to a set outside its own rules.
    """

    def __init__(
        self, state: State, profile: Profile, time_limit: float | None, doubts: Doubts
    ) -> None:
        """Prepare to decide; ``time_limit`` are the seconds that one decision may take."""
        self._state: Final = state
        self._profile: Final = profile
        self._time_limit: Final = time_limit
        self._doubts: Final = doubts

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return Kueue's flavors, and the least disruptive targets for them."""
        found = decide(snapshot, preemptor, nominated=nominated, tried=tried)
        if found.assignment.mode != "Preempt":
            return found
        planning = Planning(
            self._state, _up_to_date(snapshot), preemptor, assignment=found.assignment
        )
        plan = solve_planning(planning, self._profile, Deadline.after(self._time_limit))
        self._doubts.note(plan)
        if not plan.victims:
            return found
        held = {one.key: one for some in snapshot.admitted.values() for one in some}
        targets = tuple(Target(held[one.workload], one.reason) for one in plan.victims)
        attempts = found.search.attempts
        return replace(found, search=Search(targets, attempts, plan.borrowing))


class YuniKornOptimum:
    """Decides like the core whether to preempt; whom, and on which node, is the best plan.

    Where there is none under the laws, the core's own decision stands.
    """

    def __init__(
        self, profile: Profile, laws: Laws, time_limit: float | None, doubts: Doubts
    ) -> None:
        """Prepare to decide; ``time_limit`` are the seconds that one decision may take."""
        self._profile: Final = profile
        self._laws: Final[Laws] = laws
        self._time_limit: Final = time_limit
        self._doubts: Final = doubts

    def __call__(self, state: YuniKornState, cluster: Cluster, asking: Asking) -> YuniKornDecision:
        """Return the core's decision with the victims of the least disruptive plan."""
        found = decide_yunikorn(cluster, asking)
        conditions = found.conditions
        if not (isinstance(conditions, Preconditions) and conditions.attempted):
            return found
        planning = YuniKornPlanning(state, cluster, asking, self._laws)
        plan = solve(planning, self._profile, Deadline.after(self._time_limit))
        self._doubts.note(plan)
        if not plan.victims:
            return found
        there = _allocations(cluster)
        victims = tuple(there[one.allocation] for one in plan.victims)
        return YuniKornDecision("generic", conditions, True, plan.node, victims)  # noqa: FBT003


def _allocations(cluster: Cluster) -> Mapping[str, Candidate]:
    return {
        one.allocation_key: Candidate(
            one, cluster.tree.leaf_of(application), application.application_id
        )
        for application in cluster.partition.applications
        for one in application.allocations
    }


def _up_to_date(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which everybody has run for as long as its clock says."""

    def now(one: Admitted) -> Admitted:
        return one._replace(running_s=seconds_since(started_at(one.workload), snapshot.now))

    admitted = {node: [now(one) for one in some] for node, some in snapshot.admitted.items()}
    return replace(snapshot, admitted=admitted)
