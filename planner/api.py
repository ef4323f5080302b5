"""The library's verbs, such as ``solve``, ``explain`` and ``whatif``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from planner.commands.explain import DEFAULT_LIMIT
from planner.coverage.answer import covered, covered_front
from planner.errors import InputError
from planner.garbage import without_garbage_collection
from planner.objective.profile_file import FRONT, checked_costs, find_profile, parse_front
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.plan import AnyPlan, Assume, Verification, qualified
from planner.plan.asked import AssignmentInput
from planner.scheduler import OWN, Flavors, scheduler_of
from planner.solver.start import (
    Given,
    deadline_after,
    start,
)
from planner.solver.start import solve as solve_started
from planner.state import AnyState
from planner.verb import verb

if TYPE_CHECKING:
    from planner.commands.explain.record import CommonExplanation
    from planner.commands.whatif.edit import WhatIf
    from planner.plan.front import Front


@verb
def greedy(
    state: AnyState,
    pending: str | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
    rules: str | None = None,
) -> AnyPlan:
    """Return what the scheduler itself would do for a pending workload, verified.

    Parameters
    ----------
    state
        What ``planner.read`` returned.
    pending
        A workload of Kueue as ``namespace/name``, or an ask of YuniKorn by its allocation key or
        its pod; may be left out when only one is pending.
    assignment
        Kueue: flavors to use instead of Kueue's own choice: a mapping in the form of a plan's
        ``assignment``, or ``{podset: {resource: {"flavor": ..., "mode": ...}}}``. Modes may be left
        out: they follow from the state.
    now
        The clock; the state's own when left out.
    rules
        YuniKorn: ``design``, ``written`` or ``code``, the side to take where its written laws and
        its code differ; ``design`` when left out. Kueue: another rule set than its own, as
        ``NAME`` or ``NAME:OPTION=VALUE,...``; ``planner solve --help`` lists those that are there.

    Raises
    ------
    InputError
        If the workload cannot be planned for, the assignment does not suit it or says a mode that
        is not so in the state, or the rules are not known.
    """
    plan = start(state, Given(pending, assignment, now, rules)).greedy_plan()
    return covered(state, plan)


@verb
def solve(  # noqa: PLR0913, PLR0917 - the public signature
    state: AnyState,
    pending: str | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    costs: Mapping[str, int] | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
    time_limit: float | None = None,
    rules: str | None = None,
    flavors: Flavors = OWN,
    *,
    stability: bool | None = False,
    stable: bool = False,
    certify: bool | None = None,
    assume: Assume | None = None,
    quota: str | None = None,
) -> AnyPlan:
    """Return the least disruptive legal plan for a pending workload, proved and verified.

    ``plan.status`` says what was proved: infeasible is an answer, not an exception.

    Parameters
    ----------
    state, pending, assignment, now
        As for ``planner.greedy``.
    objective
        The name of a profile, the path of a TOML file that holds one, or a profile.
    costs
        Cost per ``namespace/name`` or allocation key, non-negative integers, for the profile
        ``min-cost``; what is not named costs 1.
    time_limit
        Seconds, building the model included; the best plan found by then is returned.
    flavors
        Kueue: with ``optimal`` the flavors, too, are chosen for least disruption, among all that
        the rules permit; with ``kueue`` Kueue's own assignment is used.
    stability
        Kueue: also say which victims would preempt again, here and in Kueue's own plan: the field
        ``stability``, and among the terms their number. Objectives that count it always do. With
        ``None`` only the field is filled, and only in small states, where that is cheap.
    stable
        Kueue: accept only plans after which no victim would preempt again. The plan is infeasible
        where it is proved that there is no such plan; the explanation then says who would preempt
        whom, and which preemption policies, if set to Never, would leave a stable plan.
    rules
        As for ``planner.greedy``; of YuniKorn's, ``written`` takes law 4 by its words. With
        another rule set of Kueue the flavors are those that this assigns, and stability cannot be
        asked for.
    certify
        Whether to wait for the proof trees of ``plan.certificate``, which ``planner.check``
        checks without a solver. By default only trees of up to five thousand steps are searched;
        with ``False`` none are, and nothing is proved.
    assume
        Parts of the state that may decide who is preempted and are not modelled are listed in
        ``plan.coverage``, and the status is then ``conditional``, never ``optimal``. With
        ``quota`` the caller vouches that they decide nothing, and the status stays.
    quota
        YuniKorn: the path of a queue that uses more than its maximum, in the place of ``pending``.
        The plan brings it to its maximum and leaves every queue its guaranteed; ``plan.greedy`` is
        what the core preempts where the quota was lowered.

    Raises
    ------
    InputError
        If the workload, the queue, the objective, a cost, the assignment, the flavors or the rules
        cannot be used, or a victim's LocalQueue, where stability is asked for, is not in the dump.
    InternalError
        If a plan fails its own verification; it is then never returned.
    """
    given = Given(
        pending, assignment, now, rules, certify, quota, costs, flavors, stability, stable
    )
    return _solve(state, given, objective, time_limit, partial(covered, assume=assume))


def _solve(
    state: AnyState,
    given: Given,
    objective: str | Profile,
    time_limit: float | None,
    cover: Callable[[AnyState, AnyPlan], AnyPlan],
) -> AnyPlan:
    """Return what `solve` does; ``cover`` says of a plan what it leaves out."""
    profile = find_profile(objective)
    deadline = deadline_after(time_limit)
    given = replace(given, costs=checked_costs(given.costs))
    scheduler = scheduler_of(state)
    planner = scheduler.planning
    planner.check(given)
    with without_garbage_collection():
        plan = planner.answer(planner.start(state, given), profile, deadline, given)
        return scheduler.with_nodes(state, cover(state, plan))


@verb
def front(  # noqa: PLR0913, PLR0917 - the public signature
    state: AnyState,
    pending: str | None = None,
    first: str = "workloads",
    second: str = "lost_work",
    costs: Mapping[str, int] | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
    time_limit: float | None = None,
    rules: str | None = None,
    assume: Assume | None = None,
) -> Front:
    """Return the Pareto front of two measures: what less of one measure costs in the other.

    Every point is a plan, proved and verified. ``front.status`` is ``optimal`` if there are proved
    to be no other points.

    Parameters
    ----------
    state, pending, costs, assignment, now, rules
        As for ``planner.solve``.
    first, second
        The measures: terms, or sums of terms of one unit such as ``lost_work+restart_cost``.
    time_limit
        Seconds for the whole front; what was found by then is returned.
    assume
        As for ``planner.solve``.

    Raises
    ------
    InputError
        If the workload, a measure, a cost, the assignment or the rules cannot be used.
    InternalError
        If a plan fails its own verification; it is then never returned.
    """
    from planner.commands.front.sweep import sweep  # noqa: PLC0415 - what fronts alone need

    measures = parse_front(f"{FRONT}{first},{second}")
    deadline = deadline_after(time_limit)
    given = Given(pending, assignment, now, rules, costs=checked_costs(costs))
    planning = start(state, given)
    found = sweep(lambda profile: solve_started(planning, profile, deadline), *measures)
    return covered_front(state, found, assume)


@verb
def explain(  # noqa: PLR0913, PLR0917 - the public signature
    state: AnyState,
    pending: str | None = None,
    victim: str | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    costs: Mapping[str, int] | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
    time_limit: float | None = None,
    rules: str | None = None,
    limit: int = DEFAULT_LIMIT,
    quota: str | None = None,
) -> CommonExplanation:
    """Explain the least disruptive plan for a pending workload, or why there is none.

    For every victim the explanation says which law permits it and whether all optimal plans have
    it; for the workload ``victim`` also the best plan that spares it, or that evicts it. Where no
    plan exists, the explanation has the minimal set of laws that clash, the resources that are
    short, and the smallest single changes that would help, each solved again.

    Parameters
    ----------
    state, pending, objective, costs, assignment, now, rules, quota
        As for ``planner.solve``. Of a queue's plan the scheduler's own victims are explained, too.
    victim
        The workload to ask about: a running one of Kueue as ``namespace/name``, or an allocation of
        YuniKorn by its key or its pod.
    time_limit
        Seconds for the whole explanation; the answer says what was not proved by then.
    limit
        How many optimal plans to list, at least 1; counting stops there, too.

    Raises
    ------
    InputError
        If a named workload is not in the state, or a parameter cannot be used.
    InternalError
        If a plan fails its own verification.
    """
    # Imported here: it takes an eighth of the time that a small plan takes to start.
    from planner.commands.explain.answer import answered  # noqa: PLC0415
    from planner.report.words import remarks  # noqa: PLC0415

    profile = find_profile(objective)
    deadline = deadline_after(time_limit)
    given = Given(pending, assignment, now, rules, quota=quota, costs=checked_costs(costs))
    inquiry = scheduler_of(state).explainer(state, given, profile, deadline)
    found: CommonExplanation = answered(inquiry, victim, limit)
    plan = covered(state, inquiry.plan)
    found = qualified(found.model_copy(update={"notes": tuple(remarks(plan))}), plan.coverage)
    return found.model_copy(update={"answer": f"{found.first}{found.answer}"})


@verb
def verify(state: AnyState, plan: AnyPlan) -> Verification:
    """Check a plan law by law, without a solver, on the state it was made for.

    Raises
    ------
    InputError
        If the plan is for another scheduler than the state, or its preemptor is not pending there.
    """
    if plan.scheduler != state.scheduler:
        raise InputError(state.source, f"the plan is one of {plan.scheduler}, the state is not")
    return scheduler_of(state).verify_plan(state, plan)


@verb
def whatif(  # noqa: PLR0913 - the public signature
    state: AnyState,
    edits: Sequence[str] = (),
    pending: str | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    *,
    time_limit: float | None = None,
    rules: str | None = None,
    added: Sequence[str] = (),
    original: AnyState | None = None,
) -> WhatIf:
    """Plan before and after edits of a state, and return what they change.

    Parameters
    ----------
    state
        The state, with hypothetical workloads in it, if there are any.
    edits
        Texts such as ``clusterqueue/a.preemption.reclaimWithinCohort=Any``, or one of them;
        docs/how-to/what-if.md lists them all.
    pending, objective, time_limit, rules
        As for ``planner.solve``; the time limit is for each of the plans.
    added
        The hypothetical workloads, as namespace/name, or one of them. For one of them there is no
        plan before, unless there are edits.
    original
        The state without the hypothetical workloads, if it is at hand: the plan before has its
        digest then. Without edits, they are what changes, and the plan before is made without
        them; with edits, it is made in ``state``.

    Raises
    ------
    InputError
        If an edit cannot be made, nothing can be planned for, what is added is not in the state,
        or there are neither edits nor workloads.
    InternalError
        If a plan fails its own verification; it is then never returned.
    """
    # Imported here: only this verb needs them.
    from planner.commands.whatif.edit import compare, edit  # noqa: PLC0415

    edits, added = ([one] if isinstance(one, str) else one for one in (edits, added))
    if not (edits or added):
        raise InputError("edits", "change nothing", hint="give edits, added workloads, or both")
    if original is not None and original.scheduler != state.scheduler:
        raise InputError("original", f"is a state of {original.scheduler}", "one as the state is")

    def plan(of: AnyState, before: AnyPlan | None = None) -> AnyPlan:
        given = Given(pending, rules=rules, stability=False)
        return _solve(of, given, objective, time_limit, partial(covered, before=before))

    if edits:
        changed = edit(state, edits)
        before = plan(state)
        return compare(edits, before, plan(changed, before), added)
    after, then = plan(state), state
    if after.preemptor in added:
        return compare(edits, None, after, added)
    if added:
        then = original or scheduler_of(state).without_workloads(state, added)
    return compare(edits, plan(then), after, added)
