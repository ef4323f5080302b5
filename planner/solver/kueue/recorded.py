"""The plan by the requests that Kueue recorded, where those of the template are others.

Source: docs/semantics/kueue-features.md §10, rule E1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from planner.errors import PlannerError
from planner.objective.profiles import Profile
from planner.plan.base import name_some
from planner.plan.kueue import Plan
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, build_snapshot
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning

MOST_NAMED: Final = 5

Solve = Callable[[Planning, Profile, Deadline], Plan]


def with_recorded(
    planning: Planning, plan: Plan, solved: Solve, profile: Profile, deadline: Deadline
) -> Plan:
    """Return a plan that says what it would be by the requests that Kueue recorded.

    Nothing is said where these are the same, flavors are given, or time is up.
    """
    configuration = planning.snapshot.configuration
    recorded = planning.preemptor.workload.status.resource_requests
    known = not recorded or configuration.requests_from == "recorded"
    if known or planning.fixed is not None or deadline.passed:
        return plan
    changed = configuration.counting("recorded")
    state = planning.state.model_copy(update={"configuration": changed})
    placing = planning.placement is not None
    snapshot = build_snapshot(state, planning.snapshot.now, placing=placing)
    preemptor = find_preemptor(state, snapshot, planning.preemptor.key)
    # They differ in zeros only: the plan would be the same.
    if _totals(preemptor) == _totals(planning.preemptor):
        return plan
    try:
        other = Planning(state, snapshot, preemptor, planning.costs)
        answer = solved(other, profile, deadline)
        who = f" ({name_some(answer.keys, MOST_NAMED)})" if answer.keys else ""
        said = f"{answer.explanation}{who}"
    except PlannerError as error:
        said = f"there is no plan: {error}"
    note = f"by the requests that Kueue recorded: {said}; --requests recorded plans by these"
    return plan.model_copy(update={"notes": (*plan.notes, note)})


def _totals(preemptor: Preemptor) -> list[tuple[str, dict[str, int]]]:
    """Return what each podset asks for, but for what is 0."""
    return [
        (one.name, {name: units for name, units in one.totals.items() if units})
        for one in preemptor.pod_sets
    ]
