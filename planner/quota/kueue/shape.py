"""What admitted workloads hold, worked out once for all that hold the same.

A dump of a hundred thousand workloads has some hundred shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from planner.quota.kueue.holding import Holding, holding_by_facts, holding_of, of_layout
from planner.quota.kueue.tree import FlavorResource
from planner.state.kueue import Configuration, Workload
from planner.state.kueue_workloads import Entry, Facts, Layout

_Key = tuple[object, ...]


class Shape:
    """What a workload holds: amounts per fr, the fr it names a flavor for, the pods that run.

    ``usage`` and ``names`` have indices of fr, and ``names`` is shared by all that name the same.
    """

    __slots__ = ("names", "pods", "usage")

    def __init__(self, usage: dict[int, int], names: set[int], pods: int) -> None:
        self.usage: Final = usage
        self.names: Final = names
        self.pods: Final = pods


class Unsettled(Shape):
    """One of which ``usage`` and ``names`` are empty until all fr have their indices."""

    __slots__ = ("holding",)

    def __init__(self, holding: Holding, names: set[int]) -> None:
        super().__init__({}, names, holding.pods)
        self.holding: Final = holding

    def settle(self, index: Mapping[FlavorResource, int]) -> None:
        """Fill ``usage`` and ``names``, now that every fr has its index."""
        for fr, amount in self.holding.amounts.items():
            self.usage[index[fr]] = amount
        # Shared by all shapes that name the same: the first to be settled fills it for all.
        if not self.names:
            self.names.update([index[fr] for fr in self.holding.named])


class _Form(NamedTuple):
    """What all podsets of one layout share whose fr all have quotas: indices of fr, and shapes."""

    places: Sequence[int]
    names: set[int]
    known: dict[tuple[tuple[int, ...], int], Shape]


class Shapes:
    """The shapes of one state; ``index`` has the fr that have quotas.

    Iterating gives those that are not settled, in the order in which workloads show them.
    """

    def __init__(self, configuration: Configuration, index: Mapping[FlavorResource, int]) -> None:
        self._configuration = configuration
        self._index = index
        self._known: dict[_Key, Unsettled] = {}
        self._names: dict[AbstractSet[FlavorResource], set[int]] = {}
        self._forms: dict[Layout, _Form | None] = {}
        self._seen: dict[tuple[int, int], Shape] = {}

    def __iter__(self) -> Iterator[Unsettled]:
        """Yield every shape that is not settled, the first seen first."""
        return iter(self._known.values())

    @property
    def named(self) -> Iterable[AbstractSet[FlavorResource]]:
        """The different sets of fr that shapes name."""
        return self._names

    def of(self, entry: Entry) -> Shape:
        """Return what an admitted workload holds; it must not be gone while this is in use."""
        if not isinstance(entry, Facts):
            return self._of(entry)
        # Equal facts are mostly one object, too.
        parts = id(entry.held), id(entry.counts)
        shape = self._seen.get(parts)
        if shape is None:
            shape = self._seen[parts] = self._by_facts(entry)
        return shape

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
        if len(facts.held) == 1:  # as almost everybody: one podset, of which all pods run
            layout, pods, amounts = facts.held[0]
            form = self._form(layout)
            if form is not None and pods is not None and facts.counts == ((layout.name, pods),):
                found = form.known.get((amounts, pods))
                if found is None:
                    usage = dict(zip(form.places, amounts, strict=True))
                    found = form.known[amounts, pods] = Shape(usage, form.names, pods)
                return found
        key = facts.counts, facts.held
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = self._shape(holding_by_facts(facts, self._configuration))
        return shape

    def _form(self, layout: Layout) -> _Form | None:
        """Return what podsets of a layout share; ``None`` where a part has no flavor or quota."""
        if layout not in self._forms:
            frs, named, is_whole = of_layout(layout)
            known = is_whole and self._index.keys() >= named
            self._forms[layout] = (
                _Form([self._index[fr] for fr in frs], {self._index[fr] for fr in named}, {})
                if known
                else None
            )
        return self._forms[layout]

    def _shape(self, holding: Holding) -> Unsettled:
        return Unsettled(holding, self._names.setdefault(holding.named, set()))
