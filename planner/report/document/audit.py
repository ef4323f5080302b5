"""An audit as a document: totals, findings, distributions, the worst cases, failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Final
from urllib.parse import quote

from planner.commands.audit.record import Audit, Case, Failure, FindingCode, Gap, Verdicts
from planner.plan import Shown
from planner.report.document.block import (
    PAGES_ONLY,
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Fold,
    Paragraph,
    Section,
    Sheet,
    Tile,
    Tone,
    facts,
    filled,
    name,
    sheet,
)
from planner.report.document.distribution import WORK, distributions
from planner.report.table_parts import NOTHING
from planner.report.text import decimal, hours, plural
from planner.report.words import WORK_HOURS, WORK_NOTE, WORK_UNIT, shown_in_words

FINDINGS: Final[dict[FindingCode, str]] = {
    "redundant": "some of its victims alone would do",
    "count": "fewer victims would do",
    "disruption": "another legal set is less disruptive",
    "rules": "it breaks its own rules",
    "missed": "it finds nobody, although a legal set exists",
    "pointless": "it evicts, although nobody needs to go",
}
"""What a finding says of the scheduler's own answer."""

IN_TURN: Final = "In turn"
LEVELS: Final = "Levels"
STRICT: Final = "documented precedence, ST-01 to ST-05"

AUDIT: Final = "Audit of the scheduler's own answers"
CLEAN: Final = "No findings"
MAX_CASES: Final = 50
ON_SCREEN: Final = 20
MAX_NEEDLESS: Final = 3


def document(audit: Audit, folder: Path | None = None) -> Document:
    """Return everything a page says of an audit.

    Parameters
    ----------
    audit
        The audit.
    folder
        Where the page will be, which links to states start from; the current folder if not given.
    """
    sections = filled(
        Section("Findings", tuple(_findings(audit))),
        Section("The worst cases", tuple(_worst(audit, folder or Path()))),
        Section("Objectives", tuple(_objectives(audit))),
        Section("Distributions", tuple(distributions(audit))),
        Section("Failures", tuple(_failures(audit.failures, folder or Path()))),
    )
    return Document(
        kind=AUDIT,
        head=tuple(_head(audit)),
        tiles=tuple(_tiles(audit)),
        sections=sections,
    )


def _head(audit: Audit) -> Iterator[Fact]:
    summary = audit.summary
    counted = f"{plural(summary.states, 'state')}, {plural(summary.cases, 'case')}"
    yield Fact("Audited", Cell(counted), "title")
    faulty = summary.cases - summary.clean
    badge = f"{plural(faulty, 'case')} with findings" if faulty else CLEAN
    yield Fact("Found", Cell(badge, tone="warn" if faulty else "good"), "badge")
    yield Fact("Evicting", Cell(_answer(audit)), "answer")
    yield from facts(_facts(audit))


def _answer(audit: Audit) -> str:
    summary = audit.summary
    said = [f"the scheduler itself evicts in {summary.with_victims:,} of {summary.cases:,}"]
    if summary.unproved:
        said.append(f"{summary.unproved:,} not proved within the time limit")
    if summary.failures:
        said.append(f"{plural(summary.failures, 'failure')}")
    return "; ".join(said)


def _facts(audit: Audit) -> Iterator[tuple[str, Cell]]:
    yield "Infeasible", Cell(f"{audit.summary.infeasible:,} proved")
    yield from ((one.objective, Cell(_said(one))) for one in audit.summary.verdicts)
    yield from ((IN_TURN, Cell(said)) for said in in_turn(audit))
    yield from ((LEVELS, Cell(said)) for said in levels_shown(audit))
    yield "Rules", Cell(", ".join(dict.fromkeys(case.rules for case in audit.cases)) or NOTHING)


def _tiles(audit: Audit) -> Iterator[Tile]:
    """Yield the findings that were made, and for each objective how many answers are best."""
    summary = audit.summary
    for one in summary.verdicts:
        if one.judged:
            yield Tile(
                f"{one.not_best / one.judged:.0%}",
                f"not best under {one.objective}",
                f"{one.not_best:,} of {one.judged:,} answers of the scheduler itself",
                "warn" if one.not_best else "good",
            )
    needless = sum(len(case.needless) for case in audit.cases)
    if evicted := sum(len(case.victims) for case in audit.cases):
        tone: Tone = "warn" if needless else "good"
        yield Tile(f"{needless:,}", "needless victims", f"of {evicted:,} that it evicts", tone)


def _findings(audit: Audit) -> Iterator[Block]:
    rows: list[tuple[FindingCode, int]] = [
        (code, count) for code, count in audit.summary.findings.items() if count
    ]
    cases = max(1, audit.summary.cases)
    columns: list[Column[tuple[FindingCode, int]]] = [
        Column("Finding", lambda row: row[0]),
        Column("Cases", lambda row: f"{row[1]:,}", number=True),
        Column("Of all", lambda row: f"{row[1] / cases:.1%}", number=True),
        Column("The scheduler's own answer", lambda row: FINDINGS[row[0]], folds=True),
    ]
    if rows:
        yield sheet("What is wrong with the scheduler's own answers", columns, rows)
    elif audit.summary.cases:
        yield Paragraph("Nothing to find fault with.", "good")


def _objectives(audit: Audit) -> Iterator[Block]:
    columns: list[Column[Verdicts]] = [
        Column("Objective", lambda one: one.objective),
        Column("Proved", lambda one: f"{one.proved:,}", number=True),
        Column("Judged", lambda one: f"{one.judged:,}", number=True),
        Column("Best", lambda one: f"{one.best:,}", number=True),
        Column("Not best", lambda one: f"{one.not_best:,}", number=True),
    ]
    if audit.summary.verdicts:
        best = sheet(
            "How many of the scheduler's own answers are best", columns, audit.summary.verdicts
        )
        yield Fold("How many were judged", (best,))
    gaps = [gap for gap in audit.summary.gaps if gap.more or gap.less]
    if gaps:
        yield _gaps(gaps)


def _gaps(gaps: Sequence[Gap]) -> Sheet:
    columns: list[Column[Gap]] = [
        Column("Objective", lambda gap: gap.objective),
        Column("Measure", lambda gap: gap.title, folds=True),
        Column("Unit", gap_unit, folds=True),
        Column("Compared", lambda gap: f"{gap.compared:,}", number=True, rank=PAGES_ONLY),
        Column("Worse", lambda gap: f"{gap.more:,}", number=True),
        Column("Better", lambda gap: f"{gap.less:,}", number=True),
        Column("Mean gap", lambda gap: gap_amount(gap, gap.total / gap.compared), number=True),
        Column("Worst gap", lambda gap: gap_amount(gap, gap.worst), number=True),
    ]
    notes = [WORK_NOTE] if any(gap.unit == WORK_UNIT for gap in gaps) else []
    return sheet("How much more than the optimum, measure by measure", columns, gaps, notes)


def _worst(audit: Audit, folder: Path) -> Iterator[Block]:
    shown = found(audit)
    if not shown:
        return
    states = {case.state: _state(case.state, folder) for case in shown}
    columns: list[Column[Case]] = [
        Column("State", lambda case: states[case.state], plural(len(shown), "case"), folds=True),
        Column("Preemptor", lambda case: name(case.pending), folds=True),
        Column("Evicts", lambda case: f"{len(case.victims):,}", number=True),
        *(
            Column(one.objective, _victims(place), number=True)
            for place, one in enumerate(shown[0].judgements)
        ),
        Column("Lost accelerator-hours more", _lost_more, number=True, rank=PAGES_ONLY),
        Column("Findings", lambda case: ", ".join(case.findings), folds=True),
    ]
    if any(case.needless for case in shown):
        columns.append(Column("Needless", _needless, rank=PAGES_ONLY))
    table = sheet("Victims of the scheduler itself and of the optima", columns, shown)
    yield replace(table, most=ON_SCREEN, most_on_page=MAX_CASES)


def _victims(place: int) -> Callable[[Case], Cell]:
    """Return what shows how many victims the optimum under the objective of a place has."""

    def shown(case: Case) -> Cell:
        judgement = case.judgements[place]
        if judgement.status in {"optimal", "feasible"}:
            return Cell(f"{len(judgement.victims):,}")
        return Cell(NOTHING, tone="dim")

    return shown


def _lost_more(case: Case) -> Cell:
    gaps = case.judgements[0].gaps
    if not gaps:
        return Cell(NOTHING, tone="dim")
    more = sum(gaps.get(term, 0) for term in WORK)
    return Cell(hours(more) if more >= 0 else f"-{hours(-more)}")


def _needless(case: Case) -> Cell:
    if not case.needless:
        return Cell("")
    more = len(case.needless) - MAX_NEEDLESS
    under = f"and {more:,} more" if more > 0 else ""
    return Cell(", ".join(case.needless[:MAX_NEEDLESS]), under, is_name=True)


def _failures(failures: Sequence[Failure], folder: Path) -> Iterator[Block]:
    columns: list[Column[Failure]] = [
        Column("State", lambda one: _state(one.state, folder), folds=True),
        Column("Preemptor", lambda one: name(one.pending or ""), folds=True),
        Column("Outcome", lambda one: Cell(one.outcome, tone="bad")),
        Column("Why", lambda one: one.detail.partition("\n")[0], folds=True, least=24),
    ]
    if failures:
        yield sheet("What could not be audited", columns, failures)


def _state(state: str, folder: Path) -> Cell:
    """Return the name of a state, with a relative link if it is a file or folder on this disk."""
    try:
        known = Path(state).exists()
    except (OSError, ValueError):  # a name that no file can have
        known = False
    # A name such as javascript:... is a path too: quoting leaves no colon in it.
    href = quote(os.path.relpath(state, folder)) if known else ""
    return Cell(state, is_name=True, href=href)


def found(audit: Audit) -> list[Case]:
    """Return the cases with findings, those with the most needless victims first."""
    return sorted((case for case in audit.cases if case.findings), key=_spared, reverse=True)


def _spared(case: Case) -> int:
    """Return how many victims the first optimum has less."""
    first = case.judgements[0]
    return len(case.victims) - len(first.victims) if first.gaps else 0


def in_turn(audit: Audit) -> Iterator[str]:
    """Yield what documented precedence leaves of the finding that fewer victims would do."""
    kept = audit.summary.precedence
    if kept.judged:
        said = f"fewer victims would still do in {kept.fewer:,} of {kept.judged:,} cases ({STRICT})"
        yield said + (f", {kept.undecided:,} not decided" if kept.undecided else "")


def levels_shown(audit: Audit) -> Iterator[str]:
    """Yield what the levels of all optima rest on."""
    shown = reduce(Shown.plus, (one.shown for one in audit.summary.verdicts), Shown())
    if shown.levels:
        yield f"{shown.levels:,} of all optima: {shown_in_words(shown)}"


def _said(one: Verdicts) -> str:
    return f"{one.best:,} of {one.judged:,} of its answers are best, {one.not_best:,} are not"


def gap_unit(gap: Gap) -> str:
    """Return the unit that the amounts of a gap are shown in."""
    return WORK_HOURS if gap.unit == WORK_UNIT else gap.unit


def gap_amount(gap: Gap, value: float) -> str:
    """Return an amount of a gap in the unit it is shown in."""
    if gap.unit == WORK_UNIT:
        return hours(value) if value >= 0 else f"-{hours(-value)}"
    if isinstance(value, int):
        return f"{value:,}"
    return decimal(value) if value >= 0 else f"-{decimal(-value)}"
