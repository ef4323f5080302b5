"""A plan carried out, in every format."""

from __future__ import annotations

from planner.operations.apply.kueue_record import Applied
from planner.report import document as doc
from planner.report.kueue.plan import command_listing
from planner.report.labelled import labelled_document, labelled_lines
from planner.report.style import renderer


def _applied(answer: Applied) -> doc.Document:
    commands = [command_listing(answer.steps)]
    return labelled_document("A plan carried out", answer, steps=commands)


render_applied = renderer(labelled_lines, _applied)
