"""A comparison of algorithms as a table, as plain lines, as JSON, or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table

from planner.auditing.record import Failure
from planner.plan import Record
from planner.report.audit import safe
from planner.report.paper import Column, grid, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.text import clean, decimal, hours, plural, short, word
from planner.study import MEASURES, Comparison, Distribution, Duel, Measure, Row, Score, Standing
from planner.study.table import columns, values

ROWS: Final = 30
"""How many rows a table shows; the other formats have all."""

TITLES: Final[dict[Measure, str]] = {
    "victims": "Victims",
    "lost_work": "Lost work, accelerator-hours",
    "ratio": "Evicted / requested",
    "seconds": "Seconds",
}
"""The measures in words, with the units in which they are shown."""

COUNTS: Final = {
    "plans": "Plans",
    "proved": "Proved",
    "infeasible": "Infeasible",
    "unknown": "Unknown",
    "skipped": "Skipped",
    "failed": "Failed",
    "outside_rules": "Outside the rules",
}
"""What is counted of an algorithm; columns with nothing but zeros are left out."""

NONE: Final = "-"
OUTSIDE: Final = " (outside the rules)"
_NAME: Final = 22
"""The least room for the name of an algorithm."""


def render(comparison: Comparison, style: str, *, width: int, color: bool) -> str:
    """Return the comparison in a style: ``table``, ``plain``, ``json`` or ``csv``."""
    if style == "csv":
        return csv_text(comparison)
    return in_style(comparison, style, _lines, _parts, width=width, color=color)


def csv_text(comparison: Comparison) -> str:
    """Return a line for every row; names are never formulas of a spreadsheet.

    A cell is empty where there is no value; ``yes`` and ``no`` stand for conditions.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns(comparison))
    for row in values(comparison):
        writer.writerow(yes(cell) if isinstance(cell, bool) else safe(cell) for cell in row)
    return text.getvalue()


def shown(measure: Measure, value: float | None) -> str:
    """Return a measure as people read it: work in accelerator-hours, the others as they are."""
    if value is None:
        return NONE
    if value < 0:
        return f"-{shown(measure, -value)}"
    if measure == "seconds":
        return f"{value:,.3f}"
    if measure == "lost_work":
        return hours(value)
    return decimal(value) if measure == "ratio" else decimal(value).removesuffix(".00")


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    summary = comparison.summary
    first = comparison.algorithms[0]
    facts = [
        ("Compared", f"{plural(summary.states, 'state')}, {plural(summary.cases, 'case')}"),
        ("Algorithms", f"{len(comparison.algorithms)}; the first is {clean(first)}"),
    ]
    if summary.failures:
        facts.append(("Failed", plural(summary.failures, "time")))
    yield grid(facts)
    if comparison.rows:
        yield _row_table(comparison.rows)
        yield _standing_table(summary.standings)
    if summary.distributions:
        yield _distribution_table(summary.distributions)
    if any(duel.both or duel.only_this or duel.only_first for duel in summary.duels):
        yield _duel_table(summary.duels)
    if comparison.failures:
        yield _failure_table(comparison.failures)


def _row_table(rows: Sequence[Row]) -> Table:
    """Return the rows; who waits where is said once for all algorithms."""
    told = [
        (row, before is None or (row.state, row.pending) != (before.state, before.pending))
        for before, row in zip((None, *rows), rows, strict=False)
    ]
    table: list[Column[tuple[Row, bool]]] = [
        Column("Case", lambda one: _case(one[0]) if one[1] else "", folds=True),
        Column("Algorithm", lambda one: clean(one[0].algorithm), folds=True, least=_NAME),
        Column("Status", lambda one: _status(one[0]), folds=True),
        *(
            Column(
                TITLES[measure].replace(", ", "\n").replace(" / ", " /\n"),
                _cell(measure),
                number=True,
            )
            for measure in MEASURES
        ),
    ]
    return table_of(table, told, ROWS)


def _case(row: Row) -> str:
    return f"{short(row.state)}: {short(row.pending)}"


def _cell(measure: Measure) -> Callable[[tuple[Row, bool]], str]:
    return lambda one: shown(measure, one[0].measured(measure))


def _status(row: Row) -> str:
    return row.status + (OUTSIDE if row.outside_rules else "")


def _standing_table(standings: Sequence[Standing]) -> Table:
    used = [name for name in COUNTS if any(getattr(one, name) for one in standings)]
    table: list[Column[Standing]] = [
        Column("Algorithm", lambda one: clean(one.algorithm), folds=True, least=_NAME),
        *(Column(COUNTS[name], _count(name), number=True) for name in used),
    ]
    return table_of(table, standings)


def _count(name: str) -> Callable[[Standing], str]:
    return lambda one: f"{getattr(one, name):,}"


def _distribution_table(rows: Sequence[Distribution]) -> Table:
    table: list[Column[Distribution]] = [
        Column("Measure", lambda one: TITLES[one.measure]),
        Column("Algorithm", lambda one: clean(one.algorithm), folds=True, least=_NAME),
        Column("Cases", lambda one: f"{one.count:,}", number=True),
        Column("Mean", lambda one: shown(one.measure, one.mean), number=True),
        Column("Median", lambda one: shown(one.measure, one.median), number=True),
        Column("90 %", lambda one: shown(one.measure, one.p90), number=True),
        Column("Most", lambda one: shown(one.measure, one.max), number=True),
    ]
    return table_of(table, rows)


def _duel_table(duels: Sequence[Duel]) -> Table:
    rows = [(duel, score) for duel in duels for score in duel.scores]
    table: list[Column[tuple[Duel, Score]]] = [
        Column("Algorithm", lambda row: clean(row[0].algorithm), folds=True, least=_NAME),
        Column("Measure", lambda row: TITLES[row[1].measure]),
        Column("Less", lambda row: f"{row[1].wins:,}", number=True),
        Column("As much", lambda row: f"{row[1].ties:,}", number=True),
        Column("More", lambda row: f"{row[1].losses:,}", number=True),
        Column("Mean less", lambda row: shown(row[1].measure, row[1].mean_gap), number=True),
        Column("Only it\nhas a plan", lambda row: f"{row[0].only_this:,}", number=True),
        Column("Only the\nfirst has", lambda row: f"{row[0].only_first:,}", number=True),
    ]
    against = table_of(table, rows)
    against.title, against.title_justify = f"Against {clean(duels[0].first)}", "left"
    return against


def _failure_table(failures: Sequence[Failure]) -> Table:
    table: list[Column[Failure]] = [
        Column("State", lambda one: short(one.state), folds=True),
        Column("Preemptor", lambda one: short(one.pending or ""), folds=True),
        Column("Outcome", lambda one: one.outcome),
        Column("Why", lambda one: clean(one.detail.partition("\n")[0]), folds=True, least=24),
    ]
    return table_of(table, failures)


def _lines(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        yield _row_line(row)
    for failure in comparison.failures:
        who = [word(failure.pending)] if failure.pending else []
        detail = quoted(" ".join(failure.detail.split()))
        yield line("failure", word(failure.state), *who, f"outcome={failure.outcome}", detail)
    summary = comparison.summary
    for standing in summary.standings:
        yield line("algorithm", word(standing.algorithm), *_facts(standing, "algorithm"))
    for one in summary.distributions:
        facts = _facts(one, "algorithm", "measure")
        yield line("distribution", one.measure, word(one.algorithm), *facts)
    for duel in summary.duels:
        pair = word(duel.algorithm), word(duel.first)
        yield line("duel", *pair, *_facts(duel, "algorithm", "first", "scores"))
        for score in duel.scores:
            yield line("score", *pair, score.measure, *_facts(score, "measure"))
    yield line("total", *_facts(summary, "standings", "distributions", "duels"))


def _facts(record: Record, *but: str) -> Iterator[str]:
    """Yield the numbers of a record by name, without the fields that are no numbers."""
    for name, value in record.model_dump(exclude=set(but)).items():
        yield f"{name}={value}"


def _row_line(row: Row) -> str:
    facts = [word(row.state), word(row.pending), word(row.algorithm), f"status={row.status}"]
    if row.proved is not None:
        facts.append(f"proved={yes(row.proved)}")
    if row.outside_rules:
        facts.append(
            f"outside_rules={','.join(law.partition(' ')[0] for law in row.outside_rules)}"
        )
    if row.own_flavors is False:
        facts.append("own_flavors=no")
    if row.has_plan:
        facts.append(f"victims={len(row.victims)}")
        facts += [f"{term}={value}" for term, value in row.terms.items()]
        facts += [f"ratio={row.ratio}"] if row.ratio is not None else []
    if row.levels:
        first = row.levels[0]
        facts += [f"level={first.term}", f"bound={first.bound}"]
    if row.seconds is not None:
        facts.append(f"seconds={row.seconds}")
    elif row.detail:
        facts.append(quoted(" ".join(row.detail.split())))
    return line("row", *facts)
