"""How much figures about traces depend on what is assumed and drawn: the run, table and picture.

    python sensitivity.py docs/explanation/sensitivity philly.csv
    python sensitivity.py docs/explanation/sensitivity openb-pods.csv openb-nodes.csv

makes states of 100 instants of Philly or of openb for each setting, one assumption changed at a
time, audits them, and writes philly.csv or openb.csv, a row for each state, and the picture of the
same name into the folder. Settings that are in the file are not run again, so a run that was
stopped goes on. The instants are the same for all settings; with ``draws`` all that is drawn is
drawn anew. The table goes to standard output.

The unit of replication is the day of Philly: states of one day share the workloads that run.
Intervals draw days with replacement, `planner.commands.compare.confidence.clustered`. The pods of a
state of openb are drawn for it alone, from all of the trace: there the unit is the state.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path

from planner.commands.audit import Case, audit
from planner.commands.compare.confidence import Interval, clustered
from planner.dump import listed
from planner.reader.kueue import read_kueue_objects
from planner.research.import_ import Openb, Philly, read_nodes, read_outline
from planner.research.import_.kueue import Knobs, import_states, instants_of
from planner.research.import_.traces import Trace

SEED, INSTANTS, TIME_LIMIT_S = 1, 100, 20.0
DAY_S = 86400
BASE = "base"
SETTINGS = {
    BASE: Knobs(seed=SEED),
    "draws 2": Knobs(seed=2),
    "draws 3": Knobs(seed=3),
    "factor 0.9:0.9": Knobs(seed=SEED, factor=(0.9, 0.9)),
    "factor 0.9:1.1": Knobs(seed=SEED, factor=(0.9, 1.1)),
    "factor 0.55:0.9": Knobs(seed=SEED, factor=(0.55, 0.9)),
    "factor 0.3:1.5": Knobs(seed=SEED, factor=(0.3, 1.5)),
    "checkpoints 0": Knobs(seed=SEED, checkpointing=0.0),
    "checkpoints 1": Knobs(seed=SEED, checkpointing=1.0),
    "utilisation 0.99": Knobs(seed=SEED, utilisation=0.99),
    "utilisation 0.98": Knobs(seed=SEED, utilisation=0.98),
    "utilisation 0.95": Knobs(seed=SEED, utilisation=0.95),
    "gang 8": Knobs(seed=SEED, gangs=(8,)),
    "gang 128": Knobs(seed=SEED, gangs=(128,)),
}
COLUMNS = (
    "setting",
    "states",
    "days",
    "evicts, of all",
    "fewer would do, of evicting",
    "fewer, and no regret, of evicting",
    "fewer would do, of all",
    "paired with base",
    "not proved",
)


@dataclass(frozen=True)
class Seen:
    """What is recorded of a state: its setting, instant and day, and 0 or 1 for what holds."""

    setting: str
    instant: int
    day: int
    evicts: int
    fewer: int
    regretless: int
    proved: int


def trace_of(nodes: Sequence[str], seed: int) -> Trace:
    """Return Philly, or openb where a file of nodes is given."""
    return Openb(read_nodes(nodes[0]), seed) if nodes else Philly(seed)


def run(setting: str, trace_file: str, *nodes: str) -> Iterator[Seen]:
    """Yield what comes out at every instant in a setting."""
    knobs = SETTINGS[setting]
    trace = trace_of(nodes, knobs.seed)
    outline = read_outline(trace, trace_file, arrivals=INSTANTS, seed=SEED)
    instants = instants_of(outline)
    first_day = min(instants) // DAY_S
    states = import_states(trace, trace_file, outline, instants, knobs)
    for number, one in enumerate(states):
        if one.objects:
            state = read_kueue_objects(listed(one.objects), where=f"instant {number}")
            (case,) = audit(state, time_limit=TIME_LIMIT_S).cases
            day = number if nodes else one.instant // DAY_S - first_day
            yield _seen(case, setting, number, day)


def _seen(case: Case, setting: str, instant: int, day: int) -> Seen:
    judged = bool(case.victims) and not case.outside_rules
    regretless = judged and any(
        one.objective == "no-regret" and one.gaps["workloads"] > 0 for one in case.judgements
    )
    fewer = judged and case.smallest is False
    return Seen(setting, instant, day, judged, fewer, regretless, case.proved)


def read(file: Path) -> dict[str, list[Seen]]:
    """Return the recorded states by setting; none where there is no file yet."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        rows = [
            Seen(line.pop("setting"), **{name: int(value) for name, value in line.items()})
            for line in csv.DictReader(text)
        ]
    return {name: list(some) for name, some in groupby(rows, key=lambda row: row.setting)}


def write(found: dict[str, list[Seen]], file: Path) -> None:
    """Write the states of every setting."""
    names = [field.name for field in fields(Seen)]
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        for some in found.values():
            writer.writerows([_text(getattr(one, name)) for name in names] for one in some)


def _text(value: str | int) -> str:
    return value if isinstance(value, str) else str(int(value))


def interval(some: Sequence[Seen], what: Callable[[Seen], float]) -> Interval | None:
    """Return a share or mean, drawn by days; none of no states."""
    if not some:
        return None
    return clustered([what(one) for one in some], [one.day for one in some])


def evicting(some: Sequence[Seen]) -> list[Seen]:
    """Return the states in which somebody is evicted: chosen by what came out, and so named."""
    return [one for one in some if one.evicts]


def more_than(base: Sequence[Seen], some: Sequence[Seen]) -> Interval | None:
    """Return how much more often fewer would do than in base, instant by instant."""
    before = {one.instant: one.fewer for one in base}
    pairs = [one for one in some if one.instant in before]
    return interval(pairs, lambda one: one.fewer - before[one.instant])


def table(found: dict[str, list[Seen]]) -> str:
    """Return the Markdown table, a row for each setting."""
    lines = [COLUMNS, ["---", *("--:" for _ in COLUMNS[1:])]]
    for name, some in found.items():
        few = evicting(some)
        paired = None if name == BASE else more_than(found[BASE], some)
        lines.append(
            [
                name,
                f"{len(some)}",
                f"{len({one.day for one in some})}",
                percent(interval(some, lambda one: one.evicts)),
                f"{percent(interval(few, lambda one: one.fewer))}, {len(few)}",
                percent(interval(few, lambda one: one.regretless)),
                percent(interval(some, lambda one: one.fewer)),
                percent(paired, sign="+"),
                f"{sum(not one.proved for one in some)}",
            ]
        )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def percent(found: Interval | None, sign: str = "") -> str:
    """Return an interval in percent, or in points with a sign."""
    if found is None:
        return "-"
    value, low, high = (f"{100 * bound:{sign}.0f}" for bound in found)
    return f"{value} ({low} to {high})" if sign else f"{value}% ({low} to {high})"


def drawn(found: dict[str, list[Seen]]) -> str:
    """Return the picture: three shares with their intervals, a line for each setting."""
    from matplotlib import rc_context  # noqa: PLC0415 - the table needs none of it
    from matplotlib.figure import Figure  # noqa: PLC0415

    text = io.StringIO()
    with rc_context({"svg.hashsalt": "sensitivity", "svg.fonttype": "none"}):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        panels = figure.subplots(1, 3, sharey=True)
        names = list(found)
        for panel, (title, one_of, only) in zip(panels, _PANELS, strict=True):
            for height, name in enumerate(names):
                share = interval(evicting(found[name]) if only else found[name], one_of)
                if share is None:
                    continue
                color = "#e08a2c" if name == BASE else "#2f6db5"
                panel.plot([share.low, share.high], [height, height], color=color)
                panel.plot([share.value], [height], "o", ms=5, color=color)
            panel.set_title(title, loc="left", fontsize=10)
            panel.set(xlim=(-0.02, 1.02), yticks=range(len(names)), yticklabels=names)
            panel.grid(visible=True, axis="x", alpha=0.3)
        panels[0].invert_yaxis()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


_PANELS: tuple[tuple[str, Callable[[Seen], float], bool], ...] = (
    ("evicts, of all", lambda one: one.evicts, False),
    ("fewer would do, of evicting", lambda one: one.fewer, True),
    ("fewer, and no regret, of evicting", lambda one: one.regretless, True),
)


def main(folder: Path, *files: str) -> None:
    """Run what is not recorded, and write record and picture."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = folder / ("openb.csv" if files[1:] else "philly.csv")
    found = read(cases)
    for setting in SETTINGS:
        if setting not in found:
            found[setting] = list(run(setting, *files))
            write(found, cases)
            sys.stderr.write(f"{setting}\n")
    cases.with_suffix(".svg").write_text(drawn(read(cases)), encoding="utf-8")
    sys.stdout.write(table(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
