"""Impossible: preemption that finds nobody; useless: settings that change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from msgspec.structs import replace

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
    Cure,
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

Show = Callable[[Facts, Sequence[int]], Example | None]
"""Makes the example of a group of similar ClusterQueues."""
_BELOW_ROOT = 2
"""Nodes on the path of a ClusterQueue whose cohort has no parent."""


def _each_group(
    facts: Facts, code: str, queues: Iterable[int], show: Show, **words: object
) -> Iterator[Finding]:
    """Yield the findings of the groups of similar ClusterQueues for which there is an example."""
    for group in facts.similar(queues):
        yield from finding(
            code,
            facts.names(group),
            show(facts, group),
            name=facts.called(group),
            threshold=facts.threshold(group[0], 0),
            lowest=facts.lowest,
            highest=facts.highest,
            **words,
        )


def _of_groups(
    code: str, holds: Callable[[Facts, int], object], show: Show
) -> Callable[[Facts], Iterator[Finding]]:
    """Return the rule that finds active ClusterQueues of which something holds."""
    return lambda facts: _each_group(
        facts, code, [queue for queue in facts.queues if holds(facts, queue)], show
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
            denied(world, grid(world, queue, runs, runs_with), Cure(lower, words), differences=(0,))
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
                example,
                fields=" and ".join(fields),
                name=facts.called(group),
                priority=priority,
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
        cure = Cure(each_queue(activate, [own]), f"{name} active")
        example = _found(
            denied(world, grid(world, other, inactive), cure)
            for other in others[:MAX_OTHERS]
            for world, inactive in worlds(facts, other, [queue])
        )
        yield from finding(
            "KL-08", facts.names((queue, *others)), example, name=name, why=snapshot.inactive[own]
        )


def no_quota(facts: Facts) -> Iterator[Finding]:
    """KL-10: a resource that is covered, but of which no flavor has quota within reach."""
    frs = facts.snapshot.tree.frs
    empty: dict[str, list[int]] = {}
    for queue in filter(facts.knows_cohorts, filter(facts.knows_others, facts.queues)):
        covered = {frs[fr].resource for fr in facts.frs(queue)}
        reached = {frs[fr].resource for fr in facts.frs(queue) if facts.most(queue, fr) > 0}
        for resource in covered - reached:
            empty.setdefault(resource, []).append(queue)
    for resource, queues in sorted(empty.items()):
        show = partial(_unreachable, resource=resource)
        yield from _each_group(facts, "KL-10", queues, show, resource=resource)


def _unreachable(facts: Facts, group: Sequence[int], resource: str) -> Example | None:
    queue, frs = group[0], facts.snapshot.tree.frs
    fr = next(fr for fr in facts.frs(queue) if frs[fr].resource == resource)
    world = World(facts, group[:1], fr)

    def enough(queue: Object) -> None:
        (row,) = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
        row["nominalQuota"] = "1G"

    jobs: Grid = iter([((), Job(ASKS, queue, world.unit, running=False))])
    cure = Cure(each_queue(enough, [facts.snapshot.queue_name(queue)]), "nominal quota")
    return denied(world, jobs, cure, helps=lambda cured: cured.mode == "Fit")


def _found(examples: Iterable[Example | None]) -> Example | None:
    return next(filter(None, examples), None)


def _first(
    facts: Facts,
    group: Sequence[int],
    field: str,
    cure: Object | str,
    jobs: Callable[[World, int, int], Grid] = grid,
) -> Example | None:
    """Find an example in which another policy would help, of the first few ClusterQueues."""
    policy = cure if isinstance(cure, str) else " ".join(map(str, cure.values()))
    return _found(
        denied(
            world,
            jobs(world, queue, other),
            Cure(
                policies([facts.snapshot.queue_name(queue)], **{field: cure}),
                f"{field} {policy} in {facts.name(queue)}",
            ),
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
        change = policies([facts.snapshot.queue_name(queue)], **_NO_RECLAIM)
        off = Cure(change, f"no reclaimWithinCohort in {name}")
        cohort = facts.snapshot.queues[queue].spec.cohort_name
        where = f"is the only ClusterQueue of cohort {cohort}" if cohort else "has no cohort"
        example = _unchanged(facts, queue, [queue], off)
        yield from finding("KL-11", (name,), example, name=name, where=where)


def fair_sharing_ignores_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-12: under fair sharing, shares decide on preemption while borrowing."""
    group = [q for q in facts.queues if facts.fair and facts.forceful(q)]
    if group:
        example = _found(_without_borrowing(facts, [queue]) for queue in group[:MAX_SIMILAR])
        yield from finding("KL-12", facts.names(group), example, name=facts.called(group))


def nobody_borrows(facts: Facts) -> Iterator[Finding]:
    """KL-14: quota is reclaimed only from queues above their nominal quota, and none can be."""
    for tree in facts.trees.values():
        pairs = ((queue, fr) for queue in tree for fr in facts.frs(queue))
        borrowers = Counter(fr for queue, fr in pairs if facts.can_borrow(queue, fr))
        known = [q for q in facts.active(tree) if facts.knows_others(q) and len(tree) > 1]
        reclaiming = [queue for queue in known if facts.reclaims(queue)]
        nobody_else = [
            queue
            for queue in reclaiming
            if all(borrowers[fr] == facts.can_borrow(queue, fr) for fr in facts.frs(queue))
        ]
        show = partial(_without, field="reclaimWithinCohort", off=_NO_RECLAIM)
        yield from _each_group(facts, "KL-14", nobody_else, show)


def weights_without_fair_sharing(facts: Facts) -> Iterator[Finding]:
    """KL-16: weights count under fair sharing only."""
    tree, off = facts.snapshot.tree, Cure(without("spec", "fairSharing"), "all weights 1")
    for queues in () if facts.fair or not facts.tells_of_shares else facts.trees.values():
        above = {node for queue in queues for node in tree.path(queue)}
        weighted = sorted(node for node in above if tree.nodes[node].weight_nano != NANO)
        active = facts.active(queues if weighted else ())
        example = _found(
            _unchanged(facts, q, [o for o in active if o != q] or [q], off)
            for q in active[:MAX_SIMILAR]
        )
        kinds = {True: "clusterqueue", False: "cohort"}
        yield from finding(
            "KL-16",
            [f"{kinds[tree.nodes[n].is_queue]}/{tree.nodes[n].name}" for n in weighted],
            example,
        )


def nobody_reclaims(facts: Facts) -> Iterator[Finding]:
    """KL-17: fair sharing preempts only for queues that may reclaim."""
    shared = [queue for queue in facts.queues if facts.active_others(queue)]
    if not facts.fair or any(map(facts.reclaims, facts.queues)):
        return
    off = Cure(without("fairSharing"), "fair sharing off")
    example = _found(
        _unchanged(facts, queue, facts.others(queue), off) for queue in shared[:MAX_SIMILAR]
    )
    objects = ("configmap/kueue-manager-config", *facts.names(shared))
    yield from finding("KL-17", objects, example)


def boosts_without_gate(facts: Facts) -> Iterator[Finding]:
    """KL-18: the annotation counts only with the feature gate PriorityBoost."""
    state = facts.state
    columns = state.workloads.columns
    marked = columns.key[state.workloads.unfinished & (columns.boost != 0)].tolist()
    if not (marked and facts.is_configured) or state.configuration.gate("PriorityBoost"):
        return
    off = Cure(without("metadata", "annotations"), "no annotation")
    example = _found(
        idle(world, _boosted(grid(world, queue, queue)), off)
        for queue in facts.queues[:MAX_SIMILAR]
        for world, _ in worlds(facts, queue, [queue])
    )
    yield from finding("KL-18", [f"workload/{key}" for key in marked], example)


def _boosted(jobs: Grid) -> Grid:
    return ((runs, replace(asks, boost="1000")) for runs, asks in jobs)


def _without(
    facts: Facts, group: Sequence[int], field: str, off: Object, priority: int = 0
) -> Example | None:
    """Find an example in which policies of a ClusterQueue change nothing in its cohort."""
    queue = group[0]
    change = policies([facts.snapshot.queue_name(queue)], **off)
    cure = Cure(change, f"no {field} in {facts.name(queue)}")
    return _unchanged(facts, queue, facts.others(queue), cure, priority)


def _unchanged(
    facts: Facts, queue: int, others: Iterable[int], off: Cure, priority: int = 0
) -> Example | None:
    """Find an example in which ``off`` changes nothing, with others running or the queue's own."""
    return _found(
        idle(
            world,
            chain.from_iterable(grid(world, queue, one, priority) for one in (other, queue)),
            off,
        )
        for world, other in worlds(facts, queue, facts.active(others))
    )


def _weighted(facts: Facts, group: Sequence[int]) -> Example | None:
    """Find an example in which another weight than 0 would help."""
    queue = group[0]
    change = spec_of([facts.snapshot.queue_name(queue)], fairSharing={"weight": "1"})
    cure = Cure(change, f"weight 1 in {facts.called(group)}")
    return _found(
        denied(world, grid(world, queue, other, beyond=True), cure)
        for world, other in worlds(facts, queue, facts.active_others(queue))
    )


def _with_threshold(facts: Facts, group: Sequence[int]) -> Example | None:
    """Find an example in which a threshold that is not below all priorities would help."""
    lowest = facts.lowest
    cure = {"policy": "LowerPriority", "maxPriorityThreshold": lowest}
    jobs = partial(grid, priority=inside(lowest), beyond=True)
    return _first(facts, group, "borrowWithinCohort", cure, jobs)


def _without_threshold(facts: Facts, group: Sequence[int]) -> Example | None:
    off = {"borrowWithinCohort": {"policy": "LowerPriority"}}
    return _without(facts, group, "maxPriorityThreshold", off, inside(facts.highest))


_reclaiming = partial(_first, field="reclaimWithinCohort", cure="LowerPriority")
_borrowing = partial(_first, field="borrowWithinCohort", cure={"policy": "LowerPriority"})
_without_borrowing = partial(_without, field="borrowWithinCohort", off=_NO_BORROW)

never_reclaims = _of_groups(
    "KL-03",
    lambda facts, queue: (
        not (facts.reclaims(queue) or facts.borrows_by_force(queue))
        and facts.anywhere(facts.lends, queue)
    ),
    _reclaiming,
)
refused = _of_groups(
    "KL-04",
    lambda facts, queue: facts.borrows_by_force(queue) and not facts.reclaims(queue),
    _reclaiming,
)
threshold_below_all = _of_groups(
    "KL-05",
    lambda facts, queue: (
        not facts.fair
        and facts.priorities
        and facts.forceful(queue)
        and facts.threshold(queue, facts.lowest) < facts.lowest
    ),
    _with_threshold,
)
nothing_to_reclaim = _of_groups(
    "KL-07",
    lambda facts, queue: (
        not (facts.fair or facts.borrows_by_force(queue) or facts.anywhere(facts.nominal, queue))
        and facts.reclaims(queue)
        and len(facts.snapshot.tree.path(queue)) == _BELOW_ROOT
    ),
    _borrowing,
)
weight_zero = _of_groups(
    "KL-09",
    lambda facts, queue: (
        facts.fair and facts.reclaims(queue) and not facts.snapshot.tree.nodes[queue].weight_nano
    ),
    _weighted,
)
cannot_borrow = _of_groups(
    "KL-13",
    lambda facts, queue: (
        not facts.fair
        and facts.forceful(queue)
        and facts.others(queue)
        and facts.knows_others(queue)
        and not facts.anywhere(facts.can_borrow, queue)
    ),
    _without_borrowing,
)
threshold_above_all = _of_groups(
    "KL-15",
    lambda facts, queue: (
        not facts.fair
        and facts.priorities
        and facts.forceful(queue)
        and facts.threshold(queue, facts.highest - 1) >= facts.highest
    ),
    _without_threshold,
)
