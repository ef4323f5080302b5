"""A run of a benchmark, in every format and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from planner.quantity import plural
from planner.report import document as doc
from planner.report.audit import failure_table
from planner.report.document import Cell, Column, Fact, Section, table
from planner.report.labelled import labelled_lines, labelled_table
from planner.report.style import csv_of, line, renderer
from planner.research.bench.record import Bench, Group, Profile
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
    sections = []
    for size in GROUPS:
        standings = [one for one in bench.standings if one.size == size]
        notes = (NOTE, REFUTES) if any(one.refutes for one in standings) else (NOTE,)
        reached = labelled_table(_GROUPS[size], standings, notes=notes)
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
    yield from labelled_lines(bench)
    for profile in bench.profiles:
        pairs = zip(profile.factors, profile.shares, strict=True)
        yield line("profile", profile.rival, **{f"within_{f}": str(s) for f, s in pairs})


render = renderer(_lines, document, csv_text)
