"""An audit as a table, as plain lines, as JSON, or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.auditing import Audit, Case, Failure
from planner.auditing.record import FindingCode, Gap, Judgement, Verdicts
from planner.plan import Shown
from planner.report.paper import Column, grid, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.text import clean, decimal, hours, plural, short, word
from planner.report.words import WORK_HOURS, WORK_UNIT, shown_in_words

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

WORST: Final = 20
"""How many cases a table shows; the other formats have all."""

CLEAN: Final = "Nothing to find fault with."
UNSETTLED: Final = "-"
CSV_COLUMNS: Final = (
    "state",
    "pending",
    "rules",
    "status",
    "victims",
    "irredundant",
    "smallest",
    "fewer_in_turn",
    "findings",
    "objective",
    "optimum_status",
    "optimum_victims",
    "best",
)
"""Of a row for each case and objective; every term of both answers follows."""


def render(audit: Audit, style: str, *, width: int, color: bool) -> str:
    """Return the audit in a style: ``table``, ``plain``, ``json`` or ``csv``."""
    if style == "csv":
        return _csv(audit)
    return in_style(audit, style, _lines, _parts, width=width, color=color)


def found(audit: Audit) -> list[Case]:
    """Return the cases with findings, those with the most needless victims first."""
    return sorted((case for case in audit.cases if case.findings), key=_spared, reverse=True)


def _spared(case: Case) -> int:
    """Return how many victims the first optimum has less."""
    first = case.judgements[0]
    return len(case.victims) - len(first.victims) if first.gaps else 0


def _parts(audit: Audit) -> Iterator[RenderableType]:
    yield _header(audit)
    worst = found(audit)
    if worst:
        yield _finding_table(audit)
        yield _case_table(worst)
    elif audit.summary.cases:
        yield Text(CLEAN, "green")
    if gaps := [gap for gap in audit.summary.gaps if gap.more or gap.less]:
        yield _gap_table(gaps)
    if audit.failures:
        yield _failure_table(audit.failures)


def _header(audit: Audit) -> Table:
    summary = audit.summary
    facts = [
        ("Audited", f"{plural(summary.states, 'state')}, {plural(summary.cases, 'case')}"),
        ("Evicting", f"{summary.with_victims:,} by the scheduler itself"),
        ("Infeasible", f"{summary.infeasible:,} proved"),
        *((_objective(one), _said(one)) for one in summary.verdicts),
        *((IN_TURN, said) for said in in_turn(audit)),
        *((LEVELS, said) for said in levels_shown(audit)),
    ]
    if summary.unproved:
        facts.append(("Not proved", plural(summary.unproved, "case")))
    if summary.failures:
        facts.append(("Failed", plural(summary.failures, "time")))
    return grid([(label, Text(fact)) for label, fact in facts])


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


def _objective(verdicts: Verdicts) -> str:
    return clean(verdicts.objective)


def _said(one: Verdicts) -> str:
    return f"{one.best:,} of {one.judged:,} of its answers are best, {one.not_best:,} are not"


def _finding_table(audit: Audit) -> Table:
    rows: list[tuple[FindingCode, int]] = [
        (code, count) for code, count in audit.summary.findings.items() if count
    ]
    columns: list[Column[tuple[FindingCode, int]]] = [
        Column("Finding", lambda row: row[0]),
        Column("Cases", lambda row: f"{row[1]:,}", number=True),
        Column("The scheduler's own answer", lambda row: FINDINGS[row[0]], folds=True),
    ]
    return table_of(columns, rows)


def _case_table(cases: Sequence[Case]) -> Table:
    columns: list[Column[Case]] = [
        Column("State", lambda case: short(case.state), plural(len(cases), "case"), folds=True),
        Column("Preemptor", lambda case: short(case.pending), folds=True),
        Column("Evicts", lambda case: f"{len(case.victims):,}", number=True),
        *(
            Column(clean(one.objective), _victims_of(place), number=True)
            for place, one in enumerate(cases[0].judgements)
        ),
        Column("Findings", lambda case: ", ".join(case.findings), folds=True),
    ]
    return table_of(columns, cases, WORST)


def _victims_of(place: int) -> Callable[[Case], str]:
    def shown(case: Case) -> str:
        judgement = case.judgements[place]
        return f"{len(judgement.victims):,}" if _has_plan(judgement) else UNSETTLED

    return shown


def _has_plan(judgement: Judgement) -> bool:
    return judgement.status in {"optimal", "feasible"}


def _gap_table(gaps: Sequence[Gap]) -> Table:
    columns: list[Column[Gap]] = [
        Column("Objective", lambda gap: clean(gap.objective)),
        Column("Measure", lambda gap: gap.title, folds=True),
        Column("Unit", gap_unit, folds=True),
        Column("Worse", lambda gap: f"{gap.more:,}", number=True),
        Column("Better", lambda gap: f"{gap.less:,}", number=True),
        Column("Mean gap", lambda gap: gap_amount(gap, gap.total / gap.compared), number=True),
        Column("Worst gap", lambda gap: gap_amount(gap, gap.worst), number=True),
    ]
    return table_of(columns, gaps)


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


def _failure_table(failures: Sequence[Failure]) -> Table:
    columns: list[Column[Failure]] = [
        Column("State", lambda one: short(one.state), folds=True),
        Column("Preemptor", lambda one: short(one.pending or ""), folds=True),
        Column("Outcome", lambda one: one.outcome),
        Column("Why", lambda one: clean(one.detail.partition("\n")[0]), folds=True, least=24),
    ]
    return table_of(columns, failures)


def _lines(audit: Audit) -> Iterator[str]:
    for case in audit.cases:
        yield from _case_lines(case)
    for failure in audit.failures:
        who = [word(failure.pending)] if failure.pending else []
        detail = quoted(" ".join(failure.detail.split()))
        yield line("failure", word(failure.state), *who, f"outcome={failure.outcome}", detail)
    for gap in audit.summary.gaps:
        yield line(
            "gap",
            word(gap.objective),
            word(gap.term),
            f"compared={gap.compared}",
            f"more={gap.more}",
            f"less={gap.less}",
            f"total={gap.total}",
            f"worst={gap.worst}",
            f"unit={quoted(gap.unit)}",
        )
    for one in audit.summary.verdicts:
        counts = f"judged={one.judged}", f"best={one.best}", f"not_best={one.not_best}"
        yield line("objective", word(one.objective), f"proved={one.proved}", *counts)
        rest = (f"{name}={count}" for name, count in one.shown)
        yield line("levels", word(one.objective), *rest)
    for code, count in audit.summary.findings.items():
        yield line("finding", code, str(count))
    summary = audit.summary
    if summary.precedence.judged:
        counted = summary.precedence.model_dump().items()
        yield line("precedence", *(f"{name}={count}" for name, count in counted))
    names = ("states", "cases", "with_victims", "infeasible", "clean", "unproved", "failures")
    yield line("total", *(f"{name}={getattr(summary, name)}" for name in names))


def _case_lines(case: Case) -> Iterator[str]:
    """Yield a line for the case, one for each objective, and the needless victims."""
    where = word(case.state), word(case.pending)
    yield line(
        "case",
        *where,
        f"status={case.status}",
        f"victims={len(case.victims)}",
        f"irredundant={_known(case.irredundant)}",
        f"smallest={_known(case.smallest)}",
        f"findings={','.join(case.findings) or 'none'}",
    )
    for one in case.judgements:
        yield line(
            "optimum",
            *where,
            word(one.objective),
            f"status={one.status}",
            f"victims={len(one.victims)}",
            f"best={_known(one.best)}",
        )
    if (kept := case.precedence) is not None:
        counted = f"fewest={len(kept.victims)}" if kept.victims else "fewest=none"
        found = f"smallest={_known(kept.smallest)}", f"fewer={_known(kept.fewer)}"
        yield line("in_turn", *where, *found, counted)
    if case.needless:
        yield line("needless", *where, *(word(name) for name in case.needless))
    for law in case.outside_rules:
        yield line("outside_rules", *where, quoted(law))


def _known(answer: bool | None) -> str:  # noqa: FBT001 - the only argument
    return "unknown" if answer is None else yes(answer)


def _csv(audit: Audit) -> str:
    """Return a row for every case and objective; names are never formulas of a spreadsheet."""
    text = io.StringIO()
    terms = list(dict.fromkeys(term for case in audit.cases for term in case.terms))
    writer = csv.writer(text, lineterminator="\n")
    both = [f"{side}_{term}" for term in terms for side in ("greedy", "optimum")]
    writer.writerow([*CSV_COLUMNS, *both])
    for case in audit.cases:
        for one in case.judgements:
            writer.writerow(safe(value) for value in _csv_row(case, one, terms))
    return text.getvalue()


def _csv_row(case: Case, one: Judgement, terms: Sequence[str]) -> Iterator[object]:
    yield from (case.state, case.pending, case.rules, case.status, len(case.victims))
    kept = _known(case.precedence.fewer) if case.precedence else ""
    yield from (_known(case.irredundant), _known(case.smallest), kept)
    yield " ".join(case.findings)
    yield from (one.objective, one.status, len(one.victims), _known(one.best))
    for term in terms:
        yield case.terms.get(term, "")
        yield one.terms.get(term, "")


def safe(value: object) -> object:
    """Keep a text from being taken for a formula, or from steering a terminal."""
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
