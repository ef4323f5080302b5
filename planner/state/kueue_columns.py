"""The workloads of a state as columns: what decides about each, and the text or object it is of.

The columns are filled while a dump is read, when what is read is at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from planner.quantity import to_units
from planner.state.kueue_workload import Workload
from planner.state.record import Remarks

Text = Any
"""The JSON text of an object: bytes, or a part of them."""
Place = tuple[str, str]
"""A flavor and a resource; the flavor is empty where a resource has none."""

NUMBERED: Final = range(4, 7)
"""The places of the columns that are numbers of values: those of the last three fields."""
SOME: Final = 1000
"""How many workloads are read together: the values of one are still in the processor's cache."""


class PodSetHeld(NamedTuple):
    """What an admitted podset was assigned.

    ``flavors`` are pairs of a resource and its flavor; ``amounts`` are in nano-units, one for each
    of the ``resources``.
    """

    name: str
    pods: int | None
    flavors: tuple[tuple[str, str], ...]
    resources: tuple[str, ...]
    amounts: tuple[int, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """The place of each amount."""
        flavors = dict(self.flavors)
        return tuple([(flavors.get(resource, ""), resource) for resource in self.resources])

    @property
    def units(self) -> Sequence[int]:
        """The amounts in Kueue's integer units."""
        return [*map(to_units, self.amounts, self.resources)]


class Held(Struct, frozen=True, eq=False):
    """What a workload was assigned, its podsets with their pods, and the pods it no longer needs.

    ``counts`` and ``reclaimable`` are pairs of a podset's name and a count. It is told from others
    by identity, which is faster: equal ones are mostly one object, and if not, nothing but time is
    lost.
    """

    assigned: tuple[PodSetHeld, ...]
    counts: tuple[tuple[str, int], ...]
    reclaimable: tuple[tuple[str, int], ...] = ()


class Row(NamedTuple):
    """What decides about a workload, in the order of the columns.

    Names are as in `Workload`; ``local_queue`` is its namespace and the name of its LocalQueue.
    ``created_s`` is when it was created, ``reserved_s`` since when its quota is reserved, and
    ``started_s`` since when it runs (`Run`), in seconds since 1970, ``None`` if it is not or no
    time is known. ``leaving`` says that it goes whatever is decided: it is ``evicted``, or being
    deleted. ``source`` is the text of a workload with nothing unusual to it, and otherwise
    the object: one with a text was neither evicted nor preempted, or no longer is; it has no
    reclaimable pods, is no variant of another, and neither replaced another slice of an elastic
    workload nor was replaced.
    """

    key: str
    uid: str
    source: Workload | Text
    remarks: Remarks | None
    local_queue: tuple[str, str]
    admitted_by: str
    held: Held
    priority: int
    boost: int
    created_s: float | None
    reserved_s: float | None
    started_s: float | None
    evicted: bool
    leaving: bool
    holds_quota: bool
    is_pending: bool

    @classmethod
    def of_workload(cls, one: Workload) -> Row:
        """Return what decides about an object."""
        run, created = one.run, one.metadata.creation_timestamp
        return cls(
            key=one.key,
            uid=one.uid,
            source=one,
            remarks=one.remarks,
            local_queue=(one.namespace, one.queue_name),
            admitted_by=one.admitted_by,
            held=held_of(one),
            priority=one.priority,
            boost=one.boost,
            created_s=created.timestamp() if created else None,
            reserved_s=run.reserved_s,
            started_s=run.started_at.timestamp() if run.started_at else None,
            evicted=one.is_true("Evicted"),
            leaving=one.is_leaving,
            holds_quota=one.holds_quota,
            is_pending=one.is_pending,
        )


def held_of(workload: Workload) -> Held:
    """Return what a workload holds by its status."""
    assigned = [
        PodSetHeld(
            one.name,
            one.count,
            tuple(one.flavors.items()),
            tuple(one.resource_usage),
            tuple(one.resource_usage.values()),
        )
        for one in workload.assigned
    ]
    counts = tuple((one.name, one.count) for one in workload.spec.pod_sets)
    left = tuple((one.name, one.count) for one in workload.status.reclaimable_pods)
    return same_held(tuple(assigned), counts, left)


@lru_cache(maxsize=4096)
def same_held(
    assigned: tuple[PodSetHeld, ...],
    counts: tuple[tuple[str, int], ...],
    reclaimable: tuple[tuple[str, int], ...] = (),
) -> Held:
    """Return the same object for all that hold the same."""
    return Held(assigned, counts, reclaimable)


class Columns(NamedTuple):
    """The workloads of a state as columns of shape (N,), each as in `Row`.

    ``local_queue``, ``admitted_by`` and ``held`` are numbers: places in the values at the end.
    A missing time is no number. ``is_text`` says where the source is a text.
    """

    key: NDArray[np.object_]
    uid: NDArray[np.object_]
    source: NDArray[np.object_]
    remarks: NDArray[np.object_]
    local_queue: NDArray[np.int32]
    admitted_by: NDArray[np.int32]
    held: NDArray[np.int32]
    priority: NDArray[np.int64]
    boost: NDArray[np.int64]
    created_s: NDArray[np.float64]
    reserved_s: NDArray[np.float64]
    started_s: NDArray[np.float64]
    evicted: NDArray[np.bool_]
    leaving: NDArray[np.bool_]
    holds_quota: NDArray[np.bool_]
    is_pending: NDArray[np.bool_]
    is_text: NDArray[np.bool_]
    local_queues: Sequence[tuple[str, str]]
    queues: Sequence[str]
    holdings: Sequence[Held]

    def changed(self, new: Columns, places: NDArray[np.int64]) -> Columns:
        """Return the columns of other workloads.

        ``places`` has the place of each among these and, behind them, the new ones: (M,).
        """
        both = [(getattr(self, name), getattr(new, name)) for name in self._fields[:-3]]
        columns: list[Any] = [np.concatenate(pair) for pair in both]
        for at, before, after in zip(NUMBERED, self[-3:], new[-3:], strict=True):
            columns[at][len(self.key) :] += len(before)
            every, known, numbers = (*before, *after), dict[Any, int](), columns[at][places]
            again = np.zeros(len(every), dtype=np.int32)
            # What nobody has any more goes: a state may change for weeks.
            for number in np.flatnonzero(np.bincount(numbers)).tolist():
                again[number] = known.setdefault(every[number], len(known))
            columns[at] = again[numbers]
            columns.append(tuple(known))
        for at in {*range(len(_KINDS))} - {*NUMBERED}:
            columns[at] = columns[at][places]
        return Columns(*columns)


_KINDS: Final = "OOOOiiiqqddd?????"
"""The types of the columns, as numpy calls them."""


class Reading:
    """Workloads that are read into columns, some at a time: they are put into ``rows``."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._values: Final[tuple[dict[Any, int], ...]] = {}, {}, {}
        self._parts: Final[list[list[NDArray[Any]]]] = []

    def read(self) -> None:
        """Turn the rows into columns."""
        size = len(self.rows)
        fields: list[Any] = [*zip(*self.rows, strict=True)] or [()] * len(Row._fields)
        for at, known in zip(NUMBERED, self._values, strict=True):
            fields[at] = [known.setdefault(value, len(known)) for value in fields[at]]
        fields.append([not one for one in map(isinstance, fields[2], repeat(Workload))])
        # What numpy would take for an array itself, such as text, is one value.
        self._parts.append(
            [
                np.fromiter(one, kind, size) if kind == "O" else np.array(one, dtype=kind)
                for one, kind in zip(fields, _KINDS, strict=True)
            ]
        )
        self.rows = []

    def columns(self) -> Columns:
        """Return the columns of all workloads that were read."""
        if self.rows or not self._parts:
            self.read()
        joined = map(np.concatenate, zip(*self._parts, strict=True))
        return Columns._make([*joined, *map(tuple, self._values)])
