"""Who holds quota, as records and as columns."""

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
    integer units; ``names`` are the fr it names a flavor for, which is what makes it a candidate;
    both are shared by all that hold the same. ``pods`` is how many still run; ``priority`` is the
    effective priority; ``reserved_s`` is when it got its quota, in seconds since 1970;
    ``started_at`` is when it last started running, ``running_s`` how many whole seconds ago that
    was. ``remarks`` is what is noted on it that counts in what its eviction costs; ``local_queue``
    is the name of its LocalQueue, and ``past`` what that used, where its ClusterQueue orders by
    that. It stands at a ``place`` in ``workloads``.
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
        """The workload itself, made when it is asked for."""
        return self.workloads[self.place]

    def changed(self, workload: Workload) -> Admitted:
        """Return the same with another object for it."""
        started = started_at(workload)
        return self._replace(workloads=(workload,), place=0, started_at=started)


class Columns(NamedTuple):
    """What is asked of all of C holders, (C,) each.

    - ``queue``, ``priority``, ``evicted``, ``pods``, ``reserved_s``, ``running_s``: As of each.
    - ``noted``, ``dated``: Whether there are remarks, and whether there is past use.
    - ``identity``: The identity of what each holds: a snapshot shares that among equal ones.
    - ``number``: The place of each among all of its queue.
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
        """Read some holders of a queue, or of many: their numbers are as if it were one."""

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
        """Return those of some of them."""
        return Columns._make(column[places] for column in self)

    @classmethod
    def joined(cls, parts: Iterable[Columns]) -> Columns:
        """Return those of some after those of others."""
        return cls._make(map(np.concatenate, zip(*parts, strict=True)))


_READERS: Final = {name: itemgetter(place) for place, name in enumerate(Admitted._fields)}

_AT_ONCE: Final = 1000
"""How many are read together: those that were just made are still at hand."""


class Holders(tuple[Admitted, ...]):  # noqa: SLOT001 - columns are kept beside the items
    """C workloads that hold quota, in some order; their fields as columns.

    A large state has a million of them, each somewhere else in memory: what is asked of all is
    read once, queue by queue. ``parts`` are those of one queue after the other; ``source`` are all
    of a queue, and which of them these are. Without either these are all of a queue.
    """

    parts: Sequence[Holders] = ()
    source: tuple[Holders, NDArray[np.int64]] | None = None

    @classmethod
    def by_queue(cls, some: Iterable[Admitted], queues: Iterable[int]) -> dict[int, Self]:
        """Return those of each of some ClusterQueues, in the order in which they come."""
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
        """Return those of several queues, one after the other."""
        some = [part for part in parts if part]
        found = cls(chain.from_iterable(some))
        found.parts = some
        return found

    def at(self, places: Sequence[int]) -> Holders:
        """Return those at some places among these, which are all of a queue."""
        if len(places) == len(self):
            return self
        found = Holders(map(self.__getitem__, places))
        found.source = self, np.array(places, dtype=np.int64)
        return found

    @cached_property
    def columns(self) -> Columns:
        """What is asked of all of them."""
        if self.parts:
            return Columns.joined(part.columns for part in self.parts)
        if self.source is not None:
            whole, places = self.source
            return whole.columns.at(places)
        return Columns.of(self)

    @cached_property
    def keys(self) -> Sequence[str]:
        """(C,) each as ``namespace/name``."""
        return [*map(_READERS["key"], self)]

    @cached_property
    def alike(self) -> tuple[Sequence[Admitted], NDArray[np.int64]]:
        """One for each that holds differently, and (C,) which stands for whom."""
        _, first, which = np.unique(self.columns.identity, return_index=True, return_inverse=True)
        return [self[place] for place in first.tolist()], which.astype(np.int64)

    def places_of(self, some: Holders) -> NDArray[np.int64]:
        """Return the place of each of some workloads among these, -1 if it is not here: (C,).

        Of every queue these are all, one queue after the other.
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
