"""What fair sharing adds to a plain tree: shares, and which removals they permit.

docs/semantics/kueue.md §6.1 and §6.5; in doubles, as Kueue computes them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.closed_form.tree import Row, Tree, Usage

Key = tuple[bool, float]
"""A share that compares as §6.1 says: weight 0 above all others."""


@dataclass(frozen=True)
class Fairness:
    """The rules of fair sharing on a tree.

    Attributes
    ----------
    request
        What the preemptor asks for; it counts in its queue during the whole search.
    weight
        Per node.
    resource
        Per flavor-resource, the number of its resource.
    lendable
        Per node and resource, what could be lent to it: any fixed numbers.
    final, initial
        Whether LessThanOrEqualToFinalShare and LessThanInitialShare are configured.
    within_nominal
        Whether the preemptor stays within its nominal quota, so that shares do not matter.
    """

    tree: Tree
    request: Row
    weight: tuple[float, ...]
    resource: Row
    lendable: tuple[Row, ...]
    final: bool
    initial: bool
    within_nominal: bool

    def borrows(self, usage: Usage, node: int) -> bool:
        """Say whether a node uses more than its quota in any flavor-resource it knows."""
        quota = self.tree.quota[node]
        return any(usage[node][fr] > quota[fr] for fr in self.tree.known[node])

    def share(self, usage: Usage, node: int) -> Key:
        """Return the share of a node that has a parent."""
        excess = [0] * (max(self.resource) + 1)
        for fr in self.tree.known[node]:
            excess[self.resource[fr]] += max(0, usage[node][fr] - self.tree.quota[node][fr])
        ratios = [
            float(over) * 1000.0 / float(lendable)
            for over, lendable in zip(excess, self.lendable[node], strict=True)
            if lendable > 0
        ]
        ratio = max(ratios, default=0.0)
        if ratio == 0:
            return False, 0.0
        return (True, ratio) if self.weight[node] == 0 else (False, ratio / self.weight[node])

    def sides_at(self, queue: int) -> tuple[int, int]:
        """Return the children of the common ancestor: the victim's side, and the preemptor's."""
        top = self.tree.sides[queue][-1]
        mine = self.tree.path.index(self.tree.parent[top]) - 1
        return top, self.tree.path[mine]

    def permits(self, mine: Key, old: Key, new: Callable[[], Key]) -> bool:
        """Say whether a strategy permits a removal: shares before it, and after it."""
        if self.within_nominal or (self.initial and mine < old):
            return True
        return self.final and mine <= new()
