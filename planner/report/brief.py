"""A plan in brief: what a screen shows unless it is asked for the details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from planner.plan import AnyPlan
from planner.quantity import plural
from planner.report import document as doc
from planner.report import words
from planner.report.covered import answer_cell, assumed
from planner.report.document import Cell, Column, Fact, Section, table
from planner.report.plan import PREEMPTION, closed_levels, own_in_words
from planner.scheduler import scheduler_of

FEW: Final = 3
"""A brief screen lists so many of a list before it says how many more there are."""


def brief(plan: AnyPlan) -> doc.Document:
    """Return the answer for one screen: verdict, victims beside the scheduler's own, what is lost.

    Lists are cut, so that it has at most 25 lines of 100 columns.
    """
    own = scheduler_of(plan).reporting.particulars(plan)
    rules = f"{words.scheduler_name(plan)}, {words.rules_name(plan)}"
    about = f"priority {plan.priority}   {rules}"
    asks = Cell(plan.about.name, is_name=True, aside=about, aside_tone="")
    certificate = plan.certificate
    proof = words.proof_in_words(certificate) if certificate else ""
    if certificate and words.CHECK_IT in proof:
        levels = plural(len(certificate.levels), "level")
        count = f"{closed_levels(certificate)} of {levels} of {plan.objective} proved: "
        proof = f"{count if certificate.levels else ''}{words.CHECK_IT}"
    others = len(plan.coverage) - 1
    head = (
        *assumed(plan.coverage[:1]),
        *([Fact("", Cell(f"and {others:,} more: --details", tone="dim"))] if others > 0 else []),
        Fact(own.asks, asks, "title"),
        *(Fact(*row) for row in own.brief),
        Fact("Answer", answer_cell(plan), "verdict"),
        *([Fact("", Cell(plan.explanation), "answer")] if plan.explanation else []),
        *(Fact("", Cell(one.text, tone=one.tone)) for one in _own_answer(plan)),
        *(Fact(*row) for row in own.found),
        *([Fact("Proof", Cell(proof))] if proof else []),
    )
    sections = (
        Section("Victims", (*_victims(plan, own.columns), *own.remarks)),
        Section("Disruption", tuple(_differences(plan))),
        Section("Commands", own.commands),
    )
    return doc.Document(PREEMPTION, head, sections)


def _own_answer(plan: AnyPlan) -> Iterator[doc.Paragraph]:
    """Yield what is to be said of the scheduler's own answer beside its victims."""
    broken = ", ".join(law for law, _ in words.outside_rules(plan.greedy or plan))
    breaks = f"{words.scheduler_name(plan)}'s answer breaks its own rules ({broken})"
    breaks = breaks if broken else ""
    said = own_in_words(plan, plan.greedy) if plan.greedy else ""
    if said or breaks:
        yield doc.Paragraph("; ".join(filter(None, (said, breaks))), "warn" if breaks else "")
    if more := words.more_than_greedy(plan):
        yield doc.Paragraph(more, "warn")


def _victims(plan: AnyPlan, columns: Sequence[Column[Any]]) -> Iterator[doc.Block]:
    """Yield the first victims, and below them the first that only the scheduler would evict."""
    theirs = plan.greedy.victims if plan.greedy else ()
    parts = words.contrast(plan, plan.greedy) if plan.greedy else None
    spared = [one for one in theirs if parts and one.key in parts.spared]
    shown, itself = [*columns], words.scheduler_name(plan)
    if parts and theirs and (spared or parts.instead):
        both = set(parts.common)
        shown = [replace(one, total="") for one in columns]
        shown.append(Column("Chosen by", lambda one: "both" if one.key in both else "this plan"))
    rows = [*_first(shown, plan.victims)]
    if spared:
        last = replace(shown[-1], cell=lambda _: itself)
        rows += _first([*shown[:-1], last], spared, itself)
    if rows:
        yield doc.Table("Whom to evict", tuple(shown), tuple(rows))


def _first(
    columns: Sequence[Column[Any]], every: Sequence[Any], last: str = "", where: str = ""
) -> Iterator[tuple[Cell, ...]]:
    """Yield the first rows, and one that says how many more there are, with its ``last`` cell."""
    few = FEW if len(every) > FEW + 1 else len(every)
    yield from table("", columns, every[:few]).rows
    if rest := every[few:]:
        more = Cell(f"and {len(rest):,} more{where}", tone="dim")
        yield (more, *[doc.NO_CELL] * (len(columns) - 2), Cell(last))


def _differences(plan: AnyPlan) -> Iterator[doc.Block]:
    """Yield the first measures in which a plan and the scheduler's own differ, lost work first."""
    rows = [one for one in words.term_rows(plan) if one.greedy not in {None, one.value}]
    counted = {term for one in rows if one.level for term in one.id.split("+")}
    rows = [
        one
        for one in rows
        if one.level or one.id not in {*words.RARELY_SHOWN, *words.COUNTING, *counted}
    ]
    rows = words.not_twice(rows, lambda one: (one.id, (one.value, one.greedy)))
    rows.sort(key=lambda one: one.unit != words.WORK_UNIT)
    work = words.work_of(plan)
    columns: list[Column[words.TermRow]] = [
        Column("What differs", lambda row: row.title, folds=True),
        Column("This plan", lambda row: work.amount(row.unit, row.value), number=True),
        Column(
            words.scheduler_name(plan),
            lambda row: work.amount(row.unit, row.greedy or 0),
            number=True,
        ),
        Column("Unit", lambda row: work.unit(row.unit)),
    ]
    shown = tuple(_first(columns, rows, where=": --details"))
    yield doc.Table("Where the two plans differ", tuple(columns), shown)
