"""Make tables of simulations, who chose the victims by the column.

    python weeks.py kueue.json optimum.json stable.json boost.json

prints the table of one state: each file is what ``planner simulate --format json`` prints, all for
as long.

    python weeks.py days philly.csv docs/explanation/weeks

simulates a day from each of 20 instants of a trace, under three choices of victims, writes
days.csv, a row for each simulation, into the folder, and prints the table of means, and of
differences with Kueue's own choice, instant by instant. What is in the file is not run again, so
a run that was stopped goes on. Instants of one calendar day share the workloads that run:
intervals draw days with replacement, `planner.commands.compare.confidence.clustered`.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from planner.commands.compare.confidence import Interval, clustered
from planner.dump import listed
from planner.reader.kueue import read_kueue_objects
from planner.research.import_ import Philly, read_outline
from planner.research.import_.kueue import Knobs, import_states, instants_of
from planner.research.simulate.record import Event, Fate, Simulation
from planner.research.simulate.simulate import Question, simulate

HOUR: Final = 3600
DAY_S: Final = 24 * HOUR
SEED, INSTANTS, MOST_CYCLES = 1, 20, 10_000_000
KUEUE: Final = "kueue"
DECIDERS: Final = (KUEUE, "optimum", "boost")
TEN: Final = 10
Row = Callable[[Simulation], str]


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


@dataclass(frozen=True)
class Day:
    """What is recorded of a simulated day: who decided, from when on, and what became of it."""

    decider: str
    instant: int
    day: int
    decisions: int
    evictions: int
    again: int
    lost_s: int
    finished: int
    waited_s: int
    workloads: int
    unproved: int


MEASURES: Final[Sequence[tuple[str, Callable[[Day], float]]]] = (
    ("decisions that evict", lambda one: one.decisions),
    ("evictions", lambda one: one.evictions),
    ("by workloads that were evicted before", lambda one: one.again),
    ("GPU-hours lost", lambda one: one.lost_s / HOUR),
    ("finished", lambda one: one.finished),
    ("hours that a workload waited", lambda one: one.waited_s / HOUR / one.workloads),
)


def read_days(file: Path) -> dict[str, list[Day]]:
    """Return the recorded days by who decided; none where there is no file yet."""
    found: dict[str, list[Day]] = {}
    if file.exists():
        with file.open(encoding="utf-8", newline="") as text:
            for line in csv.DictReader(text):
                decider = line.pop("decider")
                day = Day(decider, **{name: int(value) for name, value in line.items()})
                found.setdefault(decider, []).append(day)
    return found


def write_days(found: dict[str, list[Day]], file: Path) -> None:
    """Write the days of all that decided."""
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(field.name for field in fields(Day))
        writer.writerows(astuple(one) for some in found.values() for one in some)


def days_table(found: dict[str, list[Day]]) -> str:
    """Return the Markdown table: Kueue's means, and how much more others have, with intervals."""
    base = {one.instant: one for one in found[KUEUE]}
    others = [name for name in found if name != KUEUE]
    lines = [["a day", KUEUE, *others]]
    for name, what in MEASURES:
        lines.append([name, _written(_by_days(found[KUEUE], what), "")])
        for other in others:
            more = _by_days(found[other], lambda one, of=what: of(one) - of(base[one.instant]))  # type: ignore[misc]
            lines[-1].append(_written(more, "+"))
    rows = [f"| {' | '.join(line)} |\n" for line in lines]
    return "".join([rows[0], f"|---|{'--:|' * len(found)}\n", *rows[1:]])


def _by_days(some: Sequence[Day], what: Callable[[Day], float]) -> Interval:
    return clustered([what(one) for one in some], [one.day for one in some])


def _written(found: Interval, sign: str) -> str:
    value, low, high = (
        f"{bound:{sign},.{0 if abs(found.value) >= TEN else 2}f}" for bound in found
    )
    return f"{value} ({low} to {high})"


def started(trace_file: str, instants: int) -> Iterator[tuple[int, int, Any]]:
    """Yield the instants: a number, the day of the trace, and the dump with a day of arrivals."""
    trace = Philly(SEED)
    outline = read_outline(trace, trace_file, arrivals=instants, seed=SEED)
    moments = instants_of(outline)
    first = min(moments) // DAY_S
    states = import_states(trace, trace_file, outline, moments, Knobs(seed=SEED, follow_s=DAY_S))
    for number, one in enumerate(states):
        if one.objects:
            yield number, one.instant // DAY_S - first, listed(one.objects)


def simulated(start: tuple[int, int, Any], decider: str) -> Day:
    """Return what becomes of a day."""
    number, day, dump = start
    state = read_kueue_objects(dump, where=f"instant {number}")
    one = simulate(state, Question(decider, until_s=DAY_S, cycles=MOST_CYCLES))
    waited = sum(fate.waiting_s for fate in one.workloads)
    return Day(
        *(decider, number, day, _decisions(one), one.totals.evictions, _again(one)),
        *(one.totals.lost_work, one.totals.finished, waited, one.totals.workloads, one.unproved),
    )


def run_days(trace_file: str, folder: Path) -> None:
    """Run what is not recorded, write the record and print the table."""
    folder.mkdir(parents=True, exist_ok=True)
    found = read_days(folder / "days.csv")
    starts = list(started(trace_file, INSTANTS))
    with ProcessPoolExecutor() as pool:
        for decider in DECIDERS:
            if decider in found:
                continue
            days = []
            for day in pool.map(partial(simulated, decider=decider), starts):
                sys.stderr.write(f"{decider}, instant {day.instant}: {day.decisions} decisions\n")
                days.append(day)
            found[decider] = days
            write_days(found, folder / "days.csv")
    sys.stdout.write(days_table(found))


def main(*words: str) -> None:
    """Print the table of the files that are named, or of days of a trace."""
    if words[:1] == ("days",):
        _, trace_file, folder = words
        run_days(trace_file, Path(folder))
    else:
        files = [Simulation.model_validate_json(Path(name).read_bytes()) for name in words]
        sys.stdout.writelines(f"{line}\n" for line in table(files))


if __name__ == "__main__":
    main(*sys.argv[1:])
