"""What a preemptor needs on nodes, in integers: groups of podsets, leaves, what victims give back.

Source: docs/semantics/kueue-topology.md §2.4, §4.1 and §7.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from planner.problem.array import IntArray
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Aim, Group, Pods
from planner.quota.kueue.selector import selects, untolerated
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.topology import OVERLAPPING, FlavorTree

Amounts = tuple[tuple[str, int], ...]
"""Amounts by resource, in Kueue's units; none is 0."""


class Leaf(NamedTuple):
    """A leaf of the tree of one flavor, by its number in that tree."""

    flavor: str
    leaf: int


class Room(NamedTuple):
    """What one group of podsets needs in the tree of its flavor.

    ``workers`` and ``leader`` are what one pod of each takes; ``leaves`` may take these pods.
    ``aim`` is absent where the levels that the group asks for mean nothing in the tree.
    """

    name: str
    flavor: str
    slices: int
    aim: Aim | None
    leaves: tuple[int, ...]
    workers: Amounts
    leader: Amounts | None


class Places(Struct, frozen=True):
    """What the groups of podsets need on nodes, and what each workload gives back there.

    - ``rooms``: What each group needs, in the order in which Kueue serves them.
    - ``trees``: Per flavor the tree of its domains.
    - ``left``: What each leaf that may take pods has left of what they ask for; it may be below 0.
    - ``sharing``: The number of each leaf's node: leaves of different flavors that are one node
      have the same number.
    - ``kind``: (W,) the kind of what a workload gives back, 0 if that is nothing asked for.
    - ``gives``: Per kind, what leaves get back of what the groups ask for.
    """

    rooms: Sequence[Room]
    trees: Mapping[str, FlavorTree]
    left: Mapping[Leaf, Mapping[str, int]]
    sharing: Mapping[Leaf, int]
    kind: IntArray
    gives: Sequence[Mapping[Leaf, Amounts]]


def places_of(
    snapshot: Snapshot, groups: Sequence[Group], workloads: Sequence[Admitted]
) -> Places | None:
    """Return what groups need on nodes; ``None`` where nothing is to be placed."""
    if not groups:
        return None

    def asked(pods: Pods) -> Amounts:
        return tuple((name, amount) for name, amount in pods.amounts.items() if amount)

    trees = snapshot.topologies.trees
    rooms = [
        Room(
            name=group.name,
            flavor=group.flavor,
            slices=group.slices,
            aim=group.aim,
            leaves=tuple(eligible_leaves(trees[group.flavor], group.workers)),
            workers=asked(group.workers),
            leader=asked(group.leader) if group.leader else None,
        )
        for group in groups
    ]
    # The resources asked for on the nodes of each flavor, in the order of the podsets and never in
    # that of a set: the model's rows have this order, and by the order of its rows an engine gives
    # one or another of several equal answers.
    wanted: dict[str, dict[str, int]] = {}
    for room in rooms:
        wanted.setdefault(room.flavor, {}).update((*room.workers, *(room.leader or ())))
    occupancy = snapshot.topologies.occupancy if snapshot.placed is None else snapshot.placed
    leaves = {Leaf(room.flavor, leaf) for room in rooms for leaf in room.leaves}
    kind, gives = _given_back(snapshot, workloads, wanted, leaves)
    left, sharing = {}, {}
    # Numbers of nodes, so that leaves of different flavors that are one node have one number.
    numbers: dict[object, int] = {}
    for one in sorted(leaves):
        tree = trees[one.flavor]
        # Only hosts have a name that means the same in another flavor's tree.
        is_shared = snapshot.configuration.gate(OVERLAPPING) and tree.ends_in_host
        key = tree.leaf_id(one.leaf) if is_shared else one
        sharing[one] = numbers.setdefault(key, len(numbers))
        row, columns = occupancy.left[one.flavor][one.leaf], tree.column_of
        # Of a resource that no node has, 0 is left.
        left[one] = {n: row[columns[n]] if n in columns else 0 for n in wanted[one.flavor]}
    return Places(
        rooms=rooms,
        trees={name: trees[name] for name in wanted},
        left=left,
        sharing=sharing,
        kind=kind,
        gives=gives,
    )


def _given_back(
    snapshot: Snapshot,
    workloads: Sequence[Admitted],
    wanted: Mapping[str, Collection[str]],
    leaves: AbstractSet[Leaf],
) -> tuple[IntArray, Sequence[Mapping[Leaf, Amounts]]]:
    """Return (W,) the kind of what each workload gives back, and what each kind gives back."""
    trees, topologies = snapshot.topologies.trees, snapshot.topologies
    gives: list[Mapping[Leaf, Amounts]] = [{}]
    numbers: dict[object, int] = {(): 0}
    kind = np.zeros(len(workloads), dtype=np.int64)
    for position, one in enumerate(workloads):
        sums: dict[Leaf, dict[str, int]] = {}
        for flavor, leaf_id, amounts in topologies.moved_by(
            one.workload, snapshot.queues[one.queue]
        ):
            if flavor not in wanted:
                continue
            tree = trees[flavor]
            leaf = Leaf(flavor, tree.leaf_of.get(leaf_id, -1))
            # A leaf that is gone, or that may take none of the pods: room there does not help.
            if leaf not in leaves:
                continue
            row = sums.setdefault(leaf, {})
            for name, amount in amounts.items():
                if amount and name in wanted[flavor] and name in tree.column_of:
                    row[name] = row.get(name, 0) + amount
        given = {leaf: tuple(sorted(row.items())) for leaf, row in sums.items() if row}
        key = tuple(sorted(given.items()))
        if key not in numbers:
            numbers[key] = len(gives)
            gives.append(given)
        kind[position] = numbers[key]
    return kind, gives


def eligible_leaves(tree: FlavorTree, pods: Pods) -> Iterable[int]:
    """Return the leaves that may take a podset; all leaves where leaves are not single nodes.

    Taints, node selectors and required affinity decide (docs/semantics/kueue-topology.md §4.1).
    """
    if not tree.ends_in_host:
        return range(len(tree.nodes))
    return [
        leaf
        for leaf, node in enumerate(tree.nodes)
        if not any(untolerated(node.spec.taints, pods.tolerations)) and selects(pods.pod, node)
    ]
