"""Whether a plan can be carried out in a cluster: it is the one that was planned for, still."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final

from planner.commands.apply.record import Way
from planner.commands.check.plan import check
from planner.errors import InputError
from planner.objective.profiles import Profile
from planner.plan.kueue import Plan
from planner.state.kueue import State

MAX_CHANGES: Final = 8
SAME: Final = "Kueue evicts just these by itself"
UNTESTED: Final = (
    "under fair sharing nobody has tried this way on a live cluster, and it is doubtful: shares "
    "choose the queue that gives first"
)
ONLY_JOBS: Final = (
    "only Jobs were tried on a live cluster: other kinds of work may behave otherwise"
)


def digest_of(plan: Plan) -> str:
    """Return what names a plan in the cluster: of whom it is, and what it does."""
    told = [plan.preemptor, plan.now.isoformat(), sorted(plan.keys)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def cannot_be_applied(plan: Plan, way: Way) -> str:
    """Say why a plan is none that a live Kueue can carry out; empty if it is one."""
    greedy = plan.greedy
    held_back = plan.held_back or (greedy.held_back if greedy else None)
    before = greedy.in_the_way if greedy else ()
    evicted = any(one.evicted for one in plan.victims)
    reasons = {
        "it evicts nobody": not plan.victims,
        "it is for Kueue as KEP-83 proposed it, which runs nowhere": plan.rules == "kep83",
        "it places pods at will, which Kueue does not": plan.placement == "any",
        "its flavors were chosen for least disruption: Kueue would assign its own": plan.flavors
        is not None,
        f"Kueue never comes to {plan.preemptor}: {', '.join(before)} is before it": bool(before),
        "it counts on workloads that are being evicted already, which no boost changes": evicted
        and way == "boosts",
    }
    if held_back is not None:
        return f"Kueue does nothing for {plan.preemptor} in its next cycle: {held_back.text}"
    return next((reason for reason, holds in reasons.items() if holds), "")


def is_what_kueue_does(plan: Plan) -> bool:
    """Say whether Kueue evicts just the planned victims by itself."""
    return plan.greedy is not None and set(plan.greedy.keys) == set(plan.keys)


def remarks(plan: Plan, way: Way) -> Iterator[str]:
    """Say what whoever carries it out should know."""
    if plan.status == "conditional":
        features = ", ".join(dict.fromkeys(one.title for one in plan.coverage))
        yield f"the plan is conditional, for the planner does not model all of: {features}"
    if way == "eviction":
        yield UNTESTED if plan.rules == "kueue-fair" else ONLY_JOBS


def changes(
    state: State, plan: Plan, objective: str | Profile | None, costs: Mapping[str, int] | None
) -> list[str]:
    """Say what is no longer as the plan has it; nothing if it can be carried out.

    What the plan says of its preemptor and its victims is compared with the objects. Then all of it
    is judged anew, as ``planner check`` does: whoever came, went or changed since counts if it
    changes a law's verdict, a value, a rank, Kueue's own choice, or a proof.

    ``state`` is the cluster as it is now, read with the clock and the release of the plan, which
    was made under ``objective`` and ``costs``, as for ``planner.check``.
    """
    found = list(_of_workloads(state, plan)) or list(_of_the_rest(state, plan, objective, costs))
    return found[:MAX_CHANGES]


def _of_workloads(state: State, plan: Plan) -> Iterator[str]:
    workload = state.workloads.find(plan.preemptor)
    if workload is None:
        yield f"{plan.preemptor} is gone"
    elif workload.holds_quota:
        yield f"{plan.preemptor} holds quota already"
    elif not workload.is_pending:
        yield f"{plan.preemptor} does not wait any more"
    for victim in plan.victims:
        key, queue = victim.workload, victim.cluster_queue
        workload = state.workloads.find(key)
        if workload is None:
            yield f"{key} is gone"
        elif not workload.holds_quota:
            yield f"{key} holds no quota any more"
        elif workload.admitted_by != queue:
            yield f"{key} runs in ClusterQueue {workload.admitted_by}, not in {queue}"
        elif workload.is_true("Evicted") and not victim.evicted:
            yield f"{key} is being evicted already"


def _of_the_rest(
    state: State, plan: Plan, objective: str | Profile | None, costs: Mapping[str, int] | None
) -> Iterator[str]:
    try:
        judged = check(state, plan, objective, costs)
    except InputError as error:
        yield str(error)
        return
    for verdict in judged.verdicts:
        if not verdict.holds:
            yield f"{verdict.law}: {verdict.detail}"
    # What two engines agreed on has no tree, neither then nor now; what had one must have it still.
    levels = plan.certificate.levels if plan.certificate else ()
    proved = {level.term for level in levels if level.proof == "certified"}
    for claim in judged.claims:
        if claim.claim in proved and not claim.certified:
            yield f"{claim.title} is not proved least any more: {claim.detail}"
