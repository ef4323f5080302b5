"""Whether a plan is stable, beside the same of Kueue's own plan; and stability as a condition.

Stable means that the term D11 is 0: of all victims, each asked alone once the plan is carried
out, none would preempt anybody who is not being evicted already. Finding that out takes a decision
of Kueue for each victim, and a large plan has thousands. Where time ends before, a plan stands
without the term, and says so; a demand for D11 that nobody could check makes an answer unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Final

from msgspec.structs import replace

from planner.objective.profiles import Profile
from planner.objective.terms import CASCADE
from planner.plan.kueue import Cascade, Plan
from planner.solver.deadline import Deadline, OutOfTime
from planner.solver.kueue.aftermath import cascades
from planner.solver.kueue.describe import victims_in_words
from planner.solver.kueue.planning import Planning
from planner.state.kueue import State
from planner.state.queues import BorrowWithinCohort
from planner.term import RATED, in_order

NOT_KNOWN: Final = (
    "which victims would preempt again was not found out within the time limit: Kueue decides "
    "that, victim by victim"
)

Solve = Callable[[Planning, Profile, Deadline], Plan]


def in_time(solve: Solve) -> Solve:
    """Return a way to solve that answers without D11 where time is up before it is known."""

    @wraps(solve)
    def answer(planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
        planning.deadline = deadline
        try:
            return solve(planning, profile, deadline)
        except OutOfTime:
            known = solve(planning, without_cascades(profile), deadline)
            planning.set_objective(profile)
            return unproved(known, profile)

    return answer


def without_cascades(profile: Profile) -> Profile:
    """Return an objective without everything that only D11 tells; its wishes of it are dropped."""
    lost = {*CASCADE, *({RATED} if CASCADE[0] in profile.rates else ())}
    # An objective of D11 alone still needs a level: fewest victims then.
    levels = tuple(filter(lost.isdisjoint, profile.levels)) or (("D2",),)
    most = {each: value for each, value in profile.wishes.most.items() if each != CASCADE}
    wishes = replace(profile.wishes, most=most)
    caps = tuple(filter(lost.isdisjoint, profile.caps))
    rates = {} if RATED in lost else profile.rates
    return replace(profile, levels=levels, caps=caps, wishes=wishes, rates=rates)


def unproved(plan: Plan, profile: Profile) -> Plan:
    """Return a plan that another objective gave as the best known: nothing is proved of D11.

    A plan that is demanded to be stable is none, if nobody knows whether it is.
    """
    if plan.status not in {"optimal", "feasible"} or not plan.victims:
        return plan
    if CASCADE in profile.wishes.most:
        return unanswered(plan)
    return plan.model_copy(
        update={
            "status": "feasible",
            "explanation": f"{plan.explanation.partition(';')[0]}; not proved best: {NOT_KNOWN}",
            "certificate": None,
        }
    )


def unanswered(plan: Plan) -> Plan:
    """Return that no plan is known that keeps to what is demanded of D11."""
    return plan.model_copy(
        update={
            "status": "unknown",
            "explanation": f"nothing found within the time limit, and nothing proved: {NOT_KNOWN}",
            "certificate": None,
            "victims": (),
            "terms": {},
            "borrowing": None,
            "shares": (),
            "tree": (),
            "stability": None,
        }
    )


WITHIN: Final = "withinClusterQueue"
RECLAIM: Final = "reclaimWithinCohort"
MAX_NAMED: Final = 3
SMALL: Final = 300
"""Workloads that hold quota up to which stability is looked at without being asked for."""


def cascades_of(planning: Planning, plan: Plan) -> tuple[Cascade, ...]:
    """Return which victims of a plan would preempt again.

    Raises `LookupFailed` if a victim's LocalQueue or ClusterQueue is not in the dump; `OutOfTime`
    if time is up before all victims were asked.
    """
    # The same flavors: what a search has asked already is known.
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

    Raises `LookupFailed` if a victim's LocalQueue or ClusterQueue is not in the dump.
    """
    planning.deadline = deadline
    try:
        return _with_cascades(planning, plan, cheaply=cheaply)
    except OutOfTime:
        return plan if cheaply else plan.model_copy(update={"notes": (*plan.notes, NOT_KNOWN)})


def _with_cascades(planning: Planning, plan: Plan, *, cheaply: bool) -> Plan:
    if cheaply and not _is_cheap(planning, plan):
        return plan
    update: dict[str, object] = {}
    if cheaply or plan.status in {"optimal", "feasible"}:
        found = cascades_of(planning, plan)
        update["stability"] = found
        if not cheaply:
            update["terms"] = in_order({**plan.terms, "D11": len(found)})
    if plan.greedy is not None:
        update["greedy"] = _with_cascades(planning, plan.greedy, cheaply=cheaply)
    return plan.model_copy(update=update)


def _is_cheap(planning: Planning, plan: Plan) -> bool:
    """Say whether all that is to be asked about a plan is known, and takes no time.

    It takes a decision of Kueue for each victim, less than a millisecond in a small state.
    """
    holding = sum(map(len, planning.snapshot.admitted.values()))
    if not plan.victims or holding > SMALL:
        return False
    queues = {item.name for item in planning.state.cluster_queues}
    waits_in = _queues(planning.state)
    plans = (plan,) if plan.greedy is None else (plan, plan.greedy)
    return all(waits_in.get(key) in queues for p in plans for key in p.keys)


def _queues(state: State) -> dict[str, str]:
    """Return the ClusterQueue of each workload, where its LocalQueue is in the dump."""
    local_queues = {
        (local.metadata.namespace, local.metadata.name): local.spec.cluster_queue
        for local in state.local_queues
    }
    names = {
        one.key: (one.key.partition("/")[0], one.queue_name) for one in state.workloads.entries
    }
    return {key: local_queues[name] for key, name in names.items() if name in local_queues}


def demanding_stability(profile: Profile) -> Profile:
    """Return an objective under which only stable plans are answers."""
    levels = profile.levels if CASCADE in profile.levels else (CASCADE, *profile.levels)
    wishes = replace(profile.wishes, most={**profile.wishes.most, CASCADE: 0})
    return replace(profile, levels=levels, wishes=wishes)


def best_stable(
    solve: Solve, planning: Planning, profile: Profile, deadline: Deadline
) -> tuple[Plan, Plan]:
    """Return the best of the stable plans, or that there is none, beside the best of all.

    That one comes first, in half of the time: if it is stable, none is better. A plan of which
    time did not tell is no answer.

    Raises `InputError` if the state cannot tell what the profile counts or names, or the LocalQueue
    or ClusterQueue of a candidate is not in the dump; `InternalError` if a plan fails its
    verification.
    """
    free = solve(planning, profile, deadline.half())
    planning.deadline = deadline
    try:
        steady = free.status in {"optimal", "feasible"} and not cascades_of(planning, free)
    except OutOfTime:
        return unanswered(free), free
    if free.status == "infeasible" or (free.status == "optimal" and steady):
        return free, free
    plan = solve(planning, demanding_stability(profile), deadline)
    return (free if plan.status == "unknown" and steady else plan), free


def solve_stable(solve: Solve, planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Return the best of the stable plans; where it is proved that there is none, say why.

    Raises `InputError` if the state cannot tell what the profile counts or names, or the LocalQueue
    or ClusterQueue of a candidate is not in the dump; `InternalError` if a plan fails its
    verification.
    """
    plan, free = best_stable(solve, planning, profile, deadline)
    if plan.status != "infeasible" or free.status == "infeasible":
        return plan
    # To say what stands in the way: the plan after which fewest would preempt, whatever it costs.
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
            f"again: {bound}{len(least.stability)} of {victims_in_words(len(least.victims))}, "
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
        plan = solve(planning.in_state(state), demanding_stability(profile), deadline)
        if plan.victims:
            fields = " and ".join(f"{field} of ClusterQueue {queue}" for queue, field in trial)
            return f"with {fields} at Never there would be a stable plan"
    tried = ", ".join(f"{field} of ClusterQueue {queue}" for queue, field in policies)
    return f"{tried} at Never would not be enough, or not within the time limit"


def _policies(planning: Planning, found: Sequence[Cascade]) -> Iterator[tuple[str, str]]:
    """Yield ClusterQueues, and the field of ``preemption`` by which their workloads preempt."""
    snapshot = planning.snapshot
    queue_of = {one.key: one.queue for group in snapshot.admitted.values() for one in group}
    queue_of[planning.preemptor.key] = planning.preemptor.queue
    waits_in = _queues(planning.state)
    for one in found:
        queue = waits_in[one.victim]
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
