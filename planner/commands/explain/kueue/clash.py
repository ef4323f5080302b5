"""Why there is no plan: the clashing laws of Kueue, what is short, which change would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice, product
from math import gcd
from typing import Final, NamedTuple

from planner.case.kueue import Case
from planner.commands.explain.inquiry import HIGHEST_PRIORITY, Edit, Explainer
from planner.commands.explain.kueue.record import Shortfall
from planner.laws import Law, in_drop_order
from planner.laws import kueue as laws
from planner.models.kueue.formulation import Columns, build_classes
from planner.models.kueue.laws import assemble, attempts, eligible, restricted_while_borrowing
from planner.models.shared.builder import Builder
from planner.plan.kueue import Plan
from planner.problem.kueue import Problem
from planner.quantity import NANO, UNLIMITED, format_quantity, format_units, is_milli
from planner.solver.kueue.planning import Planning
from planner.state.queues import ClusterQueue, Cohort


def laws_of(problem: Problem) -> tuple[Law, ...]:
    """Return the laws that can be dropped, in the order in which that is tried."""
    placed = () if problem.places is None else in_drop_order("topology")
    return (*in_drop_order(problem.rules), *placed)


def stated(problem: Problem, without: set[str]) -> Builder:
    """Return the model of a problem without some laws.

    Shares are compared in integers, where Kueue rounds: at equal shares this may call a set
    possible that Kueue refuses.
    """
    allowed, restricted = eligible(problem, without), restricted_while_borrowing(problem)
    # No costs to split classes by: any victim set will do here.
    columns = Columns(problem, build_classes(problem, allowed, restricted, []), restricted)
    both = laws.KQ_ATTEMPT.id in without and problem.fair is None
    permitted = (True, False) if both else attempts(problem, allowed)
    return assemble(problem, columns, permitted, without).builder


def shortfalls(planning: Planning) -> Iterator[Shortfall]:
    """Yield every flavor-resource that is short.

    Where no flavor could be assigned, these are all flavors of the queue for the resources that
    the workload asks for, with the most that the queue could ever use of them.
    """
    case, problem = planning.case, planning.problem
    snapshot, queue, asked = case.snapshot, case.preemptor.queue, _asked(case)
    if case.assignment.mode != "NoFit":
        for fr in problem.requested:
            left = problem.available[fr]
            if problem.request[fr] > max(0, left):
                held = sum(problem.holding[planning.eligible, fr].tolist())
                most = snapshot.tree.potential(queue, snapshot.fr(*problem.frs[fr]))
                yield _shortfall(problem.frs[fr], problem.request[fr], left, held, most)
        return
    for group in snapshot.queues[queue].spec.resource_groups:
        for flavor, resource in product(group.flavors, group.covered_resources):
            index = snapshot.fr_or_none(flavor.name, resource)
            if index is None or not asked[resource]:
                continue
            left = snapshot.usage.available(queue, index)
            if left < asked[resource]:
                most, place = snapshot.tree.potential(queue, index), snapshot.tree.frs[index]
                yield _shortfall(place, asked[resource], left, None, most)


def _asked(case: Case) -> Counter[str]:
    asked: Counter[str] = Counter()
    for request in case.preemptor.pod_sets:
        asked.update(request.totals)
    return asked


def _shortfall(
    fr: tuple[str, str], requested: int, left: int, held: int | None, most: int
) -> Shortfall:
    flavor, resource = fr
    available, short = max(0, left), requested - left
    text = (
        f"{format_units(requested, resource)} {resource} asked in flavor {flavor}, "
        f"{format_units(left, resource)} available, {format_units(short, resource)} short; "
    )
    if most < requested:
        text += f"the queue can never use more than {format_units(most, resource)} there"
    elif held is None:
        text += "Kueue looks for no victims there"
    else:
        text += f"candidates hold {format_units(held, resource)}"
    return Shortfall(
        flavor=flavor,
        resource=resource,
        requested=requested,
        available=available,
        short=short,
        held_by_candidates=held or 0,
        most=most,
        text=text,
    )


GATES: Final = (
    "FairSharingPreemptWithinNominal",
    "PartialAdmission",
    "PrioritySortingWithinCohort",
)
"""Feature gates that decide on candidates, shares or what is asked for."""


MOST_OTHERS: Final = 16
"""The most limits of others, and stopped queues, that are tried: a tree may have thousands."""
MILLI: Final = 10**6
"""A thousandth, in nano-units."""
MOST_WEIGHT: Final = 10**6
"""The most thousandths by which a weight is raised."""
KueueExplainer = Explainer[Planning, Plan]


def helpful(inquiry: KueueExplainer) -> tuple[Iterator[Edit], bool]:
    """Return every single edit that works, and whether edits are tried at all.

    A number changes by the smallest step up; of a policy all values but Never are tried, and every
    one that works is returned. For an inactive queue only its stopPolicy is tried. Of what others
    lend, and of other queues that are stopped, ``MOST_OTHERS`` are tried.
    """
    case = inquiry.planning.case
    (own, lent), stopped = _limits(inquiry), _stopped(inquiry)
    stops = inquiry.working(*stopped[:MOST_OTHERS])
    if case.cluster_queue in case.snapshot.inactive:
        return stops, False
    configuration = case.snapshot.configuration
    switched = {True: ("true", "false"), False: ("false", "true")}
    gates = (
        Edit(f"configuration.featureGates.{one}", *switched[configuration.gate(one)])
        for one in GATES
        if one in configuration.release.gates
    )
    searches = (
        *(_priorities(inquiry), _policies(inquiry)),
        *(_raised(inquiry, *limit) for limit in (*own, *lent[:MOST_OTHERS])),
        *(_weights(inquiry), stops, inquiry.working(*gates)),
    )
    return chain.from_iterable(searches), max(len(lent), len(stopped)) <= MOST_OTHERS


def _priorities(inquiry: KueueExplainer) -> Iterator[Edit]:
    """Yield the smallest higher priority that works.

    What the rules say changes only where the priority reaches or passes that of another workload.
    """
    preemptor = inquiry.planning.case.preemptor
    base = preemptor.workload.spec.priority or 0
    gaps = {w.priority - preemptor.priority for w in inquiry.planning.problem.workloads}
    steps = sorted(gaps | {gap + 1 for gap in gaps})
    path = f"workload/{preemptor.key}.priority"
    edits = (
        Edit(path, str(base), str(base + step), f"+{step}")
        for step in steps
        if 0 < step <= HIGHEST_PRIORITY - base
    )
    return islice(inquiry.working(*edits), 1)


def _policies(inquiry: KueueExplainer) -> Iterator[Edit]:
    queue, policy = inquiry.planning.case.cluster_queue, inquiry.planning.problem.policy
    within, reclaim = policy.within_cluster_queue, policy.reclaim_within_cohort
    lower, newer = "LowerPriority", "LowerOrNewerEqualPriority"
    values: list[tuple[str, str, str]] = [
        *(("withinClusterQueue", within, other) for other in (lower, newer)),
        *(("reclaimWithinCohort", reclaim, other) for other in (lower, "Any")),
    ]
    borrow = policy.borrow_within_cohort
    if borrow.policy == "Never":
        values.append(("borrowWithinCohort.policy", "Never", "LowerPriority"))
    elif borrow.max_priority_threshold is not None:
        limit = str(borrow.max_priority_threshold)
        values.append(("borrowWithinCohort.maxPriorityThreshold", limit, "none"))
    path = f"clusterqueue/{queue}.preemption"
    others = [Edit(f"{path}.{name}", now, other) for name, now, other in values if now != other]
    return inquiry.working(*others, *_fungibility(inquiry.planning.case))


def _fungibility(case: Case) -> Iterator[Edit]:
    """Yield where Kueue may stop at another of several flavors, or go on from it."""
    spec = case.snapshot.queues[case.preemptor.queue].spec
    path, walk = f"clusterqueue/{case.cluster_queue}.flavorFungibility", spec.flavor_fungibility
    if any(len(group.flavors) > 1 for group in spec.resource_groups):
        other = {"MayStopSearch": "TryNextFlavor", "TryNextFlavor": "MayStopSearch"}
        for name, now in (
            ("whenCanPreempt", walk.when_can_preempt),
            ("whenCanBorrow", walk.when_can_borrow),
        ):
            yield Edit(f"{path}.{name}", now, other[now])


def _weights(inquiry: KueueExplainer) -> Iterator[Edit]:
    """Yield the smallest higher weight that works, in thousandths, on the way to the root.

    A larger weight makes the share of the preemptor's side smaller, and nothing else. Only Cohorts
    that are objects have one to set.
    """
    problem, cohorts = inquiry.planning.problem, inquiry.planning.state.cohorts
    if problem.fair is None:
        return
    known = {problem.own_queue: "clusterqueue"}
    names = {one.name for one in cohorts}
    known |= {node: "cohort" for node in problem.path[1:-1] if problem.names[node] in names}
    for node, kind in known.items():
        yield from inquiry.raised(
            f"{kind}/{problem.names[node]}.fairSharing.weight",
            problem.fair.weight_nano[node],
            MILLI.__mul__,
            MOST_WEIGHT,
            write=format_quantity,
        )


def _stopped(inquiry: KueueExplainer) -> list[Edit]:
    """Return the end of each stopPolicy in the tree, that of the preemptor's own queue first.

    The workloads of a stopped queue are no candidates, and those that wait there never heads.
    """
    case = inquiry.planning.case
    tree = case.snapshot.tree
    names = {tree.nodes[node].name for node in tree.below(tree.root(case.preemptor.queue))}
    edits = (
        Edit(f"clusterqueue/{one.name}.stopPolicy", one.spec.stop_policy, "None")
        for one in sorted(case.state.cluster_queues, key=lambda one: one.name != case.cluster_queue)
        if one.spec.stop_policy != "None" and one.name in names
    )
    return list(edits)


class _Limit(NamedTuple):
    """The path of a limit or quota, as an edit has it, its flavor-resource and its nano-units."""

    path: str
    fr: int
    nano: int


def _limits(inquiry: KueueExplainer) -> tuple[list[_Limit], list[_Limit]]:
    """Return the limits and quotas of what is asked for: those of the preemptor, and of others.

    Its own are nominalQuota and borrowingLimit of the ClusterQueue, and the borrowingLimit of the
    Cohorts above it; the others each lendingLimit in its tree that keeps something, the one that
    keeps most first.
    """
    case = inquiry.planning.case
    asked, tree, queue = _asked(case), case.snapshot.tree, case.preemptor.queue
    path = tree.path(queue)
    owners: list[ClusterQueue | Cohort] = [*case.state.cluster_queues, *case.state.cohorts]
    named = {(isinstance(one, ClusterQueue), one.name): one for one in owners}
    own: list[_Limit] = []
    lent: list[tuple[int, _Limit]] = []
    for node in (*path, *(one for one in tree.below(path[-1]) if one not in path)):
        at = tree.nodes[node]
        owner, kind = named.get((at.is_queue, at.name)), "clusterqueue" if at.is_queue else "cohort"
        for flavor, quota in () if owner is None else owner.spec.quotas:
            fr = case.snapshot.fr_or_none(flavor, quota.name)
            if fr is None or not asked[quota.name]:
                continue
            place = f"{kind}/{at.name}.quota.{flavor}/{quota.name}"
            if node not in path:
                kept, nano = tree.kept[node][fr], quota.lending_limit
                if kept and nano is not None:
                    lent.append((kept, _Limit(f"{place}.lendingLimit", fr, nano)))
                continue
            if quota.borrowing_limit is not None:
                own.append(_Limit(f"{place}.borrowingLimit", fr, quota.borrowing_limit))
            if node == queue:
                own.append(_Limit(f"{place}.nominal", fr, quota.nominal_quota))
    lent.sort(key=lambda one: -one[0])
    return own, [limit for _, limit in lent]


def _raised(inquiry: KueueExplainer, path: str, fr: int, nano: int) -> Iterator[Edit]:
    """Yield the smallest step up of a number of nano-units that works while one unit less does not.

    Without fair sharing, what the rules compare changes only at multiples of the greatest common
    divisor of all amounts, and one unit beyond them: "over its quota" is strict. Once there is
    enough of a flavor-resource, whoever holds nothing else that is short is no candidate any more,
    so that less may work where more does not: the last raise that leaves it short is tried, too.
    """
    case, snapshot = inquiry.planning.case, inquiry.planning.case.snapshot
    resource = snapshot.tree.frs[fr].resource
    asked, unit = _asked(case)[resource], 10**6 if is_milli(resource) else NANO
    amounts = [asked]
    for node, entry in enumerate(snapshot.tree.nodes):
        amounts += (n for n in entry.quotas.get(fr) or () if n is not None and n != UNLIMITED)
        amounts += (one.usage.get(fr, 0) for one in snapshot.admitted.get(node, ()))
    grain = max(1, gcd(*amounts)) if case.problem.fair is None else 1

    # More quota than all that is used and asked for together changes nothing.
    queue, usage = case.preemptor.queue, snapshot.usage
    root = snapshot.tree.root(queue)
    most = asked + usage.amount[root][fr] + usage.amount[queue][fr]
    still_short = asked - usage.available(queue, fr) - 1
    if grain > 1:
        multiples, rest = divmod(still_short, grain)
        most, still_short = -(-most // grain) * 2, multiples * 2 + min(rest, 1)
    yield from inquiry.raised(
        path,
        nano,
        lambda n: unit * (n if grain == 1 else n // 2 * grain + n % 2),
        *(still_short, most),
        write=lambda n: f"{n}n" if n % unit else format_units(n // unit, resource),
    )
