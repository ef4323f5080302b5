"""Usage, quota and what is available at every node, after any removals.

A set of removals is a bit mask over ``cluster.held``. ``asked`` is what is added to the usage of
the preemptor's queue: nothing, or its request.
"""

from collections.abc import Iterator
from functools import cache, cached_property

from tests.oracle.amounts import UNLIMITED, minus, plus
from tests.oracle.cluster import Amounts, Cluster, FlavorResource, Node, NodeId, UnsupportedError


class Tree:
    """The nodes of a cluster, with the request of a preemptor that may be counted in ``queue``.

    ``whole`` is what must be available in the end, where that is more than the request.
    """

    def __init__(
        self, cluster: Cluster, queue: NodeId, request: Amounts, whole: Amounts | None = None
    ) -> None:
        self.cluster = cluster
        self.nodes = cluster.nodes
        self.queue = queue
        self.request = request
        self.whole = request if whole is None else whole
        self.children: dict[NodeId, list[NodeId]] = {name: [] for name in self.nodes}
        for node in self.nodes.values():
            if node.parent is not None:
                self.children[node.parent].append(node.id)
        for name in self.nodes:
            self.above(name)
        # Subtree quotas and usages do not change while removals are tried.
        self.subtree = cache(self._subtree)
        self.potential = cache(self._potential)
        self._counted = cache(self._count)

    def above(self, name: NodeId) -> list[NodeId]:
        """List the nodes above one, the nearest first."""
        found: list[NodeId] = []
        parent = self.nodes[name].parent
        while parent is not None:
            if parent in found:
                raise UnsupportedError("cohorts in a loop")
            found.append(parent)
            parent = self.nodes[parent].parent
        return found

    def below(self, name: NodeId) -> Iterator[Node]:
        """Yield a node and all below it."""
        yield self.nodes[name]
        for child in self.children[name]:
            yield from self.below(child)

    @cached_property
    def _held_below(self) -> dict[NodeId, int]:
        masks = dict.fromkeys(self.nodes, 0)
        for index, held in enumerate(self.cluster.held):
            name = "queue", held.queue
            for node in [name, *self.above(name)]:
                masks[node] |= 1 << index
        return masks

    def known(self, name: NodeId) -> set[FlavorResource]:
        """Return the flavor-resources that a node or one below it has a quota for."""
        return {at for node in self.below(name) for at in node.nominal}

    def _subtree(self, name: NodeId, at: FlavorResource) -> int:
        total = self.nodes[name].nominal.get(at, 0)
        for child in self.children[name]:
            total = plus(total, minus(self.subtree(child, at), self.kept(child, at)))
        return total

    def kept(self, name: NodeId, at: FlavorResource) -> int:
        """Return the quota that a node never lends."""
        limit = self.nodes[name].lending.get(at)
        return 0 if limit is None else max(0, minus(self.subtree(name, at), limit))

    def _potential(self, name: NodeId, at: FlavorResource) -> int:
        node = self.nodes[name]
        if node.parent is None:
            return self.subtree(name, at)
        most = plus(self.kept(name, at), self.potential(node.parent, at))
        limit = node.borrowing.get(at)
        return most if limit is None else min(most, plus(self.subtree(name, at), limit))

    def usage(self, name: NodeId, at: FlavorResource, gone: int, *, asked: bool = False) -> int:
        """Return what a node uses."""
        return self._counted(name, at, gone & self._held_below[name], asked)

    def _count(self, name: NodeId, at: FlavorResource, gone: int, asked: bool) -> int:  # noqa: FBT001
        total = 0
        if name[0] == "queue":
            for index, held in enumerate(self.cluster.held):
                if held.queue == name[1] and not gone >> index & 1:
                    total += held.usage.get(at, 0)
            if asked and name == self.queue:
                total += self.request.get(at, 0)
        for child in self.children[name]:
            below = self.usage(child, at, gone, asked=asked)
            total += max(0, below - self.kept(child, at))
        if total >= UNLIMITED:
            raise UnsupportedError("a usage beyond 64 bits")
        return total

    def local_free(self, name: NodeId, at: FlavorResource, gone: int) -> int:
        """Return the quota that is free and need not be asked of the parent."""
        return max(0, minus(self.kept(name, at), self.usage(name, at, gone)))

    def available(self, name: NodeId, at: FlavorResource, gone: int) -> int:
        """Return what a node could still take; it may be less than nothing."""
        node = self.nodes[name]
        usage, subtree = self.usage(name, at, gone), self.subtree(name, at)
        if node.parent is None:
            return minus(subtree, usage)
        above = self.available(node.parent, at, gone)
        limit = node.borrowing.get(at)
        if limit is not None:
            kept = self.kept(name, at)
            lent = minus(minus(subtree, kept), max(0, minus(usage, kept)))
            above = min(above, plus(lent, limit))
        return plus(self.local_free(name, at, gone), above)

    def fits(self, gone: int, *, borrow: bool) -> bool:
        """Whether the preemptor fits in its queue."""
        for at, amount in self.request.items():
            nominal = self.nodes[self.queue].nominal.get(at, 0)
            if not borrow and plus(self.usage(self.queue, at, gone), amount) > nominal:
                return False
        return all(
            amount <= max(0, self.available(self.queue, at, gone))
            for at, amount in self.whole.items()
        )
