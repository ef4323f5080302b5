"""Who is pending in a state, and what can be set there, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.whatif.edit import Editable, Settable, Settings, Waiting
from planner.report.document import NOTHING, Cell, Column, Document, Fact, Section, filled, name
from planner.report.document import table as table_of
from planner.report.style import Said, line, renderer
from planner.report.text import plural

SETTINGS: Final = "What can be set"
LEFT_OUT: Final = "{count} that run are not listed."


def document(answer: Settings) -> Document:
    """Return the pending, and all that can be set."""
    waits: list[Column[Waiting]] = [
        Column("Pending", lambda one: name(one.name), folds=True),
        Column("Queue", lambda one: name(one.queue), folds=True),
        Column("Priority", lambda one: f"{one.priority}", number=True),
    ]
    columns: list[Column[tuple[Editable, Settable]]] = [
        Column("Edit", lambda row: name(row[1].target), folds=True),
        Column("Value", lambda row: row[1].value or NOTHING),
        Column("May be", lambda row: ", ".join(row[1].choices) or NOTHING, folds=True),
    ]
    rows = ((one, each) for one in answer.objects for each in one.settings)
    notes = (LEFT_OUT.format(count=f"{answer.left_out:,}"),) if answer.left_out else ()
    sections = filled(
        Section("Pending", (table_of("Who waits in a queue", waits, answer.pending),)),
        Section(SETTINGS, (table_of("What stands before the = of an edit", columns, rows, notes),)),
    )
    title = Fact("Pending", Cell(plural(len(answer.pending), "workload")), "title")
    return Document(SETTINGS, (title,), sections)


def _lines(answer: Settings) -> Iterator[str]:
    yield line("scheduler", answer.scheduler)
    for one in answer.pending:
        yield line("pending", one.key, name=one.name, queue=one.queue, priority=one.priority)
    for goal in answer.objectives:
        yield line("objective", goal.name, Said(goal.summary))
    for thing in answer.objects:
        for each in thing.settings:
            yield line("setting", each.target, value=each.value)
    if answer.left_out:
        yield line("left_out", answer.left_out)


render = renderer(_lines, document)
