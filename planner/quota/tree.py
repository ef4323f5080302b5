"""The tree of cohorts and ClusterQueues: quotas, usage, and what is available where.

Every node is an integer, every flavor-resource (fr) an integer; amounts are Kueue's integer
units. Source of all formulas: docs/semantics/kueue.md §3, and kueue ff69552e
pkg/cache/scheduler/resource_node.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.quantity import MAX_INT64
from planner.quota.amount import add, subtract

NO_PARENT = -1


class FlavorResource(NamedTuple):
    """One resource in one flavor: the unit in which quota is counted."""

    flavor: str
    resource: str

    def __str__(self) -> str:
        """Resource first, as quota errors of Kueue name it."""
        return f"{self.resource} in flavor {self.flavor}"


class Quota(NamedTuple):
    """Quota of a node for one fr; an absent limit is ``None``, which is not 0."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """What is known of a node before the tree is computed; its weight is exact in nano-units."""

    name: str
    parent: int
    is_queue: bool
    active: bool
    quotas: Mapping[int, Quota]
    weight_nano: int = 10**9

    @property
    def weight(self) -> float:
        """The fair sharing weight as the double Kueue holds."""
        return self.weight_nano / 10**9


@dataclass(frozen=True)
class QuotaTree:
    """The nodes with their subtree quotas.

    ``subtree[n][fr]`` is the quota of everything below and at n that n may use or lend;
    ``kept[n][fr]`` the part of it that n never lends to its parent. ``known[n]`` are the fr
    that have a quota entry at n or below: an fr without one has quota 0 and no limits.
    Inactive queues are leaves that count in totals but not as children.
    """

    nodes: Sequence[Node]
    frs: Sequence[FlavorResource]
    children: Sequence[Sequence[int]] = field(init=False)
    subtree: Sequence[Sequence[int]] = field(init=False)
    kept: Sequence[Sequence[int]] = field(init=False)
    known: Sequence[frozenset[int]] = field(init=False)
    top_down: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        """Compute what follows from the nodes; parents must not form a cycle."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent != NO_PARENT:
                children[node.parent].append(index)
        top_down = [i for i, node in enumerate(self.nodes) if node.parent == NO_PARENT]
        for index in top_down:
            top_down.extend(children[index])
        subtree, kept, known = self._accumulate(top_down)
        for name, value in (
            ("children", children),
            ("subtree", subtree),
            ("kept", kept),
            ("known", known),
            ("top_down", top_down),
        ):
            object.__setattr__(self, name, value)

    def _accumulate(
        self, top_down: Sequence[int]
    ) -> tuple[list[list[int]], list[list[int]], list[frozenset[int]]]:
        width = len(self.frs)
        subtree = [[0] * width for _ in self.nodes]
        kept = [[0] * width for _ in self.nodes]
        known: list[set[int]] = [set(node.quotas) for node in self.nodes]
        for index, node in enumerate(self.nodes):
            for fr, quota in node.quotas.items():
                subtree[index][fr] = quota.nominal
        for index in reversed(top_down):
            node = self.nodes[index]
            for fr, quota in node.quotas.items():
                if quota.lending_limit is not None:
                    kept[index][fr] = max(0, subtract(subtree[index][fr], quota.lending_limit))
            if node.parent != NO_PARENT:
                known[node.parent] |= known[index]
                above = subtree[node.parent]
                for fr in known[index]:
                    above[fr] = add(above[fr], subtract(subtree[index][fr], kept[index][fr]))
        return subtree, kept, [frozenset(frs) for frs in known]

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield the cohorts above a node, its parent first and the root last."""
        above = self.nodes[node].parent
        while above != NO_PARENT:
            yield above
            above = self.nodes[above].parent

    def path(self, node: int) -> tuple[int, ...]:
        """Return the node and the cohorts above it, the root last."""
        return (node, *self.ancestors(node))

    def borrowing_limit(self, node: int, fr: int) -> int | None:
        """Return how much of an fr the node may borrow, or ``None`` without a limit."""
        quota = self.nodes[node].quotas.get(fr)
        return quota.borrowing_limit if quota else None

    def nominal(self, node: int, fr: int) -> int:
        """Return the node's own nominal quota."""
        quota = self.nodes[node].quotas.get(fr)
        return quota.nominal if quota else 0

    def potential(self, node: int, fr: int) -> int:
        """Return what the node could use if nothing ran anywhere."""
        parent = self.nodes[node].parent
        if parent == NO_PARENT:
            return self.subtree[node][fr]
        capacity = add(self.kept[node][fr], self.potential(parent, fr))
        limit = self.borrowing_limit(node, fr)
        if limit is None:
            return capacity
        return min(add(self.subtree[node][fr], limit), capacity)

    def height(self, node: int) -> int:
        """Return a cohort's height: 0 empty, 1 with queues only; inactive queues do not count."""
        active = [child for child in self.children[node] if self.nodes[child].active]
        cohorts = [child for child in active if not self.nodes[child].is_queue]
        return max([min(len(active), 1), *(self.height(child) + 1 for child in cohorts)])


class Usage:
    """How much of each fr every node uses; the mutable half of a snapshot.

    ``amount[n][fr]``: at a ClusterQueue the sum of its workloads, at a cohort what its children
    use beyond what they keep for themselves.
    """

    __slots__ = ("amount", "tree")

    def __init__(self, tree: QuotaTree, amount: list[list[int]] | None = None) -> None:
        self.tree = tree
        self.amount = amount or [[0] * len(tree.frs) for _ in tree.nodes]

    def copy(self) -> Usage:
        """Return an independent copy."""
        return Usage(self.tree, [list(row) for row in self.amount])

    def add_locally(self, node: int, holdings: Iterable[Mapping[int, int]]) -> None:
        """Add holdings at a ClusterQueue only; ``settle`` carries it up afterwards.

        Amounts are never negative, so the sum saturates where adding one by one would.
        """
        row = self.amount[node]
        for held in holdings:
            for fr, amount in held.items():
                row[fr] += amount
        self.amount[node] = [min(amount, MAX_INT64) for amount in row]

    def settle(self) -> None:
        """Compute the usage of the cohorts from that of the ClusterQueues."""
        tree = self.tree
        for node in reversed(tree.top_down):
            parent = tree.nodes[node].parent
            if parent == NO_PARENT:
                continue
            above, kept = self.amount[parent], tree.kept[node]
            for fr, used in enumerate(self.amount[node]):
                if used:
                    above[fr] = add(above[fr], max(0, subtract(used, kept[fr])))

    def local_free(self, node: int, fr: int) -> int:
        """Return the unused part of what the node never lends."""
        return max(0, subtract(self.tree.kept[node][fr], self.amount[node][fr]))

    def add(self, node: int, amounts: Mapping[int, int]) -> None:
        """Add usage at a node and, beyond what it keeps, at the cohorts above."""
        nodes = self.tree.nodes
        for fr, amount in amounts.items():
            at, value = node, amount
            while True:
                free = self.local_free(at, fr)
                self.amount[at][fr] = add(self.amount[at][fr], value)
                at = nodes[at].parent
                if at == NO_PARENT or value <= free:
                    break
                value = subtract(value, free)

    def remove(self, node: int, amounts: Mapping[int, int]) -> None:
        """Remove usage at a node and what it stored in the cohorts above."""
        nodes, kept = self.tree.nodes, self.tree.kept
        for fr, amount in amounts.items():
            at, value = node, amount
            while True:
                stored = subtract(self.amount[at][fr], kept[at][fr])
                self.amount[at][fr] = subtract(self.amount[at][fr], value)
                at = nodes[at].parent
                if at == NO_PARENT or stored <= 0:
                    break
                value = min(value, stored)

    def available(self, node: int, fr: int) -> int:
        """Return what the node can still use; negative when the tree is over-admitted."""
        tree = self.tree
        parent = tree.nodes[node].parent
        used = self.amount[node][fr]
        if parent == NO_PARENT:
            return subtract(tree.subtree[node][fr], used)
        from_parent = self.available(parent, fr)
        limit = tree.borrowing_limit(node, fr)
        if limit is not None:
            kept = tree.kept[node][fr]
            stored = subtract(tree.subtree[node][fr], kept)
            taken = max(0, subtract(used, kept))
            from_parent = min(add(subtract(stored, taken), limit), from_parent)
        return add(self.local_free(node, fr), from_parent)

    def borrows_with(self, node: int, fr: int, amount: int) -> bool:
        """Say whether the node would use more than its subtree quota with this amount more."""
        return self.tree.subtree[node][fr] < add(self.amount[node][fr], amount)

    def within_nominal(self, node: int, frs: Iterable[int]) -> bool:
        """Say whether the node uses no more than its subtree quota in every fr given."""
        used, quota = self.amount[node], self.tree.subtree[node]
        return all(used[fr] <= quota[fr] for fr in frs)

    def fits_in_quota(self, node: int, requests: Mapping[int, int]) -> tuple[bool, dict[int, int]]:
        """Return whether requests fit in the node's quota, and what remains for its parent."""
        fits = not any(self.borrows_with(node, fr, amount) for fr, amount in requests.items())
        remaining = {
            fr: max(0, subtract(amount, self.local_free(node, fr)))
            for fr, amount in requests.items()
        }
        return fits, remaining
