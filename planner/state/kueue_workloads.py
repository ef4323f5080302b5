"""The workloads of a state: most are kept as a few facts, and become objects when asked for.

A large dump has a hundred thousand workloads of which a plan shows a dozen. A workload that runs,
or waits, with nothing unusual to it, is kept as a line of the facts that decide about it, with the
text that they were read from, so that the whole object can be made at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property
from itertools import repeat
from operator import attrgetter
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
    """The flavors and resources of an admitted podset's usage; equal ones are one object.

    ``flavors`` are pairs of a resource and its flavor; ``held`` are the flavor of each amount,
    empty where there is none, and its resource.
    """

    name: str
    flavors: tuple[tuple[str, str], ...]
    held: tuple[tuple[str, str], ...]


class Held(NamedTuple):
    """The usage of an admitted podset: amounts in Kueue's integer units, in the layout's order."""

    layout: Layout
    pods: int | None
    amounts: tuple[int, ...]


class Facts(NamedTuple):
    """The facts that decide about a workload with nothing unusual to it.

    It was neither evicted nor preempted, or no longer is; it has no reclaimable pods and is no
    variant of another. Fields that `Workload` has, too, mean the same. ``reserved`` says that its
    quota is reserved, ``reserved_s`` since when, in seconds since 1970, if that is known;
    ``started_at`` is when its pods were ready, or else when its quota was reserved, and
    ``started_s`` the same in seconds. ``counts`` are the pods of each podset; ``text`` is the JSON
    that the facts were read from, and ``newest`` the newest time in it.
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
        """Empty: a workload with facts is no variant of another."""
        return ""


_HELD: Final = attrgetter("held")

Place = tuple[str, str]
"""A flavor and a resource; the flavor is empty where a resource has none."""

Entry = Workload | Facts
"""A workload as a state keeps it."""


class Changes(NamedTuple):
    """The changes to the workloads of a state.

    ``added`` are new, at the end of the dump; ``changed`` replace the workloads of the same key,
    which were admitted, evicted or finished, say; ``gone`` are the keys of deleted workloads.
    """

    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    gone: Collection[str] = ()

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
    """

    def __init__(
        self, entries: Iterable[Entry] = (), make: Callable[[Text], Workload] | None = None
    ) -> None:
        self.entries: Final[Sequence[Entry]] = tuple(entries)
        self._make = make
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

        Raises
        ------
        InputError
            If a changed or deleted workload is not there, or a new one already is.
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
        return Workloads(entries, self._make)

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys of the workloads, each ``namespace/name``."""
        return [one.key for one in self.entries]

    def find(self, key: str) -> Workload | None:
        """Return the workload ``namespace/name``, if it is there."""
        # A plan asks for the same key again and again, and a search goes through a million keys.
        if key not in self._places:
            try:
                self._places[key] = self.keys.index(key)
            except ValueError:
                return None
        return self[self._places[key]]

    def pending(self) -> Iterator[Workload]:
        """Yield the workloads that wait in a queue."""
        return self._where(lambda one: one.is_pending)

    def gone(self) -> Iterator[Workload]:
        """Yield the workloads that neither wait nor hold quota: finished or deactivated."""
        return self._where(lambda one: not one.is_pending and not one.holds_quota)

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
        are_facts = map(isinstance, self.entries, repeat(Facts))  # of a million, twice as fast
        if all(are_facts):
            return []
        return [one for one in self.entries if isinstance(one, Workload)]

    @cached_property
    def _plain_places(self) -> AbstractSet[Place]:
        """The places in which workloads that are kept as facts hold quota."""
        # Equal values of ``held`` are mostly one object.
        facts = (one for one in self.entries if isinstance(one, Facts))
        held = [*map(_HELD, facts if self._unusual else self.entries)]
        different = dict(zip(map(id, held), held, strict=True))
        layouts = {layout for some in different.values() for layout, _, _ in some}
        return {place for layout in layouts for place in layout.held}

    def _where(self, wanted: Callable[[Entry], bool]) -> Iterator[Workload]:
        return (self[place] for place, one in enumerate(self.entries) if wanted(one))

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
