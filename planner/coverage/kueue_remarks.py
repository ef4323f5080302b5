"""What a reader of an answer should know besides: none of it makes an answer conditional.

A dump of one namespace, say, is often all there is; and what Kueue said last of a workload may
depend on the others of that cycle.

Source: docs/semantics/kueue-features.md §10, whose rules are named E1 to E31.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from planner.coverage.kueue_evidence import why_not
from planner.plan.naming import name_some
from planner.quantity import format_units, to_units
from planner.state import ClusterQueue, State, Workload
from planner.state.kueue_workload import PREEMPTED

OVERTAKEN: Final = "no longer fits after processing another workload"
"""What Kueue says of a workload whose room another one of its cycle took (rule E23)."""
OVERLAPPING: Final = "overlapping preemption targets"
"""What Kueue says of a workload whose victims another one of its cycle takes (rule E24)."""
MOST_NAMED: Final = 3


def remarks(
    state: State, workload: Workload, queue: ClusterQueue, tree: Sequence[ClusterQueue]
) -> Iterator[str]:
    """Yield what Kueue said, and what a state seems to lack, for a pending workload of a queue.

    ``tree`` are the ClusterQueues that share a root cohort with it, itself among them.
    """
    yield from _of_its_cycle(state, workload, queue)
    yield from _of_those_who_hold(state, {one.name: one for one in tree})
    yield from _unknown_checks(state, tree)
    yield from _lacking(state, workload, queue)


def _of_its_cycle(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[str]:
    """Yield E23 and E24: what Kueue decided depended on the other workloads of the cycle."""
    said = why_not(workload)
    covered = {name for group in queue.spec.resource_groups for name in group.covered_resources}
    starves = "pods" in covered and state.configuration.rules.pods_outside_search
    if OVERTAKEN in said and starves:
        yield (
            f"Kueue said last that {workload.key} no longer fits after another workload of its "
            f"cycle; ClusterQueue {queue.name} covers pods, for which Kueue's own search does not "
            "look: if it says so again and again, its own victims free too few pods, and the "
            "workload waits for ever"
        )
    elif OVERTAKEN in said:
        yield (
            f"Kueue said last that {workload.key} no longer fits after another workload of its "
            "cycle: they compete for the same room, and who gets it depends on the whole cycle"
        )
    if OVERLAPPING in said:
        yield (
            f"Kueue said last that another workload of its cycle has victims in common with "
            f"{workload.key}: whom it evicts for which of them depends on the whole cycle, and not "
            "on this workload alone"
        )


def _of_those_who_hold(state: State, tree: Mapping[str, ClusterQueue]) -> Iterator[str]:
    """Yield E27 and E28, of the workloads that hold quota in the tree of a queue."""
    quotas = {
        name: {
            (flavor.name, quota.name)
            for group in one.spec.resource_groups
            for flavor in group.flavors
            for quota in flavor.resources
        }
        for name, one in tree.items()
    }
    unusual = state.workloads.unusual()
    leaving = [one.key for one in unusual if one.admitted_by in tree and _is_preempted(one)]
    gone: dict[tuple[str, str, str], tuple[list[str], int]] = {}
    for key, name, place, units in state.workloads.held_in(quotas, quotas):
        # A resource without a flavor counts nowhere (docs/semantics/kueue.md §2.1).
        if place[0] and units > 0:
            names, held = gone.get((name, *place), ([], 0))
            gone[name, *place] = [*names, key], held + units
    if leaving:
        yield (
            f"{name_some(leaving, MOST_NAMED)} {'is' if len(leaving) == 1 else 'are'} being "
            "preempted already and hold quota until the pods are gone: Kueue takes them for "
            "victims first, at no further cost, and issues no eviction anew"
        )
    for (name, flavor, resource), (names, held) in gone.items():
        who = name_some(dict.fromkeys(names), MOST_NAMED)
        yield (
            f"{who} {'holds' if len(names) == 1 else 'hold'} "
            f"{format_units(held, resource)} {resource} of flavor {flavor}, for which ClusterQueue "
            f"{name} has no quota any more: it counts, and nothing asks for it back"
        )


def _is_preempted(workload: Workload) -> bool:
    """Say whether it is being preempted and still holds quota."""
    evicted = workload.condition("Evicted")
    preempted = evicted is not None and evicted.is_true and evicted.reason == PREEMPTED
    return preempted and workload.holds_quota


def _unknown_checks(state: State, tree: Sequence[ClusterQueue]) -> Iterator[str]:
    """Yield E3 of admission checks that the state lacks: Kueue has them, the queue is active."""
    there = {one.metadata.name for one in state.admission_checks}
    for queue in tree:
        said = queue.status.condition("Active")
        missing = [rule.name for rule in queue.check_rules if rule.name not in there]
        if missing and said is not None and said.is_true:
            yield (
                f"ClusterQueue {queue.name} is active by its condition, and the state lacks its "
                f"admission check {name_some(missing, MOST_NAMED)}: it is taken for active"
            )


def _lacking(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[str]:
    """Yield what a state seems to lack, where nothing says that the answer is another (E8 on)."""
    # What has no status was never in a cluster, and so has no other Configuration.
    if not state.configuration_given and queue.status.conditions:
        yield (
            "the state has no Configuration of Kueue: fair sharing, feature gates, resource "
            "settings and waitForPodsReady are taken as by default"
        )
    yield from _unpublished(state, queue)
    yield from _fewer_pending(state, queue)
    yield from _less_held(state, queue)
    classes = {one.metadata.name for one in state.runtime_classes}
    for pods in workload.spec.pod_sets:
        spec = pods.template.spec
        if spec.runtime_class_name not in {"", *classes} and not spec.overhead:
            yield (
                f"RuntimeClass {spec.runtime_class_name} of {workload.key} is not in the state: "
                "no overhead is counted"
            )
    selector = queue.spec.namespace_selector
    if selector and (selector.match_labels or selector.match_expressions) and not state.namespaces:
        yield (
            f"the state has no namespaces: the namespaceSelector of ClusterQueue {queue.name} is "
            "not looked at"
        )


def _unpublished(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E6: fair sharing is on by the Configuration, and nobody publishes a share."""
    on = state.configuration_given and state.configuration.fair_sharing_on
    # A queue that a controller has filled in publishes a share, too, if fair sharing is on.
    filled = queue.status.pending is not None or bool(queue.status.reserved)
    shares = (one.status.fair_sharing is not None for one in state.cluster_queues)
    if on and filled and not any(shares):
        yield (
            "fair sharing is on in the Configuration, and no ClusterQueue publishes a share "
            "(status.fairSharing): the Configuration may not be the one that runs"
        )


def _fewer_pending(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E30: a queue counts more pending workloads than there are in the state."""
    if queue.status.pending is None:
        return
    named = {
        (local.metadata.namespace, local.metadata.name)
        for local in state.local_queues
        if local.spec.cluster_queue == queue.name
    }
    here = sum(
        one.is_pending and (one.namespace, one.queue_name) in named
        for one in state.workloads.entries
    )
    if here < queue.status.pending:
        yield (
            f"ClusterQueue {queue.name} says that {queue.status.pending} workloads are pending, "
            f"the state has {here}: who is next is not known"
        )


def _less_held(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E29: a queue says that more is reserved than its workloads in the state hold."""
    if not queue.status.reserved:
        return
    held: dict[tuple[str, str], int] = {}
    for _, _, place, units in state.workloads.held_in({queue.name}):
        held[place] = held.get(place, 0) + units
    for flavor in queue.status.reserved:
        for one in flavor.resources:
            said, found = to_units(one.total, one.name), held.get((flavor.name, one.name), 0)
            # Less only: what the state has more may have come since the queue was counted.
            if found < said:
                yield (
                    f"ClusterQueue {queue.name} says that {format_units(said, one.name)} "
                    f"{one.name} of flavor {flavor.name} are reserved, its workloads in the state "
                    f"hold {format_units(found, one.name)}: some are missing, or it has moved"
                )
