"""The workloads of a state: most are kept as a few facts, and become objects when asked for.

A large dump has a hundred thousand workloads of which a plan shows a dozen. A workload that runs,
or waits, with nothing unusual to it, is kept as a line of the facts that decide about it, with the
text that they were read from, so that the whole object can be made at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple, Self, overload

import numpy as np
from pydantic import GetCoreSchemaHandler, SerializerFunctionWrapHandler
from pydantic_core import CoreSchema, core_schema

from planner.errors import InputError, LookupFailed, SchemaError
from planner.quantity import to_units
from planner.state.kueue_facts import Entry, FactColumns, Facts, Place, Reading, Text
from planner.state.kueue_workload import Workload


class Changes(NamedTuple):
    """The changes to the workloads of a state.

    ``added`` are new, at the end of the dump; ``changed`` replace the workloads of the same key,
    which were admitted, evicted or finished, say; ``gone`` are the keys of deleted workloads.
    """

    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    gone: Collection[str] = ()

    def refuse_others(self) -> None:
        """Raise a `SchemaError` if these are no workloads or no keys: a text is no list of keys."""
        for name, given in (("added", self.added), ("changed", self.changed)):
            if not isinstance(given, Iterable) or not all(isinstance(one, Entry) for one in given):
                raise SchemaError(f"changes.{name}", "holds what is no workload", "workloads")
        keys = isinstance(self.gone, Collection) and not isinstance(self.gone, str)
        if not keys or not all(isinstance(one, str) for one in self.gone):
            raise SchemaError("changes.gone", "holds what is no key", "a list of keys of workloads")

    @property
    def texts(self) -> Iterator[str]:
        """The texts that identify the changes: deleted keys, and all other workloads as JSON."""
        yield from sorted(self.gone)
        for one in (*self.changed, *self.added):
            if isinstance(one, Workload):
                yield one.model_dump_json()
            else:
                yield str(bytes(one.text), "utf-8")


class Workloads(Sequence[Workload]):
    """Workloads in the order of the dump, each made when it is asked for.

    ``entries`` are the workloads as objects or facts; ``make`` makes an object from facts' text.
    ``columns`` are those of the entries, where they are known already.
    """

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        make: Callable[[Text], Workload] | None = None,
        columns: FactColumns | None = None,
    ) -> None:
        self.entries: Final[Sequence[Entry]] = tuple(entries)
        self._make = make
        self._columns = columns
        self._before: tuple[Sequence[Entry], FactColumns] | None = None
        self._made: dict[int, Workload] = {}
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        """Return the number of workloads."""
        return len(self.entries)

    @overload
    def __getitem__(self, place: int) -> Workload: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Workload, ...]: ...

    def __getitem__(self, place: int | slice) -> Workload | tuple[Workload, ...]:
        """Return the workload at a place, or the workloads of a slice."""
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        entry = self.entries[place]
        if isinstance(entry, Workload):
            return entry
        # A place counted from the end is the same object as the one counted from the start.
        place %= len(self.entries)
        found = self._made.get(place)
        if found is None:
            if self._make is None:
                message = "facts, and nothing to make a workload of"
                raise TypeError(message)
            found = self._made[place] = self._make(entry.text)
        return found

    def __iter__(self) -> Iterator[Workload]:
        """Yield all workloads."""
        return map(self.__getitem__, range(len(self.entries)))

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal workloads."""
        if not isinstance(other, Sequence):
            return NotImplemented
        pairs = zip(self, other, strict=False)
        return self is other or (len(self) == len(other) and all(a == b for a, b in pairs))

    __hash__ = None  # type: ignore[assignment] # as a list: its parts are compared one by one

    def plus(self, more: Iterable[Workload]) -> Workloads:
        """Return the workloads with more at the end."""
        return self._with([*self.entries, *more])

    def without(self, keys: Container[str]) -> Workloads:
        """Return the workloads without those of the given keys."""
        return self._with(one for one in self.entries if one.key not in keys)

    def apply(self, changes: Changes) -> Workloads:
        """Return the workloads after changes; all unchanged workloads stay as they are.

        Raises ``InputError`` if a changed or deleted workload is not there, or a new one already
        is.
        """
        changed = {one.key: one for one in changes.changed}
        gone, there = frozenset(changes.gone), {*self.keys}
        for key in (*changed, *gone):
            if key not in there:
                raise LookupFailed("changes", f"there is no workload {key}")
        left = (changed.get(one.key, one) for one in self.entries if one.key not in gone)
        there -= gone
        for one in changes.added:
            if one.key in there:
                raise InputError("changes", f"workload {one.key} is there already")
            there.add(one.key)
        return self._with([*left, *changes.added])

    def edited(self, keys: Container[str], change: Callable[[Workload], Workload]) -> Workloads:
        """Return the workloads with those of the given keys changed; others stay as they are."""
        return self._with(
            change(self[place]) if one.key in keys else one
            for place, one in enumerate(self.entries)
        )

    def __repr__(self) -> str:
        """Return only their number: a large state has a hundred thousand workloads."""
        return f"<{len(self)} workloads>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes the workloads from."""
        entries = [
            # The text is copied: it may be a view of the whole dump.
            one if isinstance(one, Workload) else one._replace(text=bytes(one.text))
            for one in self.entries
        ]
        return Workloads, (entries, self._make)

    def _with(self, entries: Iterable[Entry]) -> Workloads:
        found = Workloads(entries, self._make)
        # Their columns are mostly those of these workloads.
        found._before = self._before if self._columns is None else (self.entries, self._columns)
        return found

    @property
    def columns(self) -> FactColumns:
        """The workloads as columns."""
        if self._columns is None:
            every, columns = self._before or ((), Reading().columns())
            # By identity: what a change replaced has to be read anew.
            places = {id(one): place for place, one in enumerate(every)}
            kept = np.array([places.get(id(one), -1) for one in self.entries], dtype=np.int64)
            new = [self.entries[place] for place in np.flatnonzero(kept < 0).tolist()]
            self._columns, self._before = columns.updated(kept, new), None
        return self._columns

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys of the workloads, each ``namespace/name``."""
        return [one.key for one in self.entries]

    def find(self, key: str) -> Workload | None:
        """Return the workload ``namespace/name``, if it is there."""
        # A plan asks for the same key again and again, and mostly for one of the few that wait.
        if key not in self._places:
            few = np.flatnonzero(~self.columns.holds_quota).tolist()
            there = (place for place in few if self.entries[place].key == key)
            place = next(there, None)
            if place is None:
                try:
                    place = self.keys.index(key)
                except ValueError:
                    return None
            self._places[key] = place
        return self[self._places[key]]

    def pending(self) -> Iterator[Workload]:
        """Yield the workloads that wait in a queue."""
        return map(self.__getitem__, np.flatnonzero(self.columns.is_pending).tolist())

    def waiting(self) -> Iterator[Entry]:
        """Yield the workloads that wait in a queue, as objects or facts."""
        return map(self.entries.__getitem__, np.flatnonzero(self.columns.is_pending).tolist())

    def gone(self) -> Iterator[Workload]:
        """Yield the workloads that neither wait nor hold quota: finished or deactivated."""
        columns = self.columns
        gone = ~columns.is_pending & ~columns.holds_quota
        return map(self.__getitem__, np.flatnonzero(gone).tolist())

    def unfinished(self) -> Iterator[Entry]:
        """Yield the workloads that are not finished, as objects or facts."""
        for place, one in enumerate(self.entries):
            runs_or_waits = isinstance(one, Facts) and (one.holds_quota or one.is_pending)
            if runs_or_waits or not self[place].is_true("Finished"):
                yield one

    def unusual(self) -> Iterator[Workload]:
        """Yield the workloads that are kept as objects, such as all that are being evicted."""
        return iter(self._unusual)

    @cached_property
    def _unusual(self) -> Sequence[Workload]:
        return [self[place] for place in np.flatnonzero(~self.columns.are_facts).tolist()]

    @cached_property
    def _plain_places(self) -> AbstractSet[Place]:
        """The places in which workloads that are kept as facts hold quota."""
        first = self.columns.firsts(np.arange(len(self.entries)))
        some = (self.entries[place] for place in first[first >= 0].tolist())
        layouts = {held.layout for one in some if isinstance(one, Facts) for held in one.held}
        return {place for layout in layouts for place in layout.held}

    def held_in(
        self, queues: Collection[str], without: Mapping[str, AbstractSet[Place]] | None = None
    ) -> Iterator[tuple[str, str, Place, int]]:
        """Yield the usage of each workload in the given ClusterQueues, podset by podset.

        That is the workload's key, the ClusterQueue, the place, and the amount in Kueue's units.
        Usage of the places ``without``, by ClusterQueue, is left out.
        """
        without = without or {}
        entries: Iterable[Entry] = self.entries
        if without.keys() >= {*queues} and all(map(self._plain_places.__le__, without.values())):
            entries = self._unusual  # workloads with facts have usage in left-out places only
        chosen: dict[tuple[str, tuple[Place, ...]], list[int]] = {}
        for one in entries:
            queue = one.admitted_by
            if queue not in queues or not one.holds_quota:
                continue
            for places, amounts in _amounts_of(one):
                # Most podsets of a queue have the same places: these are compared only once.
                wanted = chosen.get((queue, places))
                if wanted is None:
                    known = without.get(queue, ())
                    wanted = [i for i, place in enumerate(places) if place not in known]
                    chosen[queue, places] = wanted
                for i in wanted:
                    yield one.key, queue, places[i], amounts[i]

    def totals_in(self, queues: Iterable[str]) -> dict[str, dict[Place, int]]:
        """Return what all workloads together hold in the given ClusterQueues, in Kueue's units."""
        columns = self.columns
        facts = np.flatnonzero(columns.are_facts & columns.holds_quota)
        # Most workloads of a queue hold the same: each amount is looked up only once.
        alike = columns.queue[facts].astype(np.int64) * columns.holdings + columns.holding[facts]
        _, firsts, counts = np.unique(alike, return_index=True, return_counts=True)
        held: Iterable[tuple[Entry, int]] = (
            (self.entries[place], count)
            for place, count in zip(facts[firsts].tolist(), counts.tolist(), strict=True)
        )
        objects = ((one, 1) for one in self._unusual if one.holds_quota)
        totals: dict[str, dict[Place, int]] = {name: {} for name in queues}
        for one, count in chain(held, objects):
            total = totals.get(one.admitted_by)
            if total is None:
                continue
            for places, amounts in _amounts_of(one):
                for place, units in zip(places, amounts, strict=True):
                    total[place] = total.get(place, 0) + count * units
        return totals

    @classmethod
    def __get_pydantic_core_schema__(
        cls,
        source: Any,  # noqa: ANN401 - pydantic's signature
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        """Read and write the workloads as a list of objects."""
        objects = handler.generate_schema(tuple[Workload, ...])
        return core_schema.no_info_wrap_validator_function(
            cls._checked,
            objects,
            serialization=core_schema.wrap_serializer_function_ser_schema(_written, schema=objects),
        )

    @classmethod
    def _checked(cls, value: Any, handler: Callable[[Any], Iterable[Workload]]) -> Self:  # noqa: ANN401 - any JSON
        return value if isinstance(value, cls) else cls(handler(value))


def _amounts_of(one: Entry) -> Iterator[tuple[tuple[Place, ...], Sequence[int]]]:
    """Yield the usage of an admitted workload, podset by podset: places, and the units in each."""
    if isinstance(one, Facts):
        yield from ((layout.held, amounts) for layout, _, amounts in one.held)
    elif one.status.admission is not None:
        for pods in one.status.admission.pod_set_assignments:
            usage = pods.resource_usage
            places = tuple([(pods.flavors.get(resource, ""), resource) for resource in usage])
            yield places, [to_units(nano, resource) for resource, nano in usage.items()]


def _written(value: Workloads, handler: SerializerFunctionWrapHandler) -> Any:  # noqa: ANN401 - any JSON
    return handler(tuple(value))
