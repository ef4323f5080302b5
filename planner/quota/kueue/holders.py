"""Workloads that hold quota: rows of one table, whose columns say who matters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property, partial
from itertools import accumulate, repeat
from operator import is_not
from typing import Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from planner.quota.classes import IntArray
from planner.quota.kueue.holding import Shape
from planner.state import Remarks
from planner.state.kueue import Workload


class Admitted(NamedTuple):
    """A workload that holds quota in an active or inactive ClusterQueue.

    ``key`` is namespace/name; ``uid`` is the last key of every order. ``shape`` is what it holds:
    it is a candidate only if one of the ``names`` is contested. ``priority`` is the effective
    priority; ``reserved_s`` is when the workload got its quota, in seconds since 1970.
    ``started_at`` is since when it runs, ``None`` if no pod of it ran, or no time is known, and
    ``running_s`` for how many whole seconds. ``remarks`` are the notes on it that count in the cost
    of its eviction; ``local_queue`` is the name of its LocalQueue, and ``past`` the past use of
    that LocalQueue, where its ClusterQueue orders by past use. ``leaving`` says that it goes
    whatever is decided: it is ``evicted``, or being deleted. The workload is ``workloads[place]``.
    """

    workloads: Sequence[Workload]
    place: int
    key: str
    namespace: str
    uid: str
    queue: int
    shape: Shape
    priority: int
    queued_at: datetime
    reserved_s: float
    started_at: datetime | None
    running_s: int
    evicted: bool
    leaving: bool
    remarks: Remarks | None
    local_queue: str
    past: float | None = None

    @property
    def usage(self) -> Mapping[int, int]:
        """What it holds per fr, in integer units."""
        return self.shape.usage

    @property
    def names(self) -> AbstractSet[int]:
        """The fr for which it names a flavor."""
        return self.shape.names

    @property
    def pods(self) -> int:
        """How many pods still run."""
        return self.shape.pods

    @property
    def workload(self) -> Workload:
        """The workload object, which may be made only now."""
        return self.workloads[self.place]

    def changed(self, workload: Workload) -> Admitted:
        """Return this holder with another object as its workload; its run goes on."""
        return self._replace(workloads=(workload,), place=0)


class Columns(NamedTuple):
    """The fields of C holders that are read of all of them, as columns of shape (C,).

    - ``queue``, ``priority``, ``evicted``, ``leaving``, ``pods``, ``reserved_s``, ``running_s``: As
      `Admitted`.
    - ``noted``, ``dated``: Whether a holder has remarks, and whether it has past use.
    - ``usage``: The number of its shape in the table.
    - ``number``: Its place among all holders of its queue.
    """

    queue: IntArray
    priority: IntArray
    evicted: NDArray[np.bool_]
    leaving: NDArray[np.bool_]
    pods: IntArray
    reserved_s: NDArray[np.float64]
    running_s: IntArray
    noted: NDArray[np.bool_]
    dated: NDArray[np.bool_]
    usage: IntArray
    number: IntArray

    def at(self, rows: IntArray | slice) -> Columns:
        """Return the columns of the holders in these rows."""
        return Columns._make(column[rows] for column in self)


def is_said(values: Iterable[object], size: int) -> NDArray[np.bool_]:
    """Say of each of so many values whether it is not ``None``."""
    return np.fromiter(map(is_not, values, repeat(None)), np.bool_, size)


FEW: Final = 100
"""Up to so many holders are looked at one by one, and put in order: arrays would take longer."""


class Filled(NamedTuple):
    """What a table of H holders has of all of them: see `Table`."""

    key: NDArray[np.object_]
    uid: NDArray[np.object_]
    taken: IntArray
    columns: Columns
    shapes: Sequence[Shape]


class Table:
    """H workloads that hold quota, queue by queue, each a record when it is asked for.

    A large state has a million holders, of which a plan looks at some hundred; of a small one in
    which time passes a plan looks at all holders, and at no column. So the columns are filled
    when somebody asks for them, by ``fill``. The ``key`` and ``uid`` of each stand at
    the places ``taken`` (H,); ``shapes`` have what the numbers in ``columns.usage`` stand for;
    ``make`` makes the record of a row, once. Neither is a closure, so that a copy of a simulated
    world makes records of its own.
    """

    def __init__(self, fill: Callable[[], Filled], make: Callable[[int], Admitted]) -> None:
        self._fill: Final = fill
        self._make: Final = make
        self._made: Final[dict[int, Admitted]] = {}

    @cached_property
    def filled(self) -> Filled:
        """The columns, and what they stand for."""
        return self._fill()

    def record(self, row: int) -> Admitted:
        """Return the record of a row."""
        found = self._made.get(row)
        if found is None:
            found = self._made[row] = self._make(row)
        return found


def _of_records(records: Sequence[Admitted]) -> Filled:
    """Fill the table of records that exist already, all of one queue."""
    size, shapes = len(records), dict[Shape, int]()
    usage = [shapes.setdefault(one.shape, len(shapes)) for one in records]
    columns = Columns(
        queue=np.array([one.queue for one in records], dtype=np.int64),
        priority=np.array([one.priority for one in records], dtype=np.int64),
        evicted=np.array([one.evicted for one in records], dtype=np.bool_),
        leaving=np.array([one.leaving for one in records], dtype=np.bool_),
        pods=np.array([one.shape.pods for one in records], dtype=np.int64),
        reserved_s=np.array([one.reserved_s for one in records], dtype=np.float64),
        running_s=np.array([one.running_s for one in records], dtype=np.int64),
        noted=is_said([one.remarks for one in records], size),
        dated=is_said([one.past for one in records], size),
        usage=np.array(usage, dtype=np.int64),
        number=np.arange(size),
    )
    key = np.array([one.key for one in records], dtype=np.object_)
    uid = np.array([one.uid for one in records], dtype=np.object_)
    return Filled(key, uid, columns.number, columns, [*shapes])


def _of_parts(parts: Sequence[Holders]) -> Filled:
    """Fill the table of holders that stand in several tables."""
    shapes, usage = dict[Shape, int](), list[IntArray]()
    for part in parts:
        some, which = part.alike
        numbers = [shapes.setdefault(one, len(shapes)) for one in some]
        usage.append(np.array(numbers, dtype=np.int64)[which])
    columns = map(np.concatenate, zip(*(part.columns for part in parts), strict=True))
    joined = Columns._make(columns)._replace(usage=np.concatenate(usage))
    key = np.concatenate([part.table.filled.key[part.places] for part in parts])
    uid = np.concatenate([part.table.filled.uid[part.places] for part in parts])
    return Filled(key, uid, np.arange(len(key)), joined, [*shapes])


def _record_in(records: Sequence[Admitted], row: int) -> Admitted:
    return records[row]


def _record_of(parts: Sequence[Holders], begins: Sequence[int], row: int) -> Admitted:
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
    def of_records(cls, records: Iterable[Admitted]) -> Holders:
        """Return all holders of a queue, whose records exist already."""
        some = [*records]
        return cls(
            Table(partial(_of_records, some), partial(_record_in, some)), np.arange(len(some))
        )

    @classmethod
    def joined(cls, parts: Iterable[Holders]) -> Holders:
        """Return the holders of several queues, one part after the other."""
        some = [part for part in parts if part]
        if not some:
            return NOBODY
        if all(part.table is some[0].table for part in some):
            return cls(some[0].table, np.concatenate([part.rows for part in some]))
        begins = [0, *accumulate(map(len, some))]
        table = Table(partial(_of_parts, some), partial(_record_of, some, begins))
        return cls(table, np.arange(begins[-1]))

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
        if len(self) <= FEW:
            uids = self.table.filled.uid[self.places].tolist()
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
            at = np.full(len(self.table.filled.columns.queue), -1, dtype=np.int64)
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
        uids = self.table.filled.uid[self.places[tied]].tolist()
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
        return self.table.filled.columns.at(self.rows)

    @property
    def places(self) -> IntArray:
        """The places of the keys and UIDs of these holders in those of the table: (C,)."""
        return self.table.filled.taken[self.rows]

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys of the holders, ``namespace/name``: (C,)."""
        keys: list[str] = self.table.filled.key[self.places].tolist()
        return keys

    def find(self, key: str) -> Admitted | None:
        """Return the holder with a key, if it is here; no other record is made."""
        return self[self.keys.index(key)] if key in self.keys else None

    @cached_property
    def alike(self) -> tuple[Sequence[Shape], IntArray]:
        """Different shapes, and for each holder the number of its own: (C,)."""
        shapes, numbers = self.table.filled.shapes, self.columns.usage
        there = np.bincount(numbers, minlength=len(shapes)) > 0
        some = [shapes[number] for number in np.flatnonzero(there).tolist()]
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


NOBODY: Final = Holders.of_records(())
