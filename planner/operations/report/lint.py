"""What was found in a configuration, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from planner.operations.lint.lint import Lint, Severity
from planner.quantity import plural
from planner.report import document as doc
from planner.report.covered import assumed, uncovered_lines
from planner.report.document import CUT, Cell, Fact, Section
from planner.report.style import Said, each, field_lines, line, renderer
from planner.report.text import short, some_of
from planner.scheduler import scheduler_of

MAX_OBJECTS: Final = 12
_TONES: Final[Mapping[Severity, doc.Tone]] = {"error": "bad", "warning": "warn", "note": ""}


def _findings(answer: Lint) -> doc.Document:
    """Return a section for every finding, but only for the first where there are very many."""
    sections = []
    for one in answer.findings[: doc.MAX_ROWS]:
        objects = some_of([short(each) for each in one.objects[:MAX_OBJECTS]], len(one.objects))
        rows = (
            ("Severity", Cell(one.severity, tone=_TONES[one.severity])),
            ("Objects", Cell(objects)),
            ("Reason", Cell(one.reason)),
            ("Hint", Cell(one.hint)),
            *(
                ("Example" if number == 1 else "", Cell(f"{number}. {step}"))
                for number, step in enumerate(one.example.shows, start=1)
            ),
        )
        sections.append(Section(f"{one.code}: {one.title}", (doc.Facts(rows),), heads=True))
    left_out = len(answer.findings) - doc.MAX_ROWS
    if left_out > 0:
        sections.append(Section("More", (doc.Paragraph(CUT.format(count=left_out), "dim"),)))
    notes = tuple(doc.Paragraph(note, "warn") for note in answer.notes)
    sections.append(Section("Notes", notes))
    counts = Counter(one.severity for one in answer.findings)
    found = [plural(counts[severity], severity) for severity in _TONES if counts[severity]]
    tones: list[doc.Tone] = [tone for severity, tone in _TONES.items() if counts[severity]]
    nothing = "Nothing else found." if answer.ignored else "Nothing found."
    said = Cell(", ".join(found) or nothing, tone=tones[0] if tones else "good")
    by = Counter(f"{one.code} ({one.by})" for one in answer.ignored)
    among = ", ".join(f"{count} {kind}" for kind, count in by.items())
    ignored = (
        [Fact("Ignored", Cell(f"{plural(len(answer.ignored), 'finding')}: {among}"))]
        if among
        else []
    )
    head = (
        *assumed(answer.coverage),
        Fact("Scheduler", Cell(scheduler_of(answer).words.name)),
        *ignored,
        Fact("Found", said, "badge"),
    )
    return doc.Document("Findings on a configuration", head, tuple(sections))


def _finding_lines(answer: Lint) -> Iterator[str]:
    yield from field_lines(answer, "scheduler findings digest")
    if answer.ignored:
        yield line("ignored", len(answer.ignored))
    yield from uncovered_lines(answer.coverage)
    for ignored in answer.ignored:
        yield line("accepted", ignored.code, *ignored.objects, by=ignored.by)
    for one in answer.findings:
        yield line("finding", one.code, one.severity, one.family, title=Said(one.title))
        yield from each("object", one.objects, one.code)
        yield line("reason", one.code, Said(one.reason))
        yield line("hint", one.code, Said(one.hint))
        yield from each("shows", map(Said, one.example.shows), one.code)
    yield from each("note", map(Said, answer.notes))


render_lint = renderer(_finding_lines, _findings)
