"""Whether there is room for one group, in closed form.

Source: docs/semantics/kueue-topology.md §7.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.quota.kueue.placing import Aim, Group
from planner.quota.kueue.topology_tree import FlavorTree
from planner.verifier.kueue_topology.leaves import Slots


def has_room(tree: FlavorTree, group: Group, slots: Slots) -> bool:
    """Say whether the pods of a group fit, wherever in the tree."""
    aim = group.aim
    if aim is None or not tree.values[aim.level]:
        return False
    if group.leader is None:
        return _most(tree, aim, slots.pods) >= group.slices
    if _most(tree, aim, slots.pods) < group.slices:
        return False
    # The leader takes one leaf: there, what is left beside it counts.
    above = domains_of(tree, aim.level)
    for leaf in (leaf for leaf, takes in enumerate(slots.lead) if takes):
        pods = list(slots.pods)
        pods[leaf] = slots.beside[leaf]
        held = _held(tree, aim, pods)
        here = held[above[leaf]] if aim.required else sum(held)
        if here >= group.slices:
            return True
    return False


def held_by(tree: FlavorTree, group: Group, slots: Slots) -> list[int]:
    """Return how many slices each domain of the level holds, leaders aside."""
    return [] if group.aim is None else _held(tree, group.aim, slots.pods)


def domains_of(tree: FlavorTree, level: int) -> list[int]:
    """Return the domain of a level that each leaf is in."""
    found = list(range(len(tree.values[-1])))
    for above in reversed(tree.parents()[level + 1 :]):
        found = [above[place] for place in found]
    return found


def slices_at_most(tree: FlavorTree, group: Group, slots: Slots) -> int:
    """Return how many slices fit at most, leaders aside: in one domain, or in all."""
    return 0 if group.aim is None else _most(tree, group.aim, slots.pods)


def _most(tree: FlavorTree, aim: Aim, pods: Sequence[int]) -> int:
    held = _held(tree, aim, pods)
    return max(held, default=0) if aim.required else sum(held)


def _held(tree: FlavorTree, aim: Aim, pods: Sequence[int]) -> list[int]:
    """Return how many slices the domains of the level hold: Q summed up."""
    held = list(pods)
    for level in range(tree.depth, aim.level - 1, -1):
        if level == aim.slice_level:
            held = [each // aim.size for each in held]
        elif level > aim.slice_level:
            layer = aim.layers.get(level, 1)
            # Rounded down before it is added up: a layer must be whole in one domain of its level.
            held = [each - each % layer for each in held]
        if level > aim.level:
            held = [sum(held[d] for d in below) for below in tree.children[level - 1]]
    return held
