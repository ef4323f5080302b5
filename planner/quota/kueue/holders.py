"""Workloads that hold quota, as columns and as records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property
from itertools import accumulate, chain, repeat
from operator import is_not, itemgetter
from typing import Any, Final, NamedTuple, Self, cast, overload

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
    - ``identity``: The ``id`` of its ``usage``: holders of equal usage in a snapshot share that.
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
    identity: IntArray
    number: IntArray

    @classmethod
    def of(cls, some: Collection[Admitted]) -> Columns:
        """Read the columns of holders; they are numbered from 0, as if all were of one queue."""

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
            np.fromiter(map(id, map(_READERS["usage"], some)), np.int64, len(some)),
            np.arange(len(some)),
        )

    def at(self, places: IntArray | slice) -> Columns:
        """Return the columns of the holders at these places."""
        return Columns._make(column[places] for column in self)

    @classmethod
    def joined(cls, parts: Iterable[Columns]) -> Columns:
        """Return the columns of all parts, one part after the other."""
        return cls._make(map(np.concatenate, zip(*parts, strict=True)))


def is_said(values: Iterable[object], size: int) -> NDArray[np.bool_]:
    """Say of each of so many values whether it is not ``None``."""
    return np.fromiter(map(is_not, values, repeat(None)), np.bool_, size)


_READERS: Final = {name: itemgetter(place) for place, name in enumerate(Admitted._fields)}

_FEW: Final = 100
"""Up to so many holders are put in order by Python alone: arrays would take longer."""


class Holders(Sequence[Admitted]):
    """C workloads that hold quota, in some order: their fields as columns, and each as a record.

    A large state has a million holders, of which a plan looks at some hundred: columns say who
    matters, and a record is made when it is asked for, once. These are all holders of a queue, or
    others joined (``parts``), or some of others (``source``: these, and the places among them).
    ``entries`` has the key and the UID of each: its record, or the workload as the state keeps it;
    ``shapes`` has, by identity as in the columns, what has the ``usage`` and ``names``.
    """

    parts: Sequence[Holders] = ()
    source: tuple[Holders, IntArray] | None = None
    _make: Callable[[int], Admitted] | None = None

    def __init__(self, some: Iterable[Admitted] = ()) -> None:
        """Hold all holders of a queue, whose records exist already."""
        self._records: list[Admitted | None] = [*some]

    @classmethod
    def made_by(
        cls,
        make: Callable[[int], Admitted],
        columns: Columns,
        entries: tuple[Sequence[Entry], IntArray],
        shapes: Mapping[int, Shape],
    ) -> Self:
        """Return all holders of a queue, of which ``make`` makes the record at a place.

        ``entries`` are the workloads of the state, and the places of the holders among them.
        """
        found = cls()
        found._records, found._make, found.taken = [None] * len(columns.queue), make, entries
        found.columns, found.shapes = columns, shapes
        return found

    @classmethod
    def joined(cls, parts: Iterable[Holders]) -> Self:
        """Return the holders of several queues, one part after the other."""
        found = cls()
        found.parts = [part for part in parts if part]
        found._records = [None] * sum(map(len, found.parts))
        return found

    def at(self, places: Sequence[int] | IntArray) -> Holders:
        """Return the holders at these places, in their order."""
        found = Holders()
        found.source = self, np.asarray(places, dtype=np.int64)
        found._records = [None] * len(places)
        return found

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
        if self.source is not None:
            whole, places = self.source
            at = np.full(len(whole), -1, dtype=np.int64)
            at[places] = np.arange(len(places))
            found = at[whole.by_rank]
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
        keys = [*zip(run[in_run].tolist(), (one.uid for one in self.entries_at(tied)), strict=True)]
        order[in_run] = tied[sorted(range(len(keys)), key=keys.__getitem__)]
        return order

    def entries_at(self, places: IntArray) -> Iterator[Admitted | Entry]:
        """Yield what has the key and the UID of the holders at these places."""
        if self.taken is None:
            return map(self.entries.__getitem__, places.tolist())
        every, taken = self.taken
        return map(every.__getitem__, taken[places].tolist())

    @property
    def _is_whole(self) -> bool:
        """Whether these are all holders of a queue."""
        return not self.parts and self.source is None

    @property
    def by_queue(self) -> Mapping[int, Holders]:
        """All holders of each queue that these are taken from."""
        # A queue's own are not kept by themselves: that would be a reference cycle.
        if self._is_whole:
            return dict.fromkeys(self.columns.queue[:1].tolist(), self)
        return self._taken_from

    @cached_property
    def _taken_from(self) -> Mapping[int, Holders]:
        if self.source is not None:
            return self.source[0].by_queue
        return dict(chain.from_iterable(part.by_queue.items() for part in self.parts))

    def __len__(self) -> int:
        """Return C."""
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> Admitted: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Admitted, ...]: ...

    def __getitem__(self, place: int | slice) -> Admitted | tuple[Admitted, ...]:
        """Return the record at a place, or the records of a slice."""
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        found = self._records[place]
        if found is None:
            place %= len(self)
            if self._make is not None:
                found = self._make(place)
            else:
                queue, number = self.columns.queue, self.columns.number
                found = self.by_queue[int(queue[place])][int(number[place])]
            self._records[place] = found
        return found

    def __iter__(self) -> Iterator[Admitted]:
        """Yield all records."""
        if self._is_whole and self._make is None:
            return cast("Iterator[Admitted]", iter(self._records))
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def taken(self) -> tuple[Sequence[Entry], IntArray] | None:
        """The workloads of the state, and the place of each holder, unless records have those."""
        if self.source is not None:
            whole = self.source[0].taken
            return None if whole is None else (whole[0], whole[1][self.source[1]])
        some = [part.taken for part in self.parts]
        known = [one for one in some if one is not None]
        if not known or len(known) < len(some) or any(one[0] is not known[0][0] for one in known):
            return None
        return known[0][0], np.concatenate([places for _, places in known])

    @cached_property
    def entries(self) -> Sequence[Admitted | Entry]:
        """What has the key and the UID of each holder."""
        if self.taken is not None:
            return [*self.entries_at(np.arange(len(self)))]
        if self.parts:
            return [*chain.from_iterable(part.entries for part in self.parts)]
        if self.source is not None:
            return [*self.source[0].entries_at(self.source[1])]
        return [*self]

    @cached_property
    def shapes(self) -> Mapping[int, Admitted | Shape]:
        """What has the ``usage`` and ``names`` of these holders, by the identity of the usage."""
        if self.source is not None:
            return self.source[0].shapes
        if not self.parts:
            return {id(one.usage): one for one in self}
        different = {id(part.shapes): part.shapes for part in self.parts}
        return dict(chain.from_iterable(one.items() for one in different.values()))

    @cached_property
    def columns(self) -> Columns:
        """The columns of these holders."""
        if self.parts:
            return Columns.joined(part.columns for part in self.parts)
        if self.source is not None:
            whole, places = self.source
            return whole.columns.at(places)
        return Columns.of(self)

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys of the holders, ``namespace/name``: (C,)."""
        return [one.key for one in self.entries_at(np.arange(len(self)))]

    @cached_property
    def alike(self) -> tuple[Sequence[Admitted | Shape], IntArray]:
        """Different usages with the names, and for each holder the number of its usage: (C,)."""
        if self.source is not None:
            whole, places = self.source
            every, numbers = whole.alike
            there = np.bincount(numbers[places], minlength=len(every)) > 0
            some = [every[number] for number in np.flatnonzero(there).tolist()]
            return some, (np.cumsum(there) - 1)[numbers[places]]
        identities, which = np.unique(self.columns.identity, return_inverse=True)
        return [self.shapes[one] for one in identities.tolist()], which.astype(np.int64)

    def places_of(self, some: Holders) -> IntArray:
        """Return the place of each holder of ``some`` among these, -1 if it is not here: (C,).

        ``self`` must be joined of all holders of some queues.
        """
        size = 1 + max(self._begins, default=0)
        begins = np.full(max(size, 1 + int(some.columns.queue.max(initial=0))), -(2**62))
        begins[[*self._begins]] = [*self._begins.values()]
        places: IntArray = begins[some.columns.queue] + some.columns.number
        places[places < 0] = -1
        return places

    def place_of(self, one: Admitted) -> int:
        """Return the place of a record of one of these, which are joined as for ``places_of``."""
        return self._begins[one.queue] + self.by_queue[one.queue].number_of(one)

    def number_of(self, made: Admitted) -> int:
        """Return the place of a record that was made here; unlike ``index``, make no others."""
        return self._records.index(made)

    @cached_property
    def _begins(self) -> Mapping[int, int]:
        """Where the holders of each queue begin."""
        sizes = accumulate(map(len, self.parts), initial=0)
        return {int(one.columns.queue[0]): at for one, at in zip(self.parts, sizes, strict=False)}


NOBODY: Final = Holders()
