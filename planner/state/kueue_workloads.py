"""The workloads of a state: columns of what decides about them, and objects made when asked for.

A large dump has a hundred thousand workloads of which a plan shows a dozen. A workload that runs,
or waits, with nothing unusual to it, is kept as text, from which its object is made at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import GetCoreSchemaHandler, SerializerFunctionWrapHandler
from pydantic_core import CoreSchema, core_schema

from planner.errors import InputError, LookupFailed, SchemaError
from planner.state.kueue_columns import Columns, Place, Reading, Row, Text
from planner.state.kueue_workload import Workload


class Changes(NamedTuple):
    """The changes to the workloads of a state.

    ``added`` are new, at the end of the dump; ``changed`` replace the workloads of the same key,
    which were admitted, evicted or finished, say; ``gone`` are the keys of deleted workloads.
    """

    added: Sequence[Workload] = ()
    changed: Sequence[Workload] = ()
    gone: Collection[str] = ()

    def refuse_others(self) -> None:
        """Raise a `SchemaError` if these are no workloads or no keys: a text is no list of keys."""
        for name, given in (("added", self.added), ("changed", self.changed)):
            read = isinstance(given, Workloads)
            if not read and not (
                isinstance(given, Iterable) and all(isinstance(one, Workload) for one in given)
            ):
                raise SchemaError(f"changes.{name}", "holds what is no workload", "workloads")
        keys = isinstance(self.gone, Collection) and not isinstance(self.gone, str)
        if not keys or not all(isinstance(one, str) for one in self.gone):
            raise SchemaError("changes.gone", "holds what is no key", "a list of keys of workloads")


class Workloads(Sequence[Workload]):
    """Workloads in the order of the dump, each made when it is asked for.

    They are given as objects, or as ``columns``, and with ``make``, which makes an object of the
    text in a column.
    """

    def __init__(
        self,
        objects: Iterable[Workload] = (),
        columns: Columns | None = None,
        make: Callable[[Text], Workload] | None = None,
    ) -> None:
        if columns is None:
            reading = Reading()
            reading.rows += map(Row.of_workload, objects)
            columns = reading.columns()
        self.columns: Final = columns
        self._make: Final = make
        self._made: Final[dict[int, Workload]] = {}
        self._places: Final[dict[str, int]] = {}

    @classmethod
    def of_objects(cls, some: Iterable[Workload]) -> Workloads:
        """Return workloads as they are, or made of objects."""
        return some if isinstance(some, Workloads) else cls(some)

    def __len__(self) -> int:
        """Return the number of workloads."""
        return len(self.columns.key)

    @overload
    def __getitem__(self, place: int) -> Workload: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Workload, ...]: ...

    def __getitem__(self, place: int | slice) -> Workload | tuple[Workload, ...]:
        """Return the workload at a place, or the workloads of a slice."""
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        found: Workload = self.columns.source[place]
        if not self.columns.is_text[place]:
            return found
        # A place counted from the end is the same object as the one counted from the start.
        place %= len(self)
        if place not in self._made:
            if self._make is None:
                message = "a text, and nothing to make a workload of"
                raise TypeError(message)
            self._made[place] = self._make(found)
        return self._made[place]

    def __iter__(self) -> Iterator[Workload]:
        """Yield all workloads."""
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal workloads."""
        if not isinstance(other, Sequence):
            return NotImplemented
        pairs = zip(self, other, strict=False)
        return self is other or (len(self) == len(other) and all(a == b for a, b in pairs))

    __hash__ = None  # type: ignore[assignment] # as a list: its parts are compared one by one

    def plus(self, more: Iterable[Workload]) -> Workloads:
        """Return the workloads with more at the end."""
        new = Workloads.of_objects(more)
        return self._changed(new, np.arange(len(self) + len(new)))

    def without(self, keys: Container[str]) -> Workloads:
        """Return the workloads without those of the given keys."""
        return self.chosen([place for place, key in enumerate(self.keys) if key not in keys])

    def chosen(self, places: Sequence[int] | NDArray[np.int64]) -> Workloads:
        """Return the workloads at some places, in their order."""
        return self._changed(Workloads(), np.asarray(places, dtype=np.int64))

    def apply(self, changes: Changes) -> Workloads:
        """Return the workloads after changes; all unchanged workloads stay as they are.

        Raises ``InputError`` if a changed or deleted workload is not there, or a new one already
        is.
        """
        changed, added = Workloads.of_objects(changes.changed), Workloads.of_objects(changes.added)
        asked = {*changed.keys, *changes.gone, *added.keys}
        place_of = {key: place for place, key in enumerate(self.keys) if key in asked}
        places, size = np.arange(len(self) + len(changed) + len(added)), len(self)
        for place, key in enumerate(changed.keys, start=size):
            if key not in place_of:
                raise LookupFailed("changes", f"there is no workload {key}")
            places[place_of[key]] = place
        for key in {*changes.gone}:
            if key not in place_of:
                raise LookupFailed("changes", f"there is no workload {key}")
            places[place_of.pop(key)] = -1
        for key in added.keys:
            if key in place_of:
                raise InputError("changes", f"workload {key} is there already")
            place_of[key] = -1
        places[size : size + len(changed)] = -1
        return self._changed(changed.plus(added), places[places >= 0])

    def edited(self, keys: Container[str], change: Callable[[Workload], Workload]) -> Workloads:
        """Return the workloads with those of the given keys changed; others stay as they are."""
        found = [place for place, key in enumerate(self.keys) if key in keys]
        places = np.arange(len(self))
        places[found] = np.arange(len(found)) + len(self)
        return self._changed(Workloads(change(self[place]) for place in found), places)

    def _changed(self, new: Workloads, places: NDArray[np.int64]) -> Workloads:
        columns = self.columns.changed(new.columns, places)
        return Workloads((), columns, self._make or new._make)

    def __repr__(self) -> str:
        """Return only their number: a large state has a hundred thousand workloads."""
        return f"<{len(self)} workloads>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes the workloads from."""
        return Workloads, ((), self.alone().columns, self._make)

    def alone(self) -> Workloads:
        """Return the workloads with a text of its own for each, in place of a part of the dump."""
        source = self.columns.source.copy()
        for place in np.flatnonzero(self.columns.is_text).tolist():
            source[place] = bytes(source[place])
        return Workloads((), self.columns._replace(source=source), self._make)

    @property
    def texts(self) -> Iterator[str]:
        """The JSON of each workload."""
        for source, is_text in zip(self.columns.source, self.columns.is_text, strict=True):
            yield str(bytes(source), "utf-8") if is_text else source.model_dump_json()

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys of the workloads, each ``namespace/name``."""
        keys: list[str] = self.columns.key.tolist()
        return keys

    def find(self, key: str) -> Workload | None:
        """Return the workload ``namespace/name``, if it is there."""
        # A plan asks for the same key again and again, and mostly for one of the few that wait.
        if key not in self._places:
            few = np.flatnonzero(~self.columns.holds_quota)
            there = few[self.columns.key[few] == key].tolist()
            try:
                self._places[key] = there[0] if there else self.keys.index(key)
            except ValueError:
                return None
        return self[self._places[key]]

    def where(self, chosen: NDArray[np.bool_]) -> Iterator[Workload]:
        """Yield the chosen workloads: (N,)."""
        return map(self.__getitem__, np.flatnonzero(chosen).tolist())

    def pending(self) -> Iterator[Workload]:
        """Yield the workloads that wait in a queue."""
        return self.where(self.columns.is_pending)

    def unusual(self) -> Iterator[Workload]:
        """Yield the workloads that are kept as objects, such as all that are being evicted."""
        return self.where(~self.columns.is_text)

    @property
    def gone(self) -> NDArray[np.bool_]:
        """Which workloads neither wait nor hold quota, since they are finished or deactivated."""
        return ~self.columns.is_pending & ~self.columns.holds_quota

    @property
    def unfinished(self) -> NDArray[np.bool_]:
        """Which workloads are not finished."""
        found = ~self.gone
        for place in np.flatnonzero(~found).tolist():
            found[place] = not self[place].is_true("Finished")
        return found

    @cached_property
    def _places_held(self) -> AbstractSet[Place]:
        every = (one for held in self.columns.holdings for one in held.assigned)
        # Few differ in more than their amounts.
        some = {(one.flavors, one.resources): one for one in every}
        return {place for one in some.values() for place in one.places}

    def held_in(
        self, queues: Collection[str], without: Mapping[str, AbstractSet[Place]] | None = None
    ) -> Iterator[tuple[str, str, Place, int]]:
        """Yield the usage of each workload in the given ClusterQueues, podset by podset.

        That is the workload's key, the ClusterQueue, the place, and the amount in Kueue's units.
        Usage of the places ``without``, by ClusterQueue, is left out.
        """
        columns, none = self.columns, frozenset[Place]()
        if all(self._places_held <= (without or {}).get(queue, none) for queue in queues):
            return
        # Most workloads of a queue hold the same.
        wanted: dict[tuple[int, int], list[tuple[Place, int]]] = {}
        asked = np.array([one in queues for one in columns.queues], dtype=np.bool_)
        for at in np.flatnonzero(columns.holds_quota & asked[columns.admitted_by]).tolist():
            pair = int(columns.admitted_by[at]), int(columns.held[at])
            queue = columns.queues[pair[0]]
            if pair not in wanted:
                left_out = (without or {}).get(queue, none)
                wanted[pair] = [
                    (place, units)
                    for one in columns.holdings[pair[1]].assigned
                    for place, units in zip(one.places, one.units, strict=True)
                    if place not in left_out
                ]
            for place, units in wanted[pair]:
                yield self.columns.key[at], queue, place, units

    def totals_in(self, queues: Iterable[str]) -> dict[str, dict[Place, int]]:
        """Return what all workloads together hold in the given ClusterQueues, in Kueue's units."""
        columns = self.columns
        pairs = columns.admitted_by.astype(np.int64) * len(columns.holdings) + columns.held
        totals: dict[str, dict[Place, int]] = {name: {} for name in queues}
        # Most workloads of a queue hold the same: each amount is looked up only once.
        found, counts = np.unique(pairs[columns.holds_quota], return_counts=True)
        for pair, count in zip(map(int, found), counts.tolist(), strict=True):
            queue, number = divmod(pair, len(columns.holdings))
            total = totals.get(columns.queues[queue])
            if total is None:
                continue
            for one in columns.holdings[number].assigned:
                for place, units in zip(one.places, one.units, strict=True):
                    total[place] = total.get(place, 0) + count * units
        return totals

    @classmethod
    def __get_pydantic_core_schema__(
        cls,
        source: object,
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
    def _checked(cls, value: object, handler: Callable[[Any], Iterable[Workload]]) -> Self:
        return value if isinstance(value, cls) else cls(handler(value))


def _written(value: Workloads, handler: SerializerFunctionWrapHandler) -> object:
    return handler(tuple(value))
