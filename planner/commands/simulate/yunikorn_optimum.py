"""The least disruptive plan in the place of the victims that YuniKorn chooses."""

from __future__ import annotations

from typing import Final

from planner.commands.simulate.simulate import Unproved
from planner.objective.profiles import Profile
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.candidates import Candidate, Preconditions
from planner.reference.yunikorn.decision import Decision, decide
from planner.solver.deadline import Deadline
from planner.solver.yunikorn.planning import YuniKornPlanning, side_of
from planner.solver.yunikorn.start import solve
from planner.state.yunikorn import YuniKornState


class YuniKornOptimum:
    """Decides like the core whether to preempt; whom, and on which node, is the best plan.

    Where there is none under the laws, the core's own decision stands.
    """

    def __init__(
        self, profile: Profile, laws: str | None, time_limit: float | None, unproved: Unproved
    ) -> None:
        """Prepare to decide; ``time_limit`` are the seconds that one decision may take."""
        self._profile: Final = profile
        self._laws: Final = side_of(laws)
        self._time_limit: Final = time_limit
        self._unproved: Final = unproved

    def __call__(self, state: YuniKornState, cluster: Cluster, asking: Asking) -> Decision:
        """Return the core's decision with the victims of the least disruptive plan."""
        found = decide(cluster, asking)
        conditions = found.conditions
        # Whether preemption is tried at all is the core's decision, and so are required nodes.
        if not (isinstance(conditions, Preconditions) and conditions.attempted):
            return found
        planning = YuniKornPlanning(state, cluster, asking, self._laws)
        plan = solve(planning, self._profile, Deadline.after(self._time_limit))
        self._unproved.note(plan)
        if not plan.victims:
            return found
        there = {
            one.allocation_key: Candidate(one, cluster.tree.leaf_of(each), each.application_id)
            for each in cluster.partition.applications
            for one in each.allocations
        }
        victims = tuple(there[one.allocation] for one in plan.victims)
        return Decision("generic", conditions, True, plan.node, victims)  # noqa: FBT003
