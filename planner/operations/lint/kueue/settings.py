"""Impossible: preemption that finds nobody; useless: settings that change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from planner.operations.lint.kueue.search import (
    ASKS,
    MAX_OTHERS,
    MAX_SIMILAR,
    Grid,
    denied,
    grid,
    idle,
    inside,
    worlds,
)
from planner.operations.lint.kueue.world import (
    Change,
    Facts,
    Job,
    Object,
    World,
    each_queue,
    policies,
    spec_of,
    without,
)
from planner.operations.lint.lint import Example, Finding, finding
from planner.quantity import NANO
from planner.state.kueue_workload import BOOST_ANNOTATION

_BELOW_ROOT = 2
"""Nodes on the path of a ClusterQueue whose cohort has no parent."""


def _each_group(  # noqa: PLR0913, PLR0917 - all of a finding
    facts: Facts,
    code: str,
    queues: Iterable[int],
    show: Callable[[Facts, Sequence[int]], Example | None],
    reason: str,
    hint: str,
    **words: object,
) -> Iterator[Finding]:
    """Yield the findings of the groups of similar ClusterQueues for which there is an example.

    In ``reason`` and ``hint``, ``{name}`` is what the group is called, ``{threshold}`` its
    maxPriorityThreshold, and other fields come from ``words``.
    """
    for group in facts.similar(queues):
        words |= {"name": facts.called(group), "threshold": facts.threshold(group[0], 0)}
        said = reason.format_map(words), hint.format_map(words)
        yield from finding(code, facts.names(group), *said, show(facts, group))


def never_reclaims(facts: Facts) -> Iterator[Finding]:
    """KL-03: others may borrow quota of a ClusterQueue that may not take it back."""
    closed = [q for q in facts.queues if not facts.reclaims(q) and not facts.borrows_by_force(q)]
    yield from _each_group(
        facts,
        "KL-03",
        [queue for queue in closed if facts.anywhere(facts.lends, queue)],
        partial(_first, field="reclaimWithinCohort", cure="LowerPriority"),
        "Others can borrow quota of {name}, whose reclaimWithinCohort is Never: it gets its own "
        "quota back only when they finish.",
        "reclaimWithinCohort: LowerPriority or Any in {name}, or lendingLimit: 0",
    )


def refused(facts: Facts) -> Iterator[Finding]:
    """KL-04: Kueue's webhook accepts borrowWithinCohort only beside reclaimWithinCohort."""
    yield from _each_group(
        facts,
        "KL-04",
        [q for q in facts.queues if facts.borrows_by_force(q) and not facts.reclaims(q)],
        partial(_first, field="reclaimWithinCohort", cure="LowerPriority"),
        "{name} has borrowWithinCohort with reclaimWithinCohort: Never. Kueue refuses that; where "
        "it is stored all the same, nobody in the cohort is ever preempted.",
        "reclaimWithinCohort: LowerPriority in {name}, or no borrowWithinCohort",
    )


def threshold_below_all(facts: Facts) -> Iterator[Finding]:
    """KL-05: maxPriorityThreshold spares priorities above it while borrowing, and all are above."""
    if facts.fair or not facts.priorities:
        return
    lowest = facts.priorities[0]
    cure = {"policy": "LowerPriority", "maxPriorityThreshold": lowest}
    field = "borrowWithinCohort"
    yield from _each_group(
        facts,
        "KL-05",
        [queue for queue in facts.forceful if facts.threshold(queue, lowest) < lowest],
        partial(_first, field=field, cure=cure, priority=inside(lowest), beyond=True),
        "borrowWithinCohort of {name} spares priorities above {threshold}, and {lowest} is the "
        "lowest there is: it preempts nobody while borrowing.",
        "maxPriorityThreshold of at least {lowest} in {name}",
        lowest=lowest,
    )


def one_priority(facts: Facts) -> Iterator[Finding]:
    """KL-06: LowerPriority finds nobody where all workloads have the same priority."""
    if len(facts.priorities) != 1:  # of none at all, nothing is known
        return
    (priority,) = facts.priorities
    runs_with = inside(priority)

    def lower(items: list[Object]) -> None:
        for item in items:
            if item["kind"] == "Workload" and "status" in item:
                item["spec"]["priority"] = runs_with - 1

    words = f"priority {runs_with - 1} of what runs"
    for within, reclaim in ((True, True), (True, False), (False, True)):
        group = [
            queue
            for queue in facts.queues
            if (facts.policies(queue).within_cluster_queue == "LowerPriority") == within
            and (facts.policies(queue).reclaim_within_cohort == "LowerPriority") == reclaim
        ]
        example = _found(
            denied(world, grid(world, queue, runs, runs_with), lower, words, differences=(0,))
            for queue in group[:MAX_SIMILAR]
            for world, runs in worlds(
                facts, queue, [queue] * within + facts.active_others(queue) * reclaim
            )
        )
        if example is not None:
            fields = ["withinClusterQueue"] * within + ["reclaimWithinCohort"] * reclaim
            yield from finding(
                "KL-06",
                facts.names(group),
                f"{' and '.join(fields)} of {facts.called(group)}: LowerPriority. All workloads "
                f"and priority classes have priority {priority}, so nobody is lower.",
                "a WorkloadPriorityClass of another value, or a policy that heeds no priority",
                example,
            )


def nothing_to_reclaim(facts: Facts) -> Iterator[Finding]:
    """KL-07: without nominal quota and borrowWithinCohort, there is nothing to reclaim."""
    path = facts.snapshot.tree.path
    poor = [q for q in facts.queues if facts.reclaims(q) and not facts.borrows_by_force(q)]
    poor = [q for q in poor if len(path(q)) == _BELOW_ROOT and not facts.anywhere(facts.nominal, q)]
    yield from _each_group(
        facts,
        "KL-07",
        () if facts.fair else poor,
        partial(_first, field="borrowWithinCohort", cure={"policy": "LowerPriority"}),
        "All nominal quotas of {name} are 0: what it uses is borrowed, there is nothing of its "
        "own to reclaim, and it may not preempt while borrowing.",
        "nominal quota, or borrowWithinCohort: LowerPriority, in {name}",
    )


def inactive_borrower(facts: Facts) -> Iterator[Finding]:
    """KL-08: an inactive ClusterQueue's workloads hold quota and are no candidates."""
    snapshot = facts.snapshot

    def borrows(queue: int, fr: int) -> bool:
        return snapshot.usage.borrows_with(queue, fr, 0)

    def activate(queue: Object) -> None:  # nothing stops it, and all its flavors are known
        spec = queue["spec"]
        for stops in ("stopPolicy", "admissionChecksStrategy"):
            spec.pop(stops, None)
        spec["resourceGroups"] = spec["resourceGroups"][:1]

    for queue in snapshot.queues:
        if snapshot.is_active(queue) or not facts.anywhere(borrows, queue):
            continue
        others = [one for one in facts.active_others(queue) if facts.reclaims(one)]
        name, own = facts.name(queue), snapshot.queue_name(queue)
        cure = each_queue(activate, [own])
        example = _found(
            denied(world, grid(world, other, inactive), cure, f"{name} active")
            for other in others[:MAX_OTHERS]
            for world, inactive in worlds(facts, other, [queue])
        )
        yield from finding(
            "KL-08",
            facts.names((queue, *others)),
            f"{name} is inactive ({snapshot.inactive[own]}) and uses more than its nominal "
            "quota: its workloads are no candidates for anybody.",
            f"make {name} active again, or drain it (stopPolicy: HoldAndDrain)",
            example,
        )


def weight_zero(facts: Facts) -> Iterator[Finding]:
    """KL-09: a borrowing queue of weight 0 has an infinite share, and preempts nobody."""
    nodes = facts.snapshot.tree.nodes

    def show(facts: Facts, group: Sequence[int]) -> Example | None:
        queue, words = group[0], f"weight 1 in {facts.called(group)}"
        cure = spec_of([nodes[queue].name], fairSharing={"weight": "1"})
        return _found(
            denied(world, grid(world, queue, other, beyond=True), cure, words)
            for world, other in worlds(facts, queue, facts.active_others(queue))
        )

    yield from _each_group(
        facts,
        "KL-09",
        [q for q in facts.queues if facts.fair and facts.reclaims(q) and not nodes[q].weight_nano],
        show,
        "{name} has weight 0: once it borrows, its share is infinite. It then preempts nobody, and "
        "is the first to be preempted.",
        "a weight above 0 in {name}",
    )


def no_quota(facts: Facts) -> Iterator[Finding]:
    """KL-10: a resource that is covered, but of which no flavor has quota within reach."""
    frs = facts.snapshot.tree.frs
    empty: dict[str, list[int]] = {}
    for queue in filter(facts.knows_others, facts.queues):
        covered = {frs[fr].resource for fr in facts.frs(queue)}
        reached = {frs[fr].resource for fr in facts.frs(queue) if facts.most(queue, fr) > 0}
        for resource in covered - reached:
            empty.setdefault(resource, []).append(queue)
    for resource, queues in sorted(empty.items()):
        yield from _each_group(
            facts,
            "KL-10",
            queues,
            partial(_unreachable, resource=resource),
            "{name} covers {resource}, with a nominal quota of 0 and nothing to borrow: whoever "
            "asks for it waits for ever, and preemption is not tried.",
            "nominal quota for {resource} in {name} or its cohort",
            resource=resource,
        )


def _unreachable(facts: Facts, group: Sequence[int], resource: str) -> Example | None:
    queue, frs = group[0], facts.snapshot.tree.frs
    fr = next(fr for fr in facts.frs(queue) if frs[fr].resource == resource)
    world = World(facts, group[:1], fr)

    def enough(queue: Object) -> None:
        (row,) = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
        row["nominalQuota"] = "1G"

    jobs: Grid = iter([((), Job(ASKS, queue, world.unit, running=False))])
    cure = each_queue(enough, [facts.snapshot.queue_name(queue)])
    return denied(world, jobs, cure, "nominal quota", helps=lambda cured: cured.mode == "Fit")


def _found(examples: Iterable[Example | None]) -> Example | None:
    return next(filter(None, examples), None)


def _first(  # noqa: PLR0913 - what an example is made of
    facts: Facts,
    group: Sequence[int],
    field: str,
    cure: Object | str,
    priority: int = 0,
    *,
    beyond: bool = False,
) -> Example | None:
    """Find an example in which another policy would help, of the first few ClusterQueues."""
    policy = cure if isinstance(cure, str) else " ".join(map(str, cure.values()))
    return _found(
        denied(
            world,
            grid(world, queue, other, priority, beyond=beyond),
            policies([facts.snapshot.queue_name(queue)], **{field: cure}),
            f"{field} {policy} in {facts.name(queue)}",
        )
        for queue in group[:MAX_SIMILAR]
        for world, other in worlds(facts, queue, facts.active_others(queue))
    )


_NO_BORROW: Object = {"borrowWithinCohort": {"policy": "Never"}}
_NO_RECLAIM: Object = {"reclaimWithinCohort": "Never", **_NO_BORROW}


def alone_in_cohort(facts: Facts) -> Iterator[Finding]:
    """KL-11: policies towards other ClusterQueues of the cohort, where there are none."""
    lonely = [q for q in facts.queues if facts.reclaims(q) and not facts.others(q)]
    for queue in filter(facts.knows_others, lonely):
        name = facts.name(queue)
        off = policies([facts.snapshot.queue_name(queue)], **_NO_RECLAIM)
        cohort = facts.snapshot.queues[queue].spec.cohort_name
        where = f"is the only ClusterQueue of cohort {cohort}" if cohort else "has no cohort"
        yield from finding(
            "KL-11",
            (name,),
            f"{name} {where}: reclaimWithinCohort and borrowWithinCohort concern nobody.",
            f"a cohort that others are in, too, or both at Never in {name}",
            _unchanged(facts, queue, [queue], off, f"no reclaimWithinCohort in {name}"),
        )


def fair_sharing_ignores_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-12: under fair sharing, shares decide on preemption while borrowing."""
    group = facts.forceful if facts.fair else []
    example = _found(
        _without(facts, [queue], "borrowWithinCohort", _NO_BORROW) for queue in group[:MAX_SIMILAR]
    )
    if example is not None:
        name = facts.called(group)
        yield from finding(
            "KL-12",
            facts.names(group),
            f"{name} has borrowWithinCohort, and fair sharing is on: shares decide who is "
            "preempted while borrowing, and maxPriorityThreshold protects nobody.",
            f"no borrowWithinCohort in {name}",
            example,
        )


def cannot_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-13: preemption while borrowing, where limits leave nothing to borrow."""
    forceful = [] if facts.fair else [q for q in facts.forceful if facts.others(q)]
    yield from _each_group(
        facts,
        "KL-13",
        [q for q in forceful if facts.knows_others(q) and not facts.anywhere(facts.can_borrow, q)],
        partial(_without, field="borrowWithinCohort", off=_NO_BORROW),
        "{name} has borrowWithinCohort, but can borrow nothing: its borrowingLimit is 0, or nobody "
        "lends.",
        "a borrowingLimit above 0, or no borrowWithinCohort, in {name}",
    )


def nobody_borrows(facts: Facts) -> Iterator[Finding]:
    """KL-14: quota is reclaimed only from queues above their nominal quota, and none can be."""
    for tree in facts.trees.values():
        pairs = ((queue, fr) for queue in tree for fr in facts.frs(queue))
        borrowers = Counter(fr for queue, fr in pairs if facts.can_borrow(queue, fr))
        known = [q for q in facts.active(tree) if facts.knows_others(q) and len(tree) > 1]
        reclaiming = [queue for queue in known if facts.reclaims(queue)]
        yield from _each_group(
            facts,
            "KL-14",
            [
                queue
                for queue in reclaiming
                if all(borrowers[fr] == facts.can_borrow(queue, fr) for fr in facts.frs(queue))
            ],
            partial(_without, field="reclaimWithinCohort", off=_NO_RECLAIM),
            "{name} may reclaim, but borrowing and lending limits keep every other queue of its "
            "cohort within its nominal quota: there is nobody to reclaim from.",
            "a borrowingLimit above 0 for others, or reclaimWithinCohort: Never in {name}",
        )


def threshold_above_all(facts: Facts) -> Iterator[Finding]:
    """KL-15: a threshold that no priority is above, so that it spares nobody."""
    if facts.fair or not facts.priorities:
        return
    highest = facts.priorities[-1]
    off = {"borrowWithinCohort": {"policy": "LowerPriority"}}
    yield from _each_group(
        facts,
        "KL-15",
        [q for q in facts.forceful if facts.threshold(q, highest - 1) >= highest],
        partial(_without, field="maxPriorityThreshold", off=off, priority=inside(highest)),
        "maxPriorityThreshold of {name} is {threshold}, and the highest priority is {highest}: it "
        "spares nobody.",
        "a threshold below {highest}, or none, in {name}",
        highest=highest,
    )


def weights_without_fair_sharing(facts: Facts) -> Iterator[Finding]:
    """KL-16: weights count under fair sharing only."""
    tree, off = facts.snapshot.tree, without("spec", "fairSharing")
    for queues in () if facts.fair or not facts.tells_of_shares else facts.trees.values():
        above = {node for queue in queues for node in tree.path(queue)}
        weighted = sorted(node for node in above if tree.nodes[node].weight_nano != NANO)
        active = facts.active(queues if weighted else ())
        example = _found(
            _unchanged(facts, q, [o for o in active if o != q] or [q], off, "all weights 1")
            for q in active[:MAX_SIMILAR]
        )
        kinds = {True: "clusterqueue", False: "cohort"}
        yield from finding(
            "KL-16",
            [f"{kinds[tree.nodes[n].is_queue]}/{tree.nodes[n].name}" for n in weighted],
            "Weights for fair sharing are set, and Kueue's Configuration does not turn it on.",
            "fairSharing in the Configuration, or no weights",
            example,
        )


def nobody_reclaims(facts: Facts) -> Iterator[Finding]:
    """KL-17: fair sharing preempts only for queues that may reclaim."""
    shared = [queue for queue in facts.queues if facts.active_others(queue)]
    if not facts.fair or any(map(facts.reclaims, facts.queues)):
        return
    off = without("fairSharing")
    example = _found(
        _unchanged(facts, queue, facts.others(queue), off, "fair sharing off")
        for queue in shared[:MAX_SIMILAR]
    )
    yield from finding(
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
    columns = state.workloads.columns
    marked = columns.key[state.workloads.unfinished & (columns.boost != 0)].tolist()
    if not (marked and facts.is_configured) or state.configuration.gate("PriorityBoost"):
        return
    off = without("metadata", "annotations")
    example = _found(
        idle(world, grid(world, queue, queue, boost="1000"), off, "no annotation")
        for queue in facts.queues[:MAX_SIMILAR]
        for world, _ in worlds(facts, queue, [queue])
    )
    yield from finding(
        "KL-18",
        [f"workload/{key}" for key in marked],
        f"The annotation {BOOST_ANNOTATION} is set, and the feature gate PriorityBoost is off: "
        "Kueue does not read it.",
        "featureGates: {PriorityBoost: true} in the Configuration",
        example,
    )


def _without(
    facts: Facts, group: Sequence[int], field: str, off: Object, priority: int = 0
) -> Example | None:
    """Find an example in which policies of a ClusterQueue change nothing in its cohort."""
    queue = group[0]
    change = policies([facts.snapshot.queue_name(queue)], **off)
    words = f"no {field} in {facts.name(queue)}"
    return _unchanged(facts, queue, facts.others(queue), change, words, priority)


def _unchanged(  # noqa: PLR0913, PLR0917 - what an example is made of
    facts: Facts, queue: int, others: Iterable[int], off: Change, words: str, priority: int = 0
) -> Example | None:
    """Find an example in which ``off`` changes nothing, with others running or the queue's own."""
    return _found(
        idle(
            world,
            chain.from_iterable(grid(world, queue, one, priority) for one in (other, queue)),
            off,
            words,
        )
        for world, other in worlds(facts, queue, facts.active(others))
    )
