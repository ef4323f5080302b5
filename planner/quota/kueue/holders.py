"""Workloads that hold quota: rows of one table, whose columns say who matters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property, partial
from itertools import chain, repeat
from operator import is_not, itemgetter
from typing import Any, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from planner.quota.classes import IntArray
from planner.quota.kueue.holding import Shape
from planner.state import Remarks
from planner.state.kueue import Workload
from planner.state.kueue_facts import Entry
from planner.state.kueue_workloads import Workloads


class Admitted(NamedTuple):
    """A workload that holds quota in an active or inactive ClusterQueue.

    ``key`` is namespace/name; ``uid`` is the last key of every order. ``usage`` is per fr in
    integer units; ``names`` are the fr the workload names a flavor for: it is a candidate only if
    one of them is contested. Holders of equal usage share both objects. ``pods`` is how many pods
    still run; ``priority`` is the effective priority; ``reserved_s`` is when the workload got its
    quota, in seconds since 1970. ``started_at`` is since when it runs, ``None`` if no pod of it
    ran, or no time is known, and ``running_s`` for how many whole seconds. ``remarks`` are the
    notes on it that count in the cost of its eviction; ``local_queue`` is the name of its
    LocalQueue, and ``past`` the past use of that LocalQueue, where its ClusterQueue orders by past
    use. The workload is ``workloads[place]``.
    """

    workloads: Sequence[Workload]
    place: int
    key: str
    namespace: str
    uid: str
    queue: int
    usage: Mapping[int, int]
    names: AbstractSet[int]
    pods: int
    priority: int
    queued_at: datetime
    reserved_s: float
    started_at: datetime | None
    running_s: int
    evicted: bool
    remarks: Remarks | None
    local_queue: str
    past: float | None = None

    @property
    def workload(self) -> Workload:
        """The workload object, which may be made only now."""
        return self.workloads[self.place]

    @property
    def own_priority(self) -> int:
        """The priority without any boost, for which no object is made."""
        held = self.workloads
        return (held.entries if isinstance(held, Workloads) else held)[self.place].priority

    def changed(self, workload: Workload) -> Admitted:
        """Return this holder with another object as its workload; its run goes on."""
        return self._replace(workloads=(workload,), place=0)


class Columns(NamedTuple):
    """The fields of C holders that are read of all of them, as columns of shape (C,).

    - ``queue``, ``priority``, ``evicted``, ``pods``, ``reserved_s``, ``running_s``: As `Admitted`.
    - ``noted``, ``dated``: Whether a holder has remarks, and whether it has past use.
    - ``usage``: The number of what it holds: holders with the same number share their ``usage``.
    - ``number``: Its place among all holders of its queue.
    """

    queue: IntArray
    priority: IntArray
    evicted: NDArray[np.bool_]
    pods: IntArray
    reserved_s: NDArray[np.float64]
    running_s: IntArray
    noted: NDArray[np.bool_]
    dated: NDArray[np.bool_]
    usage: IntArray
    number: IntArray

    @classmethod
    def of(cls, some: Collection[Admitted], usage: Sequence[int]) -> Columns:
        """Read the columns of holders of one queue; ``usage`` are the numbers of what they hold."""

        def read(name: str, kind: type[np.generic]) -> NDArray[Any]:
            return np.fromiter(map(_READERS[name], some), kind, len(some))

        return cls(
            read("queue", np.int64),
            read("priority", np.int64),
            read("evicted", np.bool_),
            read("pods", np.int64),
            read("reserved_s", np.float64),
            read("running_s", np.int64),
            is_said(map(_READERS["remarks"], some), len(some)),
            is_said(map(_READERS["past"], some), len(some)),
            np.array(usage, dtype=np.int64),
            np.arange(len(some)),
        )

    def at(self, rows: IntArray | slice) -> Columns:
        """Return the columns of the holders in these rows."""
        return Columns._make(column[rows] for column in self)


def is_said(values: Iterable[object], size: int) -> NDArray[np.bool_]:
    """Say of each of so many values whether it is not ``None``."""
    return np.fromiter(map(is_not, values, repeat(None)), np.bool_, size)


_READERS: Final = {name: itemgetter(place) for place, name in enumerate(Admitted._fields)}

_FEW: Final = 100
"""Up to so many holders are put in order by Python alone: arrays would take longer."""


class Held:
    """What holders hold, each once and numbered: those that share their ``usage`` are the same."""

    def __init__(self) -> None:
        self.some: Final[list[Admitted | Shape]] = []
        self._numbers: Final[dict[int, int]] = {}

    def number_of(self, one: Admitted | Shape) -> int:
        """Return the number of what ``one`` holds."""
        number = self._numbers.setdefault(id(one.usage), len(self.some))
        if number == len(self.some):
            self.some.append(one)
        return number


class Table:
    """H workloads that hold quota, queue by queue, each a record when it is asked for.

    A large state has a million holders, of which a plan looks at some hundred. ``entries`` have the
    key and the UID of each, at the places ``taken`` (H,); ``held`` has the ``usage`` and ``names``
    of each number in ``columns.usage``; ``make`` makes the record of a row, once. It is no closure,
    so that a copy of a simulated world makes records of its own.
    """

    def __init__(
        self,
        entries: Sequence[Admitted | Entry],
        taken: IntArray,
        columns: Columns,
        held: Sequence[Admitted | Shape],
        make: Callable[[int], Admitted],
    ) -> None:
        self.columns: Final = columns
        self.held: Final = held
        self._entries: Final = entries
        self._taken: Final = taken
        self._make: Final = make
        self._made: Final[dict[int, Admitted]] = {}

    @classmethod
    def of(cls, records: Sequence[Admitted]) -> Table:
        """Return the table of records that exist already, all of one queue."""
        held = Held()
        columns = Columns.of(records, [*map(held.number_of, records)])
        return cls(records, columns.number, columns, held.some, partial(_record_in, records))

    @classmethod
    def joined(cls, parts: Sequence[Holders]) -> Table:
        """Return the table of holders that stand in several tables."""
        begins, held, usage = [0], Held(), list[IntArray]()
        for part in parts:
            begins.append(begins[-1] + len(part))
            some, which = part.alike
            usage.append(np.array([*map(held.number_of, some)], dtype=np.int64)[which])
        columns = map(np.concatenate, zip(*(part.columns for part in parts), strict=True))
        joined = Columns._make(columns)._replace(usage=np.concatenate(usage))
        entries = [*chain.from_iterable(part.entries for part in parts)]
        make = partial(_of_parts, parts, begins)
        return cls(entries, np.arange(len(entries)), joined, held.some, make)

    def record(self, row: int) -> Admitted:
        """Return the record of a row."""
        found = self._made.get(row)
        if found is None:
            found = self._made[row] = self._make(row)
        return found

    def entries_at(self, rows: IntArray) -> Iterator[Admitted | Entry]:
        """Yield what has the key and the UID of the holders in these rows."""
        return map(self._entries.__getitem__, self._taken[rows].tolist())


def _record_in(records: Sequence[Admitted], row: int) -> Admitted:
    return records[row]


def _of_parts(parts: Sequence[Holders], begins: Sequence[int], row: int) -> Admitted:
    part = bisect_right(begins, row) - 1
    return parts[part][row - begins[part]]


class Holders(Sequence[Admitted]):
    """C workloads that hold quota, in some order: ``rows`` (C,) of a ``table``.

    ``among`` are those from which they were chosen, and which others may have been chosen from,
    too.
    """

    def __init__(self, table: Table, rows: IntArray, among: Holders | None = None) -> None:
        self.table: Final = table
        self.rows: Final = rows
        self._among: Final = among

    @classmethod
    def of(cls, records: Iterable[Admitted]) -> Holders:
        """Return all holders of a queue, whose records exist already."""
        table = Table.of([*records])
        return cls(table, np.arange(len(table.columns.queue)))

    @classmethod
    def joined(cls, parts: Iterable[Holders]) -> Holders:
        """Return the holders of several queues, one part after the other."""
        some = [part for part in parts if part]
        if not some:
            return NOBODY
        if all(part.table is some[0].table for part in some):
            return cls(some[0].table, np.concatenate([part.rows for part in some]))
        table = Table.joined(some)
        return cls(table, np.arange(len(table.columns.queue)))

    def at(self, places: Sequence[int] | IntArray) -> Holders:
        """Return the holders at these places, in their order."""
        chosen = self.rows[np.asarray(places, dtype=np.int64)]
        return Holders(self.table, chosen, self if self._among is None else self._among)

    def order(self, kind: IntArray) -> IntArray:
        """Return the places in Kueue's order of candidates, without past use: (C,).

        ``kind`` has the number of the list of each: at most 8, evicted ones come before all others.

        Source: docs/semantics/kueue.md §5.4.
        """
        held = self.columns
        group = np.where(held.evicted, kind, kind + 8).astype(np.uint8)
        if len(self) <= _FEW:
            uids = (one.uid for one in self.entries)
            numbers = (group, held.priority, -held.reserved_s)
            keys = [*zip(*(column.tolist() for column in numbers), uids, strict=True)]
            return np.array(sorted(range(len(self)), key=keys.__getitem__), dtype=np.int64)
        within = self.by_rank
        return within[np.argsort(group[within], kind="stable")]

    @cached_property
    def by_rank(self) -> IntArray:
        """The places by priority, then newest reservation, then UID: (C,).

        The same for all that ask about some of one tree, whichever lists these are in.
        """
        if self._among is not None:
            at = np.full(len(self.table.columns.queue), -1, dtype=np.int64)
            at[self.rows] = np.arange(len(self))
            found: IntArray = at[self._among.rows[self._among.by_rank]]
            return found[found >= 0]
        newest = -self.columns.reserved_s
        order = np.lexsort((newest, self.columns.priority))  # which sorts by its last key first
        equal = np.ones(max(0, len(order) - 1), dtype=np.bool_)
        for column in (newest, self.columns.priority):
            equal &= column[order[1:]] == column[order[:-1]]
        run = np.concatenate(([0], np.cumsum(~equal)))  # (C,) a number for each run of equals
        in_run = np.zeros(len(order), dtype=np.bool_)
        # Only ties are sorted by Python: UIDs are strings, and few workloads tie.
        in_run[1:] |= equal
        in_run[:-1] |= equal
        tied = order[in_run]
        # Nearly in order already, which Python's sort makes use of.
        uids = (one.uid for one in self.table.entries_at(self.rows[tied]))
        keys = [*zip(run[in_run].tolist(), uids, strict=True)]
        order[in_run] = tied[sorted(range(len(keys)), key=keys.__getitem__)]
        return order

    def __len__(self) -> int:
        """Return C."""
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Admitted: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Admitted, ...]: ...

    def __getitem__(self, place: int | slice) -> Admitted | tuple[Admitted, ...]:
        """Return the record at a place, or the records of a slice."""
        if isinstance(place, slice):
            return tuple(map(self.table.record, self.rows[place].tolist()))
        return self.table.record(int(self.rows[place]))

    def __iter__(self) -> Iterator[Admitted]:
        """Yield all records."""
        return map(self.table.record, self.rows.tolist())

    @cached_property
    def columns(self) -> Columns:
        """The columns of these holders."""
        return self.table.columns.at(self.rows)

    @property
    def entries(self) -> Iterator[Admitted | Entry]:
        """What has the key and the UID of each holder."""
        return self.table.entries_at(self.rows)

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys of the holders, ``namespace/name``: (C,)."""
        return [one.key for one in self.entries]

    def place_of(self, one: Admitted) -> int:
        """Return the place of a holder, which must be one of these."""
        places = np.flatnonzero(self.columns.queue == one.queue)
        keys = [each.key for each in self.table.entries_at(self.rows[places])]
        return int(places[keys.index(one.key)])

    def find(self, key: str) -> Admitted | None:
        """Return the holder with a key, if it is here; no other record is made."""
        return self[self.keys.index(key)] if key in self.keys else None

    @cached_property
    def alike(self) -> tuple[Sequence[Admitted | Shape], IntArray]:
        """Different usages with the names, and for each holder the number of its usage: (C,)."""
        held, numbers = self.table.held, self.columns.usage
        there = np.bincount(numbers, minlength=len(held)) > 0
        some = [held[number] for number in np.flatnonzero(there).tolist()]
        return some, (np.cumsum(there) - 1)[numbers]

    def places_of(self, some: Holders) -> IntArray:
        """Return the place of each holder of ``some`` among these, -1 if it is not here: (C,).

        These must be all holders of some queues, one after the other.
        """
        first = np.flatnonzero(self.columns.number == 0)
        own, asked = self.columns.queue[first], some.columns.queue
        size = 1 + max(int(own.max(initial=0)), int(asked.max(initial=0)))
        begins = np.full(size, -(2**62))
        begins[own] = first
        places: IntArray = begins[asked] + some.columns.number
        places[places < 0] = -1
        return places


NOBODY: Final = Holders.of(())
