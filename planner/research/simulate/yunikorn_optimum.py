"""The least disruptive plan in the place of the victims that YuniKorn chooses."""

from __future__ import annotations

from planner.case.yunikorn import Case
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.decision import Decision
from planner.research.simulate.simulate import Plans
from planner.solver.deadline import Deadline
from planner.solver.yunikorn.planning import Laws, YuniKornPlanning
from planner.solver.yunikorn.start import solve
from planner.state.yunikorn import YuniKornState


def optimum(
    side: Laws, plans: Plans, state: YuniKornState, cluster: Cluster, asking: Asking
) -> Decision:
    """Decide like the core whether to preempt; take victims and node from the best plan.

    Where no plan has victims under the laws of a side, the core's own decision stands.
    """
    case = Case(state, cluster, asking)
    found, conditions = case.decision, case.decision.conditions
    # Whether preemption is tried at all is the core's decision, and so are required nodes.
    if conditions is None or not (conditions.attempted and conditions.no_required_node):
        return found
    planning = YuniKornPlanning(case, side)
    plan = solve(planning, plans.profile, Deadline.after(plans.time_limit))
    plans.note(plan)
    if not plan.victims:
        return found
    there = {
        one.allocation_key: Candidate(one, cluster.tree.leaf_of(each), each.application_id)
        for each in cluster.partition.applications
        for one in each.allocations
    }
    victims = tuple(there[one.allocation] for one in plan.victims)
    return Decision("generic", conditions, True, plan.node, victims)  # noqa: FBT003
