"""Victim sets as plans: the records that are printed and verified, and short answers in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import numpy as np

from planner.case.kueue import Case
from planner.case.kueue_room import where_short
from planner.laws.kueue import KQ_BORROW_WITHIN_COHORT, KT_ROOM
from planner.plan import Conclusion
from planner.plan.base import name_some
from planner.plan.kueue import (
    Demand,
    HeldBack,
    KueueRelease,
    NodeShare,
    Plan,
    QuotaNode,
    QuotaUse,
    Victim,
)
from planner.problem.array import BoolArray
from planner.quantity import format_units
from planner.quota.kueue.assignment import contested, total_request, whole_request
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Group
from planner.quota.kueue.preemptor import Replaced, names_replaced, replaced_by
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.selector import InvalidSelectorError
from planner.quota.kueue.slices import Slices
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Shares, Usage
from planner.reference.kueue.assignment import FlavorAssigner, joined
from planner.reference.kueue.cycle.processing import is_available
from planner.reference.kueue.decision import outcomes
from planner.reference.kueue.eligibility import Possibility
from planner.state.kueue import State
from planner.state.kueue_configuration import Configuration
from planner.state.kueue_workload import NEVER_READY
from planner.state.queues import ResourceGroup

MAX_SIBLINGS: Final = 12
"""How many nodes that a plan does not touch are listed below one cohort: plans stay small."""


def plan_of(
    case: Case,
    noted: Sequence[str],
    found: Conclusion[Plan],
    victims: Sequence[Victim] = (),
    *,
    borrowing: bool | None = None,
) -> Plan:
    """Return a plan of a case; ``noted`` are remarks about its preemptor."""
    explanation = found.explanation
    snapshot, preemptor = case.snapshot, case.preemptor
    assigned = {pods.name: pods.count for pods in case.assignment.pod_sets}
    reduced = [
        f"{count} of {pods.count} pods" + (f" of podset {pods.name}" if len(assigned) > 1 else "")
        for pods in preemptor.pod_sets
        if (count := assigned.get(pods.name)) is not None and count < pods.count
    ]
    if reduced and explanation and found.status in {"optimal", "feasible"}:
        explanation = f"with {' and '.join(reduced)} (partial admission) {explanation}"
    touched = sorted({snapshot.node_of[victim.cluster_queue] for victim in victims})
    searched, request = total_request(case.assignment, preemptor, snapshot), _request(case)
    return Plan(
        rules=(case.rules.name if case.rules.replaces else "") or rule_set(snapshot.configuration),
        algorithm="kueue" if found.own else "optimum",
        status=found.status,
        explanation=explanation,
        objective=found.objective,
        preemptor=preemptor.key,
        cluster_queue=case.cluster_queue,
        priority=preemptor.priority,
        now=snapshot.now,
        assignment=case.assignment,
        demand=demand(case),
        borrowing=borrowing,
        victims=tuple(victims),
        terms=dict(found.terms),
        # Shares as Kueue's search compares them, without `pods`; the tree as it will be, with
        # them.
        shares=_shares(case, searched, _after(case, victims, searched), touched),
        tree=_tree(case, request, _after(case, victims, request), touched),
        certificate=found.certificate,
        greedy=found.greedy,
        rule_options=case.replacing,
        placement=case.placement,
        kueue=release_of(snapshot.configuration),
        requests=snapshot.configuration.requests_from,
        notes=(*snapshot.notes, *noted),
    )


def _request(case: Case) -> Mapping[int, int]:
    """Return what must be available in the end, per flavor-resource."""
    by_rules = whole_request if case.rules.counts_pods else total_request
    return by_rules(case.assignment, case.preemptor, case.snapshot)


def _after(case: Case, victims: Iterable[Victim], request: Mapping[int, int]) -> Usage:
    """Return the usage with victims gone and a request added."""
    snapshot = case.snapshot
    after = snapshot.usage.copy()
    for victim in victims:
        held = {snapshot.fr(one.flavor, one.resource): one.units for one in victim.usage}
        after.remove(snapshot.node_of[victim.cluster_queue], held)
    # Last, as it comes when they are gone: with them, the sum could be beyond 64 bits.
    after.add(case.preemptor.queue, request)
    return after


def _tree(
    case: Case, request: Mapping[int, int], after: Usage, touched: Iterable[int]
) -> tuple[QuotaNode, ...]:
    """Return the tree around the plan from its root down, contested flavor-resources first.

    Every node on the path of the preemptor's queue, or of a touched one, is in it. Of other
    nodes only children of these that have quota or usage are: at most MAX_SIBLINGS per node,
    those that use most.
    """
    tree, before, queue = case.snapshot.tree, case.snapshot.usage, case.preemptor.queue
    short = contested(case.assignment, case.snapshot)
    frs = sorted({*request, *short}, key=lambda fr: (fr not in short, fr))
    paths = {node for place in (queue, *touched) for node in tree.path(place)}

    found: list[QuotaNode] = []
    ahead = [tree.root(queue)] if frs else []
    while ahead:
        node = ahead.pop()
        known, children = tree.nodes[node], tree.children[node]
        listed: set[int] = set()
        if node in paths:
            used, quota = before.amount, tree.subtree
            others = [
                child
                for child in children
                if child not in paths and any(used[child][fr] or quota[child][fr] for fr in frs)
            ]
            others.sort(key=lambda child: [-used[child][fr] for fr in frs])
            listed = {*paths.intersection(children), *others[:MAX_SIBLINGS]}
        quotas = {fr: known.quotas.get(fr) for fr in frs}
        one = QuotaNode(
            name=known.name,
            kind="ClusterQueue" if known.is_queue else "Cohort",
            parent=None if known.parent == NO_PARENT else tree.nodes[known.parent].name,
            touched=node in paths,
            hidden=len(children) - len(listed),
            uses=tuple(
                QuotaUse(
                    flavor=tree.frs[fr].flavor,
                    resource=tree.frs[fr].resource,
                    nominal=tree.nominal(node, fr),
                    quota=tree.subtree[node][fr],
                    borrowing_limit=tree.borrowing_limit(node, fr),
                    lending_limit=own.lending_limit if own else None,
                    before=before.amount[node][fr],
                    after=after.amount[node][fr],
                )
                for fr, own in quotas.items()
            ),
        )
        found.append(one)
        ahead += [child for child in reversed(children) if child in listed]
    return tuple(found)


def _shares(
    case: Case, searched: Mapping[int, int], after: Usage, touched: Iterable[int]
) -> tuple[NodeShare, ...]:
    """Return the shares of the queues and cohorts touched, the preemptor's side first."""
    snapshot, queue = case.snapshot, case.preemptor.queue
    if not snapshot.configuration.fair_sharing_on:
        return ()
    tree, shares = snapshot.tree, Shares(snapshot.tree)
    with_preemptor = snapshot.usage.copy()
    with_preemptor.add(queue, searched)
    nodes = [node for place in (queue, *touched) for node in tree.path(place)]
    return tuple(
        NodeShare(
            name=tree.nodes[node].name,
            kind="ClusterQueue" if tree.nodes[node].is_queue else "Cohort",
            weight=tree.nodes[node].weight,
            before=shares.share_of(snapshot.usage, node).weighted,
            with_preemptor=shares.share_of(with_preemptor, node).weighted,
            after=shares.share_of(after, node).weighted,
        )
        for node in dict.fromkeys(nodes)
        if tree.nodes[node].parent != NO_PARENT
    )


def demand(case: Case) -> tuple[Demand, ...]:
    """Return what the preemptor asks for in each flavor-resource, and what is there."""
    snapshot, request = case.snapshot, _request(case)
    short = contested(case.assignment, snapshot)
    rows = []
    for fr in sorted({*request, *short}):
        flavor, resource = snapshot.tree.frs[fr]
        available = snapshot.usage.available(case.preemptor.queue, fr)
        amount = request.get(fr, 0)
        rows.append(
            Demand(
                flavor=flavor,
                resource=resource,
                requested=amount,
                available=max(0, available),
                shortfall=max(0, amount - available) if amount else 0,
                quantity=format_units(amount, resource),
                contested=fr in short,
            )
        )
    return tuple(rows)


def rule_set(configuration: Configuration) -> Literal["kueue-classical", "kueue-fair"]:
    """Return which of Kueue's own rule sets holds."""
    return "kueue-fair" if configuration.fair_sharing_on else "kueue-classical"


def release_of(configuration: Configuration) -> KueueRelease:
    """Return the release of Kueue whose rules hold, and how it is known."""
    return KueueRelease(release=configuration.release.name, known_by=configuration.release_known_by)


def explain_no_flavor(case: Case, placed: Sequence[Group]) -> str:
    """Say which podset gets no flavor, and what stops it in each flavor; no preemption is tried.

    ``placed`` are the podsets, in groups, that need places on nodes.

    Source: docs/semantics/kueue.md §4.1 to §4.4.
    """
    snapshot, preemptor = case.snapshot, case.preemptor
    if preemptor.rejection:
        return f"Kueue does not queue {preemptor.key}: {preemptor.rejection}"
    inactive = snapshot.inactive.get(case.cluster_queue)
    if inactive:
        return f"ClusterQueue {case.cluster_queue} is inactive: {inactive}"
    if not preemptor.pod_sets:
        return f"{preemptor.key} has no podset that could be given a flavor"
    if placed and len(case.assignment.pod_sets) == len(preemptor.pod_sets):
        names, short = " and ".join(group.name for group in placed), where_short(case, empty=True)
        return (
            f"Kueue's own placement finds no room for {names} of {preemptor.key} on the nodes even "
            "without any pods that Kueue placed, so it never looks for victims"
            f"{short and f': {short}'}"
        )
    assigner = FlavorAssigner(snapshot, snapshot.usage, preemptor)
    assumed: dict[int, int] = {}
    for group in assigner.groups():
        done = {pods.name: pods.flavors for pods in case.assignment.pod_sets if pods.flavors}
        failed = [request.name for request in group if request.name not in done]
        if failed and joined(group):
            obstacles = dict.fromkeys(_obstacles(assigner, group, assumed))
            reasons = "; ".join(obstacles) or "it asks for nothing that the queue covers"
            return f'podset "{failed[0]}" of {preemptor.key} fits in no flavor: {reasons}'
        for request in group:
            for resource, choice in done.get(request.name, {}).items():
                fr = snapshot.fr(choice.flavor, resource)
                held = assigner.replaced.named(request.name, resource) if assigner.replaced else 0
                # As in flavor assignment: later podsets find this amount assumed as used (§4.1).
                assumed[fr] = assumed.get(fr, 0) + request.totals.get(resource, 0) - held
    return f"the flavors given for {preemptor.key} are said not to fit (NoFit)"


def _obstacles(
    assigner: FlavorAssigner, group: Sequence[PodSetRequest], assumed: Mapping[int, int]
) -> Iterator[str]:
    """Yield what stops podsets that are handled together, in every flavor of each resource.

    ``assumed`` is what earlier podsets take of each flavor-resource.
    """
    snapshot, queue = assigner.snapshot, assigner.preemptor.queue
    requests = joined(group)
    for resource, total in requests.items():
        covering = assigner.covering(resource)
        if covering is None:
            if not assigner.skips(total):
                yield f"no resource group of {_named(snapshot, queue)} covers {resource}"
            continue
        amount = assigner.lacking(group, {resource: total})[resource]
        for flavor in covering.flavors:
            excluded = _excluded(assigner, group, flavor.name, covering)
            if not excluded and not assigner.keeps_flavors(group, flavor.name, [resource]):
                excluded = f"the slice that it replaces has another flavor than {flavor.name}"
            if excluded:
                yield excluded
                continue
            fr = snapshot.fr_or_none(flavor.name, resource)
            # A flavor-resource of which nobody has quota has no number, and nothing is assumed
            # there.
            value = amount + assumed.get(-1 if fr is None else fr, 0)
            obstacle = _beyond_quota(assigner, FlavorResource(flavor.name, resource), value)
            if obstacle:
                yield obstacle


def _excluded(
    assigner: FlavorAssigner, group: Sequence[PodSetRequest], flavor: str, covering: ResourceGroup
) -> str:
    """Say why podsets may not run on the nodes of a flavor; empty if they may."""
    if flavor not in assigner.snapshot.flavors:
        return f"the state has no ResourceFlavor {flavor}"
    if not assigner.allows(flavor):
        return f"flavor {flavor} is none of those that its annotation allows"
    try:
        return assigner.why_ineligible(group, flavor, covering)
    except InvalidSelectorError as error:
        return f"its node affinity cannot be evaluated: {error}"


def _beyond_quota(assigner: FlavorAssigner, fr: FlavorResource, value: int) -> str:
    """Say why an amount of a flavor-resource cannot fit even with evictions; empty if it may."""
    snapshot, queue = assigner.snapshot, assigner.preemptor.queue
    tree, index = snapshot.tree, snapshot.fr_or_none(fr.flavor, fr.resource)
    name, asked = _named(snapshot, queue), f"{format_units(value, fr.resource)} {fr}"
    if index is None:
        return f"{asked}: {name} has no quota there" if value > 0 else ""
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


def explain_infeasible(case: Case, eligible: BoolArray) -> str:
    """Say what is missing even with all candidates gone, or that the rules protect too many.

    Whoever is evicted or deleted already may be none of them, and goes all the same.
    """
    return _obstacle(case, eligible) + _once_gone(case)


def _once_gone(case: Case) -> str:
    problem, snapshot = case.problem, case.snapshot
    gone = [problem.workloads[at] for at in np.flatnonzero(problem.leaving).tolist()]
    asked = {snapshot.fr_index[fr]: n for fr, n in zip(problem.frs, problem.request, strict=True)}
    queue = case.preemptor.queue
    if (
        not gone
        or problem.places is not None
        or not is_available(snapshot.usage, gone, queue, asked)
    ):
        return ""
    names = name_some([one.key for one in gone], MOST_SHOWN)
    is_gone, goes = ("is gone", "goes") if len(gone) == 1 else ("are gone", "go")
    return f"; once {names} {is_gone}, which {goes} anyway, it fits"


def _obstacle(case: Case, eligible: BoolArray) -> str:
    problem, count = case.problem, int(eligible.sum())
    places = where_short(case, eligible.nonzero()[0].tolist())
    on_nodes = f"the nodes lack room ({KT_ROOM.id}): {places}" if places else ""
    if count == 0:
        short = any(problem.request[fr] > max(0, problem.available[fr]) for fr in problem.needed)
        why = on_nodes if on_nodes and not short else "it does not fit"
        return f"no workload may be preempted for it, and {why}"
    shortfalls = []
    for fr in problem.needed:
        missing = problem.request[fr] - problem.available[fr]
        freed = sum(problem.holding[np.flatnonzero(eligible), fr].tolist())
        if missing > freed:
            wanted, held = (format_units(n, problem.frs[fr].resource) for n in (missing, freed))
            shortfalls.append(
                f"{wanted} {problem.frs[fr]} missing, all candidates together hold {held}"
            )
    if shortfalls:
        are = "candidate is" if count == 1 else "candidates are"
        return f"{count} {are} not enough: " + "; ".join(shortfalls)
    if on_nodes:
        gone = "the only candidate" if count == 1 else f"all {count} candidates"
        return f"even without {gone} {on_nodes}"
    reason = (
        _protected(case, eligible)
        if problem.fair is None
        else "what would be needed is protected by queues that stop borrowing, by limits on the "
        "way, or because the preemptor's side would then be the more unfair one"
    )
    if problem.places is not None:
        reason += ", or the nodes lack room without those"
    none = "the only candidate is not" if count == 1 else f"no set of the {count} candidates is"
    return f"{none} legal: {reason}"


def _protected(case: Case, eligible: BoolArray) -> str:
    """Say what protects too many, without fair sharing.

    With all candidates of its own gone the queue is still beyond its quota, and so is each cohort
    above it: then nobody of another queue may go without borrowWithinCohort.
    """
    problem = case.problem
    queue = problem.path[0]
    own = np.flatnonzero(eligible & (problem.queue == queue))
    freed = problem.holding[own].sum(axis=0).tolist()
    beyond = any(
        problem.usage[queue][fr] - freed[fr] + problem.request[fr] > problem.quota[queue][fr]
        for fr in problem.needed
    )
    if (
        beyond
        and not any(problem.advantage)
        and (problem.policy.borrow_within_cohort.policy == "Never")
    ):
        return (
            f"{_named(case.snapshot, queue)} would have to borrow, and takes nothing from other "
            f"queues then, since borrowWithinCohort is Never ({KQ_BORROW_WITHIN_COHORT.id})"
        )
    return "queues that stop being over their quota, or limits on the way, protect what is needed"


_IF_IT_DID: Final = "Kueue does not even look at {}", "; the plan is what would be if it did"
_HELD: Final = {
    "notHead": (
        "Kueue does not come to {} in its next cycle",
        "; the plan is what would be if it were the head",
    ),
    "clusterQueueInactive": ("Kueue does not even look at {}", ""),
    "preemptionGated": (
        "Kueue evicts nobody for {}",
        "; the plan is what would be if all its gates were open",
    ),
    "waitsForPodsReady": ("Kueue does not admit {} for now, although it fits", ""),
    "tooFewPods": ("Kueue evicts nobody for {}, which will wait for ever", ""),
    "notFirst": (
        "Kueue does not come to {} in its next cycle",
        "; the plan is what would be if it came first",
    ),
    "deferred": (
        "Kueue evicts nobody for {} in its next cycle",
        "; the plan is what would be if it came first",
    ),
}
"""By reason: what Kueue does not do for a preemptor, and what the plan for it then is."""


def hold_in_words(preemptor: str, reason: HeldBack) -> str:
    """Say why Kueue does nothing for a preemptor, and what the plan for it then is."""
    what, plan = _HELD.get(reason.why, _IF_IT_DID)
    kueue = f' (Kueue: "{reason.message}")' if reason.message not in reason.text else ""
    return f"{what.format(preemptor)}: {reason.text}{kueue}{plan}"


MOST_SHOWN: Final = 3
"""Outcomes that are named at most where Kueue's choice is not determined."""


def remarks(case: Case, eligible: BoolArray) -> Iterator[str]:
    """Yield remarks on the devices, the replaced slice and the candidate order behind a plan.

    ``eligible`` is (W,): whom no law excludes.

    Source: docs/semantics/kueue-features.md §2 to §4.
    """
    snapshot, preemptor, decision = case.snapshot, case.preemptor, case.decision
    key = preemptor.key
    yield from preemptor.notes
    replaced = replaced_by(snapshot, preemptor)
    named = names_replaced(preemptor.workload, snapshot.configuration)
    if replaced is not None:
        yield from _of_slice(case, eligible, replaced)
    elif named in {target.workload.key for target in decision.search.targets}:
        # Kueue does not evict a target whose name is that of the slice it takes for replaced.
        yield (
            f"Kueue itself counts on {named} to go and does not evict it: {key} says that it "
            "replaces it, which holds within one ClusterQueue and namespace only"
        )
    if case.problem.workloads.columns.dated[eligible].any():
        queues = case.state.local_queues
        samples = [one.status.fair_sharing.admission.last_update for one in queues]
        newest = max((sample for sample in samples if sample is not None), default=None)
        when = "was recorded last" if newest is None else f"was recorded until {newest.isoformat()}"
        yield (
            "candidates of one ClusterQueue are ordered by the past use of their LocalQueues as it "
            f"{when}; what was admitted since then counts in Kueue, and is in no dump"
        )
    if not decision.undetermined:
        return
    found = outcomes(snapshot, preemptor, case.fixed)
    why = " and ".join(decision.undetermined)
    if len(found) == 1:
        yield f"{why}: all choices that were tried lead to the same victims"
        return
    others = [
        ", ".join(target.workload.key for target in one.search.targets) or "nobody"
        for one in found[:MOST_SHOWN]
    ]
    more = f"; or {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    yield (
        f"Kueue's own choice is not determined here: {why}, and it may evict "
        f"{'; or '.join(others)}{more}; the legal sets and the optimum do not depend on that"
    )


def _of_slice(case: Case, eligible: BoolArray, replaced: Replaced) -> Iterator[str]:
    old, problem, key = replaced.slice.key, case.problem, case.preemptor.key
    yield (
        f"{key} replaces {old}: it asks for its additional pods only, in the same flavors, and "
        f"{old} is finished when it is admitted, not evicted"
    )
    if any(problem.workloads[at].key == old for at in eligible.nonzero()[0].tolist()):
        yield (
            f"the rules permit {old} as a victim, too; once it is evicted, {key} asks for all of "
            "its pods"
        )
    beyond = [
        f"{format_units(asked - problem.searched[fr], problem.frs[fr].resource)} {problem.frs[fr]}"
        for fr, asked in enumerate(problem.request)
        if asked > max(0, problem.searched[fr]) and problem.frs[fr].resource != "pods"
    ]
    if beyond and case.assignment.mode == "Preempt":
        yield (
            f"pods of {key} ask for more each than those of {old}: Kueue's own search looks for "
            f"room for additional pods only, and not for {', '.join(beyond)} more that it needs"
        )


MOST_NOTED: Final = 5
"""How many victims one remark on run times names at most."""


def on_run_times(state: State, victims: Iterable[Admitted]) -> Iterator[str]:
    """Yield remarks on the victims of which the dump does not tell how long they have run."""
    some = [one for one in victims if not one.leaving]
    slices = Slices(state.workloads)
    cut = [one.key for one in some if one.workload.replaces and slices.missing(one.workload)]
    if cut:
        yield (
            "the slice that it replaced is not in the dump: how long the job ran before is not "
            f"known, and not counted as lost: {name_some(cut, MOST_NOTED)}"
        )
    ready = {one.key: one.workload.condition("PodsReady") for one in some if one.started_at}
    failed = [
        key
        for key, one in ready.items()
        if one is not None and one.status == "False" and one.reason not in NEVER_READY
    ]
    if failed:
        yield (
            "PodsReady is False, and not because the pods have yet to start: how long they ran is "
            "not known, and all time since the admission counts as lost: "
            f"{name_some(failed, MOST_NOTED)}"
        )
    undated = []
    for one in some:
        since = one.workload.condition("QuotaReserved"), one.workload.condition("Admitted")
        if one.started_at is None and all(
            n is None or n.last_transition_time is None for n in since
        ):
            undated.append(one.key)
    if undated:
        yield (
            "the dump does not tell since when it holds its quota: no run time counts as lost: "
            f"{name_some(undated, MOST_NOTED)}"
        )
