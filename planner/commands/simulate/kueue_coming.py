"""Workloads of Kueue that are not there at the start, and arrive later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from planner.commands.simulate.script import Arrivals, Script
from planner.errors import LookupFailed, SchemaError
from planner.state import State, Workload
from planner.state.workload import WorkloadStatus


class Coming(NamedTuple):
    """A pending workload that arrives so many seconds after the start."""

    key: str
    at_s: int
    workload: Workload


def comings(state: State, script: Script) -> tuple[State, dict[str, Coming]]:
    """Return the state without those that come later, and these by their keys.

    Whoever is pending comes later if the script says so, or if it was created after the clock.

    Raises
    ------
    LookupFailed
        If the script copies a workload that is not there.
    SchemaError
        If a copy would have the name of a workload that is there.
    """
    later = [coming for one in state.workloads if (coming := _later(state, script, one))]
    copies = [copy for rows in script.arrival for copy in _copies(state, rows)]
    found: dict[str, Coming] = {}
    known = {workload.key for workload in state.workloads} - {one.key for one in later}
    for coming in (*later, *copies):
        if coming.key in known or coming.key in found:
            found_there = f"a workload {coming.key} is there already"
            raise SchemaError("arrival", found_there, hint="copy one of another name")
        found[coming.key] = coming
    there = tuple(one for one in state.workloads if one.key not in found)
    return state.model_copy(update={"workloads": there}), found


def _later(state: State, script: Script, workload: Workload) -> Coming | None:
    if not workload.is_pending:
        return None
    said = script.arrive_s(workload.key)
    created = workload.metadata.creation_timestamp
    if said is None and (created is None or created <= state.now):
        return None
    if said is None and created is not None:
        said = -((state.now - created) // timedelta(seconds=1))
    return Coming(workload.key, said or 0, _created(state, workload, workload.metadata.name, said))


def _copies(state: State, rows: Arrivals) -> Iterator[Coming]:
    original = next((one for one in state.workloads if one.key == rows.like), None)
    if original is None:
        raise LookupFailed("arrival.like", f"there is no workload {rows.told}")
    for number in range(1, rows.count + 1):
        at_s = rows.at_seconds + (number - 1) * rows.every_seconds
        name = f"{original.metadata.name}-{number}"
        workload = _created(state, original, name, at_s)
        yield Coming(workload.key, at_s, workload)


def _created(state: State, workload: Workload, name: str, at_s: int | None) -> Workload:
    """Return a workload as one that nothing has happened to, created when it arrives."""
    own = workload.metadata
    uid = own.uid if name == own.name else f"{own.uid}-{name}"
    created = state.now + timedelta(seconds=at_s or 0)
    metadata = own.model_copy(update={"name": name, "uid": uid, "creation_timestamp": created})
    return workload.model_copy(update={"metadata": metadata, "status": WorkloadStatus()})
