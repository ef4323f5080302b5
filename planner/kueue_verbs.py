"""The library's verbs that only Kueue has: ``planner.solve_joint`` and ``planner.boost``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from planner.api import solve
from planner.commands.boost.kueue.find import Boosts, find_boosts
from planner.commands.boost.kueue.trial import check_release
from planner.commands.joint.kueue.describe import solve_together
from planner.commands.joint.kueue.question import ask
from planner.commands.whatif.edit import edit
from planner.coverage.kueue import contradicted, covered_joint, waiting_slices
from planner.errors import InputError
from planner.objective.profile_file import checked_costs, find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.plan import Assume
from planner.plan.kueue import JointPlan, Plan
from planner.quota.kueue.snapshot import take_snapshot
from planner.solver.start import deadline_after
from planner.stage import begin
from planner.state import AnyState
from planner.state.clock import clock_of
from planner.state.kueue import of_kueue
from planner.state.kueue_workload import BOOST_GATE
from planner.verb import verb

__all__ = ["boost", "solve_joint"]


@verb
def solve_joint(  # noqa: PLR0913, PLR0917 - the public signature
    state: AnyState,
    pending: Sequence[str] | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    costs: Mapping[str, int] | None = None,
    now: datetime | str | None = None,
    time_limit: float | None = None,
    *,
    assume: Assume | None = None,
) -> JointPlan:
    """Return one plan for several pending workloads of Kueue, proved and verified step by step.

    As many workloads as possible are admitted, by precedence: higher priority first, then earlier
    in the queue. Among all plans that admit these, the victims are the least disruptive. The
    workloads are served one after another, each legally by Kueue's own rules in the state that
    those before it leave; a preemptor that was served is never a victim. ``plan.greedy`` has the
    result of serving each by itself, one by one. Up to four pending workloads every order of
    serving is considered; beyond four, only that of precedence, and ``plan.status`` is ``optimal``
    only where nobody has to go. Beyond 32 the answer is the better of two ways to serve them one by
    one: as Kueue would, and each by its own best plan.

    Parameters
    ----------
    state
        What ``planner.read`` returned.
    pending
        Workloads, each named as for ``planner.solve``; all pending ones when left out, and
        ``plan.skipped`` then lists those that cannot be planned for.
    objective, costs, now, time_limit, assume
        As for ``planner.solve``; an objective may not count what victims do next.

    Raises
    ------
    InputError
        If a workload, the objective or a cost cannot be used, or nothing is pending.
    UnsupportedError
        If the state is one of YuniKorn, more than 200 workloads are pending, a named one may be
        admitted with fewer pods or replaces a slice, or the objective counts what a joint plan does
        not know.
    InternalError
        If a plan fails its own verification; it is then never returned.
    """
    state = of_kueue(state)
    if pending is not None and not pending:
        raise InputError("pending", "nobody is named", "a list of workloads, or None for all")
    profile = find_profile(objective)
    deadline = deadline_after(time_limit)
    begin("preparing")
    snapshot = take_snapshot(state, clock_of(now))
    question = ask(state, snapshot, pending, checked_costs(costs))
    plan = solve_together(question, profile, deadline)
    besides = [
        *waiting_slices(state, [one.workload for one in plan.skipped]),
        *contradicted(state, [one.workload for one in plan.pending], question.alone),
    ]
    return covered_joint(state, plan, assume, besides)


@verb
def boost(
    state: AnyState,
    pending: str | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    *,
    time_limit: float | None = None,
) -> Boosts:
    """Return the smallest priority boosts after which Kueue itself evicts the planned victims.

    The plan, ``boosts.plan``, is made with the feature gate PriorityBoost on, whatever the state
    says: the annotations count only then.

    Parameters
    ----------
    state
        A state of Kueue.
    pending, objective
        As for ``planner.solve``.
    time_limit
        Seconds for plan and boosts: at most half of them for the plan, the rest for the boosts.

    Raises
    ------
    InputError
        If the state is of another scheduler or of a release before 0.17, which has no boosts, or
        nothing can be planned for.
    InternalError
        If the plan fails its own verification; it is then never returned.
    """
    deadline = deadline_after(time_limit)
    state = of_kueue(state)
    check_release(state)
    gate_on = state.configuration.gate(BOOST_GATE)
    boosting = state if gate_on else edit(state, [f"configuration.featureGates.{BOOST_GATE}=true"])
    # The plan for a state of Kueue.
    plan = cast("Plan", solve(boosting, pending, objective, time_limit=deadline.half().left()))
    return find_boosts(boosting, plan, gate_on=gate_on, deadline=deadline)
