"""From the workloads of a state to those that hold quota, and to those that do not.

What decides about all holders is taken from the columns of the state; a record is made when
somebody asks for it.

Source: docs/semantics/kueue.md §2: which workloads count, and with what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.quota.kueue.holders import Admitted, Columns, Held, Holders, Table
from planner.quota.kueue.holding import (
    NEVER,
    Shape,
    Shapes,
    effective_priority,
    holding_of,
    is_concurrent,
    progress_of,
    queue_order_time,
    shape_of,
)
from planner.quota.kueue.past_use import PastUse
from planner.quota.kueue.slices import Slices
from planner.quota.kueue.tree import FlavorResource
from planner.state.clock import seconds_since
from planner.state.kueue import Configuration, State, Workload
from planner.state.kueue_facts import Entry, FactColumns, Facts

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
        self._slices: Final = Slices(state.workloads)

    def holders(self) -> dict[int, Holders]:
        """Return the holders of each ClusterQueue in the order of the dump, by node."""
        facts, nodes = self._workloads.columns, [*self._node_of.values()]
        places = self._holding(facts)
        # All holders' shapes are made, in the order in which workloads first have them; of those
        # that are facts they are kept by number.
        firsts = facts.firsts(places)
        numbers = np.flatnonzero(firsts >= 0)
        objects = places[~facts.are_facts[places]]
        asked = np.sort(np.concatenate((firsts[numbers], objects))).tolist()
        made = {place: self._shapes.of(self._workloads.entries[place]) for place in asked}
        shapes = {number: made[int(firsts[number])] for number in numbers.tolist()}
        node = np.array([self._node_of.get(name, -1) for name in facts.queues], dtype=np.int64)
        # A workload without its queue has no usage that counts, but its fr are known by now.
        places = places[node[facts.queue[places]] >= 0]
        queue = node[facts.queue[places]]
        order = np.argsort(queue, kind="stable")
        places, queue = places[order], queue[order]
        table = self._table(facts, places, queue, shapes)
        begins = np.searchsorted(queue, nodes).tolist()
        ends = np.searchsorted(queue, nodes, "right").tolist()
        return {
            one: Holders(table, np.arange(begin, end))
            for one, begin, end in zip(nodes, begins, ends, strict=True)
        }

    def _record(self, place: int, node: int) -> Admitted:
        entry, past = self._workloads.entries[place], None
        if node in self._by_past:
            past = self._past_use.of(entry.namespace, entry.queue_name)
        at, shape = (self._workloads, place, node), self._shapes.of(entry)
        one = _admitted(self._configuration, self._moment, at, entry, shape, past)
        if isinstance(entry, Facts) or not entry.replaces:
            return one
        started_at = self._slices.started_at(entry)
        running_s = seconds_since(started_at, self._moment[0])
        return one._replace(started_at=started_at, running_s=running_s)

    def _holding(self, facts: FactColumns) -> NDArray[np.int64]:
        """Return the places of all workloads that hold quota, and note those of all others."""
        entries = self._workloads.entries
        for place in np.flatnonzero(~facts.holds_quota).tolist():
            self.waiting.setdefault(entries[place].key, place)
        places = np.flatnonzero(facts.holds_quota)
        if not self._variants_only:
            return places
        # A queue of variants counts what these hold, and nothing else.
        holding = [
            entries[place].admitted_by not in self._variants_only or entries[place].parent_uid != ""
            for place in places.tolist()
        ]
        return places[np.array(holding, dtype=np.bool_)]

    def _table(
        self,
        facts: FactColumns,
        places: NDArray[np.int64],
        queue: NDArray[np.int64],
        shapes: Mapping[int, Shape],
    ) -> Table:
        """Return the table of holders at some places, in their queues; equal to their records."""
        size, now_s, entries = len(places), self._moment[1], self._workloads.entries
        nobody, holding = np.zeros(size, dtype=np.bool_), facts.holding[places]
        priority = facts.priority[places]
        for at in np.flatnonzero(facts.is_boosted[places]).tolist():
            priority[at] = effective_priority(entries[places[at]], self._configuration)
        # A missing time is no number here.
        unknown = np.where(facts.reserved[places], _NEVER_S, now_s)
        reserved_s = np.where(np.isnan(facts.reserved_s[places]), unknown, facts.reserved_s[places])
        running_s = now_s - facts.started_s[places]
        pods, usage = np.zeros((2, 1 + facts.holdings), dtype=np.int64)
        held = Held()
        for number, shape in shapes.items():
            pods[number], usage[number] = shape.pods, held.number_of(shape)
        columns = Columns(
            queue,
            priority,
            nobody,
            pods[holding],
            reserved_s,
            np.where(running_s > 0, running_s, 0).astype(np.int64),
            facts.has_remarks[places],
            np.isin(queue, [*self._by_past]) if self._by_past else nobody,
            usage[holding],
            np.arange(size) - np.searchsorted(queue, queue),
        )
        made: dict[int, Admitted] = {}
        objects = np.flatnonzero(~facts.are_facts[places])
        if objects.size:
            made = {at: self._record(int(places[at]), int(queue[at])) for at in objects.tolist()}
            of_records = Columns.of(made.values(), [*map(held.number_of, made.values())])
            columns = Columns._make(map(np.copy, columns))
            for column, values in zip(columns[:-1], of_records, strict=False):
                column[objects] = values

        make = partial(self._record_of, made, places, queue)
        return Table(entries, places, columns, held.some, make)

    def _record_of(
        self,
        made: Mapping[int, Admitted],
        places: NDArray[np.int64],
        queue: NDArray[np.int64],
        row: int,
    ) -> Admitted:
        return made.get(row) or self._record(int(places[row]), int(queue[row]))


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
    shape = shape_of(holding_of(workload, configuration), index)
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
