"""Dominant resource shares: how much a node borrows, relative to what can be lent.

Shares are doubles, because Kueue itself calculates them as doubles and compares them exactly.
Source: docs/semantics/kueue.md §6.1; kueue ff69552e pkg/cache/scheduler/fair_sharing.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner.quota.kueue.tree import NO_PARENT, QuotaTree, Usage
from planner.state.kueue_release import NEWEST, Rules


class Share(NamedTuple):
    """The dominant resource share of a node.

    ``ratio`` is the largest excess over a resource's lendable capacity, in thousandths, before
    the weight. It can be 0 although the node is ``borrowing``: when nothing is lendable.
    """

    ratio: float
    weight: float
    borrowing: bool

    @property
    def weighted(self) -> float:
        """The share divided by the weight; infinite for a borrowing node of weight 0."""
        if self.ratio == 0:
            return 0.0
        return math.inf if self.weight == 0 else self.ratio / self.weight

    @property
    def order(self) -> tuple[bool, float]:
        """A key that sorts shares as Kueue compares them: weight 0 above all, then by ratio."""
        if self.weight == 0 and self.ratio != 0:
            return True, self.ratio
        return False, self.weighted


class Shares:
    """The shares of a tree's nodes.

    In older releases a node counts as ``borrowing`` only if its ratio is not 0
    (switch 5 of planner/state/kueue_release.py): ``rules`` say so.
    """

    def __init__(self, tree: QuotaTree, rules: Rules = NEWEST.rules) -> None:
        self._tree = tree
        self._by_ratio = not rules.prunes_by_borrowing
        self._last: dict[int, tuple[list[int], Share]] = {}

    def of(self, usage: Usage, node: int) -> Share:
        """Return the share of a ClusterQueue or cohort at some usage; a root has none."""
        used, last = usage.amount[node], self._last.get(node)
        # A search asks for all children of a cohort again and again, and changes one in between.
        if last is None or last[0] != used:
            last = self._last[node] = [*used], self._share(node, used)
        return last[1]

    def without(self, usage: Usage, node: int, queue: int, held: Mapping[int, int]) -> Share:
        """Return the share of a node without what is ``held`` in a ClusterQueue at or below it."""
        rest = list(usage.amount[node])
        for fr, amount in held.items():
            gone = usage.stored(queue, node, fr, amount)
            rest[fr] = self._tree.arithmetic.subtract(rest[fr], gone)
        return self._share(node, rest)

    def _share(self, node: int, used: Sequence[int]) -> Share:
        tree = self._tree
        parent, weight = tree.nodes[node].parent, tree.nodes[node].weight
        if parent == NO_PARENT:
            return Share(0.0, weight, borrowing=False)
        excess: dict[str, int] = {}
        exact = tree.arithmetic
        # An fr with usage but without any quota entry is not listed here, and counts for nothing.
        for fr, quota, resource in tree.limited(node):
            if used[fr] > quota or exact.wraps:
                over = exact.subtract(used[fr], quota)
                if over > 0:
                    excess[resource] = exact.add(excess.get(resource, 0), over)
        if not excess:
            return Share(0.0, weight, borrowing=False)
        lendable = tree.lendable(parent)
        ratio = 0.0
        for resource, over in excess.items():
            capacity = lendable.get(resource, 0)
            # With nothing to lend there is no ratio, although the node is borrowing.
            if capacity > 0:
                # In Kueue's order of operations: doubles, so that ties fall as they do there.
                ratio = max(ratio, float(over) * 1000.0 / float(capacity))
        return Share(ratio, weight, borrowing=ratio != 0 or not self._by_ratio)

    def counted(self, node: int) -> frozenset[int]:
        """Return the fr that count: a node is borrowing if it is over quota in one of them."""
        tree = self._tree
        parent, known = tree.nodes[node].parent, tree.known[node]
        if not self._by_ratio or parent == NO_PARENT:
            return known
        lendable = tree.lendable(parent)
        return frozenset(fr for fr in known if lendable.get(tree.frs[fr].resource, 0) > 0)
