"""What admitted workloads hold, told once for all that hold the same.

A dump of a hundred thousand workloads has some hundred shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from planner.quota.holding import Holding, holding_by_facts, holding_of
from planner.quota.tree import FlavorResource
from planner.state import Configuration, Workload
from planner.state.workloads import Entry, Facts

_Key = tuple[object, ...]


class Shape:
    """What a workload holds: amounts per fr, the fr it names a flavor for, the pods that run.

    ``usage`` and ``names`` have indices of fr; they are empty until these are known, and ``names``
    is shared by all that name the same.
    """

    __slots__ = ("holding", "names", "pods", "usage")

    def __init__(self, holding: Holding, names: set[int]) -> None:
        self.holding: Final = holding
        self.pods: Final = holding.pods
        self.usage: Final[dict[int, int]] = {}
        self.names: Final = names

    def settle(self, index: Mapping[FlavorResource, int]) -> None:
        """Fill ``usage`` and ``names``, now that every fr has its index."""
        for fr, amount in self.holding.amounts.items():
            self.usage[index[fr]] = amount
        if not self.names:
            self.names.update([index[fr] for fr in self.holding.named])


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

    def of(self, entry: Entry) -> Shape:
        """Return what an admitted workload holds; it must not be gone while this is in use."""
        return self._by_facts(entry) if isinstance(entry, Facts) else self._of(entry)

    def _of(self, workload: Workload) -> Shape:
        status = workload.status
        # Equal parts are mostly one object (see the reader); if not, nothing but time is lost.
        assignments = status.admission.pod_set_assignments if status.admission else ()
        key = (id(assignments), status.reclaimable_pods, id(workload.spec.pod_sets))
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = self._shape(holding_of(workload, self._configuration))
        return shape

    def _by_facts(self, facts: Facts) -> Shape:
        key = facts.counts, facts.held
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = self._shape(holding_by_facts(facts))
        return shape

    def _shape(self, holding: Holding) -> Shape:
        return Shape(holding, self._names.setdefault(holding.named, set()))
