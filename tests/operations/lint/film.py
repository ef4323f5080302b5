"""Cycle after cycle on the objects of a dump, with nothing of the product but the cycle itself.

Evictions and admissions are written into the JSON objects, and the dump is read anew for each
cycle. Whoever is parked gets a condition Requeued that is False, until somebody is evicted.
"""

from collections import Counter
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.cycle.processing import Cycle, Entry
from planner.reference.kueue.cycle.run import run_cycle
from tests.solver.ping_pong import admission, set_condition

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
        set_condition(status, "Evicted", "True", "Preempted", now)
        set_condition(status, "Preempted", "True", target.reason, now)
        set_condition(status, "QuotaReserved", "False", "Pending", now)
    for entry in cycle.entries:
        if entry.outcome == "admitted":
            assert entry.assignment is not None
            status = by_key[entry.preemptor.key].setdefault("status", {})
            status["admission"] = admission(cycle.snapshot, entry.preemptor, entry.assignment)
            set_condition(status, "QuotaReserved", "True", "QuotaReserved", now)
            set_condition(status, "Evicted", "False", "QuotaReserved", now)
            set_condition(status, "Preempted", "False", "QuotaReserved", now)
    parked = {key for keys in cycle.parked.values() for key in keys}
    for key, item in by_key.items():
        status = item.setdefault("status", {})
        if cycle.evicted:
            set_condition(status, "Requeued", "True", "Requeued", now)
        elif key in parked:
            set_condition(status, "Requeued", "False", "Parked", now)
