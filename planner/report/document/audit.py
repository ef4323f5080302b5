"""An audit as a document: totals, findings, distributions, the worst cases, failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from planner.auditing.record import Audit, Case, Failure, FindingCode, Gap, Verdicts
from planner.report.audit import (
    FINDINGS,
    IN_TURN,
    LEVELS,
    found,
    gap_amount,
    gap_unit,
    in_turn,
    levels_shown,
)
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
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
from planner.report.text import hours, plural
from planner.report.words import WORK_NOTE, WORK_UNIT

AUDIT: Final = "Audit of the scheduler's own answers"
CLEAN: Final = "No findings"
MAX_CASES: Final = 50
MORE: Final = "{count:,} more cases with findings, use --format csv"
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
        Section("Objectives", tuple(_objectives(audit))),
        Section("Distributions", tuple(distributions(audit))),
        Section("The worst cases", tuple(_worst(audit, folder or Path()))),
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
    yield Fact("", Cell(_answer(audit)), "answer")
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
    yield "Objectives", Cell(", ".join(audit.objectives))
    yield "Infeasible", Cell(f"{audit.summary.infeasible:,} proved")
    for said in in_turn(audit):
        yield IN_TURN, Cell(said)
    for said in levels_shown(audit):
        yield LEVELS, Cell(said)
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
        Column("The scheduler's own answer", lambda row: FINDINGS[row[0]]),
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
        yield sheet(
            "How many of the scheduler's own answers are best", columns, audit.summary.verdicts
        )
    gaps = [gap for gap in audit.summary.gaps if gap.more or gap.less]
    if gaps:
        yield _gaps(gaps)


def _gaps(gaps: Sequence[Gap]) -> Sheet:
    columns: list[Column[Gap]] = [
        Column("Objective", lambda gap: gap.objective),
        Column("Measure", lambda gap: gap.title),
        Column("Unit", gap_unit),
        Column("Compared", lambda gap: f"{gap.compared:,}", number=True),
        Column("Worse", lambda gap: f"{gap.more:,}", number=True),
        Column("Better", lambda gap: f"{gap.less:,}", number=True),
        Column("Mean gap", lambda gap: gap_amount(gap, gap.total / gap.compared), number=True),
        Column("Worst gap", lambda gap: gap_amount(gap, gap.worst), number=True),
    ]
    notes = [WORK_NOTE] if any(gap.unit == WORK_UNIT for gap in gaps) else []
    return sheet("How much more than the optimum, measure by measure", columns, gaps, notes)


def _worst(audit: Audit, folder: Path) -> Iterator[Block]:
    cases = found(audit)
    shown = cases[:MAX_CASES]
    if not shown:
        return
    states = {case.state: _state(case.state, folder) for case in shown}
    columns: list[Column[Case]] = [
        Column("State", lambda case: states[case.state]),
        Column("Preemptor", lambda case: name(case.pending)),
        Column("Evicts", lambda case: f"{len(case.victims):,}", number=True),
        *(
            Column(one.objective, _victims(place), number=True)
            for place, one in enumerate(shown[0].judgements)
        ),
        Column("Lost accelerator-hours more", _lost_more, number=True),
        Column("Findings", lambda case: ", ".join(case.findings)),
    ]
    if any(case.needless for case in shown):
        columns.append(Column("Needless", _needless))
    more = len(cases) - len(shown)
    notes = [MORE.format(count=more)] if more else []
    yield sheet("Victims of the scheduler itself and of the optima", columns, shown, notes)


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
        Column("State", lambda one: _state(one.state, folder)),
        Column("Preemptor", lambda one: name(one.pending or "")),
        Column("Outcome", lambda one: Cell(one.outcome, tone="bad")),
        Column("Why", lambda one: one.detail.partition("\n")[0]),
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
