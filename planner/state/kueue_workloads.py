"""The workloads of a state: most are kept as a few facts, and become objects when asked for.

A large dump has a hundred thousand workloads of which a plan shows a dozen. What decides about one
that runs, or waits, with nothing unusual to it, is a line of facts; the text that they were read
from is kept, so that the whole object can be made at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, overload

from msgspec import Struct
from pydantic import GetCoreSchemaHandler, SerializerFunctionWrapHandler
from pydantic_core import CoreSchema, core_schema

from planner.errors import InputError, LookupFailed
from planner.quantity import to_units
from planner.state.kueue_workload import Workload
from planner.state.record import Remarks

Text = Any
"""The JSON text of an object: bytes, or a part of them."""


class Layout(Struct, frozen=True, eq=False):
    """How an admitted podset writes what it holds; all that write it alike share one object.

    ``flavors`` has each resource with a flavor, and that; ``held`` the flavor of each amount, empty
    where there is none, and its resource.
    """

    name: str
    flavors: tuple[tuple[str, str], ...]
    held: tuple[tuple[str, str], ...]


class Held(NamedTuple):
    """What an admitted podset holds: amounts in Kueue's integer units, in the layout's order."""

    layout: Layout
    pods: int | None
    amounts: tuple[int, ...]


class Facts(NamedTuple):
    """What decides about a workload that has nothing unusual to it.

    It was neither evicted nor preempted, or no longer is; it has no reclaimable pods and is no
    variant of another. Fields that `Workload` has, too, mean the same. ``reserved`` says that it
    has a reservation, ``reserved_s`` since when, in seconds since 1970, if that is known;
    ``started_at`` is when its pods were ready, or else when it was reserved, and ``started_s`` the
    same in seconds. ``counts`` are the pods of each podset; ``text`` is what it was read from, and
    ``newest`` the newest time in it.
    """

    key: str
    namespace: str
    uid: str
    queue_name: str
    priority: int
    boost: str | None
    created: datetime | None
    admitted_by: str
    holds_quota: bool
    is_pending: bool
    reserved: bool
    reserved_s: float | None
    started_at: datetime | None
    started_s: float | None
    remarks: Remarks | None
    counts: tuple[tuple[str, int], ...]
    held: tuple[Held, ...]
    text: Text
    newest: datetime | None

    @property
    def parent_uid(self) -> str:
        """Nothing: it is no variant of another."""
        return ""


Place = tuple[str, str]
"""A flavor and a resource; the flavor is empty where a resource has none."""

Entry = Workload | Facts
"""A workload as a state keeps it."""


class Changes(NamedTuple):
    """What happened to the workloads of a state.

    ``added`` came, at the end of the dump; ``changed`` take the place of those of the same name:
    they were admitted, evicted or finished, say; ``gone`` are the keys of those that were deleted.
    """

    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    gone: Collection[str] = ()

    @property
    def texts(self) -> Iterator[str]:
        """What names them: who is gone, and the text of all others."""
        yield from sorted(self.gone)
        for one in (*self.changed, *self.added):
            if isinstance(one, Workload):
                yield one.model_dump_json()
            else:
                yield str(bytes(one.text), "utf-8")


class Workloads(Sequence[Workload]):
    """Workloads in the order of the dump, each made when it is asked for.

    ``entries`` are what is known of each; ``make`` makes the object of the text of facts.
    """

    def __init__(
        self, entries: Iterable[Entry] = (), make: Callable[[Text], Workload] | None = None
    ) -> None:
        self.entries: Final[Sequence[Entry]] = tuple(entries)
        self._make = make
        self._made: dict[int, Workload] = {}
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.entries)

    @overload
    def __getitem__(self, place: int) -> Workload: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Workload, ...]: ...

    def __getitem__(self, place: int | slice) -> Workload | tuple[Workload, ...]:
        """Return one of them, or some."""
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        entry = self.entries[place]
        if isinstance(entry, Workload):
            return entry
        # So that from whichever end it is counted, it is one object.
        place %= len(self.entries)
        found = self._made.get(place)
        if found is None:
            if self._make is None:
                message = "facts, and nothing to make a workload of"
                raise TypeError(message)
            found = self._made[place] = self._make(entry.text)
        return found

    def __iter__(self) -> Iterator[Workload]:
        """Yield all of them."""
        return map(self.__getitem__, range(len(self.entries)))

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal workloads."""
        if not isinstance(other, Sequence):
            return NotImplemented
        pairs = zip(self, other, strict=False)
        return self is other or (len(self) == len(other) and all(a == b for a, b in pairs))

    __hash__ = None  # type: ignore[assignment] # as a list: its parts are compared one by one

    def plus(self, more: Iterable[Workload]) -> Workloads:
        """Return them with more at the end."""
        return self._with([*self.entries, *more])

    def without(self, keys: Container[str]) -> Workloads:
        """Return them without some, by their keys."""
        return self._with(one for one in self.entries if one.key not in keys)

    def apply(self, changes: Changes) -> Workloads:
        """Return them after some changes; all that nothing happened to stay as they are.

        Raises
        ------
        InputError
            If one that changes or goes is not there, or one that is new is there already.
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
        """Return them with some changed, by their keys; the others stay as they are."""
        return self._with(
            change(self[place]) if one.key in keys else one
            for place, one in enumerate(self.entries)
        )

    def __repr__(self) -> str:
        """Say how many there are: a large state has a hundred thousand."""
        return f"<{len(self)} workloads>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes them from."""
        entries = [
            # Bytes of its own: the text may be a view of the whole dump.
            one if isinstance(one, Workload) else one._replace(text=bytes(one.text))
            for one in self.entries
        ]
        return Workloads, (entries, self._make)

    def _with(self, entries: Iterable[Entry]) -> Workloads:
        return Workloads(entries, self._make)

    @cached_property
    def keys(self) -> Sequence[str]:
        """Each as ``namespace/name``."""
        return [one.key for one in self.entries]

    def find(self, key: str) -> Workload | None:
        """Return the workload ``namespace/name``, if it is there."""
        # A plan asks for the same one again and again, and all of a million are looked through.
        if key not in self._places:
            try:
                self._places[key] = self.keys.index(key)
            except ValueError:
                return None
        return self[self._places[key]]

    def pending(self) -> Iterator[Workload]:
        """Yield those that wait in a queue."""
        return self._where(lambda one: one.is_pending)

    def gone(self) -> Iterator[Workload]:
        """Yield those that neither wait nor hold quota: finished or deactivated."""
        return self._where(lambda one: not one.is_pending and not one.holds_quota)

    def unfinished(self) -> Iterator[Entry]:
        """Yield what is known of those that are not finished."""
        for place, one in enumerate(self.entries):
            runs_or_waits = isinstance(one, Facts) and (one.holds_quota or one.is_pending)
            if runs_or_waits or not self[place].is_true("Finished"):
                yield one

    def unusual(self) -> Iterator[Workload]:
        """Yield those of which facts would not tell all: only they can be evicted, say."""
        return iter(self._unusual)

    @cached_property
    def _unusual(self) -> Sequence[Workload]:
        return [one for one in self.entries if isinstance(one, Workload)]

    @cached_property
    def _plain_places(self) -> AbstractSet[Place]:
        """The places in which anybody of whom facts tell all holds something."""
        # Equal facts are mostly one object.
        different = {id(one.held): one.held for one in self.entries if isinstance(one, Facts)}
        layouts = {layout for held in different.values() for layout, _, _ in held}
        return {place for layout in layouts for place in layout.held}

    def _where(self, wanted: Callable[[Entry], bool]) -> Iterator[Workload]:
        return (self[place] for place, one in enumerate(self.entries) if wanted(one))

    def held_in(
        self, queues: Collection[str], without: Mapping[str, AbstractSet[Place]] | None = None
    ) -> Iterator[tuple[str, str, Place, int]]:
        """Yield what each holds in some ClusterQueues, podset by podset.

        That is its key, the ClusterQueue, the place, and how much in Kueue's units. What is held in
        places ``without``, by ClusterQueue, is left out.
        """
        without = without or {}
        entries: Iterable[Entry] = self.entries
        if without.keys() >= {*queues} and all(map(self._plain_places.__le__, without.values())):
            entries = self._unusual  # nobody else holds anything but what is left out
        chosen: dict[tuple[str, tuple[Place, ...]], list[int]] = {}
        for one in entries:
            queue = one.admitted_by
            if queue not in queues or not one.holds_quota:
                continue
            for places, amounts in _amounts_of(one):
                # Most podsets of a queue hold the same: where they do is looked at once.
                wanted = chosen.get((queue, places))
                if wanted is None:
                    known = without.get(queue, ())
                    wanted = [i for i, place in enumerate(places) if place not in known]
                    chosen[queue, places] = wanted
                for i in wanted:
                    yield one.key, queue, places[i], amounts[i]

    @classmethod
    def __get_pydantic_core_schema__(
        cls,
        source: Any,  # noqa: ANN401 - pydantic's signature
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        """Read and write them as a list of objects."""
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
    """Yield what one that is admitted holds, podset by podset: places, and units in each."""
    if isinstance(one, Facts):
        yield from ((layout.held, amounts) for layout, _, amounts in one.held)
    elif one.status.admission is not None:
        for pods in one.status.admission.pod_set_assignments:
            usage = pods.resource_usage
            places = tuple([(pods.flavors.get(resource, ""), resource) for resource in usage])
            yield places, [to_units(nano, resource) for resource, nano in usage.items()]


def _written(value: Workloads, handler: SerializerFunctionWrapHandler) -> Any:  # noqa: ANN401 - any JSON
    return handler(tuple(value))
