"""From the workloads of a state to those that hold quota, and to those that do not.

What decides about all holders is taken from the columns of the state; a record is made when
somebody asks for it.

Source: docs/semantics/kueue.md §2: which workloads count, and with what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from math import isnan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.quota.kueue.holders import Admitted, Columns, Filled, Holders, Table, is_said
from planner.quota.kueue.holding import (
    Shape,
    Shapes,
    effective_priorities,
    effective_priority,
    is_concurrent,
    queue_order_time,
    shape_of,
)
from planner.quota.kueue.past_use import PastUse
from planner.quota.kueue.slices import Slices
from planner.quota.kueue.tree import FlavorResource
from planner.state.clock import seconds_since
from planner.state.kueue import Configuration, State, Workload
from planner.state.kueue_columns import Columns as Stored
from planner.state.kueue_columns import held_of
from planner.state.kueue_workload import NEVER

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _EPOCH


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
        self._now: Final = now
        self._node_of: Final = node_of
        self._variants_only: Final = [
            one.name for one in queues if is_concurrent(one, configuration)
        ]
        self._shapes: Final = shapes
        self._past_use: Final = past_use
        self._by_past: Final = [node_of[one.name] for one in queues if past_use.orders(one)]
        self._slices: Final = Slices(state.workloads)

    def holders(self) -> dict[int, Holders]:
        """Return the holders of each ClusterQueue in the order of the dump, by node."""
        stored, nodes = self._workloads.columns, [*self._node_of.values()]
        places = self._holding(stored)
        # All holders' shapes are made, in the order in which workloads first have them.
        firsts = np.full(len(stored.holdings), len(places))
        firsts[stored.held[places][::-1]] = np.arange(len(places))[::-1]
        shapes: list[Shape] = []
        number_of = np.zeros(len(stored.holdings), dtype=np.int64)
        for number in np.argsort(firsts)[: np.count_nonzero(firsts < len(places))].tolist():
            number_of[number] = len(shapes)
            shapes.append(self._shapes.shape_of(stored.holdings[number]))
        node = np.array([self._node_of.get(name, -1) for name in stored.queues], dtype=np.int64)
        # A workload without its queue has no usage that counts, but its fr are known by now.
        places = places[node[stored.admitted_by[places]] >= 0]
        queue = node[stored.admitted_by[places]]
        order = np.argsort(queue, kind="stable")
        places, queue = places[order], queue[order]
        table = self._table(stored, places, queue, shapes, number_of)
        begins = np.searchsorted(queue, nodes).tolist()
        ends = np.searchsorted(queue, nodes, "right").tolist()
        return {
            one: Holders(table, np.arange(begin, end))
            for one, begin, end in zip(nodes, begins, ends, strict=True)
        }

    def _holding(self, stored: Stored) -> NDArray[np.int64]:
        """Return the places of all workloads that hold quota, and note those of all others."""
        for place in np.flatnonzero(~stored.holds_quota).tolist():
            self.waiting.setdefault(stored.key[place], place)
        # A queue of variants counts what these hold, and nothing else.
        asked = np.array([name in self._variants_only for name in stored.queues], dtype=np.bool_)
        holding = stored.holds_quota.copy()
        for place in np.flatnonzero(holding & asked[stored.admitted_by]).tolist():
            holding[place] = self._workloads[place].parent_uid != ""
        return np.flatnonzero(holding)

    def _table(
        self,
        stored: Stored,
        places: NDArray[np.int64],
        queue: NDArray[np.int64],
        shapes: Sequence[Shape],
        number_of: NDArray[np.int64],
    ) -> Table:
        """Return the table of holders at some places, in their queues; equal to their records."""
        usage, now_s = number_of[stored.held[places]], self._now.timestamp()
        reserved_s, started_s = stored.reserved_s[places], stored.started_s[places].copy()
        for at in np.flatnonzero(~stored.is_text[places]).tolist():
            one = self._workloads[int(places[at])]
            if one.replaces:
                started_at = self._slices.started_at(one)
                started_s[at] = started_at.timestamp() if started_at else np.nan
        # To microseconds: of times with the same fraction of a second whole seconds are left.
        running_s = np.floor(np.round(now_s - started_s, 6))
        columns = Columns(
            queue=queue,
            priority=effective_priorities(stored, self._configuration)[places],
            evicted=stored.evicted[places],
            leaving=stored.leaving[places],
            pods=np.array([one.pods for one in shapes], dtype=np.int64)[usage],
            # Of two conditions QuotaReserved only the first tells a time.
            reserved_s=np.where(np.isnan(reserved_s), now_s, reserved_s),
            running_s=np.where(running_s > 0, running_s, 0).astype(np.int64),
            noted=is_said(stored.remarks[places], len(places)),
            dated=np.isin(queue, self._by_past),
            usage=usage,
            number=np.arange(len(places)) - np.searchsorted(queue, queue),
        )
        make = partial(self._record, places, columns, shapes, started_s)
        filled = partial(Filled, stored.key, stored.uid, places, columns, shapes)
        return Table(filled, make)

    def _record(
        self,
        places: NDArray[np.int64],
        columns: Columns,
        shapes: Sequence[Shape],
        started_s: NDArray[np.float64],
        row: int,
    ) -> Admitted:
        place, node = int(places[row]), int(columns.queue[row])
        stored, started = self._workloads.columns, float(started_s[row])
        namespace, local_queue = stored.local_queues[stored.local_queue[place]]
        if stored.is_text[place]:  # neither being evicted, nor ever moved
            queued_at = _moment(stored.created_s[place]) or NEVER
        else:
            queued_at = queue_order_time(self._workloads[place], self._configuration)
        return Admitted(
            workloads=self._workloads,
            place=place,
            key=stored.key[place],
            namespace=namespace,
            uid=stored.uid[place],
            queue=node,
            shape=shapes[columns.usage[row]],
            priority=int(columns.priority[row]),
            queued_at=queued_at,
            reserved_s=float(columns.reserved_s[row]),
            started_at=_moment(started),
            running_s=int(columns.running_s[row]),
            evicted=bool(columns.evicted[row]),
            leaving=bool(columns.leaving[row]),
            remarks=stored.remarks[place],
            local_queue=local_queue,
            past=self._past_use.used_by(namespace, local_queue) if columns.dated[row] else None,
        )


def _moment(seconds: float) -> datetime | None:
    """Return a time of a column; ``None`` where it is missing, and so no number.

    A double is too short for the microseconds of the year 9999: the last of them is the last time.
    """
    if isnan(seconds):
        return None
    return _EPOCH + min(timedelta(seconds=float(seconds)), _LAST)


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
    run = workload.run
    return Admitted(
        workloads=(workload,),
        place=0,
        key=workload.key,
        namespace=workload.namespace,
        uid=workload.uid,
        queue=node,
        shape=shape_of(held_of(workload), configuration, index.__getitem__),
        priority=effective_priority(workload, configuration),
        queued_at=queue_order_time(workload, configuration),
        reserved_s=now.timestamp() if run.reserved_s is None else run.reserved_s,
        started_at=run.started_at,
        running_s=seconds_since(run.started_at, now),
        evicted=workload.is_true("Evicted"),
        leaving=workload.is_leaving,
        remarks=workload.remarks,
        local_queue=workload.queue_name,
    )
