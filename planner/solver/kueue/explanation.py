"""Short answers in words: why nothing can be done, or nothing needs to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from planner.assignment import Assignment
from planner.plan import HeldBack
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quantity import format_units
from planner.quota.request import PodSetRequest
from planner.quota.snapshot import Preemptor, Snapshot
from planner.quota.tree import FlavorResource
from planner.reference.kueue.assignment import FlavorAssigner, joined
from planner.reference.kueue.eligibility import InvalidSelectorError
from planner.reference.kueue.preference import Possibility


def victims_in_words(count: int) -> str:
    """Return ``1 workload`` or ``n workloads``."""
    return f"{count} workload{'' if count == 1 else 's'}"


def explain_no_flavor(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> str:
    """Say which podset gets no flavor, and what stops it in each: no preemption is tried at all.

    Source: docs/semantics/kueue.md §4.1 to §4.4.
    """
    assigner = FlavorAssigner(snapshot, snapshot.usage, preemptor)
    assumed: dict[int, int] = {}
    for group in assigner.groups():
        done = {pods.name: pods.flavors for pods in assignment.pod_sets if pods.flavors}
        failed = [request.name for request in group if request.name not in done]
        if failed and joined(group):
            obstacles = dict.fromkeys(_obstacles(assigner, group, assumed))
            reasons = "; ".join(obstacles) or "it asks for nothing that the queue covers"
            return f'podset "{failed[0]}" of {preemptor.key} fits in no flavor: {reasons}'
        for request in group:
            for resource, choice in done.get(request.name, {}).items():
                fr = snapshot.fr(choice.flavor, resource)
                assumed[fr] = assumed.get(fr, 0) + request.totals.get(resource, 0)
    return f"the flavors given for {preemptor.key} are said not to fit (NoFit)"


def _obstacles(
    assigner: FlavorAssigner, group: Sequence[PodSetRequest], assumed: Mapping[int, int]
) -> Iterator[str]:
    """Yield what stops podsets that are handled together, in every flavor of each resource.

    ``assumed`` is what earlier podsets take of each flavor-resource.
    """
    snapshot, queue = assigner.snapshot, assigner.preemptor.queue
    requests = joined(group)
    for resource, amount in requests.items():
        covering = assigner.covering(resource)
        if covering is None:
            if not assigner.skips(amount):
                yield f"no resource group of {_named(snapshot, queue)} covers {resource}"
            continue
        for flavor in covering.flavors:
            excluded = _excluded(assigner, group, flavor.name)
            if excluded:
                yield excluded
                continue
            fr = snapshot.fr_or_none(flavor.name, resource)
            value = amount + assumed.get(-1 if fr is None else fr, 0)
            told = _beyond_quota(assigner, FlavorResource(flavor.name, resource), value)
            if told:
                yield told


def _excluded(assigner: FlavorAssigner, group: Sequence[PodSetRequest], flavor: str) -> str:
    """Say why podsets may not run on the nodes of a flavor; empty if they may."""
    try:
        may_run = assigner.eligible(group, flavor)
    except InvalidSelectorError as error:
        return f"its node affinity cannot be evaluated: {error}"
    return "" if may_run else f"its node selector or tolerations exclude flavor {flavor}"


def _beyond_quota(assigner: FlavorAssigner, fr: FlavorResource, value: int) -> str:
    """Say why an amount of a flavor-resource fits in no way, evictions included."""
    snapshot, queue = assigner.snapshot, assigner.preemptor.queue
    tree, index = snapshot.tree, snapshot.fr_or_none(fr.flavor, fr.resource)
    name, asked = _named(snapshot, queue), f"{format_units(value, fr.resource)} {fr}"
    if index is None:
        return f"{asked}: {name} has no quota there" if value else ""
    offer = assigner.offer_at_once(index, value)
    if offer is None or offer.possibility is not Possibility.NO_FIT:
        return ""
    nominal = f"nominal {format_units(tree.nominal(queue, index), fr.resource)}"
    most = tree.potential(queue, index)
    if value <= most:
        policy, words = "borrowWithinCohort is Never", ""
        if snapshot.configuration.fair_sharing_on:
            policy, words = "reclaimWithinCohort is Never", ", fair sharing is on"
        return (
            f"{asked}: more than {nominal}, so it would have to borrow, and {name} can neither "
            f"reclaim that as its own nor preempt while borrowing ({policy}{words})"
        )
    limit, source = tree.borrowing_limit(queue, index), "and it is in no cohort"
    if limit is not None and most == tree.subtree[queue][index] + limit:
        source = f"and borrowingLimit {format_units(limit, fr.resource)}"
    elif tree.path(queue)[1:]:
        source = "and what its cohort can lend it"
    can = f"{name} can never use more than {format_units(most, fr.resource)}"
    return f"{asked}: {can} ({nominal} {source})"


def _named(snapshot: Snapshot, queue: int) -> str:
    return f"ClusterQueue {snapshot.queue_name(queue)}"


def explain_infeasible(problem: Problem, eligible: BoolArray) -> str:
    """Say what is missing although every candidate may go, or that the rules protect too many."""
    count = int(eligible.sum())
    shortfalls = []
    for fr in problem.requested:
        missing = problem.request[fr] - problem.available[fr]
        freed = sum(problem.holding[np.flatnonzero(eligible), fr].tolist())
        resource = problem.frs[fr].resource
        if missing > freed:
            shortfalls.append(
                f"{format_units(missing, resource)} {problem.frs[fr]} missing, "
                f"all candidates together hold {format_units(freed, resource)}"
            )
    if count == 0:
        return "no workload may be preempted for it, and it does not fit"
    if shortfalls:
        return f"{count} candidates are not enough: " + "; ".join(shortfalls)
    reason = (
        "queues that stop being over their quota, or limits on the way, protect what is needed"
        if problem.fair is None
        else "what would be needed is protected by queues that stop borrowing, by limits on the "
        "way, or because the preemptor's side would then be the more unfair one"
    )
    return f"no set of the {count} candidates is legal: {reason}"


def hold_in_words(preemptor: str, reason: HeldBack) -> str:
    """Say why Kueue does nothing for a preemptor, and what the plan for it then is."""
    kueue = f' (Kueue: "{reason.message}")' if reason.message not in reason.text else ""
    text = f"{reason.text}{kueue}"
    match reason.why:
        case "notHead":
            return (
                f"Kueue does not come to {preemptor} in its next cycle: {text}; the plan is what "
                "would be if it were the head"
            )
        case "clusterQueueInactive":
            return f"Kueue does not even look at {preemptor}: {text}"
        case "preemptionGated":
            return (
                f"Kueue evicts nobody for {preemptor}: {text}; the plan is what would be if all "
                "its gates were open"
            )
        case "waitsForPodsReady":
            return f"Kueue does not admit {preemptor} for now, although it fits: {text}"
        case "tooFewPods":
            return f"Kueue evicts nobody for {preemptor}, which will wait for ever: {text}"
        case _:
            return (
                f"Kueue does not even look at {preemptor}: {text}; the plan is what would be if "
                "it did"
            )
