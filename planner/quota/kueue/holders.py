"""Who holds quota, as records and as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property
from itertools import chain
from operator import itemgetter
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
    effective priority; ``reserved_s`` is ``reserved_at`` in seconds since 1970; ``started_at``
    is when it last started running, ``running_s`` how many whole seconds ago that was.
    ``remarks`` is what is noted on it that counts in what its eviction costs; ``local_queue``
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
    reserved_at: datetime
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
    """What is asked of C holders most, (C,) each.

    - ``queue``, ``priority``, ``evicted``: As of each of them.
    - ``identity``: The identity of what each holds: a snapshot shares that among equal ones.
    - ``number``: The place of each among all of its queue.
    """

    queue: NDArray[np.int64]
    priority: NDArray[np.int64]
    evicted: NDArray[np.bool_]
    identity: NDArray[np.int64]
    number: NDArray[np.int64]


class Holders(tuple[Admitted, ...]):  # noqa: SLOT001 - columns are kept beside the items
    """C workloads that hold quota, in some order; their fields as columns.

    A large state has a million of them, each somewhere else in memory: what is asked of all is
    read once, queue by queue. ``parts`` are those of one queue after the other; ``source`` are all
    of a queue, and which of them these are. Without either these are all of a queue.
    """

    parts: Sequence[Holders] = ()
    source: tuple[Holders, NDArray[np.int64]] | None = None

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

    def column(self, name: str) -> Sequence[Any]:
        """(C,) a field of all."""
        if name not in self._read:
            names = _TOGETHER if name in _TOGETHER else (name,)
            told: dict[str, list[Any]] = {one: [] for one in names}
            for part in self.parts or (self,):
                for one, values in told.items():
                    values.extend(map(_READERS[one], part))
            self._read.update(told)
        return self._read[name]

    @cached_property
    def _read(self) -> dict[str, Sequence[Any]]:
        return {}

    @cached_property
    def columns(self) -> Columns:
        """Read in one go of all of a queue, and taken from there for others."""
        if self.parts:
            each = zip(*(part.columns for part in self.parts), strict=True)
            return Columns._make(map(np.concatenate, each))
        if self.source is not None:
            whole, places = self.source
            return Columns._make(column[places] for column in whole.columns)
        size = len(self)
        return Columns(
            np.full(size, self[0].queue if self else 0, dtype=np.int64),
            np.fromiter(map(_READERS["priority"], self), np.int64, size),
            np.fromiter(map(_READERS["evicted"], self), np.bool_, size),
            np.fromiter(map(id, map(_READERS["usage"], self)), np.int64, size),
            np.arange(size),
        )

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


_TOGETHER: Final = ("key", "uid", "pods", "reserved_s", "running_s", "remarks", "past")
"""Fields that every plan asks of all: they are read in one go."""

_READERS: Final = {name: itemgetter(place) for place, name in enumerate(Admitted._fields)}
