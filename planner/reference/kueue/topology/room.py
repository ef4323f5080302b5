"""What each domain holds of what a podset asks for, and which part of a tree is below one.

One podset, or one group of workers and their leader, has a place if and only if one domain at the
level that it requires, or else all together, hold as many slices as it wants.

Source: docs/semantics/kueue-topology.md §5.2 and §7.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from planner.quota.kueue.topology_tree import FlavorTree, children_of
from planner.reference.kueue.topology.ask import Aim, Ask, Manner
from planner.reference.kueue.topology.slots import LeafCounts, Qualification, domains_of
from planner.state.pods import Toleration


class Wanted(Struct, frozen=True):
    """What a podset, or a group of workers and their leader, wants of the nodes of a flavor."""

    tree: FlavorTree
    aim: Aim
    workers: Ask
    leader: Ask | None
    qualified: Sequence[bool]

    @classmethod
    def of(
        cls,
        tree: FlavorTree,
        aim: Aim,
        group: tuple[Ask, Ask | None],
        tolerations: Sequence[Toleration],
    ) -> Wanted:
        """Return what a group (workers, perhaps a leader) wants; ``aim`` is in terms of the tree.

        ``tolerations`` are those of the flavor.
        """
        workers, leader = group
        return cls(tree, aim, workers, leader, Qualification(tree, workers.pod, tolerations).leaves)

    @property
    def slices(self) -> int:
        """How many slices are wanted; of size 1 a slice is a pod."""
        return self.workers.count // self.aim.size

    @property
    def is_required(self) -> bool:
        """Whether one domain must hold everything; otherwise all of the flavor may share it."""
        return self.aim.manner is Manner.REQUIRED

    def counts(self, rows: Sequence[Sequence[int]]) -> LeafCounts:
        """Count the pods that each leaf takes which has so much left, by columns of the tree."""
        return LeafCounts(self.tree, rows, self.qualified, self.workers, self.leader)

    def held(self, counts: LeafCounts) -> list[list[int]]:
        """Return how many slices each domain holds, besides the leader, level by level.

        Below the level of the slices there are none.
        """
        levels = domains_of(self.tree, counts, self.aim, None, leader=self.leader is not None)
        if self.leader is None:
            return [[domain.slices for domain in some] for some in levels]
        return [[domain.slices_l if domain.lead else 0 for domain in some] for some in levels]

    def held_in_all(self, counts: LeafCounts) -> int:
        """Return how many slices all domains together hold, besides the leader."""
        top = domains_of(self.tree, counts, self.aim, None, leader=self.leader is not None)[0]
        held = sum(domain.slices for domain in top)
        if self.leader is None:
            return held
        lost = [domain.slices - domain.slices_l for domain in top if domain.lead]
        return held - min(lost) if lost else 0

    def below(self, level: int, rank: int) -> tuple[Wanted, range]:
        """Return the same for one domain alone, and which leaves of the tree are below it."""
        tree = self.tree
        spans = list(_spans(tree, level, rank))
        leaves = spans[-1]
        values = [tree.values[n][span.start : span.stop] for n, span in enumerate(spans)]
        alone = replace(
            tree,
            values=values,
            children=children_of(values),
            leaf_of={tree.leaf_id(leaf): leaf - leaves.start for leaf in leaves},
            nodes=tree.nodes[leaves.start : leaves.stop],
            free=tree.free[leaves.start : leaves.stop],
            node_count=len(leaves),
        )
        qualified = self.qualified[leaves.start : leaves.stop]
        return replace(self, tree=alone, qualified=qualified), leaves


def _spans(tree: FlavorTree, level: int, rank: int) -> Iterator[range]:
    """Yield for each level the domains on the way to one, and all that are below it."""
    own = tree.values[level][rank]
    for above in range(level):
        place = bisect_left(tree.values[above], own[: above + 1])
        yield range(place, place + 1)
    span = range(rank, rank + 1)
    yield span
    for children in tree.children[level:]:
        span = range(children[span.start].start, children[span.stop - 1].stop)
        yield span
