"""Workloads that hold quota, as records and as columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property
from itertools import chain, islice, repeat
from operator import is_not, itemgetter
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from planner.quota.kueue.holding import started_at
from planner.state import Remarks
from planner.state.kueue import Workload


class Admitted(NamedTuple):
    """A workload that holds quota in an active or inactive ClusterQueue.

    ``key`` is namespace/name; ``uid`` is the last key of every order. ``usage`` is per fr in
    integer units; ``names`` are the fr the workload names a flavor for: it is a candidate only if
    one of them is contested. Holders of equal usage share both objects. ``pods`` is how many pods
    still run; ``priority`` is the effective priority; ``reserved_s`` is when the workload got its
    quota, in seconds since 1970; ``started_at`` is when it last started running, ``running_s`` how
    many whole seconds ago. ``remarks`` are the notes on it that count in the cost of its eviction;
    ``local_queue`` is the name of its LocalQueue, and ``past`` the past use of that LocalQueue,
    where its ClusterQueue orders by past use. The workload is ``workloads[place]``.
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

    def changed(self, workload: Workload) -> Admitted:
        """Return this holder with another object as its workload, and the start time of that."""
        started = started_at(workload)
        return self._replace(workloads=(workload,), place=0, started_at=started)


class Columns(NamedTuple):
    """The fields of C holders that are read of all of them, as columns of shape (C,).

    - ``queue``, ``priority``, ``evicted``, ``pods``, ``reserved_s``, ``running_s``: As `Admitted`.
    - ``noted``, ``dated``: Whether a holder has remarks, and whether it has past use.
    - ``identity``: The ``id`` of its ``usage``: holders of equal usage in a snapshot share that.
    - ``number``: Its place among all holders of its queue.
    """

    queue: NDArray[np.int64]
    priority: NDArray[np.int64]
    evicted: NDArray[np.bool_]
    pods: NDArray[np.int64]
    reserved_s: NDArray[np.float64]
    running_s: NDArray[np.int64]
    noted: NDArray[np.bool_]
    dated: NDArray[np.bool_]
    identity: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, some: Collection[Admitted]) -> Columns:
        """Read the columns of holders; they are numbered from 0, as if all were of one queue."""

        def read(name: str, kind: type[np.generic]) -> NDArray[Any]:
            return np.fromiter(map(_READERS[name], some), kind, len(some))

        def is_said(name: str) -> NDArray[np.bool_]:
            return np.fromiter(
                map(is_not, map(_READERS[name], some), repeat(None)), np.bool_, len(some)
            )

        return cls(
            read("queue", np.int64),
            read("priority", np.int64),
            read("evicted", np.bool_),
            read("pods", np.int64),
            read("reserved_s", np.float64),
            read("running_s", np.int64),
            is_said("remarks"),
            is_said("past"),
            np.fromiter(map(id, map(_READERS["usage"], some)), np.int64, len(some)),
            np.arange(len(some)),
        )

    def at(self, places: NDArray[np.int64] | slice) -> Columns:
        """Return the columns of the holders at these places."""
        return Columns._make(column[places] for column in self)

    @classmethod
    def joined(cls, parts: Iterable[Columns]) -> Columns:
        """Return the columns of all parts, one part after the other."""
        return cls._make(map(np.concatenate, zip(*parts, strict=True)))


_READERS: Final = {name: itemgetter(place) for place, name in enumerate(Admitted._fields)}

_AT_ONCE: Final = 1000
"""How many holders are read together: records just made are still in the processor's cache."""


class Holders(tuple[Admitted, ...]):  # noqa: SLOT001 - columns are kept beside the items
    """C workloads that hold quota, in some order; their fields as columns.

    A large state has a million holders, scattered in memory: the columns are read once, queue by
    queue. ``parts`` are the holders of one queue after the other; ``source`` is all holders of a
    queue, and the places of these among them. Without either, these are all holders of a queue.
    """

    parts: Sequence[Holders] = ()
    source: tuple[Holders, NDArray[np.int64]] | None = None

    @classmethod
    def by_queue(cls, some: Iterable[Admitted], queues: Iterable[int]) -> dict[int, Self]:
        """Return the holders of each of these ClusterQueues, in the order of ``some``."""
        held: dict[int, list[Admitted]] = {queue: [] for queue in queues}
        parts, stream = [Columns.of(())], iter(some)
        while chunk := [*islice(stream, _AT_ONCE)]:
            parts.append(Columns.of(chunk))
            for queue, one in zip(map(_READERS["queue"], chunk), chunk, strict=True):
                held[queue].append(one)
        columns = Columns.joined(parts)
        columns = columns.at(np.argsort(columns.queue, kind="stable"))
        begins = np.searchsorted(columns.queue, [*held]).tolist()
        found = {}
        for (queue, group), begin in zip(held.items(), begins, strict=True):
            found[queue] = cls(group)
            part = columns.at(slice(begin, begin + len(group)))
            found[queue].columns = part._replace(number=np.arange(len(group)))
        return found

    @classmethod
    def joined(cls, parts: Iterable[Holders]) -> Self:
        """Return the holders of several queues, one queue after the other."""
        some = [part for part in parts if part]
        found = cls(chain.from_iterable(some))
        found.parts = some
        return found

    def at(self, places: Sequence[int]) -> Holders:
        """Return the holders at these places; ``self`` must be all holders of a queue."""
        if len(places) == len(self):
            return self
        found = Holders(map(self.__getitem__, places))
        found.source = self, np.array(places, dtype=np.int64)
        return found

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
        return [*map(_READERS["key"], self)]

    @cached_property
    def alike(self) -> tuple[Sequence[Admitted], NDArray[np.int64]]:
        """A holder for each different usage, and for each holder the number of its usage: (C,)."""
        _, first, which = np.unique(self.columns.identity, return_index=True, return_inverse=True)
        return [self[place] for place in first.tolist()], which.astype(np.int64)

    def places_of(self, some: Holders) -> NDArray[np.int64]:
        """Return the place of each holder of ``some`` among these, -1 if it is not here: (C,).

        Of each of its queues ``self`` has all holders, one queue after the other.
        """
        size = 1 + max(int(one.columns.queue.max(initial=0)) for one in (self, some))
        begins, begin = np.full(size, -(2**62), dtype=np.int64), 0
        for part in self.parts:
            begins[part[0].queue] = begin
            begin += len(part)
        places: NDArray[np.int64] = begins[some.columns.queue] + some.columns.number
        places[places < 0] = -1
        return places


NOBODY: Final = Holders()
