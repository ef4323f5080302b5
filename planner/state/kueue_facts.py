"""Workloads with nothing unusual to them as a few facts, and all workloads as columns of facts.

The columns are filled while a dump is read, when the facts are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import compress, repeat
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

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

    It was neither evicted nor preempted, or no longer is; it has no reclaimable pods, is no
    variant of another, and neither replaced another slice of an elastic workload nor was replaced.
    Fields that `Workload` has, too, mean the same. ``reserved`` says that its quota is reserved,
    ``reserved_s`` since when, in seconds since 1970, if that is known; ``started_at`` is since
    when it runs (``run_of``), and ``started_s`` the same in seconds. ``counts`` are the pods
    of each podset; ``text`` is the JSON that the facts were read from, and ``newest`` the newest
    time in it.
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


Place = tuple[str, str]
"""A flavor and a resource; the flavor is empty where a resource has none."""

Entry = Workload | Facts
"""A workload as a state keeps it."""

SOME: Final = 1000
"""How many workloads are read together: the facts of one are still in the processor's cache."""


class FactColumns(NamedTuple):
    """The workloads of a state as columns of shape (N,).

    ``are_facts`` says which are kept as facts: of the others only the columns up to ``queue`` say
    something.

    - ``holds_quota``, ``is_pending``: As in `Facts`.
    - ``queue``: The number of ``admitted_by`` in ``queues``.
    - ``holding``: A number below ``holdings`` for what a workload holds: workloads with the same
      number have equal ``held`` and ``counts``.
    - ``priority``, ``reserved``, ``reserved_s``, ``started_s``: As in `Facts`; a missing time is
      no number.
    - ``is_boosted``, ``has_remarks``: Whether there is a boost, and whether there are remarks.
    """

    queues: Sequence[str]
    holdings: int
    are_facts: NDArray[np.bool_]
    holds_quota: NDArray[np.bool_]
    is_pending: NDArray[np.bool_]
    queue: NDArray[np.int32]
    holding: NDArray[np.int32]
    priority: NDArray[np.int64]
    reserved: NDArray[np.bool_]
    reserved_s: NDArray[np.float64]
    started_s: NDArray[np.float64]
    is_boosted: NDArray[np.bool_]
    has_remarks: NDArray[np.bool_]

    def firsts(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first of some places, in order, with each number of a holding; -1 if none."""
        places = places[self.are_facts[places]]
        firsts = np.full(self.holdings, -1, dtype=np.int64)
        # Of places with the same number the last to be written stays.
        firsts[self.holding[places][::-1]] = places[::-1]
        return firsts

    def updated(self, kept: NDArray[np.int64], new: Sequence[Entry]) -> FactColumns:
        """Return the columns of M other workloads.

        ``kept`` (M,) has the place of each among these workloads, -1 for each of the ``new``.
        """
        reading = Reading(self.queues, self.holdings)
        reading.read(new)
        found = reading.columns()
        own: Sequence[NDArray[Any]] = self[2:]
        read: Sequence[NDArray[Any]] = found[2:]
        is_kept, columns = kept >= 0, list[NDArray[Any]]()
        for before, fresh in zip(own, read, strict=True):
            columns.append(np.empty(len(kept), dtype=fresh.dtype))
            columns[-1][is_kept] = before[kept[is_kept]]
            columns[-1][~is_kept] = fresh
        return FactColumns(found.queues, found.holdings, *columns)


_KINDS: Final = tuple(map(np.dtype, ("?", "?", "?", "i4", "i4", "i8", "?", "f8", "f8", "?", "?")))


class Reading:
    """Workloads that are read into columns, some at a time; they must live until the end.

    ``queues`` have numbers already; the first ``holdings`` numbers of holdings are used elsewhere.
    """

    def __init__(self, queues: Sequence[str] = (), holdings: int = 0) -> None:
        self.size = 0
        self._queues: Final = {queue: number for number, queue in enumerate(queues)}
        self._used: Final = holdings
        self._holdings: Final[dict[tuple[int, int], int]] = {}
        self._parts: Final[list[tuple[NDArray[Any], ...]]] = []

    def read(self, entries: Sequence[Entry]) -> None:
        """Read further workloads."""
        for begin in range(0, len(entries), SOME):
            some = entries[begin : begin + SOME]
            are_facts = np.fromiter(map(isinstance, some, repeat(Facts)), np.bool_, len(some))
            part = (are_facts, *(np.zeros(len(some), kind) for kind in _KINDS[1:]))
            for among, read in ((are_facts, self._facts), (~are_facts, self._objects)):
                if among.any():
                    for column, values in zip(part[1:], read(some, among), strict=False):
                        column[among] = values
            self._parts.append(part)
            self.size += len(some)

    def columns(self) -> FactColumns:
        """Return the columns of all workloads that were read."""
        parts = self._parts or [tuple(np.zeros(0, kind) for kind in _KINDS)]
        joined = map(np.concatenate, zip(*parts, strict=True))
        return FactColumns(tuple(self._queues), self._used + len(self._holdings), *joined)

    def _facts(self, some: Sequence[Entry], among: NDArray[np.bool_]) -> Sequence[Any]:
        # A tuple of values for each field.
        fields: Any = Facts._make(zip(*compress(some, among), strict=True))
        # Equal values are mostly one object (see the reader); if not, nothing but time is lost.
        pairs = zip(map(id, fields.held), map(id, fields.counts), strict=True)
        known, used = self._holdings, self._used
        holding = [known.setdefault(pair, used + len(known)) for pair in pairs]
        return (
            fields.holds_quota,
            fields.is_pending,
            self._numbers(fields.admitted_by),
            holding,
            fields.priority,
            fields.reserved,
            np.array(fields.reserved_s, dtype=np.float64),  # where a missing time is no number
            np.array(fields.started_s, dtype=np.float64),
            _are_said(fields.boost),
            _are_said(fields.remarks),
        )

    def _objects(self, some: Sequence[Entry], among: NDArray[np.bool_]) -> Sequence[Any]:
        objects = [*compress(some, among)]
        return (
            [one.holds_quota for one in objects],
            [one.is_pending for one in objects],
            self._numbers([one.admitted_by for one in objects]),
        )

    def _numbers(self, queues: Sequence[str]) -> Sequence[int]:
        known = self._queues
        return [known.setdefault(queue, len(known)) for queue in queues]


def _are_said(values: Sequence[object]) -> Sequence[bool]:
    return [one is not None for one in values]
