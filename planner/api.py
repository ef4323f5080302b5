"""The library's verbs: ``planner.greedy``, ``planner.solve`` and ``planner.verify``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from planner.assignment import Assignment, flavor_resources, parse_assignment, read_assignment
from planner.errors import InputError, SchemaError
from planner.objective.profiles import DEFAULT_PROFILE, PROFILES, Profile
from planner.plan import Plan, Verification
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import take_snapshot
from planner.solver.engine import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.state import State, parse_time
from planner.verifier import verify_plan

_LARGEST_COST = 2**40
AssignmentInput = Assignment | Mapping[str, Any]


def pending_workloads(state: State) -> tuple[str, ...]:
    """Return every workload that waits in a queue, as namespace/name in the order of the dump."""
    return tuple(workload.key for workload in state.workloads if workload.is_pending)


def greedy(
    state: State,
    pending: str | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
) -> Plan:
    """Return what Kueue itself would do for a pending workload, verified.

    Parameters
    ----------
    state
        What ``planner.read`` returned.
    pending
        ``namespace/name``; may be left out when only one workload is pending.
    assignment
        Flavors to use instead of Kueue's own choice: a mapping in the form of a plan's
        ``assignment``, or ``{podset: {resource: {"flavor": ..., "mode": ...}}}``.
    now
        The clock; the state's own when left out.

    Raises
    ------
    InputError
        If the workload cannot be planned for, or the assignment does not suit it.
    """
    return _planning(state, pending, assignment, now, None).greedy_plan()


def solve(  # noqa: PLR0913, PLR0917 - the public signature
    state: State,
    pending: str | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    costs: Mapping[str, int] | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
    time_limit: float | None = None,
) -> Plan:
    """Return the least disruptive legal plan for a pending workload, proved and verified.

    ``plan.status`` says what was proved: infeasible is an answer, not an exception.

    Parameters
    ----------
    state, pending, assignment, now
        As for ``planner.greedy``.
    objective
        The name of a profile, or a profile.
    costs
        Cost per ``namespace/name``, non-negative integers, for the profile ``min-cost``; a
        workload that is not named costs 1.
    time_limit
        Seconds, building the model included; the best plan found by then is returned.

    Raises
    ------
    InputError
        If the workload, the objective, a cost or the assignment cannot be used.
    InternalError
        If a plan fails its own verification; it is then never returned.
    """
    profile = _profile(objective)
    if time_limit is not None and not time_limit >= 0:
        raise SchemaError("time_limit", f"{time_limit} cannot be used", "seconds, 0 or more")
    deadline = Deadline.after(time_limit)
    planning = _planning(state, pending, assignment, now, _checked_costs(costs))
    return solve_planning(planning, profile, deadline)


def verify(state: State, plan: Plan) -> Verification:
    """Check a plan law by law, without a solver, on the state it was made for."""
    return verify_plan(state, plan)


def _planning(
    state: State,
    pending: str | None,
    assignment: AssignmentInput | None,
    now: datetime | str | None,
    costs: Mapping[str, int] | None,
) -> Planning:
    clock = parse_time(now) if isinstance(now, str) else now
    given = None if assignment is None else parse_assignment(assignment)
    snapshot = take_snapshot(state, clock, flavor_resources(given) if given else ())
    preemptor = find_preemptor(state, snapshot, pending or _only_pending(state))
    fixed = None if given is None else read_assignment(given, preemptor)
    return Planning(state, snapshot, preemptor, costs, fixed)


def _only_pending(state: State) -> str:
    waiting = pending_workloads(state)
    if len(waiting) == 1:
        return waiting[0]
    if not waiting:
        raise InputError(state.source, "no workload is pending: there is nothing to plan for")
    shown = ", ".join(waiting[:10]) + (f" and {len(waiting) - 10} more" if waiting[10:] else "")
    raise InputError(
        state.source,
        f"{len(waiting)} workloads are pending",
        f"one of them to be named: {shown}",
        "--pending NAMESPACE/NAME plans for one, --all for each",
    )


def _profile(objective: str | Profile) -> Profile:
    if isinstance(objective, Profile):
        return objective
    profile = PROFILES.get(objective)
    if profile is None:
        raise SchemaError("objective", f'there is no profile "{objective}"', ", ".join(PROFILES))
    return profile


def _checked_costs(costs: Mapping[str, int] | None) -> Mapping[str, int] | None:
    for name, cost in (costs or {}).items():
        if isinstance(cost, bool) or not isinstance(cost, int) or not 0 <= cost <= _LARGEST_COST:
            raise SchemaError(
                f'costs["{name}"]',
                f"{cost!r} cannot be used",
                f"a whole number up to {_LARGEST_COST}",
            )
    return costs
