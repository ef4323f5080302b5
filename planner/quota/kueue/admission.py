"""From the workloads of a state to those that hold quota, and to those that do not.

What decides about all holders is read as columns, a thousand workloads at a time; a record is made
when somebody asks for it.

Source: docs/semantics/kueue.md §2: which workloads count, and with what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import compress, repeat
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.quota.kueue.holders import Admitted, Columns, Holders, is_said
from planner.quota.kueue.holding import (
    NEVER,
    Shape,
    Shapes,
    Unsettled,
    effective_priority,
    holding_of,
    is_concurrent,
    progress_of,
    queue_order_time,
)
from planner.quota.kueue.past_use import PastUse
from planner.quota.kueue.tree import FlavorResource
from planner.state.clock import seconds_since
from planner.state.kueue import Configuration, State, Workload
from planner.state.kueue_workloads import Entry, Facts

_AT_ONCE: Final = 1000
"""How many workloads are read together: the facts of one are still in the processor's cache."""

_NEVER_S: Final = NEVER.timestamp()

_Place = tuple[Sequence[Workload], int, int]
"""Workloads, the place of one of them, and the node of its ClusterQueue."""

_Moment = tuple[datetime, float]
"""A time, and the same in seconds since 1970."""


class Admissions:
    """The workloads of a state at a moment: the holders of each ClusterQueue, and all others.

    ``node_of`` maps a ClusterQueue to its node; ``waiting`` are the places of the workloads without
    quota by key, once ``holders`` was called.
    """

    def __init__(
        self,
        state: State,
        now: datetime,
        node_of: Mapping[str, int],
        shapes: Shapes,
        past_use: PastUse,
    ) -> None:
        queues, configuration = state.cluster_queues, state.configuration
        self.waiting: Final[dict[str, int]] = {}
        self._workloads: Final = state.workloads
        self._configuration: Final = configuration
        self._moment: Final = now, now.timestamp()
        self._node_of: Final = node_of
        self._variants_only: Final = {
            one.name for one in queues if is_concurrent(one, configuration)
        }
        self._shapes: Final = shapes
        self._past_use: Final = past_use
        self._by_past: Final = {node_of[one.name] for one in queues if past_use.orders(one)}
        self._made: Final[dict[int, Admitted]] = {}

    def holders(self) -> dict[int, Holders]:
        """Return the holders of each ClusterQueue in the order of the dump, by node."""
        parts = [*self._parts()]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *(some for some, _ in parts)])
        columns = Columns.joined([Columns.of(()), *(part for _, part in parts)])
        order = np.lexsort((places, columns.queue))
        places, columns = places[order], columns.at(order)
        nodes = [*self._node_of.values()]
        begins = np.searchsorted(columns.queue, nodes).tolist()
        ends = np.searchsorted(columns.queue, nodes, "right").tolist()
        return {
            node: self._of_queue(node, places[begin:end].tolist(), columns.at(slice(begin, end)))
            for node, begin, end in zip(nodes, begins, ends, strict=True)
        }

    def _of_queue(self, node: int, places: Sequence[int], columns: Columns) -> Holders:
        every = self._workloads.entries
        columns = columns._replace(number=np.arange(len(places)))
        if self._made.keys() >= {*places}:
            found = Holders(map(self._made.__getitem__, places))
            found.columns = columns
            return found

        def make(number: int) -> Admitted:
            place = places[number]
            return self._made.get(place) or self._record(place, node)

        entries = [every[place] for place in places]
        return Holders.made_by(make, columns, entries, self._shapes.by_identity)

    def _record(self, place: int, node: int) -> Admitted:
        entry, past = self._workloads.entries[place], None
        if node in self._by_past:
            past = self._past_use.of(entry.namespace, entry.queue_name)
        at, shape = (self._workloads, place, node), self._shapes.of(entry)
        return _admitted(self._configuration, self._moment, at, entry, shape, past)

    def _parts(self) -> Iterator[tuple[NDArray[np.int64], Columns]]:
        """Yield places and columns of holders, which are not numbered yet."""
        every = self._workloads.entries
        for begin in range(0, len(every), _AT_ONCE):
            entries: Sequence[Entry] = every[begin : begin + _AT_ONCE]
            places = np.arange(begin, begin + len(entries))
            holding = np.fromiter(map(self._holds, entries, places.tolist()), np.bool_, len(places))
            entries, places = [*compress(entries, holding)], places[holding]
            shapes = self._shapes.of_all(entries)
            # A workload without its queue has no usage that counts, but its fr are known by now.
            nodes = np.array([self._node_of.get(one.admitted_by, -1) for one in entries], np.int64)
            plain = np.fromiter(map(isinstance, entries, repeat(Facts)), np.bool_, len(places))
            counted = nodes >= 0
            if (some := plain & counted).any():
                facts = [entry for entry in compress(entries, some) if isinstance(entry, Facts)]
                yield places[some], self._columns(facts, nodes[some], [*compress(shapes, some)])
            if (some := ~plain & counted).any():
                pairs = zip(places[some].tolist(), nodes[some].tolist(), strict=True)
                made = {place: self._record(place, node) for place, node in pairs}
                self._made.update(made)
                yield places[some], Columns.of(made.values())

    def _holds(self, entry: Entry, place: int) -> bool:
        if not entry.holds_quota:
            self.waiting.setdefault(entry.key, place)
            return False
        # A queue of variants counts what these hold, and nothing else.
        return entry.admitted_by not in self._variants_only or bool(entry.parent_uid)

    def _columns(
        self, facts: Sequence[Facts], nodes: NDArray[np.int64], shapes: Sequence[Shape]
    ) -> Columns:
        """Return the columns of holders that are kept as facts; equal to those of their records."""
        size, now_s = len(facts), self._moment[1]
        nobody = np.zeros(size, dtype=np.bool_)
        priority = np.fromiter(map(_PRIORITY, facts), np.int64, size)
        for at in np.flatnonzero(is_said(map(_BOOST, facts), size)).tolist():
            priority[at] = effective_priority(facts[at], self._configuration)
        # A missing time is no number here.
        reserved_s = np.array([*map(_RESERVED_S, facts)], dtype=np.float64)
        without = np.flatnonzero(np.isnan(reserved_s)).tolist()
        reserved_s[without] = [_NEVER_S if facts[at].reserved else now_s for at in without]
        running_s = now_s - np.array([*map(_STARTED_S, facts)], dtype=np.float64)
        return Columns(
            nodes,
            priority,
            nobody,
            np.fromiter(map(_PODS, shapes), np.int64, size),
            reserved_s,
            np.where(running_s > 0, running_s, 0).astype(np.int64),
            is_said(map(_REMARKS, facts), size),
            np.isin(nodes, [*self._by_past]) if self._by_past else nobody,
            np.fromiter(map(id, map(_USAGE, shapes)), np.int64, size),
            np.zeros(size, dtype=np.int64),
        )


_PRIORITY, _BOOST, _RESERVED_S, _STARTED_S, _REMARKS, _PODS, _USAGE = map(
    attrgetter, ("priority", "boost", "reserved_s", "started_s", "remarks", "pods", "usage")
)


def as_admitted(
    configuration: Configuration,
    now: datetime,
    index: Mapping[FlavorResource, int],
    node: int,
    workload: Workload,
) -> Admitted:
    """Return a workload as the holder of its admission in the ClusterQueue at a node.

    Without a reservation, ``now`` counts as the time of its reservation.
    """
    shape = Unsettled(holding_of(workload, configuration), set())
    shape.settle(index)
    moment = now, now.timestamp()
    return _admitted(configuration, moment, ((workload,), 0, node), workload, shape, None)


def _admitted(  # noqa: PLR0913, PLR0917 - what a holder is made of
    configuration: Configuration,
    moment: _Moment,
    at: _Place,
    entry: Entry,
    shape: Shape,
    past: float | None,
) -> Admitted:
    (workloads, place, node), (now, now_s) = at, moment
    if isinstance(entry, Facts):  # neither being evicted, nor ever moved
        started, started_s = entry.started_at, entry.started_s
        queued_at, evicted = entry.created or NEVER, False
        reserved, reserved_s = entry.reserved, entry.reserved_s
        running_s = 0 if started_s is None else max(0, int(now_s - started_s))
    else:
        reserved, reserved_s, started, evicted, moved = progress_of(entry)
        queued_at = queue_order_time(entry, configuration, moved=moved)
        running_s = seconds_since(started, now)
    if reserved_s is None:
        reserved_s = _NEVER_S if reserved else now_s
    return Admitted(
        workloads=workloads,
        place=place,
        key=entry.key,
        namespace=entry.namespace,
        uid=entry.uid,
        queue=node,
        usage=shape.usage,
        names=shape.names,
        pods=shape.pods,
        priority=effective_priority(entry, configuration),
        queued_at=queued_at,
        reserved_s=reserved_s,
        started_at=started,
        running_s=running_s,
        evicted=evicted,
        remarks=entry.remarks,
        local_queue=entry.queue_name,
        past=past,
    )
