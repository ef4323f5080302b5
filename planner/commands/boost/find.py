"""From a plan to the boosts that make Kueue carry it out."""

from __future__ import annotations

import time

from planner.commands.boost.answer import Boosts, BoostStatus, WorkloadBoost
from planner.commands.boost.search import Choice, Found, Search
from planner.commands.boost.trial import Trial
from planner.plan import Plan
from planner.state import State

NONE_NEEDED = "Kueue evicts exactly the planned victims as it is"
NO_VICTIMS = "the plan evicts nobody, and neither does Kueue"
NO_PLAN = "there is no plan to be carried out: {why}"
SMALLEST = "boosts of {touched} make Kueue evict exactly the planned victims; proved smallest"
FOUND = (
    "boosts of {touched} make Kueue evict exactly the planned victims; whether smaller ones do, "
    "too, is not proved"
)
IMPOSSIBLE = (
    "no boosts can make Kueue evict exactly the planned victims: it evicts others in {orders} in "
    "which it could look at its {candidates}; boosts that make a workload exempt from preemption, "
    "or open to it, are not considered"
)
NOT_A_CANDIDATE = "no boosts can make Kueue evict {victim}: it is no candidate of its search"
UNKNOWN = "no boosts that work were found within the limit, and it is not proved that none do"
OTHER_FLAVORS = "; with some boosts Kueue would choose other flavors than the plan's"


def find_boosts(
    state: State, plan: Plan, *, gate_on: bool, time_limit: float | None = None
) -> Boosts:
    """Return the smallest boosts after which Kueue evicts exactly a plan's victims.

    Every boost that is returned was proved by deciding anew, with the replay of Kueue's own
    algorithm, on the state with the annotations set. The flavors stay those of the plan. Among
    cohorts of equal shares Kueue chooses at random (docs/semantics/kueue.md §6.4); the replay takes
    one of them.

    Parameters
    ----------
    state
        The state that was planned for, with the feature gate PriorityBoost on.
    plan
        The plan, made for that state.
    gate_on
        Whether the gate was on before.
    time_limit
        Seconds for the search; none when left out.
    """

    def answer(status: BoostStatus, explanation: str, **more: object) -> Boosts:
        return Boosts.model_validate(
            {
                "preemptor": plan.preemptor,
                "status": status,
                "explanation": explanation,
                "gate_on": gate_on,
                "plan": plan,
                **more,
            }
        )

    if plan.status in {"infeasible", "unknown"}:
        impossible = plan.status == "infeasible"
        why = NO_PLAN.format(why=plan.explanation)
        return answer("impossible" if impossible else "unknown", why)
    if not plan.victims:
        return answer("smallest", NO_VICTIMS)
    until = None if time_limit is None else time.monotonic() + time_limit
    trial = Trial(state, plan.preemptor, plan.assignment, frozenset(plan.keys))
    search = Search(trial, until)
    missing = trial.victims - search.today.keys()
    if missing:
        return answer("impossible", NOT_A_CANDIDATE.format(victim=min(missing)))
    found = search.run()
    status, explanation = _outcome(search, found)
    boosts = () if found.choice is None else _boosts(search, found.choice)
    commands = tuple(boost.command for boost in boosts)
    return answer(status, explanation, boosts=boosts, commands=commands, orders=search.orders)


def _outcome(search: Search, found: Found) -> tuple[BoostStatus, str]:
    if found.choice is None:
        if not found.proved:
            return "unknown", UNKNOWN if search.complete else UNKNOWN + OTHER_FLAVORS
        count = search.orders
        orders = "the only order" if count == 1 else f"each of the {count} orders"
        candidates = _counted(len(search.pool), "candidate")
        return "impossible", IMPOSSIBLE.format(orders=orders, candidates=candidates)
    if not found.choice:
        return "smallest", NONE_NEEDED
    touched = _counted(len(found.choice), "workload")
    if found.proved:
        return "smallest", SMALLEST.format(touched=touched)
    return "found", FOUND.format(touched=touched)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _boosts(search: Search, choice: Choice) -> tuple[WorkloadBoost, ...]:
    """Return the boosts of a choice, in Kueue's order of today."""
    annotations = search.boosts(choice)
    today = search.boosts(search.today)
    return tuple(
        WorkloadBoost(
            workload=one.key,
            cluster_queue=search.trial.snapshot.queue_name(one.workload.queue),
            role="victim" if one.is_victim else "spared",
            priority=choice[one.key] - annotations[one.key],
            boost_before=today[one.key],
            boost=annotations[one.key],
            effective_before=one.priority,
            effective=choice[one.key],
        )
        for one in search.pool
        if one.key in choice
    )
