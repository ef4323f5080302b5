"""The columns of a state held against what its workloads say themselves."""

import math

from msgspec.structs import astuple

from planner.state.kueue import Workload
from planner.state.kueue_columns import Columns, Row


def check_row(columns: Columns, place: int, one: Workload) -> None:
    """Compare the columns at a place with a workload: its object says what they do."""
    row = Row.of_workload(one)
    for name in ("key", "uid", "remarks", "priority", "boost", "evicted"):
        assert getattr(columns, name)[place] == getattr(row, name)
    assert (columns.holds_quota[place], columns.is_pending[place]) == row[-2:]
    for name in ("created_s", "reserved_s", "started_s"):
        value, said = getattr(columns, name)[place], getattr(row, name)
        assert math.isnan(value) if said is None else value == said
    assert columns.local_queues[columns.local_queue[place]] == row.local_queue
    assert columns.queues[columns.admitted_by[place]] == row.admitted_by
    assert astuple(columns.holdings[columns.held[place]]) == astuple(row.held)
