"""Make a table of simulations of one state, who chose the victims by the column.

    python weeks.py kueue.json optimum.json stable.json boost.json

Each file is what ``planner simulate --format json`` prints; all of the same state, for as long.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

from planner.commands.simulate import Event, Fate, Simulation

HOUR: Final = 3600
Row = Callable[[Simulation], str]


def main() -> None:
    """Print the table of the files that are named."""
    found = [Simulation.model_validate_json(Path(name).read_bytes()) for name in sys.argv[1:]]
    sys.stdout.writelines(f"{line}\n" for line in table(found))


def table(found: Sequence[Simulation]) -> list[str]:
    """Return a Markdown table with a column for each simulation.

    Raises
    ------
    SystemExit
        If there is none, or they are not of one state for as long.
    """
    if len({(one.digest, one.duration_s, one.eviction_s, one.apart_s) for one in found}) != 1:
        sys.exit("expected simulations of one state, all for as long and with the same options")
    lines = ["| |" + "".join(f" {one.decider} |" for one in found), "|---|" + "--:|" * len(found)]
    rows: list[tuple[str, Row]] = [*ROWS, *map(_waiting, _priorities(found[0]))]
    return lines + [
        f"| {name} |" + "".join(f" {row(one)} |" for one in found) for name, row in rows
    ]


def _preempted(one: Simulation) -> list[Event]:
    return [event for event in one.timeline if event.kind == "preempted"]


def _decisions(one: Simulation) -> int:
    return len({(event.at_s, event.by) for event in _preempted(one)})


def _per_decision(one: Simulation) -> str:
    return f"{len(_preempted(one)) / (_decisions(one) or 1):.2f}"


def _again(one: Simulation) -> int:
    """Return the evictions by workloads that had been evicted themselves before."""
    evicted: set[str] = set()
    found = 0
    for event in _preempted(one):
        found += event.by in evicted
        evicted.add(event.workload)
    return found


def _of_ten(one: Simulation) -> str:
    """Return the share of all evictions that the ten take which are evicted most."""
    most = sorted((fate.evictions for fate in one.workloads), reverse=True)
    return f"{sum(most[:10]) / (sum(most) or 1):.0%}"


def _most_by_one(one: Simulation) -> str:
    found = Counter(event.by for event in _preempted(one))
    return f"{max(found.values(), default=0):,}"


def _in_use(one: Simulation) -> str:
    return ", ".join(
        f"{use.share:.1%} of {use.flavor}"
        for use in one.use
        if use.share is not None and use.resource.endswith("/gpu")
    )


def jain(values: Sequence[float]) -> float:
    """Return Jain's index: 1 where all are equal, 1/n where one has everything."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def _fairness(one: Simulation) -> str:
    """Of the shares of their time that the workloads of each queue ran."""
    queues: dict[str, list[Fate]] = {}
    for fate in one.workloads:
        queues.setdefault(fate.queue, []).append(fate)
    shares = []
    for fates in queues.values():
        there = sum(fate.running_s + fate.waiting_s for fate in fates)
        if there:
            shares.append(sum(fate.running_s for fate in fates) / there)
    return f"{jain(shares):.3f}"


ROWS: Final[Sequence[tuple[str, Row]]] = (
    ("decisions that evict", lambda one: f"{_decisions(one):,}"),
    ("evictions", lambda one: f"{one.totals.evictions:,}"),
    ("evictions a decision", _per_decision),
    ("by workloads that were evicted before", lambda one: f"{_again(one):,}"),
    ("workloads evicted", lambda one: f"{one.totals.evicted:,}"),
    ("most evictions of one", lambda one: f"{max(f.evictions for f in one.workloads):,}"),
    ("of all evictions those of the ten that are evicted most", _of_ten),
    ("most evictions by one", _most_by_one),
    ("GPU-hours lost", lambda one: f"{one.totals.lost_work / HOUR:,.0f}"),
    (
        "GPU-hours lost an eviction",
        lambda one: f"{one.totals.lost_work / HOUR / (one.totals.evictions or 1):.2f}",
    ),
    ("finished", lambda one: f"{one.totals.finished:,} of {one.totals.workloads:,}"),
    ("GPUs in use", _in_use),
    ("Jain's index of the queues' shares of time that they ran", _fairness),
    ("plans that were not proved best", lambda one: f"{one.unproved:,}"),
)


def _priorities(one: Simulation) -> list[int]:
    return sorted({fate.priority for fate in one.workloads})


def _waiting(priority: int) -> tuple[str, Row]:
    def mean_hours(one: Simulation) -> str:
        waited = [fate.waiting_s / HOUR for fate in one.workloads if fate.priority == priority]
        return f"{fmean(waited):.2f}"

    return f"hours that one of priority {priority} waited, mean", mean_hours


if __name__ == "__main__":
    main()
