"""Findings on a configuration, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from planner.commands.lint.record import Finding, Lint, Severity
from planner.report.document.block import (
    Cell,
    Document,
    Fact,
    Facts,
    Paragraph,
    Section,
    Tone,
)
from planner.report.paper import CUT, MAX_ROWS
from planner.report.plain_lines import line, quoted
from planner.report.style import in_style
from planner.report.text import plural, short, word
from planner.scheduler import scheduler_of

LINT: Final = "Findings on a configuration"
NOTHING_FOUND: Final = "Nothing found."
MAX_OBJECTS: Final = 12
_LOOKS: Final[Mapping[Severity, Tone]] = {"error": "bad", "warning": "warn", "note": ""}


def render(answer: Lint, style: str, *, width: int, color: bool) -> str:
    """Return the findings in a style: ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
    return in_style(answer, style, _lines, document, width=width, color=color)


def document(answer: Lint) -> Document:
    """Return a section for every finding, the first ones only where there are very many."""
    sections = [_section(one) for one in answer.findings[:MAX_ROWS]]
    left_out = len(answer.findings) - MAX_ROWS
    if left_out > 0:
        sections.append(Section("More", (Paragraph(CUT.format(count=left_out), "dim"),)))
    counts = Counter(one.severity for one in answer.findings)
    found = [plural(counts[severity], severity) for severity in _LOOKS if counts[severity]]
    tones: list[Tone] = [_LOOKS[severity] for severity in _LOOKS if counts[severity]]
    said = Cell(", ".join(found) or NOTHING_FOUND, tone=tones[0] if tones else "good")
    head = (
        Fact("Scheduler", Cell(scheduler_of(answer).words.name)),
        Fact("Found", said, "badge"),
    )
    return Document(LINT, head, tuple(sections))


def _section(one: Finding) -> Section:
    shown = one.objects[:MAX_OBJECTS]
    left_out = len(one.objects) - len(shown)
    names = ", ".join(map(short, shown)) + (f" and {left_out:,} more" if left_out else "")
    rows = (
        ("Severity", Cell(one.severity, tone=_LOOKS[one.severity])),
        ("Objects", Cell(names)),
        ("Reason", Cell(one.reason)),
        ("Hint", Cell(one.hint)),
        *(
            ("Example" if not number else "", Cell(f"{number + 1}. {step}"))
            for number, step in enumerate(one.example.shows)
        ),
    )
    return Section(f"{one.code}: {one.title}", (Facts(rows),), heads=True)


def _lines(answer: Lint) -> Iterator[str]:
    yield line("scheduler", answer.scheduler)
    yield line("findings", str(len(answer.findings)))
    yield line("digest", word(answer.digest))
    for one in answer.findings:
        facts = (one.severity, one.family, f"title={quoted(one.title)}")
        yield line("finding", one.code, *facts)
        yield from (line("object", one.code, word(name)) for name in one.objects)
        yield line("reason", one.code, quoted(one.reason))
        yield line("hint", one.code, quoted(one.hint))
        yield from (line("shows", one.code, quoted(step)) for step in one.example.shows)
