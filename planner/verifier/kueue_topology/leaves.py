"""What the leaves of a tree take, once victims are gone.

Source: docs/semantics/kueue-topology.md §2.4 and §4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from planner.quota.kueue.placing import Group, Pods
from planner.quota.kueue.snapshot import Admitted, Snapshot
from planner.quota.kueue.topology_tree import FlavorTree
from planner.verifier.kueue.node_match import runs_on

MOST: Final = 2**31 - 1
"""As many pods as Kueue can count."""

Assumed = Mapping[str, Mapping[str, int]]
"""What podsets served before take, by the ids of leaves."""


class Slots(NamedTuple):
    """What each leaf takes of one group: pods; pods beside the leader; whether it takes that."""

    pods: Sequence[int]
    beside: Sequence[int]
    lead: Sequence[int]


@dataclass(frozen=True)
class Nodes:
    """The nodes of a snapshot, and what workloads give back there."""

    snapshot: Snapshot
    _suited: dict[tuple[str, str], Sequence[bool]] = field(default_factory=dict)
    _known: dict[str, Slots] = field(default_factory=dict)

    def tree(self, flavor: str) -> FlavorTree:
        """Return the tree of a flavor."""
        return self.snapshot.topologies.trees[flavor]

    def given_back(self, victims: Iterable[Admitted]) -> dict[str, dict[int, dict[str, int]]]:
        """Return what leaves get back, flavor by flavor, when victims go."""
        found: dict[str, dict[int, dict[str, int]]] = {}
        topologies, queues = self.snapshot.topologies, self.snapshot.queues
        for victim in victims:
            # Of its own flavors only, and only those its queue lists: Kueue gives nothing back to
            # other flavors of the same node (§2.4).
            for one in topologies.moved_by(victim.workload, queues[victim.queue]):
                leaf = self.tree(one.flavor).leaf_of.get(one.leaf)
                # A leaf that is not in the tree holds nothing, so nothing comes back: its node is
                # gone.
                if leaf is not None:
                    row = found.setdefault(one.flavor, {}).setdefault(leaf, {})
                    for name, amount in one.amounts.items():
                        row[name] = row.get(name, 0) + amount
        return found

    def slots(
        self, group: Group, given: Mapping[int, Mapping[str, int]], assumed: Assumed
    ) -> Slots:
        """Return what the leaves take of a group with so much given back, and so much assumed."""
        tree, now = self.tree(group.flavor), self._now(group)
        changed = set(given)
        changed.update(tree.leaf_of[name] for name in assumed if name in tree.leaf_of)
        # Most leaves are as they were: only those where something changes are counted anew.
        if not changed:
            return now
        pods, beside, lead = list(now.pods), list(now.beside), list(now.lead)
        suited = self.suited_to(group.workers)
        for leaf in changed:
            if suited[leaf]:
                more, less = given.get(leaf, {}), assumed.get(tree.leaf_id(leaf), {})
                pods[leaf], beside[leaf], lead[leaf] = self._count(group, leaf, more, less)
        return Slots(pods, beside, lead)

    def left(self, flavor: str, leaf: int, name: str) -> int:
        """Return what a leaf has left of a resource before anybody goes; it may be below 0."""
        column = self.tree(flavor).column_of.get(name)
        placed = self.snapshot.placed or self.snapshot.topologies.occupancy
        return 0 if column is None else placed.left[flavor][leaf][column]

    def _now(self, group: Group) -> Slots:
        """Return what the leaves take before anybody goes."""
        if group.name not in self._known:
            nobody: Mapping[str, int] = {}
            rows = [
                self._count(group, leaf, nobody, nobody) if suited else (0, 0, 0)
                for leaf, suited in enumerate(self.suited_to(group.workers))
            ]
            self._known[group.name] = (
                Slots(*(list(column) for column in zip(*rows, strict=True)))
                if rows
                else Slots((), (), ())
            )
        return self._known[group.name]

    def _count(
        self, group: Group, leaf: int, more: Mapping[str, int], less: Mapping[str, int]
    ) -> tuple[int, int, int]:
        def cap(name: str) -> int:
            left = self.left(group.flavor, leaf, name)
            known = name in self.tree(group.flavor).column_of
            # What no node of the tree mentions is 0 there, and no sum makes it more.
            return left + more.get(name, 0) - less.get(name, 0) if known else 0

        wanted = group.workers.amounts
        pods = fitting(wanted, {name: cap(name) for name in wanted})
        if group.leader is None:
            return pods, pods, 0
        first = group.leader.amounts
        if not fitting(first, {name: cap(name) for name in first}):
            return pods, pods, 0
        # The leader is served first: the workers get what it leaves on this leaf (§4.1).
        left = {name: cap(name) - first.get(name, 0) for name in wanted}
        return pods, fitting(wanted, left), 1

    def suited_to(self, pods: Pods) -> Sequence[bool]:
        """Return of each leaf whether it may take pods at all."""
        key = pods.flavor, pods.name
        if key not in self._suited:
            tree = self.tree(pods.flavor)
            if tree.ends_in_host:
                found = [runs_on(node, pods.pod, pods.tolerations) for node in tree.nodes]
            else:
                # A leaf above single nodes takes anybody: Kueue looks at no taint or selector there
                # (§4.1).
                found = [True] * len(tree.nodes)
            self._suited[key] = found
        return self._suited[key]


def fitting(wanted: Mapping[str, int], cap: Mapping[str, int]) -> int:
    """Return how many times amounts fit into what there is."""
    counts = [max(0, cap[name]) // amount for name, amount in wanted.items() if amount]
    return min([MOST, *counts])


def taken(pods: Pods, count: int) -> dict[str, int]:
    """Return what some pods take together."""
    return {name: amount * count for name, amount in pods.amounts.items()}
