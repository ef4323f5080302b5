"""What was measured, as CSV, as Markdown tables, and as plots."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.clusters import Form

PLANNER = "planner"
SETTLED = ("optimal", "infeasible")


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: seconds by the clock and of the processor, and peak memory in MiB."""

    name: str
    workloads: int
    engine: str
    outcome: str
    wall_s: float
    cpu_s: float
    peak_mib: float
    answer: Mapping[str, Any]
    form: Form | None
    kueue: Mapping[str, float] | None

    @property
    def values(self) -> tuple[int, ...]:
        """The values of the levels."""
        return tuple(self.answer.get("values", ()))

    @property
    def is_settled(self) -> bool:
        """Whether everything was proved."""
        return self.outcome in SETTLED

    def line(self) -> str:
        """Return it in one line."""
        return (
            f"{self.name:40} {self.engine:9} {self.outcome:10} wall {self.wall_s:7.2f} s"
            f"  cpu {self.cpu_s:7.2f} s  {self.peak_mib:6.0f} MiB"
        )

    def cells(self) -> dict[str, object]:
        """Return it as a row of the CSV file."""
        of_form = {
            name: getattr(self.form, name) if self.form else ""
            for name in ("queues", "depth", "shapes", "fair")
        }
        return {
            "name": self.name,
            "workloads": self.workloads,
            **of_form,
            "victims": self.answer.get("victims", ""),
            "engine": self.engine,
            "outcome": self.outcome,
            "wall_s": round(self.wall_s, 3),
            "cpu_s": round(self.cpu_s, 3),
            "peak_mib": round(self.peak_mib),
            "values": " ".join(map(str, self.values)),
            "bounds": " ".join(map(str, self.answer.get("bounds", ()))),
        }


def write_all(rows: Sequence[Row], folder: Path) -> None:
    """Write the tables and plots."""
    solved = [row for row in rows if row.engine != "reference"]
    replays = [row for row in rows if row.engine == "reference"]
    _write_csv(folder / "scale.csv", [row.cells() for row in solved])
    if replays:
        _write_csv(folder / "references.csv", [_replay_cells(row) for row in replays])
    tables = [_solved_table(solved), _replay_table(replays)]
    (folder / "scale.md").write_text("\n\n".join(filter(None, tables)) + "\n", encoding="utf-8")
    _plot_growth(solved, folder / "time.svg", "cpu_s", "processor time in seconds")
    _plot_growth(solved, folder / "memory.svg", "peak_mib", "peak memory in MiB")


def _write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _by_name(rows: Iterable[Row]) -> dict[str, dict[str, Row]]:
    names: dict[str, dict[str, Row]] = {}
    for row in rows:
        names.setdefault(row.name, {})[row.engine] = row
    return names


def _solved_table(rows: Sequence[Row]) -> str:
    """One line per question."""
    header = ["cluster", "victims", "status", "solve s", "solve cpu s", "process s", "peak MiB"]
    lines = []
    for name, engines in _by_name(rows).items():
        ours, process = engines.get(PLANNER), engines.get("process")
        if ours is None:
            continue
        lines.append(
            [
                name,
                ours.answer.get("victims", ""),
                ours.outcome,
                f"{ours.wall_s:.2f}",
                f"{ours.cpu_s:.2f}",
                f"{process.wall_s:.2f}" if process else "",
                f"{(process or ours).peak_mib:.0f}",
            ]
        )
    return _table(header, lines) if lines else ""


def _replay_cells(row: Row) -> dict[str, object]:
    cells: dict[str, object] = {"name": row.name, "workloads": row.workloads}
    cells["victims"] = row.answer["victims"]
    cells["our_snapshot_ms"] = round(row.answer["snapshot_ms"], 2)
    for name, theirs in (row.kueue or {}).items():
        ours = float(row.answer[name])
        cells |= {
            f"our_{name}": round(ours, 2),
            f"kueue_{name}": round(theirs, 2),
            f"{name.removesuffix('_ms')}_ratio": round(ours / theirs, 2),
        }
    return cells


def _replay_table(rows: Sequence[Row]) -> str:
    """The references beside Kueue's own times; ratios above 1 mean that Kueue is faster."""
    cells = [_replay_cells(row) for row in rows]
    return _table(list(cells[0]), [list(each.values()) for each in cells]) if cells else ""


def _plot_growth(rows: Sequence[Row], path: Path, field: str, label: str) -> None:
    """Draw what grows with the size, per engine, over the usual form of cluster."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to load

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    usual = [row for row in rows if row.form and _is_usual(row.form)]
    for engine in dict.fromkeys(row.engine for row in usual):
        points = sorted((r for r in usual if r.engine == engine), key=lambda r: r.workloads)
        sizes = [row.workloads for row in points]
        (line,) = axes.plot(sizes, [getattr(row, field) for row in points], label=engine)
        for row in points:
            mark = "o" if row.is_settled else "x"
            axes.plot(row.workloads, getattr(row, field), mark, color=line.get_color())
    axes.set(xscale="log", yscale="log", xlabel="admitted workloads", ylabel=label)
    axes.set_title("t-shirt shapes, few victims; a cross is not proved", fontsize="medium")
    axes.grid(visible=True, which="major", alpha=0.3)
    if usual:
        axes.legend()
    figure.savefig(path, metadata={"Date": None})


def _is_usual(form: Form) -> bool:
    plain = Form(form.workloads, queues=form.queues)
    return form == plain
