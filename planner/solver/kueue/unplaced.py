"""What Kueue itself would do where pods need a place on nodes, and a plan counts quota only.

Source: docs/semantics/kueue-topology.md §3 and §6.
"""

from __future__ import annotations

from planner.plan.base import name_some
from planner.plan.kueue import Plan
from planner.quota.kueue.snapshot import build_snapshot
from planner.reference.kueue.chance import Crash
from planner.reference.kueue.decision import Decision, decide
from planner.solver.kueue.placement import not_replayed
from planner.solver.kueue.planning import Planning

MOST_NAMED = 10
"""So many victims are named."""


def with_placement(planning: Planning, plan: Plan) -> Plan:
    """Return a plan that looks at no topology with what Kueue itself would do, if one decides."""
    if planning.placement is not None:
        return plan
    said = _said(planning)
    return plan.model_copy(update={"notes": (*plan.notes, said)}) if said else plan


def _said(planning: Planning) -> str:
    state, preemptor = planning.state, planning.preemptor
    if not any(flavor.spec.topology_name for flavor in state.resource_flavors):
        return ""
    queue = planning.snapshot.queues[preemptor.queue]
    # Not the snapshot of the plan, which counts quota only.
    snapshot = build_snapshot(
        state, planning.snapshot.now, planning.snapshot.tree.frs, placing=True
    )
    topologies = snapshot.topologies
    pod_sets = preemptor.workload.spec.pod_sets
    placed = any(topologies.is_placed(pods, queue) for pods in pod_sets)
    if not topologies.on or not placed or topologies.leaves_it_to_workers(queue):
        return ""
    why = not_replayed(state, topologies, queue)
    if why:
        return f"what Kueue itself does with pods placed on nodes was not replayed: {why}"
    try:
        decision = decide(snapshot, preemptor, planning.fixed)
    except Crash as error:
        return str(error)
    return f"with pods placed on nodes, Kueue itself {_in_words(preemptor.key, decision)}"


def _in_words(key: str, decision: Decision) -> str:
    targets = [target.workload.key for target in decision.targets]
    if decision.assignment.mode == "Fit":
        return f"admits {key} at once"
    if targets:
        return f"evicts {name_some(targets, MOST_NAMED)} for {key}"
    why = f": {decision.assigned.message}" if decision.assigned.message else ""
    if decision.assignment.mode == "NoFit":
        return f"has no room for {key}, whoever goes{why}"
    return f"finds nobody to evict for {key}{why}"
