"""Where the pods of a preemptor go once its victims are gone: what a plan says of it.

Source: docs/semantics/kueue-topology.md §5.6 and §7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.plan.kueue import Place, Plan, PodSetPlaces
from planner.quota.kueue.placing import Group
from planner.quota.kueue.topology_tree import FlavorTree
from planner.solver.kueue.placement import LEFT_OUT
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.rules import Arrangement
from planner.verifier.kueue_topology import Floor
from planner.verifier.kueue_topology.leaves import Slots, has_room


def with_places(
    planning: Planning, plan: Plan, positions: Sequence[int], arrangement: Arrangement
) -> Plan:
    """Return a plan that says where the pods go: where Kueue puts them, or where there is room."""
    found = tuple(_places(planning, positions, arrangement))
    return plan.model_copy(update={"places": found})


def _places(
    planning: Planning, positions: Sequence[int], arrangement: Arrangement
) -> Iterator[PodSetPlaces]:
    floor, snapshot = planning.floor, planning.snapshot
    if not floor.groups or any(snapshot.configuration.gate(gate) for gate in LEFT_OUT):
        return
    gone = [planning.problem.workloads[position] for position in positions]
    placed = floor.placed(gone)
    for group in floor.groups:
        tree = floor.nodes.tree(group.flavor)
        if isinstance(placed, str):
            workers, leader = arrangement.get(group.name, ({}, {}))
            leaves = [_needed(floor, group, workers, leader).items(), leader.items()]
        else:
            leaves = [dict(placed[one.name]).items() for one in group.members]
        for pods, some in zip(group.members, leaves, strict=False):
            where = tuple(
                Place(values=_values(tree, leaf), count=count) for leaf, count in sorted(some)
            )
            levels = tree.levels[-1:] if tree.ends_in_host else tree.levels
            yield PodSetPlaces(name=pods.name, flavor=pods.flavor, levels=levels, domains=where)


def _values(tree: FlavorTree, leaf: int) -> tuple[str, ...]:
    values = tree.values[-1][leaf]
    return values[-1:] if tree.ends_in_host else values


def _needed(
    floor: Floor, group: Group, workers: Mapping[int, int], leader: Mapping[int, int]
) -> Mapping[int, int]:
    """Return what is needed of the room that is there, leaf by leaf."""
    tree = floor.nodes.tree(group.flavor)
    nothing = [0] * len(tree.values[-1])
    lead = [int(leaf in leader) for leaf in range(len(nothing))]
    kept = dict(workers)
    for leaf in sorted(workers, key=lambda one: (workers[one], one)):
        for less in range(workers[leaf] + 1):
            pods = list(nothing)
            for other, count in kept.items():
                pods[other] = count
            pods[leaf] = less
            if has_room(tree, group, Slots(pods, pods, lead)):
                kept[leaf] = less
                break
    return {leaf: count for leaf, count in kept.items() if count}
