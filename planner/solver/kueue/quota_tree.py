"""The part of the tree of cohorts and ClusterQueues that a plan touches, before and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from planner.plan import QuotaNode, QuotaUse
from planner.quota.tree import NO_PARENT, QuotaTree, Usage

MAX_SIBLINGS: Final = 12
"""How many nodes that a plan does not touch are listed below one cohort: plans stay small."""


@dataclass(frozen=True, slots=True)
class TouchedTree:
    """One tree, at two usages, in the flavor-resources of interest, the most telling first."""

    tree: QuotaTree
    before: Usage
    after: Usage
    frs: Sequence[int]

    def nodes(self, queue: int, others: Iterable[int]) -> tuple[QuotaNode, ...]:
        """List the tree of a ClusterQueue from its root down.

        Every node on the path of the queue and of the others is there; of the rest only those
        right below such a node that have quota or usage, at most MAX_SIBLINGS, those first that
        use most.
        """
        touched = {node for place in (queue, *others) for node in self.tree.path(place)}
        root = self.tree.path(queue)[-1]
        return tuple(self._below(root, touched))

    def _below(self, node: int, touched: set[int]) -> Iterator[QuotaNode]:
        children = self.tree.children[node]
        listed = self._listed(children, touched) if node in touched else set()
        yield self._node(node, touched=node in touched, hidden=len(children) - len(listed))
        for child in children:
            if child in listed:
                yield from self._below(child, touched)

    def _listed(self, children: Iterable[int], touched: set[int]) -> set[int]:
        others = [node for node in children if node not in touched and self._counts(node)]
        others.sort(key=lambda node: [-self.before.amount[node][fr] for fr in self.frs])
        return {*touched.intersection(children), *others[:MAX_SIBLINGS]}

    def _counts(self, node: int) -> bool:
        used, quota = self.before.amount[node], self.tree.subtree[node]
        return any(used[fr] or quota[fr] for fr in self.frs)

    def _node(self, node: int, *, touched: bool, hidden: int) -> QuotaNode:
        known = self.tree.nodes[node]
        return QuotaNode(
            name=known.name,
            kind="ClusterQueue" if known.is_queue else "Cohort",
            parent=None if known.parent == NO_PARENT else self.tree.nodes[known.parent].name,
            touched=touched,
            hidden=hidden,
            uses=tuple(self._use(node, fr) for fr in self.frs),
        )

    def _use(self, node: int, fr: int) -> QuotaUse:
        tree = self.tree
        quota = tree.nodes[node].quotas.get(fr)
        return QuotaUse(
            flavor=tree.frs[fr].flavor,
            resource=tree.frs[fr].resource,
            nominal=tree.nominal(node, fr),
            quota=tree.subtree[node][fr],
            borrowing_limit=tree.borrowing_limit(node, fr),
            lending_limit=quota.lending_limit if quota else None,
            before=self.before.amount[node][fr],
            after=self.after.amount[node][fr],
        )
