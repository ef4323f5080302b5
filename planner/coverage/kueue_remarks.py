"""What a reader of an answer should know besides: none of it makes an answer conditional.

A dump of one namespace, say, is often all there is; and what Kueue said last of a workload may
depend on the others of that cycle.

Source: docs/semantics/kueue-features.md §10, whose rules are named E1 to E31.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from planner.coverage.evidence import why_not
from planner.quantity import format_units, to_units
from planner.state import ClusterQueue, State, Workload
from planner.state.workload import PREEMPTED

OVERTAKEN: Final = "no longer fits after processing another workload"
"""What Kueue says of a workload whose room another one of its cycle took (rule E23)."""
OVERLAPPING: Final = "overlapping preemption targets"
"""What Kueue says of a workload whose victims another one of its cycle takes (rule E24)."""
MOST_NAMED: Final = 3


def remarks(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[str]:
    """Yield what Kueue said, and what a state seems to lack, for a pending workload of a queue."""
    yield from _of_its_cycle(state, workload, queue)
    yield from _of_those_who_hold(state, queue)
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


def _of_those_who_hold(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E27 and E28, of the workloads that hold quota in the tree of a queue."""
    tree = {one.name: one for one in _tree_of(state, queue)}
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
        if place[0] and units > 0:
            names, held = gone.get((name, *place), ([], 0))
            gone[name, *place] = [*names, key], held + units
    if leaving:
        yield (
            f"{_named(leaving)} {'is' if len(leaving) == 1 else 'are'} being preempted already and "
            "hold quota until the pods are gone: Kueue takes them for victims first, at no further "
            "cost, and issues no eviction anew"
        )
    for (name, flavor, resource), (names, held) in gone.items():
        yield (
            f"{_named(dict.fromkeys(names))} {'holds' if len(names) == 1 else 'hold'} "
            f"{format_units(held, resource)} {resource} of flavor {flavor}, for which ClusterQueue "
            f"{name} has no quota any more: it counts, and nothing asks for it back"
        )


def _is_preempted(workload: Workload) -> bool:
    """Say whether it is being preempted and still holds quota."""
    evicted = workload.condition("Evicted")
    preempted = evicted is not None and evicted.is_true and evicted.reason == PREEMPTED
    return preempted and workload.holds_quota


def _named(keys: Collection[str]) -> str:
    """Name some workloads, and count the others."""
    named = list(keys)[:MOST_NAMED]
    more = len(keys) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _tree_of(state: State, queue: ClusterQueue) -> Iterator[ClusterQueue]:
    """Yield the ClusterQueues that share a root cohort with a queue, itself among them."""
    parents = {one.name: one.spec.parent_name for one in state.cohorts}
    root = _root(queue.spec.cohort_name, parents)
    for one in state.cluster_queues:
        if one.name == queue.name or (root and _root(one.spec.cohort_name, parents) == root):
            yield one


def _root(cohort: str, parents: dict[str, str]) -> str:
    """Return the root above a cohort; of cohorts in a circle the one where it closes."""
    seen = set[str]()
    while parents.get(cohort) and cohort not in seen:
        seen.add(cohort)
        cohort = parents[cohort]
    return cohort


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
            if found < said:
                yield (
                    f"ClusterQueue {queue.name} says that {format_units(said, one.name)} "
                    f"{one.name} of flavor {flavor.name} are reserved, its workloads in the state "
                    f"hold {format_units(found, one.name)}: some are missing, or it has moved"
                )
