"""What Kueue has and a dump lacks, where it may decide about a workload: queues, nodes, pods.

Source: docs/semantics/kueue-features.md §10, rules E32, E34 and E35.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from planner.coverage.kueue_features import HOLDINGS, QUOTA
from planner.plan import Uncovered
from planner.quota.kueue.activity import Activity, cohorts_of
from planner.state.kueue import HOST, ClusterQueue, State, Workload
from planner.state.kueue_columns import Place
from planner.state.queues import Cohort

Held = Mapping[str, AbstractSet[Place]]
"""By ClusterQueue the places in which workloads hold quota: where there is none, none is known."""


def held_in_absent(state: State) -> Held:
    """Return what workloads hold in the ClusterQueues that a dump lacks.

    Those that came later, by an edit or from the cluster, are absent no more.
    """
    if state.whole:
        return {}
    there = {one.name for one in state.cluster_queues}
    held: dict[str, set[Place]] = {name: set() for name in state.absent_queues if name not in there}
    for _, queue, place, units in state.workloads.held_in(held) if held else ():
        # A resource without a flavor counts nowhere (docs/semantics/kueue.md §2.1).
        if place[0] and units:
            held[queue].add(place)
    return held


def absent_queues(
    state: State, queue: ClusterQueue, activity: Activity, held: Held, *, placing: bool
) -> Iterator[Uncovered]:
    """Yield E34: ClusterQueues that may be in the tree of a queue, or have pods on its nodes.

    To which cohort one belongs is not known, and what it owns is known only by what is held there:
    the flavor-resources of one in the tree are those of the tree. Under fair sharing all flavors
    of a resource make up a share. ``placing`` says that pods are placed where a flavor has a
    topology.
    """
    in_cohort = bool(activity.root_of(queue))
    tree = activity.tree_of(queue, state.cluster_queues)
    owners: Sequence[ClusterQueue | Cohort] = (*tree, *cohorts_of(state))
    places = set[Place]().union(*(one.spec.owned for one in owners))
    shared = {resource for _, resource in places} if state.configuration.fair_sharing_on else set()
    with_topology = state.topology_of if placing else {}
    placed = not with_topology.keys().isdisjoint(queue.flavor_names)

    def may_matter(some: AbstractSet[Place]) -> bool:
        in_tree = not some or any(one in places or one[1] in shared for one in some)
        on_nodes = any(flavor in with_topology for flavor, _ in some)
        return (in_cohort and in_tree) or (placed and on_nodes)

    found = [f"ClusterQueue {name}" for name, some in held.items() if may_matter(some)]
    if found:
        where = "share nodes or a cohort" if placed else "share a cohort"
        yield QUOTA.found(
            found,
            f"the dump lacks {found[0]}, which is in the cluster and may {where} with ClusterQueue "
            f"{queue.name}: neither what is used nor what is owned there counts",
            "assumed",
        )


def absent_on_nodes(state: State, queue: ClusterQueue) -> Iterator[Uncovered]:
    """Yield what a state lacks of the nodes on which pods of a queue are placed: E32, E35."""
    # E32: no cluster is without pods, which take room on the nodes whoever placed them. A queue
    # without conditions was never in a cluster.
    placed = not state.topology_of.keys().isdisjoint(queue.flavor_names)
    seen = state.pods or state.whole or not queue.status.conditions
    if placed and state.nodes and not seen:
        nodes = [f"Node {node.name}" for node in state.nodes]
        found = (
            "the state has nodes and no pods: what pods that Kueue did not place use there is not "
            "counted"
        )
        yield HOLDINGS.found(nodes, found, "assumed")
    yield from _absent_leaves(state, queue)


def _absent_leaves(state: State, queue: ClusterQueue) -> Iterator[Uncovered]:
    """Yield E35: pods were placed, under flavors of a queue, where the state has no node.

    Not those of workloads of which Kueue itself says that nodes are gone.
    """
    levels = {one.name: one.levels for one in state.topologies}
    leaves = {
        flavor: _leaves(state, levels[topology])
        for flavor, topology in ({} if state.whole else state.topology_of).items()
        if flavor in queue.flavor_names and levels.get(topology)
    }
    holders = (one for one in state.workloads if one.holds_quota) if leaves else ()
    placed = chain(*(_places(one) for one in holders if not one.status.unhealthy_nodes))
    absent = [leaf for flavor, leaf in placed if leaf not in leaves.get(flavor, (leaf,))]
    if absent:
        found = (
            f"workloads have pods on {absent[0]}, where the dump has no node: what is free there, "
            "or would be, does not count"
        )
        yield HOLDINGS.found([*dict.fromkeys(absent)], found, "contradiction")


def _leaves(state: State, levels: Sequence[str]) -> AbstractSet[str]:
    """Return the leaves, by the labels of all nodes, also of those that take no pods now."""
    keys = levels[-1:] if levels[-1] == HOST else levels
    labels = (one.metadata.labels for one in state.nodes)
    return {",".join(one[key] for key in keys) for one in labels if one.keys() >= {*keys}}


def _places(workload: Workload) -> Iterator[tuple[str, str]]:
    """Yield the flavors and leaves of a workload's pods."""
    for assigned in workload.assigned:
        for values, _ in assigned.topology.places() if assigned.topology else ():
            yield from ((flavor, ",".join(values)) for flavor in {*assigned.flavors.values()})
