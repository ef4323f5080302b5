"""A run of a benchmark, in every format and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from planner.quantity import plural
from planner.report import document as doc
from planner.report.audit import failure_lines, failure_table
from planner.report.document import NOTHING, Cell, Column, Fact, Section, counts, table
from planner.report.style import csv_of, fields, line, renderer
from planner.report.text import decimal
from planner.research.bench.record import Bench, Group, Profile, Standing
from planner.research.bench.summary import GROUPS, KINDS, values

NOTE: Final = (
    "Optimal: legal, and as good as the proven optimum on every level. Refuted: claims of a proof "
    "that the optimum or the verifier refutes. Victims: by the fewest there can be, under "
    "min-count, the mean over its legal plans and the worst."
)
REFUTES: Final = "Refutes: legal answers that are better than the recorded optimum, which is wrong."
_GROUPS: Final[dict[Group, str]] = {
    "small": "Small states",
    "medium": "Medium states",
    "large": "Large states",
    "all": "All states",
}


def csv_text(bench: Bench) -> str:
    """Return a line for every row; names are never formulas of a spreadsheet."""
    return csv_of([tuple(KINDS), *values(bench)])


def document(bench: Bench) -> doc.Document:
    """Return the document of a benchmark: what each rival reached, by size, and how fast."""

    def ratio(value: float | None) -> str:
        return NOTHING if value is None else decimal(value)

    sections = []
    for size in GROUPS:
        standings = [one for one in bench.standings if one.size == size]
        counted = ["answers", "plans", "legal", "optimal", "proved", "refuted"]
        refutes = any(one.refutes for one in standings)
        counted += ["refutes"] if refutes else []
        counted += ["late"] if any(one.late for one in standings) else []
        columns: list[Column[Standing]] = [
            Column("Rival", lambda one: one.rival, folds=True),
            *counts({name: name.capitalize() for name in counted}),
            Column("Victims", lambda one: ratio(one.ratio), number=True),
            Column("Worst", lambda one: ratio(one.worst), number=True, rank=1),
            Column("CPU s,\nmedian", lambda one: f"{one.cpu_median:.3f}", number=True),
            Column("CPU s,\ntotal", lambda one: f"{one.cpu_total:,.1f}", number=True, rank=2),
        ]
        notes = (NOTE, REFUTES) if refutes else (NOTE,)
        reached = table(_GROUPS[size], columns, standings, notes)
        sections.append(Section(_GROUPS[size], (reached,)))
    sections += [
        Section("Performance profile", (_profile_table(bench.profiles),) if bench.rows else ()),
        Section("Failures", (failure_table("answered", bench.failures),)),
    ]
    manifest = bench.manifest
    cases = len({row.case for row in bench.rows})
    run = "quick" if manifest.quick else "full"
    machine = manifest.machine
    versions = ", ".join(f"{name} {number}" for name, number in machine.versions.items())
    computer = f"{machine.processor}, {plural(machine.cores, 'core')}, {machine.system}"
    head = [
        Fact("Suite", Cell(f"{manifest.suite} {manifest.version}, the {run} run")),
        Fact("Cases", Cell(f"{cases:,} under {plural(len(manifest.objectives), 'objective')}")),
        Fact("Machine", Cell(f"{computer}, Python {machine.python}, {versions}")),
    ]
    if bench.failures:
        head.append(Fact("Failed", Cell(plural(len(bench.failures), "time"), tone="bad")))
    return doc.Document("Benchmark of preemption planning", tuple(head), tuple(sections))


def _profile_table(profiles: Sequence[Profile]) -> doc.Table:
    factors = profiles[0].factors

    def share(place: int) -> Callable[[Profile], str]:
        return lambda one: f"{one.shares[place]:.0%}"

    made: list[Column[Profile]] = [
        Column("Rival", lambda one: one.rival, folds=True),
        *(Column(f"{factor:,}", share(place), number=True) for place, factor in enumerate(factors)),
    ]
    note = "The share of all answers that is optimal within so many times the least CPU time."
    return table("How many are optimal, and how soon", made, profiles, (note,))


def _lines(bench: Bench) -> Iterator[str]:
    for row in bench.rows:
        facts = fields(row, "status legal victims optimal proved refuted refutes late worse_at gap")
        broken, seconds = ",".join(row.broken) or None, str(row.cpu_seconds)
        which = row.case, row.objective, row.rival
        yield line("row", *which, **facts, broken=broken, cpu_seconds=seconds)
    yield from failure_lines(bench.failures)
    for one in bench.standings:
        numbers = one.model_dump(exclude={"size", "rival", "family"}, exclude_none=True)
        yield line("standing", one.size, one.rival, **{k: str(v) for k, v in numbers.items()})
    for profile in bench.profiles:
        pairs = zip(profile.factors, profile.shares, strict=True)
        yield line("profile", profile.rival, **{f"within_{f}": str(s) for f, s in pairs})


render = renderer(_lines, document, csv_text)
