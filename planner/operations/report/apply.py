"""A plan carried out, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.operations.apply.record import Applied, ApplyStatus
from planner.report import document as doc
from planner.report.document import Cell, Fact, Section, name
from planner.report.kueue.plan import command_listing
from planner.report.style import Said, each, field_lines, free, line, renderer
from planner.report.text import clean

ANSWERS: Final[dict[ApplyStatus, tuple[str, doc.Tone]]] = {
    "planned": ("Not run", ""),
    "applied": ("As planned", "good"),
    "otherwise": ("Otherwise than planned", "warn"),
    "refused": ("Refused, nothing changed", "bad"),
    "stopped": ("Stopped", "bad"),
    "interrupted": ("Interrupted", "warn"),
}


def _applied(answer: Applied) -> doc.Document:
    acts = tuple(doc.Paragraph(f"{one.act}: {one.why}") for one in answer.acts)
    evicted = doc.Names("evicted", answer.evicted)
    sections = (
        Section("What changed", tuple(map(doc.Paragraph, answer.changes)), heads=True),
        Section("Commands", (command_listing(answer.steps),) if answer.steps else ()),
        Section("What was done", acts),
        Section("Whom Kueue evicted", (evicted,) if answer.evicted else ()),
        Section("Notes", tuple(map(doc.Paragraph, answer.notes))),
    )
    said, tone = ANSWERS[answer.status]
    head = (
        Fact("Preemptor", name(answer.preemptor), "title"),
        *(Fact("" if n else "Victims", name(key)) for n, key in enumerate(answer.victims)),
        Fact("Result", Cell(said, tone=tone), "verdict"),
        Fact("", Cell(answer.explanation), "answer"),
        *([Fact("Next", Cell(answer.way_on))] if answer.way_on else []),
    )
    return doc.Document("A plan carried out", head, sections)


def _applied_lines(answer: Applied) -> Iterator[str]:
    yield from field_lines(answer, "preemptor status admitted")
    yield free("explanation", answer.explanation)
    yield from each("victim", answer.victims)
    yield from each("evicted", answer.evicted)
    yield from each("changed", map(Said, answer.changes))
    for one in answer.acts:
        yield line(one.act, one.at.isoformat(), Said(one.why))
    yield from (line("step", Said(step.title)) for step in answer.steps)
    if answer.way_on:
        yield free("next", answer.way_on)
    yield from each("note", map(Said, answer.notes))
    yield from (clean(step.command) for step in answer.steps)


render_applied = renderer(_applied_lines, _applied)
