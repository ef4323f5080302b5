"""Whether a plan is stable, beside the same of Kueue's own plan; and stability as a condition.

Stable means that the term D11 is 0: of all victims, each asked alone once the plan is carried
out, none would preempt anybody who is not being evicted already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from planner.objective.cascading import CASCADE
from planner.objective.profiles import Profile
from planner.plan import Cascade, Plan
from planner.solver.engine import Deadline, OutOfTime
from planner.solver.kueue.cascade import cascades
from planner.solver.kueue.explanation import victims_in_words
from planner.solver.kueue.hurried import NOT_KNOWN, Solve, unanswered
from planner.solver.kueue.planning import Planning
from planner.state import State
from planner.state.queues import BorrowWithinCohort
from planner.term import in_order

WITHIN: Final = "withinClusterQueue"
RECLAIM: Final = "reclaimWithinCohort"
MAX_NAMED: Final = 3
SMALL: Final = 300
"""Workloads that hold quota up to which stability is looked at without being asked for."""

Policy = tuple[str, str]
"""A ClusterQueue, and the field of its ``preemption`` by which its workloads preempt."""


def cascades_of(planning: Planning, plan: Plan) -> tuple[Cascade, ...]:
    """Return which victims of a plan would preempt again.

    Raises
    ------
    LookupFailed
        If a victim's LocalQueue or ClusterQueue is not in the dump.
    OutOfTime
        If time is up before all victims were asked.
    """
    if plan.assignment == planning.decision.assignment:
        return planning.cascades(plan.keys)
    snapshot = planning.snapshot
    held = {one.key: one for workloads in snapshot.admitted.values() for one in workloads}
    victims = [(held[victim.workload], victim.reason) for victim in plan.victims]
    preemptor, late = planning.preemptor, lambda: planning.deadline.passed
    return cascades(planning.state, snapshot, preemptor, plan.assignment, victims, late)


def with_stability(
    planning: Planning, plan: Plan, deadline: Deadline, *, cheaply: bool = False
) -> Plan:
    """Return a plan, and Kueue's own beside it, with the victims that would preempt again.

    A plan that makes no room stays as it is. With ``cheaply`` so does any of a large state, and
    one with a victim whose LocalQueue is not in the dump; elsewhere it gets no term. Where time
    does not tell, a note says so.

    Raises
    ------
    LookupFailed
        If a victim's LocalQueue or ClusterQueue is not in the dump.
    """
    planning.deadline = deadline
    told = _with_cheap_stability if cheaply else _with_stability
    try:
        return told(planning, plan)
    except OutOfTime:
        return plan if cheaply else plan.model_copy(update={"notes": (*plan.notes, NOT_KNOWN)})


def _with_stability(planning: Planning, plan: Plan) -> Plan:
    update: dict[str, object] = {}
    if plan.status in {"optimal", "feasible"}:
        found = cascades_of(planning, plan)
        terms = {**plan.terms, "D11": len(found)}
        update = {"stability": found, "terms": in_order(terms)}
    if plan.greedy is not None:
        update["greedy"] = _with_stability(planning, plan.greedy)
    return plan.model_copy(update=update)


def _with_cheap_stability(planning: Planning, plan: Plan) -> Plan:
    """Return a plan of a small state with the victims that would preempt again, if it has any.

    That takes a decision of Kueue for each victim, less than a millisecond in a small state. The
    plan stays as it is in a large one, and where a victim's LocalQueue is not in the dump.
    """
    holding = sum(map(len, planning.snapshot.admitted.values()))
    if not plan.victims or holding > SMALL or not _doors_are_known(planning, plan):
        return plan
    told: dict[str, object] = {"stability": cascades_of(planning, plan)}
    if plan.greedy is not None:
        told["greedy"] = _with_cheap_stability(planning, plan.greedy)
    return plan.model_copy(update=told)


def _doors_are_known(planning: Planning, plan: Plan) -> bool:
    state = planning.state
    queues = {item.name for item in state.cluster_queues}
    doors = {
        (local.metadata.namespace, local.metadata.name)
        for local in state.local_queues
        if local.spec.cluster_queue in queues
    }
    waits_in = {item.key: item.spec.queue_name for item in state.workloads}
    plans = (plan,) if plan.greedy is None else (plan, plan.greedy)
    return all((key.partition("/")[0], waits_in[key]) in doors for p in plans for key in p.keys)


def demanding_stability(profile: Profile) -> Profile:
    """Return an objective under which only stable plans are answers."""
    levels = profile.levels if CASCADE in profile.levels else (CASCADE, *profile.levels)
    wishes = replace(profile.wishes, most={**profile.wishes.most, CASCADE: 0})
    return replace(profile, levels=levels, wishes=wishes)


def solve_stable(solve: Solve, planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Return the best of the stable plans; where it is proved that there is none, say why.

    The best of all plans comes first, in half of the time: if it is stable, none is better. A
    plan of which time did not tell is no answer.

    Raises
    ------
    InputError
        If the state cannot tell what the profile counts or names, or the LocalQueue or
        ClusterQueue of a candidate is not in the dump.
    InternalError
        If a plan fails its verification.
    """
    free = solve(planning, profile, deadline.half())
    planning.deadline = deadline
    try:
        steady = free.status in {"optimal", "feasible"} and not cascades_of(planning, free)
    except OutOfTime:
        return unanswered(free)
    if free.status == "infeasible" or (free.status == "optimal" and steady):
        return free
    plan = solve(planning, demanding_stability(profile), deadline)
    if plan.status == "unknown" and steady:
        return free
    if plan.status != "infeasible":
        return plan
    fewest = replace(profile, levels=(CASCADE,), caps=())
    least = with_stability(planning, solve(planning, fewest, deadline), deadline)
    if not least.stability:
        return plan
    what_helps = _relaxation(solve, planning, fewest, least.stability, deadline)
    bound = "at least " if least.status == "optimal" else ""
    return plan.model_copy(
        update={
            "explanation": f"plans are permitted, but after each of them some victim would preempt "
            f"again: {bound}{len(least.stability)} of {victims_in_words(len(least.victims))}, "
            f"{_named(least.stability)}; {what_helps}"
        }
    )


def _named(found: Sequence[Cascade]) -> str:
    shown = [f"{one.victim} would preempt {', '.join(one.targets)}" for one in found[:MAX_NAMED]]
    return "; ".join(shown) + ("; ..." if len(found) > MAX_NAMED else "")


def _relaxation(
    solve: Solve,
    planning: Planning,
    profile: Profile,
    found: Sequence[Cascade],
    deadline: Deadline,
) -> str:
    """Say which policies, set to Never, would leave a stable plan: each tried by a solve."""
    policies = list(dict.fromkeys(_policies(planning, found)))
    trials = [*([one] for one in policies), *([policies] if len(policies) > 1 else [])]
    for trial in trials:
        state = planning.state
        for queue, field in trial:
            state = _without(state, queue, field)
        plan = solve(planning.in_state(state), demanding_stability(profile), deadline)
        if plan.victims:
            fields = " and ".join(f"{field} of ClusterQueue {queue}" for queue, field in trial)
            return f"with {fields} at Never there would be a stable plan"
    tried = ", ".join(f"{field} of ClusterQueue {queue}" for queue, field in policies)
    return f"{tried} at Never would not be enough, or not within the time limit"


def _policies(planning: Planning, found: Sequence[Cascade]) -> Iterator[Policy]:
    """Yield the policies by which victims would preempt."""
    snapshot = planning.snapshot
    queue_of = {one.key: one.queue for group in snapshot.admitted.values() for one in group}
    queue_of[planning.preemptor.key] = planning.preemptor.queue
    waits_in = {item.key: item.spec.queue_name for item in planning.state.workloads}
    doors = {
        (local.metadata.namespace, local.metadata.name): local.spec.cluster_queue
        for local in planning.state.local_queues
    }
    for one in found:
        queue = doors[one.victim.partition("/")[0], waits_in[one.victim]]
        for target in one.targets:
            own = snapshot.queue_name(queue_of[target]) == queue
            yield queue, WITHIN if own else RECLAIM


def _without(state: State, queue: str, field: str) -> State:
    """Return the state with one policy of a ClusterQueue at Never."""
    off: dict[str, object] = {"within_cluster_queue": "Never"}
    if field == RECLAIM:  # Kueue refuses borrowWithinCohort beside reclaimWithinCohort: Never
        off = {"reclaim_within_cohort": "Never", "borrow_within_cohort": BorrowWithinCohort()}
    changed = []
    for item in state.cluster_queues:
        if item.name == queue:
            preemption = item.spec.preemption.model_copy(update=off)
            spec = item.spec.model_copy(update={"preemption": preemption})
            changed.append(item.model_copy(update={"spec": spec}))
        else:
            changed.append(item)
    return state.model_copy(update={"cluster_queues": tuple(changed)})
