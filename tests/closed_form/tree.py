"""A plain cohort tree: numbers and nothing else. It shares no line with the product.

Quota arithmetic as in docs/semantics/kueue.md §3, twice: `Tree.add` and `Tree.remove` carry a
change upwards as Kueue does, and `Tree.usage_without` sums up from nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Row = tuple[int, ...]
"""An amount of each flavor-resource."""

Usage = tuple[Row, ...]
"""The usage of each node."""


@dataclass(frozen=True)
class Workload:
    """What may be removed: the queue it runs in, and what it uses there."""

    queue: int
    holds: Row


@dataclass(frozen=True)
class Tree:
    """Queues and cohorts with their quotas; parents come before their children, node 0 first.

    Attributes
    ----------
    parent
        Per node, -1 for a root.
    nominal, lending
        Per node and flavor-resource: nominal quota, and the lending limit or None.
    known
        Per node, the flavor-resources with a quota entry there or below.
    own
        The queue of the preemptor.
    contested
        The flavor-resources that classical preemption looks at.
    workloads
        What runs.
    base
        Per queue, usage of what can never be removed.
    """

    parent: Row
    nominal: Usage
    lending: tuple[tuple[int | None, ...], ...]
    known: tuple[frozenset[int], ...]
    own: int
    contested: frozenset[int]
    workloads: tuple[Workload, ...]
    base: Usage

    @property
    def width(self) -> int:
        """How many flavor-resources there are."""
        return len(self.nominal[0])

    @cached_property
    def quota(self) -> Usage:
        """The subtree quota of each node."""
        total = [list(row) for row in self.nominal]
        for node in reversed(range(len(self.parent))):
            above = self.parent[node]
            if above >= 0:
                for fr in range(self.width):
                    total[above][fr] += total[node][fr] - self._kept(total[node][fr], node, fr)
        return tuple(map(tuple, total))

    def _kept(self, quota: int, node: int, fr: int) -> int:
        limit = self.lending[node][fr]
        return 0 if limit is None else max(0, quota - limit)

    @cached_property
    def kept(self) -> Usage:
        """What each node never lends."""
        return tuple(
            tuple(self._kept(row[fr], node, fr) for fr in range(self.width))
            for node, row in enumerate(self.quota)
        )

    @cached_property
    def path(self) -> Row:
        """The preemptor's queue and the cohorts above it."""
        return self.climb(self.own)

    def climb(self, node: int) -> Row:
        """Return a node and the cohorts above it."""
        found = [node]
        while self.parent[found[-1]] >= 0:
            found.append(self.parent[found[-1]])
        return tuple(found)

    @cached_property
    def sides(self) -> tuple[Row, ...]:
        """Per node, it and what is above it strictly below the lowest common ancestor."""
        return tuple(
            tuple(at for at in self.climb(node) if at not in self.path)
            for node in range(len(self.parent))
        )

    def add(self, usage: list[list[int]], queue: int, amounts: Row) -> None:
        """Add usage at a queue, and above it what the free part of what is kept cannot hold."""
        for fr, amount in enumerate(amounts):
            at, value = queue, amount
            while at >= 0:
                free = max(0, self.kept[at][fr] - usage[at][fr])
                usage[at][fr] += value
                if value <= free:
                    break
                at, value = self.parent[at], value - free

    def remove(self, usage: list[list[int]], queue: int, amounts: Row) -> None:
        """Remove usage at a queue, and above it what was stored there."""
        for fr, amount in enumerate(amounts):
            at, value = queue, amount
            while at >= 0:
                stored = usage[at][fr] - self.kept[at][fr]
                usage[at][fr] -= value
                if stored <= 0:
                    break
                at, value = self.parent[at], min(value, stored)

    def usage_without(self, gone: int, request: Row | None = None) -> Usage:
        """Sum up what is left without the workloads in a bit mask, a request counted if given."""
        total = [list(row) for row in self.base]
        for position, workload in enumerate(self.workloads):
            if not gone >> position & 1:
                _put(total[workload.queue], workload.holds)
        if request is not None:
            _put(total[self.own], request)
        for node in reversed(range(len(self.parent))):
            if self.parent[node] >= 0:
                kept = self.kept[node]
                lent = [max(0, used - keeps) for used, keeps in zip(total[node], kept, strict=True)]
                _put(total[self.parent[node]], lent)
        return tuple(map(tuple, total))


def _put(row: list[int], amounts: Sequence[int]) -> None:
    for fr, amount in enumerate(amounts):
        row[fr] += amount
