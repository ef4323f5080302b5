"""Findings on a configuration: as a table, as plain lines, or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from planner.linting.record import Finding, Lint, Severity
from planner.report.paper import CUT, MAX_ROWS, grid
from planner.report.plain_lines import line, quoted
from planner.report.style import in_style
from planner.report.text import clean, plural, short, word
from planner.scheduler import scheduler_of

NOTHING_FOUND: Final = "Nothing found."
MAX_OBJECTS: Final = 12
_LOOKS: Final[Mapping[Severity, str]] = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def render(answer: Lint, style: str, *, width: int, color: bool) -> str:
    """Return the findings in a style: ``table``, ``plain`` or ``json``."""
    return in_style(answer, style, _lines, _parts, width=width, color=color)


def _parts(answer: Lint) -> Iterator[RenderableType]:
    counts = Counter(one.severity for one in answer.findings)
    found = [plural(counts[severity], severity) for severity in _LOOKS if counts[severity]]
    yield grid(
        [
            ("Scheduler", Text(scheduler_of(answer).words.name)),
            ("Found", Text(", ".join(found) or NOTHING_FOUND, "bold")),
        ]
    )
    for one in answer.findings[:MAX_ROWS]:
        yield grid(_facts(one))
    left_out = len(answer.findings) - MAX_ROWS
    if left_out > 0:
        yield Text(CUT.format(count=left_out), "dim")


def _facts(one: Finding) -> list[tuple[str, Text]]:
    shown = [short(name) for name in one.objects[:MAX_OBJECTS]]
    left_out = len(one.objects) - len(shown)
    names = ", ".join(shown) + (f" and {left_out:,} more" if left_out else "")
    return [
        (one.code, Text.assemble((one.severity, _LOOKS[one.severity]), f"  {one.title}")),
        ("Objects", Text(names)),
        ("Reason", Text(clean(one.reason))),
        ("Hint", Text(clean(one.hint))),
        *(
            ("Example" if not number else "", Text(f"{number + 1}. {clean(step)}"))
            for number, step in enumerate(one.example.shows)
        ),
    ]


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
