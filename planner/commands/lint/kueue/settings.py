"""Impossible: preemption that finds nobody; useless: settings that change nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from planner.commands.lint.kueue.search import (
    ASKS,
    MAX_OTHERS,
    MAX_SIMILAR,
    Grid,
    Helps,
    boosted,
    denied,
    grid,
    idle,
    shown,
    worlds,
)
from planner.commands.lint.kueue.world import (
    BOOST,
    Change,
    Facts,
    Job,
    Object,
    World,
    configured,
    policies,
    spec_of,
)
from planner.commands.lint.lint import Example, Finding, finding
from planner.quantity import NANO

_BELOW_ROOT = 2
"""Nodes on the path of a ClusterQueue whose cohort has no parent."""


def never_reclaims(facts: Facts) -> Iterator[Finding]:
    """KL-03: others may borrow its quota, and it may not take it back."""
    closed = [
        queue
        for queue in facts.queues
        if not facts.reclaims(queue)
        and not facts.borrows_by_force(queue)
        and any(facts.lends(queue, fr) for fr in facts.frs(queue))
    ]
    show = partial(_first, facts, field="reclaimWithinCohort", cure="LowerPriority")
    for group, name, example in shown(facts, closed, show):
        yield finding(
            "KL-03",
            facts.names(group),
            f"Others can borrow quota of {name}, whose reclaimWithinCohort is Never: it "
            "gets its own quota back only when they finish.",
            f"reclaimWithinCohort: LowerPriority or Any in {name}, or lendingLimit: 0",
            example,
        )


def refused(facts: Facts) -> Iterator[Finding]:
    """KL-04: Kueue's webhook accepts borrowWithinCohort only beside reclaimWithinCohort."""
    wrong = [q for q in facts.queues if facts.borrows_by_force(q) and not facts.reclaims(q)]
    show = partial(_first, facts, field="reclaimWithinCohort", cure="LowerPriority")
    for group, name, example in shown(facts, wrong, show):
        yield finding(
            "KL-04",
            facts.names(group),
            f"{name} has borrowWithinCohort with reclaimWithinCohort: Never. Kueue refuses "
            "that; where it is stored all the same, nobody in the cohort is ever preempted.",
            f"reclaimWithinCohort: LowerPriority in {name}, or no borrowWithinCohort",
            example,
        )


def threshold_below_all(facts: Facts) -> Iterator[Finding]:
    """KL-05: whoever is above maxPriorityThreshold is spared while borrowing, and all are."""
    if facts.fair or not facts.priorities:
        return
    lowest = facts.priorities[0]
    low = [
        queue
        for queue in facts.queues
        if facts.reclaims(queue)
        and facts.borrows_by_force(queue)
        and facts.threshold(queue, lowest) < lowest
    ]
    cure = {"policy": "LowerPriority", "maxPriorityThreshold": lowest}
    field = "borrowWithinCohort"
    show = partial(_first, facts, field=field, cure=cure, priority=lowest, beyond=True)
    for group, name, example in shown(facts, low, show):
        threshold = facts.threshold(group[0], lowest)
        yield finding(
            "KL-05",
            facts.names(group),
            f"borrowWithinCohort of {name} spares priorities above {threshold}, and {lowest} "
            "is the lowest there is: it preempts nobody while borrowing.",
            f"maxPriorityThreshold of at least {lowest} in {name}",
            example,
        )


def one_priority(facts: Facts) -> Iterator[Finding]:
    """KL-06: LowerPriority finds nobody where all have the same."""
    if len(facts.priorities) > 1:
        return
    priority = facts.priorities[0] if facts.priorities else 0
    for within, reclaim in ((True, True), (True, False), (False, True)):
        group = [
            queue
            for queue in facts.queues
            if (facts.policies(queue).within_cluster_queue == "LowerPriority") == within
            and (facts.policies(queue).reclaim_within_cohort == "LowerPriority") == reclaim
        ]
        example = _found(
            _equals(facts, queue, priority, within=within, reclaim=reclaim)
            for queue in group[:MAX_SIMILAR]
        )
        if example is not None:
            name = facts.called(group)
            fields = ["withinClusterQueue"] * within + ["reclaimWithinCohort"] * reclaim
            yield finding(
                "KL-06",
                facts.names(group),
                f"{' and '.join(fields)} of {name}: LowerPriority. All workloads and priority "
                f"classes have priority {priority}, so nobody is lower.",
                "a WorkloadPriorityClass of another value, or a policy that heeds no priority",
                example,
            )


def nothing_to_reclaim(facts: Facts) -> Iterator[Finding]:
    """KL-07: without quota of its own and without borrowWithinCohort, reclaiming has no ground."""
    tree = facts.snapshot.tree
    poor = [
        queue
        for queue in facts.queues
        if not facts.fair
        and facts.reclaims(queue)
        and not facts.borrows_by_force(queue)
        and len(tree.path(queue)) == _BELOW_ROOT
        and not any(facts.nominal(queue, fr) for fr in facts.frs(queue))
    ]
    show = partial(_first, facts, field="borrowWithinCohort", cure={"policy": "LowerPriority"})
    for group, name, example in shown(facts, poor, show):
        yield finding(
            "KL-07",
            facts.names(group),
            f"All nominal quotas of {name} are 0: what it uses is borrowed, there is nothing "
            "of its own to reclaim, and it may not preempt while borrowing.",
            f"nominal quota, or borrowWithinCohort: LowerPriority, in {name}",
            example,
        )


def inactive_borrower(facts: Facts) -> Iterator[Finding]:
    """KL-08: an inactive ClusterQueue's workloads hold quota and are no candidates."""
    snapshot = facts.snapshot
    for queue in snapshot.queues:
        frs = facts.frs(queue)
        if snapshot.is_active(queue) or not any(
            snapshot.usage.borrows_with(queue, fr, 0) for fr in frs
        ):
            continue
        others = [one for one in facts.active(facts.others(queue)) if facts.reclaims(one)]
        example = _found(_with_active(facts, other, queue) for other in others[:MAX_OTHERS])
        if example is not None:
            name = facts.name(queue)
            yield finding(
                "KL-08",
                facts.names((queue, *others)),
                f"{name} is inactive ({snapshot.inactive[snapshot.queue_name(queue)]}) and uses "
                "more than its nominal quota: its workloads are no candidates for anybody.",
                f"make {name} active again, or drain it (stopPolicy: HoldAndDrain)",
                example,
            )


def weight_zero(facts: Facts) -> Iterator[Finding]:
    """KL-09: the share of a borrowing queue of weight 0 is infinite, and preempts nobody."""
    nodes = facts.snapshot.tree.nodes
    weightless = [
        queue
        for queue in facts.queues
        if facts.fair and facts.reclaims(queue) and not nodes[queue].weight_nano
    ]

    def show(group: Sequence[int]) -> Example | None:
        queue, words = group[0], f"weight 1 in {facts.called(group)}"
        cure = spec_of("ClusterQueue", [nodes[queue].name], fairSharing={"weight": "1"})
        return _found(
            denied(world, grid(world, queue, other, beyond=True), cure, words)
            for world, other in worlds(facts, queue, facts.active(facts.others(queue)))
        )

    for group, name, example in shown(facts, weightless, show):
        yield finding(
            "KL-09",
            facts.names(group),
            f"{name} has weight 0: once it borrows, its share is infinite. It then preempts "
            "nobody, and is the first to be preempted.",
            f"a weight above 0 in {name}",
            example,
        )


def no_quota(facts: Facts) -> Iterator[Finding]:
    """KL-10: a resource that is covered, and of which no flavor has anything within reach."""
    tree = facts.snapshot.tree
    empty: dict[str, list[int]] = {}
    for queue in facts.queues:
        most: dict[str, int] = {}
        for fr in facts.frs(queue):
            resource = tree.frs[fr].resource
            most[resource] = max(most.get(resource, 0), facts.most(queue, fr))
        for resource in (name for name, amount in most.items() if not amount):
            empty.setdefault(resource, []).append(queue)
    for resource, queues in sorted(empty.items()):
        for group, name, example in shown(facts, queues, partial(_unreachable, facts, resource)):
            yield finding(
                "KL-10",
                facts.names(group),
                f"{name} covers {resource}, with a nominal quota of 0 and nothing to borrow: "
                "whoever asks for it waits for ever, and preemption is not tried.",
                f"nominal quota for {resource} in {name} or its cohort",
                example,
            )


def _found(examples: Iterable[Example | None]) -> Example | None:
    return next((one for one in examples if one is not None), None)


def _first(  # noqa: PLR0913 - what an example is made of
    facts: Facts,
    group: Sequence[int],
    field: str,
    cure: Object | str,
    priority: int = 0,
    *,
    beyond: bool = False,
) -> Example | None:
    """Find an example in which another policy of one of a few ClusterQueues would help."""
    policy = cure if isinstance(cure, str) else " ".join(map(str, cure.values()))
    return _found(
        denied(
            world,
            grid(world, queue, other, priority, beyond=beyond),
            policies([facts.snapshot.queue_name(queue)], **{field: cure}),
            f"{field} {policy} in {facts.name(queue)}",
        )
        for queue in group[:MAX_SIMILAR]
        for world, other in worlds(facts, queue, facts.active(facts.others(queue)))
    )


def _equals(
    facts: Facts, queue: int, priority: int, *, within: bool, reclaim: bool
) -> Example | None:
    """Find who preempts nobody of the same priority, and would of a lower one."""

    def lower(items: list[Object]) -> None:
        for item in items:
            if item["kind"] == "Workload" and "status" in item:
                item["spec"]["priority"] = priority - 1

    others = [queue] * within + (facts.active(facts.others(queue)) if reclaim else [])
    words = f"priority {priority - 1} of what runs"
    return _found(
        denied(world, grid(world, queue, runs, priority), lower, words, differences=(0,))
        for world, runs in worlds(facts, queue, others)
    )


def _with_active(facts: Facts, queue: int, inactive: int) -> Example | None:
    name = facts.snapshot.queue_name(inactive)
    resume: Change = spec_of("ClusterQueue", [name], stopPolicy=None, admissionChecksStrategy=None)

    def activate(items: list[Object]) -> None:
        resume(items)
        for item in items:
            if item["kind"] == "ClusterQueue" and item["metadata"]["name"] == name:
                item["spec"]["resourceGroups"] = item["spec"]["resourceGroups"][:1]

    words = f"clusterqueue/{name} active"
    return _found(
        denied(world, grid(world, queue, other), activate, words)
        for world, other in worlds(facts, queue, [inactive])
    )


def _unreachable(facts: Facts, resource: str, group: Sequence[int]) -> Example | None:
    queue, frs = group[0], facts.snapshot.tree.frs
    fr = next(fr for fr in facts.frs(queue) if frs[fr].resource == resource)
    world = World(facts, group[:1], fr)

    def enough(items: list[Object]) -> None:
        for item in items:
            if item["kind"] == "ClusterQueue":
                (row,) = item["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
                row["nominalQuota"] = "1G"

    asks = Job(ASKS, queue, world.unit, running=False)
    fits: Helps = lambda cured: cured.mode == "Fit"  # noqa: E731 - as short as it gets
    return denied(world, iter([((), asks)]), enough, "nominal quota", helps=fits)


_NO_BORROW: Object = {"borrowWithinCohort": {"policy": "Never"}}
_NO_RECLAIM: Object = {"reclaimWithinCohort": "Never", **_NO_BORROW}


def alone_in_cohort(facts: Facts) -> Iterator[Finding]:
    """KL-11: policies towards others of the cohort, where there are none."""
    lonely = [q for q in facts.queues if facts.reclaims(q) and not facts.others(q)]
    for queue in lonely:
        example = _without(facts, [queue], "reclaimWithinCohort", _NO_RECLAIM, others=[queue])
        if example is not None:
            name = facts.name(queue)
            cohort = facts.snapshot.queues[queue].spec.cohort_name
            where = f"is the only ClusterQueue of cohort {cohort}" if cohort else "has no cohort"
            yield finding(
                "KL-11",
                (name,),
                f"{name} {where}: reclaimWithinCohort and borrowWithinCohort concern nobody.",
                f"a cohort that others are in, too, or both at Never in {name}",
                example,
            )


def fair_sharing_ignores_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-12: under fair sharing preemption while borrowing goes by shares."""
    group = _forceful(facts) if facts.fair else []
    example = _found(
        _without(facts, [queue], "borrowWithinCohort", _NO_BORROW) for queue in group[:MAX_SIMILAR]
    )
    if example is not None:
        name = facts.called(group)
        yield finding(
            "KL-12",
            facts.names(group),
            f"{name} has borrowWithinCohort, and fair sharing is on: shares decide who is "
            "preempted while borrowing, and maxPriorityThreshold protects nobody.",
            f"no borrowWithinCohort in {name}",
            example,
        )


def cannot_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-13: preemption while borrowing, where limits leave nothing to borrow."""
    bound = [
        queue
        for queue in _forceful(facts)
        if not facts.fair
        and facts.others(queue)
        and not any(facts.can_borrow(queue, fr) for fr in facts.frs(queue))
    ]
    show = partial(_without, facts, field="borrowWithinCohort", off=_NO_BORROW)
    for group, name, example in shown(facts, bound, show):
        yield finding(
            "KL-13",
            facts.names(group),
            f"{name} has borrowWithinCohort, but can borrow nothing: its borrowingLimit is 0, "
            "or nobody lends.",
            f"a borrowingLimit above 0, or no borrowWithinCohort, in {name}",
            example,
        )


def nobody_borrows(facts: Facts) -> Iterator[Finding]:
    """KL-14: only who uses more than its nominal quota is reclaimed from, and nobody can."""
    for tree in facts.trees:
        borrowers: dict[int, set[int]] = {}
        for queue in tree:
            for fr in facts.frs(queue):
                if facts.can_borrow(queue, fr):
                    borrowers.setdefault(fr, set()).add(queue)
        idle_ones = [
            queue
            for queue in facts.active(tree)
            if facts.reclaims(queue)
            and len(tree) > 1
            and all(borrowers.get(fr, set()) <= {queue} for fr in facts.frs(queue))
        ]
        show = partial(_without, facts, field="reclaimWithinCohort", off=_NO_RECLAIM)
        for group, name, example in shown(facts, idle_ones, show):
            yield finding(
                "KL-14",
                facts.names(group),
                f"{name} may reclaim, but borrowing and lending limits keep every other queue "
                "of its cohort within its nominal quota: there is nobody to reclaim from.",
                f"a borrowingLimit above 0 for others, or reclaimWithinCohort: Never in {name}",
                example,
            )


def threshold_above_all(facts: Facts) -> Iterator[Finding]:
    """KL-15: a threshold that spares nobody there is."""
    if facts.fair or not facts.priorities:
        return
    highest = facts.priorities[-1]
    high = [q for q in _forceful(facts) if facts.threshold(q, highest - 1) >= highest]
    off = {"borrowWithinCohort": {"policy": "LowerPriority"}}
    show = partial(_without, facts, field="maxPriorityThreshold", off=off, priority=highest)
    for group, name, example in shown(facts, high, show):
        yield finding(
            "KL-15",
            facts.names(group),
            f"maxPriorityThreshold of {name} is {facts.threshold(group[0], highest)}, and the "
            f"highest priority is {highest}: it spares nobody.",
            f"a threshold below {highest}, or none, in {name}",
            example,
        )


def weights_without_fair_sharing(facts: Facts) -> Iterator[Finding]:
    """KL-16: weights count under fair sharing only."""
    tree = facts.snapshot.tree
    for queues in () if facts.fair else facts.trees:
        above = {node for queue in queues for node in tree.path(queue)}
        weighted = sorted(node for node in above if tree.nodes[node].weight_nano != NANO)
        active = facts.active(queues if weighted else ())
        example = _found(
            _unchanged(facts, q, [o for o in active if o != q] or [q], _unweighted, "all weights 1")
            for q in active[:MAX_SIMILAR]
        )
        if example is not None:
            kinds = {True: "clusterqueue", False: "cohort"}
            yield finding(
                "KL-16",
                [f"{kinds[tree.nodes[n].is_queue]}/{tree.nodes[n].name}" for n in weighted],
                "Weights for fair sharing are set, and Kueue's Configuration does not turn it on.",
                "fairSharing in the Configuration, or no weights",
                example,
            )


def nobody_reclaims(facts: Facts) -> Iterator[Finding]:
    """KL-17: fair sharing preempts only for queues that may reclaim."""
    shared = [queue for queue in facts.queues if facts.active(facts.others(queue))]
    if not facts.fair or any(map(facts.reclaims, facts.queues)):
        return
    off = configured(fairSharing=None)
    example = _found(
        _unchanged(facts, queue, facts.others(queue), off, "fair sharing off")
        for queue in shared[:MAX_SIMILAR]
    )
    if example is not None:
        yield finding(
            "KL-17",
            ("configmap/kueue-manager-config", *facts.names(shared)),
            "Fair sharing is on, and reclaimWithinCohort is Never everywhere: its strategies "
            "never preempt anybody, shares only order admissions.",
            "reclaimWithinCohort: LowerPriority or Any where shares are to be restored",
            example,
        )


def boosts_without_gate(facts: Facts) -> Iterator[Finding]:
    """KL-18: the annotation counts only with the feature gate PriorityBoost."""
    state = facts.state
    marked = [one.key for one in state.workloads.unfinished() if one.boost is not None]
    if not marked or state.configuration.gate("PriorityBoost"):
        return
    for queue in facts.queues[:MAX_SIMILAR]:
        for world, _ in worlds(facts, queue, [queue]):
            jobs = boosted(grid(world, queue, queue))
            example = idle(world, jobs, _without_annotations, "no annotation")
            if example is not None:
                yield finding(
                    "KL-18",
                    [f"workload/{key}" for key in marked],
                    f"The annotation {BOOST} is set, and the feature gate PriorityBoost is off: "
                    "Kueue does not read it.",
                    "featureGates: {PriorityBoost: true} in the Configuration",
                    example,
                )
                return


def _forceful(facts: Facts) -> list[int]:
    return [q for q in facts.queues if facts.borrows_by_force(q) and facts.reclaims(q)]


def _without(  # noqa: PLR0913 - what an example is made of
    facts: Facts,
    group: Sequence[int],
    field: str,
    off: Object,
    priority: int = 0,
    *,
    others: Sequence[int] | None = None,
) -> Example | None:
    """Find an example in which policies of a ClusterQueue change nothing.

    The ``others`` in it are those of its cohort, if none are given.
    """
    queue = group[0]
    others = facts.others(queue) if others is None else others
    change = policies([facts.snapshot.queue_name(queue)], **off)
    words = f"no {field} in {facts.name(queue)}"
    return _unchanged(facts, queue, others, change, words, priority)


def _unchanged(  # noqa: PLR0913, PLR0917 - what an example is made of
    facts: Facts, queue: int, others: Iterable[int], off: Change, words: str, priority: int = 0
) -> Example | None:
    def jobs(world: World, other: int) -> Grid:
        return chain.from_iterable(grid(world, queue, one, priority) for one in (other, queue))

    found = worlds(facts, queue, facts.active(others))
    return _found(idle(world, jobs(world, other), off, words) for world, other in found)


def _unweighted(items: list[Object]) -> None:
    for item in items:
        item.get("spec", {}).pop("fairSharing", None)


def _without_annotations(items: list[Object]) -> None:
    for item in items:
        item.get("metadata", {}).pop("annotations", None)
