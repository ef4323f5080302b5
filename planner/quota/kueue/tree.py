"""The tree of cohorts and ClusterQueues: quotas, usage, what is available where, and shares.

Every node is an integer, every flavor-resource (fr) an integer; amounts are Kueue's integer
units. Dominant resource shares are doubles, because Kueue itself calculates them as doubles and
compares them exactly.

Source: docs/semantics/kueue.md §3 and §6.1; kueue ff69552e pkg/cache/scheduler/resource_node.go
and fair_sharing.go.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.quantity import MAX_INT64, UNLIMITED
from planner.quota.kueue.amount import SATURATING, Arithmetic
from planner.state.kueue_release import NEWEST, Rules

NO_PARENT = -1
_LARGE = 2**61
"""Sums and differences of a few amounts nearer to 0 than this never saturate nor wrap around."""


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


class Step(NamedTuple):
    """What limits an fr at a node: its subtree quota, the kept part of it, its borrowing limit."""

    node: int
    quota: int
    kept: int
    limit: int | None


class Node(NamedTuple):
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


class QuotaTree:
    """The nodes with their subtree quotas; parents must not form a cycle.

    ``subtree[n][fr]`` is the quota of everything below and at n that n may use or lend;
    ``kept[n][fr]`` the part of it that n never lends to its parent. ``known[n]`` are the fr
    that have a quota entry at n or below: an fr without one has quota 0 and no limits.
    Inactive queues are leaves that count in totals but not as children. ``arithmetic`` is how all
    amounts in it are calculated.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        frs: Sequence[FlavorResource],
        arithmetic: Arithmetic = SATURATING,
    ) -> None:
        self.nodes: Final = nodes
        self.frs: Final = frs
        self.arithmetic: Final = arithmetic
        self.parents: Final = [node.parent for node in nodes]
        self.children: Final[list[list[int]]] = [[] for _ in nodes]
        for index, parent in enumerate(self.parents):
            if parent != NO_PARENT:
                self.children[parent].append(index)
        self.top_down: Final = [i for i, parent in enumerate(self.parents) if parent == NO_PARENT]
        for index in self.top_down:
            self.top_down.extend(self.children[index])
        self.subtree: Final = [[0] * len(frs) for _ in nodes]
        self.kept: Final = [[0] * len(frs) for _ in nodes]
        self.known: Final = self._accumulate()
        self._below: Final[dict[int, list[int]]] = {}
        self._paths: Final[dict[int, tuple[int, ...]]] = {}
        self._steps: Final[dict[tuple[int, int], Sequence[Step]]] = {}
        self._limited: Final[dict[int, Sequence[tuple[int, int, str]]]] = {}
        self._lendable: Final[dict[int, Mapping[str, int]]] = {}

    def _accumulate(self) -> list[frozenset[int]]:
        """Add up quotas from the leaves to the roots, and return which fr each node knows."""
        subtree, kept = self.subtree, self.kept
        add, subtract = self.arithmetic.add, self.arithmetic.subtract
        known: list[set[int]] = [set(node.quotas) for node in self.nodes]
        for index, node in enumerate(self.nodes):
            for fr, quota in node.quotas.items():
                subtree[index][fr] = quota.nominal
        for index in reversed(self.top_down):
            node = self.nodes[index]
            for fr, quota in node.quotas.items():
                # After the children: the limit is on the whole subtree, not on the own quota (§3).
                if quota.lending_limit is not None:
                    kept[index][fr] = max(0, subtract(subtree[index][fr], quota.lending_limit))
            if node.parent != NO_PARENT:
                known[node.parent] |= known[index]
                above = subtree[node.parent]
                for fr in known[index]:
                    above[fr] = add(above[fr], subtract(subtree[index][fr], kept[index][fr]))
        return [frozenset(frs) for frs in known]

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield the cohorts above a node, its parent first and the root last."""
        above = self.parents[node]
        while above != NO_PARENT:
            yield above
            above = self.parents[above]

    def below(self, node: int) -> Sequence[int]:
        """Return the node and all nodes below it, parents first, inactive queues, too."""
        found = self._below.get(node)
        if found is None:
            found = self._below[node] = [node]
            for at in found:
                found.extend(self.children[at])
        return found

    def path(self, node: int) -> tuple[int, ...]:
        """Return the node and the cohorts above it, the root last."""
        found = self._paths.get(node)
        if found is None:
            found = self._paths[node] = (node, *self.ancestors(node))
        return found

    def root(self, node: int) -> int:
        """Return the root of the tree that a node is in: without a cohort the node itself."""
        return self.path(node)[-1]

    def borrowing_limit(self, node: int, fr: int) -> int | None:
        """Return how much of an fr the node may borrow, or ``None`` without a limit."""
        quota = self.nodes[node].quotas.get(fr)
        return quota.borrowing_limit if quota else None

    def nominal(self, node: int, fr: int) -> int:
        """Return the node's own nominal quota."""
        quota = self.nodes[node].quotas.get(fr)
        return quota.nominal if quota else 0

    def limited(self, node: int) -> Sequence[tuple[int, int, str]]:
        """Return the fr whose quota a node may exceed, each with its quota and its resource."""
        found = self._limited.get(node)
        if found is None:
            quotas = self.subtree[node]
            found = self._limited[node] = [
                (fr, quotas[fr], self.frs[fr].resource)
                for fr in self.known[node]
                if quotas[fr] < UNLIMITED or self.arithmetic.wraps
            ]
        return found

    def steps_down(self, node: int, fr: int) -> Sequence[Step]:
        """Return what limits an fr on the way from the root to a node."""
        found = self._steps.get((node, fr))
        if found is None:
            found = self._steps[node, fr] = [
                Step(at, self.subtree[at][fr], self.kept[at][fr], self.borrowing_limit(at, fr))
                for at in reversed(self.path(node))
            ]
        return found

    def potential(self, node: int, fr: int) -> int:
        """Return what the node could use if nothing ran anywhere."""
        parent = self.nodes[node].parent
        if parent == NO_PARENT:
            return self.subtree[node][fr]
        add = self.arithmetic.add
        capacity = add(self.kept[node][fr], self.potential(parent, fr))
        limit = self.borrowing_limit(node, fr)
        if limit is None:
            return capacity
        return min(add(self.subtree[node][fr], limit), capacity)

    def lendable(self, cohort: int) -> Mapping[str, int]:
        """Return, per resource, what a cohort could use of all flavors if nothing ran anywhere."""
        found = self._lendable.get(cohort)
        if found is None:
            sums: dict[str, int] = {}
            # All fr that the root knows, also those of which this cohort has no quota itself.
            for fr in sorted(self.known[self.root(cohort)]):
                resource, potential = self.frs[fr].resource, self.potential(cohort, fr)
                sums[resource] = self.arithmetic.add(sums.get(resource, 0), potential)
            found = self._lendable[cohort] = sums
        return found

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

    __slots__ = ("_add", "_subtract", "amount", "tree")

    def __init__(self, tree: QuotaTree, amount: list[list[int]] | None = None) -> None:
        self.tree = tree
        self._add, self._subtract = tree.arithmetic.add, tree.arithmetic.subtract
        self.amount = amount or [[0] * len(tree.frs) for _ in tree.nodes]

    def copy(self) -> Usage:
        """Return an independent copy."""
        return Usage(self.tree, [list(row) for row in self.amount])

    def add_locally(
        self,
        nodes: NDArray[np.int64],
        which: NDArray[np.int64],
        held: Sequence[Mapping[int, int]],
    ) -> None:
        """Add what holders hold at their ClusterQueues only; ``settle`` updates the cohorts.

        Holder number h is in queue ``nodes[h]`` and holds ``held[which[h]]``: both arrays (H,).
        Amounts must not be negative: then the sum saturates where adding one by one would.
        """
        # Many hold the same in a queue: one entry for each queue, usage and fr, and how many.
        pairs, counts = np.unique(nodes * len(held) + which, return_counts=True)
        node, kind = np.divmod(pairs, max(1, len(held)))
        sizes = np.array([len(one) for one in held], dtype=np.int64)
        frs = np.array([fr for one in held for fr in one], dtype=np.int64)
        amounts = np.array([amount for one in held for amount in one.values()], dtype=np.int64)
        begins, many = np.cumsum(sizes) - sizes, sizes[kind]
        entry = np.repeat(begins[kind] - (np.cumsum(many) - many), many) + np.arange(many.sum())
        times, width = np.repeat(counts, many), len(self.tree.frs)
        places, at = np.unique(np.repeat(node, many) * width + frs[entry], return_inverse=True)
        # Beyond 64 bits numpy adds up Python's integers instead. No product of matrices: for that
        # OpenBLAS starts threads, which spin.
        whole = (amounts[entry].astype(float) * times).sum() < _LARGE
        terms = amounts[entry] * times if whole else amounts[entry].astype(object) * times
        sums = np.zeros(len(places), dtype=terms.dtype)
        np.add.at(sums, at, terms)
        for place, amount in zip(places.tolist(), sums.tolist(), strict=True):
            row, fr = self.amount[place // width], place % width
            row[fr] = min(row[fr] + amount, MAX_INT64)

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
                    above[fr] = self._add(above[fr], max(0, self._subtract(used, kept[fr])))

    def local_free(self, node: int, fr: int) -> int:
        """Return the unused part of what the node never lends."""
        return max(0, self._subtract(self.tree.kept[node][fr], self.amount[node][fr]))

    def add(self, node: int, amounts: Mapping[int, int]) -> None:
        """Add usage at a node and, beyond what it keeps, at the cohorts above."""
        parents, kept, rows = self.tree.parents, self.tree.kept, self.amount
        for fr, amount in amounts.items():
            at, value = node, amount
            while True:
                row, own = rows[at], kept[at][fr]
                used = row[fr]
                total = used + value
                if used < _LARGE and value < _LARGE and own < _LARGE and total > -_LARGE:
                    row[fr] = total
                    free = own - used if used < own else 0
                    rest = value - free
                else:  # it may saturate, be Unlimited, or wrap around
                    row[fr] = self._add(used, value)
                    free = max(0, self._subtract(own, used))
                    rest = self._subtract(value, free)
                at = parents[at]
                if at == NO_PARENT or value <= free:
                    break
                # Only the amount beyond what the node keeps is usage of its parent.
                value = rest

    def remove(self, node: int, amounts: Mapping[int, int]) -> None:
        """Remove usage at a node and what it stored in the cohorts above."""
        parents, kept, rows = self.tree.parents, self.tree.kept, self.amount
        for fr, amount in amounts.items():
            at, value = node, amount
            while True:
                row, own = rows[at], kept[at][fr]
                used = row[fr]
                if -_LARGE < used < _LARGE and -_LARGE < value < _LARGE and own < _LARGE:
                    row[fr], stored = used - value, used - own
                else:
                    row[fr], stored = self._subtract(used, value), self._subtract(used, own)
                at = parents[at]
                if at == NO_PARENT or stored <= 0:
                    break
                value = min(value, stored)

    def stored(self, node: int, above: int, fr: int, amount: int) -> int:
        """Return how much less ``above``, at or above ``node``, uses once an amount is removed."""
        parents, kept, rows = self.tree.parents, self.tree.kept, self.amount
        at, value = node, amount
        while at != above:
            part = self._subtract(rows[at][fr], kept[at][fr])
            if part <= 0:
                return 0
            at, value = parents[at], min(value, part)
        return value

    def available(self, node: int, fr: int) -> int:
        """Return what the node can still use; negative when the tree is over-admitted."""
        rows = self.amount
        root, *below = self.tree.steps_down(node, fr)
        found = self._subtract(root.quota, rows[root.node][fr])
        for at, quota, kept, limit in below:
            used = rows[at][fr]
            if limit is not None:
                stored, taken = self._subtract(quota, kept), max(0, self._subtract(used, kept))
                found = min(self._add(self._subtract(stored, taken), limit), found)
            if used < kept:  # part of what the node keeps is unused
                found = self._add(max(0, self._subtract(kept, used)), found)
        return found

    def borrows_with(self, node: int, fr: int, amount: int) -> bool:
        """Say whether the node would use more than its subtree quota with this amount more."""
        return self.tree.subtree[node][fr] < self._add(self.amount[node][fr], amount)

    def within_nominal(self, node: int, frs: Iterable[int]) -> bool:
        """Say whether the node uses no more than its subtree quota in every fr given."""
        used, quota = self.amount[node], self.tree.subtree[node]
        return all(used[fr] <= quota[fr] for fr in frs)

    def fits_in_quota(self, node: int, requests: Mapping[int, int]) -> tuple[bool, dict[int, int]]:
        """Return whether requests fit in the node's quota, and what remains for its parent."""
        fits = not any(self.borrows_with(node, fr, amount) for fr, amount in requests.items())
        remaining = {
            fr: max(0, self._subtract(amount, self.local_free(node, fr)))
            for fr, amount in requests.items()
        }
        return fits, remaining


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

    def share_of(self, usage: Usage, node: int) -> Share:
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
