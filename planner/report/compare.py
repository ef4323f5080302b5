"""A comparison of algorithms, in every format and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from planner.commands.compare import Comparison
from planner.commands.compare.record import (
    MEASURES,
    Distribution,
    Duel,
    Measure,
    Row,
    Score,
)
from planner.commands.compare.table import kinds, values
from planner.quantity import plural
from planner.report import document as doc
from planner.report.audit import failure_table
from planner.report.document import NOTHING, Cell, Column, Fact, Section, table
from planner.report.labelled import labelled_lines, labelled_table, row_lines
from planner.report.style import csv_of, renderer
from planner.report.text import decimal, short
from planner.report.words import Work, work_in

ROWS: Final = 30
"""How many rows a table shows; the other formats have all."""

TITLES: Final[dict[Measure, str]] = {
    "victims": "Victims",
    "lost_work": "Lost work",
    "ratio": "Evicted / requested",
    "seconds": "Seconds",
}
"""The measures in words; work has a unit."""

_RANKS: Final[dict[Measure, int]] = {"ratio": 1, "seconds": 2}
"""The ranks of columns: where there is little room, the highest is left out first."""


def csv_text(comparison: Comparison) -> str:
    """Return a line for every row; names are never formulas of a spreadsheet.

    A cell is empty where there is no value; ``yes`` and ``no`` stand for conditions.
    """
    return csv_of([kinds(comparison), *values(comparison)])


def work_of(comparison: Comparison) -> Work:
    """Return the unit for the work that is lost in the states of a comparison."""
    return work_in(name for row in comparison.rows for name in row.resources)


def _title(measure: Measure, work: Work) -> str:
    unit = f", {work.hours}" if measure == "lost_work" else ""
    return TITLES[measure] + unit


def shown(measure: Measure, value: float | None, work: Work) -> str:
    """Return a measure as people read it: work in hours, the others as they are."""
    if value is None:
        return NOTHING
    if measure == "seconds":
        return f"{value:,.3f}"
    if measure == "lost_work":
        return work.lost(value)
    return decimal(value) if measure == "ratio" else decimal(value).removesuffix(".00")


def document(comparison: Comparison) -> doc.Document:
    """Return the document: rows, distributions, and how often each algorithm beats the first."""
    summary = comparison.summary
    work, first = work_of(comparison), comparison.algorithms[0]
    fared = labelled_table("How each fared", summary.standings)
    fought = any(duel.both or duel.only_this or duel.only_first for duel in summary.duels)
    distributed: list[Column[Distribution]] = [
        Column("Measure", lambda one: _title(one.measure, work), folds=True),
        Column("Algorithm", lambda one: one.algorithm, folds=True, below="Measure"),
        Column("Cases", lambda one: f"{one.count:,}", number=True),
        Column("Mean", lambda one: shown(one.measure, one.mean, work), number=True),
        Column("Median", lambda one: shown(one.measure, one.median, work), number=True),
        Column("90 %", lambda one: shown(one.measure, one.p90, work), number=True),
        Column("Most", lambda one: shown(one.measure, one.max, work), number=True),
    ]
    measures = table("Measures over all cases", distributed, summary.distributions)
    beats: list[Column[tuple[Duel, Score]]] = [
        Column("Algorithm", lambda row: row[0].algorithm, folds=True),
        Column("Measure", lambda row: _title(row[1].measure, work), folds=True),
        Column("Less", lambda row: f"{row[1].wins:,}", number=True),
        Column("As much", lambda row: f"{row[1].ties:,}", number=True),
        Column("More", lambda row: f"{row[1].losses:,}", number=True),
        Column("Mean less", lambda row: shown(row[1].measure, row[1].mean_gap, work), number=True),
        Column("Only it\nhas a plan", lambda row: f"{row[0].only_this:,}", number=True, rank=1),
        Column("Only the\nfirst has", lambda row: f"{row[0].only_first:,}", number=True, rank=1),
    ]
    scores = ((duel, score) for duel in summary.duels for score in duel.scores)
    duels = table("How often each is better than the first", beats, scores)
    sections = (
        Section("Cases", (_row_table(comparison.rows, work),)),
        Section("Algorithms", (fared,) if comparison.rows else ()),
        Section("Distributions", (measures,)),
        Section(f"Against {first}", (duels,) if fought else (), heads=True),
        Section("Failures", (failure_table("answered", comparison.failures),)),
    )
    counted = f"{plural(summary.states, 'state')}, {plural(summary.cases, 'case')}"
    several = len(comparison.algorithms)
    algorithms = f"{several}; the first is {first}" if several > 1 else first
    head = [Fact("Compared", Cell(counted)), Fact("Algorithms", Cell(algorithms))]
    if summary.failures:
        head.append(Fact("Failed", Cell(plural(summary.failures, "time"), tone="bad")))
    return doc.Document("Comparison of algorithms", tuple(head), sections)


def _row_table(rows: Sequence[Row], work: Work) -> doc.Table:
    """Return the rows; a case is named once, in the row of its first algorithm."""
    cases = [
        (row, before is None or (row.state, row.pending) != (before.state, before.pending))
        for before, row in zip((None, *rows), rows, strict=False)
    ]

    # The row of an algorithm that was skipped has no names.
    names = {(row.state, key): called for row in rows for key, called in row.names.items()}

    def case(one: tuple[Row, bool]) -> str:
        row, is_first = one
        called = names.get((row.state, row.pending), row.pending)
        return f"{short(row.state)}: {short(called)}" if is_first else ""

    def status(one: tuple[Row, bool]) -> str:
        return one[0].status + (" (outside the rules)" if one[0].outside_rules else "")

    def column(measure: Measure) -> Column[tuple[Row, bool]]:
        title = _title(measure, work).replace(", ", "\n").replace(" / ", " /\n")
        rank = _RANKS.get(measure, 0)
        return Column(
            title, lambda o: shown(measure, o[0].measured(measure), work), number=True, rank=rank
        )

    made: list[Column[tuple[Row, bool]]] = [
        Column("Case", case, folds=True),
        Column("Algorithm", lambda one: one[0].algorithm, folds=True, below="Case"),
        Column("Status", status, folds=True),
        *map(column, MEASURES),
    ]
    return table("What each algorithm answers", made, cases, most=ROWS)


def _lines(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        first = row.levels[0] if row.levels else None
        level, bound = (first.term, first.bound) if first else (None, None)
        yield from row_lines("row", row, level=level, bound=bound)
    yield from labelled_lines(comparison)


render = renderer(_lines, document, csv_text)
