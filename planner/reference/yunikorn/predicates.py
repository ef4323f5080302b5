"""What the shim answers when the core asks whether a pod passes the predicates of a node.

In a cluster the Kubernetes shim always registers a callback. What it answers there depends on
the whole of Kubernetes; here it answers by resources, as in the recordings, or by a fixed table.
Source: docs/semantics/yunikorn.md §8; yunikorn-core be3bb487 (PreemptionPredicates).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from planner.quota.yunikorn.cluster import NodeRoom
from planner.quota.yunikorn.resource import Resource, fits, plus
from planner.reference.yunikorn.candidates import Candidate
from planner.state.yunikorn import InstanceExtra


class Predicates(Protocol):
    """The callback of the shim."""

    def passes(self, room: NodeRoom, ask: Resource) -> bool:
        """Say whether the node takes the ask as it is."""
        ...

    def first_index(
        self, room: NodeRoom, ask: Resource, victims: Sequence[Candidate], start: int
    ) -> int | None:
        """Return the first index, from ``start``, up to which victims must go; None for never."""
        ...


@dataclass(frozen=True)
class ByResource:
    """Predicates that look at resources, and at vetoes a test may add."""

    veto: frozenset[str] = frozenset()
    must_remove: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def passes(self, room: NodeRoom, ask: Resource) -> bool:
        """Say whether the node takes the ask as it is."""
        vetoed = room.node_id in self.veto or bool(self.must_remove.get(room.node_id))
        return not vetoed and fits(room.available, ask)

    def first_index(
        self, room: NodeRoom, ask: Resource, victims: Sequence[Candidate], start: int
    ) -> int | None:
        """Remove the victims up to ``start``, then one by one, until the ask fits."""
        if room.node_id in self.veto:
            return None
        free = room.available
        wanted = set(self.must_remove.get(room.node_id, ()))
        for index, victim in enumerate(victims):
            free = plus(free, victim.resource)
            wanted.discard(victim.key)
            # Not before `start`: those up to it are removed in one go, and not asked about.
            if index >= start and not wanted and fits(free, ask):
                return index
        return None


@dataclass(frozen=True)
class ByTable:
    """Predicates with fixed answers, node by node."""

    takes: frozenset[str]
    index: Mapping[str, int]

    def passes(self, room: NodeRoom, ask: Resource) -> bool:  # noqa: ARG002 - fixed answers
        """Say whether the node takes the ask as it is."""
        return room.node_id in self.takes

    def first_index(
        self,
        room: NodeRoom,
        ask: Resource,  # noqa: ARG002 - fixed answers
        victims: Sequence[Candidate],  # noqa: ARG002
        start: int,  # noqa: ARG002
    ) -> int | None:
        """Return the index of the table, None if it has no success for the node."""
        return self.index.get(room.node_id)


def predicates_of(x: InstanceExtra) -> Predicates | None:
    """Return the callback of an instance, None if none is registered."""
    if x.predicates == "none":
        return None
    if x.predicates == "table":
        index = {row.node: row.index for row in x.table if row.success}
        return ByTable(frozenset(x.alloc_nodes), index)
    must_remove = {node: frozenset(keys) for node, keys in x.must_remove.items()}
    return ByResource(frozenset(x.veto_nodes), must_remove)
