"""Cycle after cycle on the objects of a dump, with nothing of the product but the cycle itself.

Evictions and admissions are written into the JSON objects, and the dump is read anew for each
cycle. Whoever is parked gets a condition Requeued that is False, until somebody is evicted.
"""

from collections import Counter
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from planner.quantity import format_units
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.cycle.processing import Cycle, Entry
from planner.reference.kueue.cycle.run import run_cycle

Dump = dict[str, Any]
START = datetime.fromisoformat("2026-01-01T13:00:00+00:00")


def head_of(dump: Dump) -> Entry:
    """Return what becomes of the only workload that waits in a dump."""
    cycle = run_cycle(read_kueue_objects(dump, where="film", now=START))
    (entry,) = cycle.entries
    return entry


def evictions(dump: Dump, cycles: int) -> Counter[str]:
    """Count how often each workload is evicted in so many cycles."""
    dump, counts = deepcopy(dump), Counter[str]()
    for number in range(cycles):
        now = START + timedelta(minutes=number)
        cycle = run_cycle(read_kueue_objects(dump, where="film", now=now))
        counts.update(target.workload.key for target in cycle.evicted)
        _carry_out(dump, cycle, now.isoformat())
    return counts


def _carry_out(dump: Dump, cycle: Cycle, now: str) -> None:
    by_key = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}": item
        for item in dump["items"]
        if item["kind"] == "Workload"
    }
    for target in cycle.evicted:
        status = by_key[target.workload.key]["status"]
        status.pop("admission")
        _set(status, "Evicted", "True", "Preempted", now)
        _set(status, "Preempted", "True", target.reason, now)
        _set(status, "QuotaReserved", "False", "Pending", now)
    for entry in cycle.entries:
        if entry.outcome == "admitted":
            _admit(by_key[entry.preemptor.key], cycle, entry, now)
    parked = {key for keys in cycle.parked.values() for key in keys}
    for key, item in by_key.items():
        status = item.setdefault("status", {})
        if cycle.evicted:
            _set(status, "Requeued", "True", "Requeued", now)
        elif key in parked:
            _set(status, "Requeued", "False", "Parked", now)


def _admit(item: Dump, cycle: Cycle, entry: Entry, now: str) -> None:
    (request,) = entry.preemptor.pod_sets
    assert entry.assignment is not None
    (pods,) = entry.assignment.pod_sets
    flavors = {resource: choice.flavor for resource, choice in pods.flavors.items()}
    usage = {name: format_units(request.totals[name], name) for name in flavors}
    row = {"name": request.name, "count": 1, "flavors": flavors, "resourceUsage": usage}
    queue = cycle.snapshot.queue_name(entry.preemptor.queue)
    status = item.setdefault("status", {})
    status["admission"] = {"clusterQueue": queue, "podSetAssignments": [row]}
    _set(status, "QuotaReserved", "True", "QuotaReserved", now)
    _set(status, "Evicted", "False", "QuotaReserved", now)
    _set(status, "Preempted", "False", "QuotaReserved", now)


def _set(status: Dump, kind: str, value: str, reason: str, now: str) -> None:
    kept = [one for one in status.get("conditions", []) if one["type"] != kind]
    new = {"type": kind, "status": value, "reason": reason, "lastTransitionTime": now}
    status["conditions"] = [*kept, new]
