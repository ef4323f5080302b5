"""Whether a plan, and Kueue's own beside it, is stable; and stability as a condition.

Stable means that the term ``unstable`` is 0: once the plan is carried out, no victim that waits
alone would preempt anybody who is not being evicted already. Finding that out takes a decision of
Kueue for each victim, and a large plan has thousands. If time ends before, a plan is given without
the term, and says so; a wish for ``unstable`` that could not be checked makes an answer unknown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from planner.errors import InputError
from planner.objective.profiles import Profile
from planner.plan import Conclusion
from planner.plan.kueue import Cascade, Plan
from planner.quantity import plural
from planner.quota.kueue.preemptor import as_preemptor, find_workload
from planner.solver.deadline import Deadline, OutOfTime
from planner.solver.kueue.planning import Planning
from planner.state.kueue import State
from planner.state.queues import BorrowWithinCohort
from planner.term import RATED, UNSTABLE, in_order

CASCADE: Final = (UNSTABLE,)
"""The measure that counts victims which would preempt again."""

NOT_KNOWN: Final = (
    "which victims would preempt again was not found out within the time limit: Kueue decides "
    "that, victim by victim"
)

Solve = Callable[[Planning, Profile, Deadline], Plan]


def looks_ahead(profile: Profile) -> bool:
    """Say whether an objective counts what victims do next."""
    return profile.counts(UNSTABLE)


def as_asked(planning: Planning, profile: Profile, *, stable: bool = False) -> Planning:
    """Return a planning as a plan is made: quota alone decides what victims do next."""
    return planning.by_quota_alone() if stable or looks_ahead(profile) else planning


def in_time(solve: Solve, planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Solve, without ``unstable`` where time is up before that is known."""
    planning.clock.deadline = deadline
    try:
        return solve(planning, profile, deadline)
    except OutOfTime:
        known = solve(planning, without_cascades(profile), deadline)
        planning.set_objective(profile)
        return unproved(planning, known, profile)


def without_cascades(profile: Profile) -> Profile:
    """Return an objective without what depends on ``unstable``: levels, caps, rates and wishes."""
    lost = {*CASCADE, *({RATED} if UNSTABLE in profile.rates else ())}
    # An objective of `unstable` alone still needs a level: fewest victims then.
    levels = tuple(filter(lost.isdisjoint, profile.levels)) or (("workloads",),)
    most = {each: value for each, value in profile.wishes.most.items() if each != CASCADE}
    wishes = replace(profile.wishes, most=most)
    caps = tuple(filter(lost.isdisjoint, profile.caps))
    rates = {} if RATED in lost else profile.rates
    return replace(profile, levels=levels, caps=caps, wishes=wishes, rates=rates)


def unproved(planning: Planning, plan: Plan, profile: Profile) -> Plan:
    """Return the plan of another objective as the best known: nothing is proved of ``unstable``.

    If the profile demands stability, the plan is no answer: whether it is stable is not known.
    """
    if plan.status not in {"optimal", "feasible"} or not plan.victims:
        return plan
    if CASCADE in profile.wishes.most:
        return unanswered(planning, plan)
    return plan.model_copy(
        update={
            "status": "feasible",
            "explanation": f"{plan.explanation.partition(';')[0]}; not proved best: {NOT_KNOWN}",
            "certificate": None,
        }
    )


def unanswered(planning: Planning, plan: Plan) -> Plan:
    """Return the answer that no plan is known that keeps the wish for ``unstable``."""
    said = f"nothing found within the time limit, and nothing proved: {NOT_KNOWN}"
    return planning.plan(Conclusion("unknown", said, plan.objective, greedy=plan.greedy))


WITHIN: Final = "withinClusterQueue"
RECLAIM: Final = "reclaimWithinCohort"
MAX_NAMED: Final = 3


def cascades_of(planning: Planning, plan: Plan) -> tuple[Cascade, ...]:
    """Return which victims of a plan would preempt again.

    Raises `LookupFailed` if a victim's LocalQueue or ClusterQueue is not in the dump; `OutOfTime`
    if time is up before there is a decision for each victim.
    """
    replay, places = planning.cascade_replay, planning.positions(plan.keys)
    if plan.assignment != planning.case.assignment:
        # What a search has learned is of other flavors.
        reasons = {at: one.reason for at, one in zip(places, plan.victims, strict=True)}
        case = replace(planning.case, fixed=plan.assignment)
        replay = dataclasses.replace(replay, case=case, candidates=(), reasons=reasons)
    return tuple(sorted(replay.cascades(places), key=lambda one: plan.keys.index(one.victim)))


def with_stability(
    planning: Planning, plan: Plan, deadline: Deadline, *, cheaply: bool = False
) -> Plan:
    """Return a plan, and Kueue's own beside it, with the victims that would preempt again.

    A plan that makes no room stays as it is. With ``cheaply`` so does any plan of a large state, or
    with a victim of which Kueue cannot decide, such as one whose LocalQueue is not in the dump;
    other plans then get the victims, not the term. Without ``cheaply`` a note says if time was up
    first.

    Raises `LookupFailed` if a victim's LocalQueue or ClusterQueue is not in the dump.
    """
    planning.clock.deadline = deadline
    try:
        return _with_cascades(planning, plan, cheaply=cheaply)
    except OutOfTime:
        return plan if cheaply else plan.model_copy(update={"notes": (*plan.notes, NOT_KNOWN)})
    except InputError:
        if cheaply:  # nobody asked
            return plan
        raise


def _with_cascades(planning: Planning, plan: Plan, *, cheaply: bool) -> Plan:
    # In a small state each decision takes less than a millisecond.
    if cheaply and not (plan.victims and planning.case.is_small):
        return plan
    update: dict[str, object] = {}
    if cheaply or plan.status in {"optimal", "feasible"}:
        found = cascades_of(planning, plan)
        update["stability"] = found
        if not cheaply:
            update["terms"] = in_order({**plan.terms, UNSTABLE: len(found)})
    if plan.greedy is not None:
        update["greedy"] = _with_cascades(planning, plan.greedy, cheaply=cheaply)
    return plan.model_copy(update=update)


def demanding_stability(profile: Profile) -> Profile:
    """Return an objective under which only stable plans are answers."""
    levels = profile.levels if CASCADE in profile.levels else (CASCADE, *profile.levels)
    wishes = replace(profile.wishes, most={**profile.wishes.most, CASCADE: 0})
    return replace(profile, levels=levels, wishes=wishes)


def best_stable(
    solve: Solve, planning: Planning, profile: Profile, deadline: Deadline
) -> tuple[Plan, Plan]:
    """Return the best of the stable plans, or that there is none, and the best plan of all.

    The best of all is searched first, in half of the time: if it is stable, no stable plan is
    better. If time ended before its stability was known, it is no answer. An answer about the
    stable plans alone says so.

    Raises `InputError` if the state cannot tell what the profile counts or names, or the LocalQueue
    or ClusterQueue of a candidate is not in the dump; `InternalError` if a plan fails its
    verification.
    """
    free = solve(planning, profile, deadline.half())
    planning.clock.deadline = deadline
    try:
        steady = free.status in {"optimal", "feasible"} and not cascades_of(planning, free)
    except OutOfTime:
        return unanswered(planning, free), free
    if free.status == "infeasible" or (free.status == "optimal" and steady):
        return free, free
    plan = solve(planning, demanding_stability(profile), deadline)
    if plan.status == "unknown" and steady:
        return free, free
    return plan.model_copy(update={"stable": True}), free


def solve_stable(solve: Solve, planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Return the best of the stable plans; where it is proved that there is none, say why.

    Raises `InputError` if the state cannot tell what the profile counts or names, or the LocalQueue
    or ClusterQueue of a candidate is not in the dump; `InternalError` if a plan fails its
    verification.
    """
    plan, free = best_stable(solve, planning, profile, deadline)
    if plan.status != "infeasible" or free.status == "infeasible":
        return plan
    # For the explanation: the plan after which fewest victims would preempt, at any cost.
    fewest = replace(profile, levels=(CASCADE,), caps=())
    least = with_stability(planning, solve(planning, fewest, deadline), deadline)
    if not least.stability:
        return plan
    what_helps = _relaxation(solve, planning, fewest, least.stability, deadline)
    shown = [
        f"{one.victim} would preempt {', '.join(one.targets)}"
        for one in least.stability[:MAX_NAMED]
    ]
    more = "; ..." if len(least.stability) > MAX_NAMED else ""
    bound = "at least " if least.status == "optimal" else ""
    return plan.model_copy(
        update={
            "explanation": f"plans are permitted, but after each of them some victim would preempt "
            f"again: {bound}{len(least.stability)} of {plural(len(least.victims), 'workload')}, "
            f"{'; '.join(shown)}{more}; {what_helps}"
        }
    )


def _relaxation(
    solve: Solve, planning: Planning, profile: Profile, found: Sequence[Cascade], deadline: Deadline
) -> str:
    """Say which policies, set to Never, would leave a stable plan: each tried by a solve."""
    policies = list(dict.fromkeys(_policies(planning, found)))
    # Each by itself first: a reader would rather change one policy than all.
    trials = [*([one] for one in policies), *([policies] if len(policies) > 1 else [])]
    for trial in trials:
        state = planning.state
        for queue, field in trial:
            state = _without(state, queue, field)
        plan = solve(planning.by_quota_alone(state), demanding_stability(profile), deadline)
        if plan.victims:
            fields = " and ".join(f"{field} of ClusterQueue {queue}" for queue, field in trial)
            return f"with {fields} at Never there would be a stable plan"
    tried = ", ".join(f"{field} of ClusterQueue {queue}" for queue, field in policies)
    return f"{tried} at Never would not be enough, or not within the time limit"


def _policies(planning: Planning, found: Sequence[Cascade]) -> Iterator[tuple[str, str]]:
    """Yield, per target, the victim's ClusterQueue, and the field by which the victim preempts."""
    state, snapshot, preemptor = planning.state, planning.case.snapshot, planning.case.preemptor
    queue_of = {one.key: one.queue for group in snapshot.admitted.values() for one in group}
    queue_of[preemptor.key] = preemptor.queue
    for one in found:
        workload = find_workload(state, one.victim)
        queue = snapshot.queue_name(as_preemptor(state, snapshot, workload).queue)
        for target in one.targets:
            own = snapshot.queue_name(queue_of[target]) == queue
            yield queue, WITHIN if own else RECLAIM


def _without(state: State, queue: str, field: str) -> State:
    off: dict[str, object] = {"within_cluster_queue": "Never"}
    if field == RECLAIM:  # Kueue refuses borrowWithinCohort beside reclaimWithinCohort: Never
        off = {"reclaim_within_cohort": "Never", "borrow_within_cohort": BorrowWithinCohort()}
    changed = list(state.cluster_queues)
    for place, item in enumerate(changed):
        if item.name == queue:
            preemption = item.spec.preemption.model_copy(update=off)
            spec = item.spec.model_copy(update={"preemption": preemption})
            changed[place] = item.model_copy(update={"spec": spec})
    return state.model_copy(update={"cluster_queues": tuple(changed)})
