"""How often what runs is a victim, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from planner.operations.risk.measure import Attempt, Exposed, Risk
from planner.quantity import plural
from planner.report import document as doc
from planner.report.covered import assumed, uncovered_lines
from planner.report.document import NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.style import Said, field_lines, fields, line, renderer
from planner.report.words import noted
from planner.scheduler import scheduler_of

ANSWERS: Final = {
    "optimal": "proved optimal",
    "feasible": "not proved best",
    "infeasible": "proved infeasible",
    "unknown": "unknown",
}


def document(answer: Risk) -> doc.Document:
    """Return the document: which workloads are exposed, and to which preemptors."""
    called, preemptors = scheduler_of(answer).words, answer.preemptors
    rows = [row for row in answer.running if row.greedy or row.optimum]
    theirs, ours = (f"{sum(getattr(row, by) for row in rows):,}" for by in ("greedy", "optimum"))

    def count(number: int) -> str:
        return f"{number:,}" if number else NOTHING

    def percent(share: float) -> str:
        rounded = f"{share:.0%}".removesuffix("%")
        less = "<1" if rounded == "0" else rounded  # what is not zero never reads as zero
        return less if share else NOTHING

    exposed: list[Column[Exposed]] = [
        Column("Victim", lambda row: name(row.name), plural(len(rows), called.noun), folds=True),
        Column(called.queue, lambda row: name(row.queue), folds=True, below="Victim"),
        Column("Priority", lambda row: str(row.priority), number=True),
        Column(called.name, lambda row: count(row.greedy), theirs, number=True),
        Column("%", lambda row: percent(row.greedy_share), number=True),
        Column("Plan", lambda row: count(row.optimum), ours, number=True),
        Column("%", lambda row: percent(row.optimum_share), number=True),
    ]
    at_risk: list[doc.Block] = []
    if rows:
        at_risk.append(table("How often each would be a victim", exposed, rows))
    if never := len(answer.running) - len(rows):
        running = plural(len(answer.running), f"running {called.noun}")
        are = "is" if never == 1 else "are"
        at_risk.append(doc.Paragraph(f"{never:,} of {running} {are} never a victim."))

    def origin(row: Attempt) -> str:
        return "pending" if row.origin == "pending" else f"like {row.alike:,} running"

    def victims(row: Attempt, found: tuple[str, ...]) -> str:
        return NOTHING if row.status == "infeasible" and not found else f"{len(found):,}"

    attempts: list[Column[Attempt]] = [
        Column("Preemptor", lambda row: name(row.name), str(len(preemptors)), folds=True),
        Column(called.queue, lambda row: name(row.queue), folds=True, below="Preemptor"),
        Column("Priority", lambda row: str(row.priority), number=True),
        Column("Origin", origin, rank=1),
        Column(called.name, lambda row: victims(row, row.greedy), number=True),
        Column("Plan", lambda row: victims(row, row.optimum), number=True),
        Column("Answer", lambda row: ANSWERS[row.status]),
    ]
    sections = (
        Section("Who is at risk", tuple(at_risk)),
        Section("For whom", (table("Whom each preemptor would evict", attempts, preemptors),)),
        noted(answer.notes),
    )
    return doc.Document("Risk of preemption", tuple(_head(answer)), sections)


def _head(answer: Risk) -> Iterator[Fact]:
    yield from assumed(answer.coverage)
    statuses = Counter(one.status for one in answer.preemptors)
    counts = [f"{count:,} {ANSWERS[status]}" for status, count in statuses.items()]
    origins = Counter(one.origin for one in answer.preemptors)
    made = [
        f"{count:,} pending"
        if origin == "pending"
        else f"{plural(count, 'shape')} of what runs, once more"
        for origin, count in origins.items()
    ]
    each = ", each as if alone" if len(answer.preemptors) > 1 else ""
    yield Fact("Scheduler", Cell(scheduler_of(answer).words.name))
    yield Fact("Objective", Cell(answer.objective))
    yield Fact("Preemptors", Cell(f"{len(answer.preemptors):,}{each}", tone="strong"))
    yield from (Fact("", Cell(", ".join(parts))) for parts in (made, counts) if parts)
    for number, what in (
        (answer.beyond_limit, "left out by the limit"),
        (answer.unanswered, "not answered in time"),
        (len(answer.skipped), "that cannot be planned for"),
    ):
        if number:
            yield Fact("", Cell(f"{number:,} more {what}", tone="warn"))


def _lines(answer: Risk) -> Iterator[str]:
    names = "scheduler objective answered=preemptors beyond_limit unanswered digest"
    yield from field_lines(answer, names)
    yield from uncovered_lines(answer.coverage)
    own = answer.scheduler
    for one in answer.preemptors:
        facts = fields(one, f"status {own}=greedy plan=optimum {own}_status=greedy_status origin")
        called = one.name if one.name != one.preemptor else None
        rest = fields(one, "like alike queue priority")
        yield line("preemptor", one.preemptor, **facts, **rest, name=called)
    names = f"{own}=greedy plan=optimum {own}_share=greedy_share plan_share=optimum_share"
    for row in answer.running:
        called = row.name if row.name != row.key else None
        yield line("running", row.key, **fields(row, f"{names} queue priority"), name=called)
    yield from (line("skipped", one.preemptor, Said(one.reason)) for one in answer.skipped)


render = renderer(_lines, document)
