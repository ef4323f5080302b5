"""Impossible: preemption that a configuration seems to ask for, and that finds nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from planner.commands.lint.kueue.search import (
    ASKS,
    MAX_OTHERS,
    MAX_SIMILAR,
    Helps,
    denied,
    grid,
    shown,
    worlds,
)
from planner.commands.lint.kueue.world import Change, Facts, Job, Object, World, policies, spec_of
from planner.commands.lint.lint import Example, Finding, finding

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
