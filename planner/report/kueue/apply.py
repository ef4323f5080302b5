"""A plan that was carried out, or not, in every format: what was done, with every command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.apply.record import Applied, ApplyStatus
from planner.report.document import (
    Block,
    Cell,
    Document,
    Fact,
    Names,
    Paragraph,
    Section,
    Tone,
    filled,
    name,
)
from planner.report.kueue.plan import command_listing
from planner.report.style import Said, each, field_lines, free, line, renderer
from planner.report.text import clean

TITLE: Final = "A plan carried out"
ANSWERS: Final[dict[ApplyStatus, tuple[str, Tone]]] = {
    "planned": ("Not run", ""),
    "nothing": ("Nothing to do", ""),
    "applied": ("As planned", "good"),
    "otherwise": ("Otherwise than planned", "warn"),
    "refused": ("Refused, nothing changed", "bad"),
    "stopped": ("Stopped", "bad"),
    "interrupted": ("Interrupted", "warn"),
    "undone": ("Taken back", ""),
}


def document(answer: Applied) -> Document:
    """Return everything there is to say: what came of it, and the commands."""
    changes: list[Block] = [Paragraph(one) for one in answer.changes]
    title = "Commands" if answer.status == "planned" else "What was done"
    also = Names("evicted, too", answer.also_evicted, "warn")
    sections = filled(
        Section("What changed", tuple(changes), heads=True),
        Section("Others", (also,) if answer.also_evicted else ()),
        Section(title, (command_listing(answer.steps),) if answer.steps else ()),
        Section("Notes", tuple(Paragraph(note) for note in answer.notes)),
    )
    return Document(TITLE, tuple(_head(answer)), sections)


def _head(answer: Applied) -> Iterator[Fact]:
    said, tone = ANSWERS[answer.status]
    yield Fact("Preemptor", name(answer.preemptor), "title")
    label = "Victims"
    for key in answer.victims:
        yield Fact(label, name(key))
        label = ""
    yield Fact("Way", Cell(answer.way))
    yield Fact("Result", Cell(said, tone=tone), "verdict")
    yield Fact("", Cell(answer.explanation), "answer")
    if answer.way_on:
        yield Fact("Next", Cell(answer.way_on))


def _lines(answer: Applied) -> Iterator[str]:
    yield from field_lines(answer, "preemptor status way plan admitted")
    yield free("explanation", answer.explanation)
    yield from each("victim", answer.victims)
    yield from each("also_evicted", answer.also_evicted)
    yield from each("changed", map(Said, answer.changes))
    for step in answer.steps:
        yield line("step", Said(step.title), at=step.at.isoformat() if step.at else None)
    if answer.way_on:
        yield free("next", answer.way_on)
    yield from each("note", map(Said, answer.notes))
    yield from (clean(step.command) for step in answer.steps)


render = renderer(_lines, document)
