"""What was found in a configuration, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from planner.operations.lint.lint import SEVERITIES, Lint, Severity
from planner.quantity import plural
from planner.report import document as doc
from planner.report.covered import assumed
from planner.report.document import CUT, Cell, Fact, Section
from planner.report.labelled import labelled_document, labelled_facts, labelled_lines
from planner.report.style import line, renderer
from planner.scheduler import scheduler_of


def _findings(answer: Lint) -> doc.Document:
    """Return a section for every finding, but only for the first where there are very many."""
    sections = [
        Section(f"{one.code}: {one.title}", (doc.Facts(tuple(labelled_facts(one))),), heads=True)
        for one in answer.findings[: doc.MAX_ROWS]
    ]
    left_out = len(answer.findings) - doc.MAX_ROWS
    if left_out > 0:
        sections.append(Section("More", (doc.Paragraph(CUT.format(count=left_out), "dim"),)))
    counts = Counter(one.severity for one in answer.findings)
    kinds: list[Severity] = [severity for severity in SEVERITIES if counts[severity]]
    found = [plural(counts[severity], severity) for severity in kinds]
    nothing = "Nothing else found." if answer.ignored else "Nothing found."
    said = Cell(", ".join(found) or nothing, tone=SEVERITIES[kinds[0]] if kinds else "good")
    by = Counter(f"{one.code} ({one.by})" for one in answer.ignored)
    among = ", ".join(f"{count} {kind}" for kind, count in by.items())
    ignored = Fact("Ignored", Cell(f"{plural(len(answer.ignored), 'finding')}: {among}"))
    head = (
        *assumed(answer.coverage),
        Fact("Scheduler", Cell(scheduler_of(answer).words.name)),
        *([ignored] if among else []),
        Fact("Found", said, "badge"),
    )
    notes = labelled_document("Findings on a configuration", answer)
    return replace(notes, head=head, sections=(*sections, *notes.sections))


def _finding_lines(answer: Lint) -> Iterator[str]:
    yield from labelled_lines(answer)
    if answer.ignored:
        yield line("ignored", answer.ignored)
    for ignored in answer.ignored:
        yield line("accepted", ignored.code, *ignored.objects, by=ignored.by)


render_lint = renderer(_finding_lines, _findings)
