"""What the shim answers to the core about one ask: whether a node takes it, after which removals.

The core asks by a callback that a cluster always has. The answer depends on the whole of
Kubernetes, where that is known. Else the callback answers by resources, as in most of the
recordings, or by a fixed table.

Source: docs/semantics/yunikorn.md §8, docs/semantics/yunikorn-features.md §22; yunikorn-core
be3bb487, scheduler/objects/predicates.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from planner.quota.yunikorn.cluster import Cluster, NodeRoom
from planner.quota.yunikorn.resource import Resource, fits_in, plus
from planner.reference.yunikorn.candidates import Candidate
from planner.state.yunikorn import Ask

if TYPE_CHECKING:
    from planner.quota.yunikorn.predicates import Demand


class ByResource(Struct, frozen=True):
    """Predicates that look at resources, and at vetoes a test may add."""

    ask: Resource
    veto: frozenset[str] = frozenset()
    must_remove: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def passes(self, room: NodeRoom) -> bool:
        """Say whether the node takes the ask as it is."""
        vetoed = room.node_id in self.veto or bool(self.must_remove.get(room.node_id))
        return not vetoed and fits_in(room.available, self.ask)

    def reservable(self, room: NodeRoom) -> bool:
        """Say whether the node would take the ask, but for its resources."""
        return room.node_id not in self.veto

    def first_index(self, room: NodeRoom, victims: Sequence[Candidate], start: int) -> int | None:
        """Return the first index, from ``start``, up to which victims are enough; None for none."""
        if room.node_id in self.veto:
            return None
        free = room.available
        wanted = set(self.must_remove.get(room.node_id, ()))
        for index, victim in enumerate(victims):
            free = plus(free, victim.resource)
            wanted.discard(victim.key)
            # Not before `start`: victims up to it are removed in one go, without a test.
            if index >= start and not wanted and fits_in(free, self.ask):
                return index
        return None


class ByTable(Struct, frozen=True):
    """Predicates with fixed answers, node by node."""

    takes: frozenset[str]
    index: Mapping[str, int]

    def passes(self, room: NodeRoom) -> bool:
        """Say whether the node takes the ask as it is."""
        return room.node_id in self.takes

    reservable = passes

    def first_index(self, room: NodeRoom, *_: object) -> int | None:
        """Return the index of the table, None if it has no success for the node."""
        return self.index.get(room.node_id)


class ByPredicates(Struct, frozen=True):
    """Predicates as Kubernetes has them: what is available to the core counts as well."""

    ask: Resource
    demand: Demand

    def passes(self, room: NodeRoom) -> bool:
        """Say whether the node takes the ask as it is."""
        return fits_in(room.available, self.ask) and self.demand.lacks(room.node_id) == ()

    def reservable(self, room: NodeRoom) -> bool:
        """Say whether the node would take the ask, but for its resources."""
        lacks = self.demand.lacks(room.node_id)
        return lacks is not None and all(one.is_room for one in lacks)

    def first_index(self, room: NodeRoom, victims: Sequence[Candidate], start: int) -> int | None:
        """Return the first index, from ``start``, up to which victims are enough; None for none."""
        lacks, keys = self.demand.lacks(room.node_id), [victim.key for victim in victims]
        for index in range(start, len(keys)) if lacks is not None else ():
            if all(one.left(keys[: index + 1]) <= 0 for one in lacks or ()):
                return index
        return None


Predicates: TypeAlias = ByResource | ByTable | ByPredicates
"""The callback of the shim, about one ask."""


def predicates_of(cluster: Cluster, ask: Ask) -> Predicates:
    """Return what the shim says about an ask."""
    x = cluster.x
    if x.predicates == "table":
        index = {row.node: row.index for row in x.table if row.success}
        return ByTable(frozenset(x.alloc_nodes), index)
    if (demand := cluster.demand(ask)) is not None:
        return ByPredicates(ask.resource, demand)
    must_remove = {node: frozenset(keys) for node, keys in x.must_remove.items()}
    return ByResource(ask.resource, frozenset(x.veto_nodes), must_remove)
