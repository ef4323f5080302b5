"""What admitted workloads hold, told once for all that hold the same.

A dump of a hundred thousand workloads has some hundred shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from planner.quota.amount import multiply
from planner.quota.holding import Holding, holding_of
from planner.quota.tree import FlavorResource, Usage
from planner.state import Configuration, Workload

_Key = tuple[object, ...]


class Shape:
    """What a workload holds: amounts per fr, the fr it names a flavor for, the pods that run.

    ``usage`` and ``names`` have indices of fr; they are empty until these are known, and ``names``
    is shared by all that name the same. ``holders`` counts who holds it at each node.
    """

    __slots__ = ("holders", "holding", "names", "pods", "usage")

    def __init__(self, holding: Holding, names: set[int]) -> None:
        self.holding: Final = holding
        self.pods: Final = holding.pods
        self.usage: Final[dict[int, int]] = {}
        self.names: Final = names
        self.holders: Final[dict[int, int]] = {}

    def settle(self, index: Mapping[FlavorResource, int]) -> None:
        """Fill ``usage`` and ``names``, now that every fr has its index."""
        for fr, amount in self.holding.amounts.items():
            self.usage[index[fr]] = amount
        if not self.names:
            self.names.update([index[fr] for fr in self.holding.named])

    def add_to(self, usage: Usage) -> None:
        """Add what all its holders hold at the ClusterQueues, ``holders`` at each.

        Amounts are never negative, so a product saturates where the sum would.
        """
        for node, count in self.holders.items():
            held = self.usage
            if count > 1:
                held = {fr: multiply(amount, count) for fr, amount in held.items()}
            usage.add_locally(node, held)


class Shapes:
    """The shapes of one state, in the order in which workloads show them."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._known: dict[_Key, Shape] = {}
        self._names: dict[AbstractSet[FlavorResource], set[int]] = {}

    def __iter__(self) -> Iterator[Shape]:
        """Yield every shape, the first seen first."""
        return iter(self._known.values())

    @property
    def named(self) -> Iterable[AbstractSet[FlavorResource]]:
        """The different sets of fr that shapes name."""
        return self._names

    def of(self, workload: Workload) -> Shape:
        """Return what an admitted workload holds; it must not be gone while this is in use."""
        status = workload.status
        # Equal parts are mostly one object (see the reader); if not, nothing but time is lost.
        assignments = status.admission.pod_set_assignments if status.admission else ()
        key = (id(assignments), status.reclaimable_pods, id(workload.spec.pod_sets))
        shape = self._known.get(key)
        if shape is None:
            holding = holding_of(workload, self._configuration)
            names = self._names.setdefault(holding.named, set())
            shape = self._known[key] = Shape(holding, names)
        return shape
