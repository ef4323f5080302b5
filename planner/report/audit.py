"""An audit in every format, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from planner.commands.audit import Audit, Case
from planner.commands.audit.record import Judgement
from planner.report.document.audit import document
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.text import clean, word

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


def render(audit: Audit, style: str, *, width: int, color: bool, folder: Path | None = None) -> str:
    """Return it: ``table``, ``plain``, ``json``, ``csv``, ``markdown`` or ``html``.

    Links of a page to states start from the folder it will be in, by default the current one.
    """
    if style == "csv":
        return _csv(audit)
    made = partial(document, folder=folder)
    return in_style(audit, style, _lines, made, width=width, color=color)


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
