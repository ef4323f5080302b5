"""Nodes in a simulation of Kueue: whether pods are placed on them, and who shares them.

Pods of a workload take their nodes from when it is admitted until it gives its quota back, so long
as it is being evicted, too. Whose nodes they are is no matter of cohorts: several trees may place
pods on the same ones. Still only the tree of whoever gave something back is woken, as in Kueue.

Source: docs/semantics/kueue-topology.md §2.4, §6.2 and §9; kueue ff69552e
pkg/cache/queue/inadmissible_workloads.go ``notifyRetryInadmissibleWithoutLock``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.coverage.kueue_features import TOPOLOGY
from planner.plan.base import Uncovered
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.topology import Topologies
from planner.solver.kueue.placement import not_replayed
from planner.state.kueue import ClusterQueue, State


def places_pods(state: State) -> bool:
    """Say whether places on nodes decide in a state, and all is known of them."""
    topologies = Topologies.of(state, ())
    if not topologies.on or not topologies.flavors:
        return False
    return not any(not_replayed(state, topologies, queue) for queue in state.cluster_queues)


def parts_of(snapshot: Snapshot, roots: Mapping[int, int]) -> dict[int, int]:
    """Return by the root of each cohort tree the part of the cluster that it is.

    A part has nothing to do with another one: trees that place pods on nodes are one, named by the
    first of them. ``roots`` are those of the ClusterQueues.
    """
    topologies, queues = snapshot.topologies, snapshot.queues
    sharing = {root for node, root in roots.items() if _placing(topologies, queues[node])}
    return {root: min(sharing) if root in sharing else root for root in roots.values()}


def _placing(topologies: Topologies, queue: ClusterQueue) -> set[str]:
    """Return the flavors of a queue that have nodes."""
    return {flavor for flavor in queue.flavor_names if flavor in topologies.trees}


def left_out(state: State, snapshot: Snapshot, known: Sequence[Uncovered]) -> Iterator[Uncovered]:
    """Yield what a simulation leaves out of all that is known not to be modelled.

    Where it places pods, that is what Kueue does in second passes only.
    """
    topologies = snapshot.topologies
    yield from (one for one in known if not topologies.looked_at or one.feature != TOPOLOGY.id)
    if not topologies.looked_at:
        return
    found = [
        f"Workload {one.key}"
        for one in state.workloads.unusual()
        if one.needs_second_pass or one.status.unhealthy_nodes
    ]
    found += [
        f"ClusterQueue {queue.name}"
        for queue in snapshot.queues.values()
        if not topologies.leaves_it_to_workers(queue)
        and any(topologies.is_delayed(queue, flavor) for flavor in _placing(topologies, queue))
    ]
    if found:
        said = "pods are not placed in second passes: later, or anew where a node failed"
        yield TOPOLOGY.found(found, said)
