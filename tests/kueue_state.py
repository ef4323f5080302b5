"""Reading, where a state of Kueue is meant; and what workloads say."""

import os
from datetime import datetime
from typing import Any

import planner.reader
from planner.state.kueue import State, Workload


def read(source: str | os.PathLike[str], **more: Any) -> State:
    """Read a file, a folder or standard input."""
    state = planner.reader.read(source, **more)
    assert isinstance(state, State)
    return state


def read_objects(value: object, **more: Any) -> State:
    """Read a value that is parsed already."""
    state = planner.reader.read_objects(value, **more)
    assert isinstance(state, State)
    return state


def reserved_at(workload: Workload) -> datetime | None:
    """Return when the quota of a workload was reserved, or ``None`` if it is not."""
    condition = workload.condition("QuotaReserved")
    return condition.last_transition_time if condition and condition.is_true else None
