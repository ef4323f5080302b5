"""The results of checking plans or recorded answers, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Unpack

from msgspec.structs import replace

from planner.commands.check.plan import Check
from planner.plan import Published
from planner.plan.asked import Asked
from planner.quantity import plural
from planner.report import document as doc
from planner.report.document import Cell, Column, Fact, Section, name, table
from planner.report.labelled import labelled_document, labelled_lines
from planner.report.style import Look, Said, fields, line, rendered, words
from planner.report.text import clean, moment

if TYPE_CHECKING:
    from planner.commands.replay import FileComparison, ReplayReport

MORE: Final = "... {count:,} more differences"


class Checks(Published):
    """What holds of the plans of a file; ``accepted`` says that everything holds of all.

    ``missing`` are those that wait and for whom a list of plans has none.
    """

    accepted: bool
    checks: tuple[Check, ...]
    missing: tuple[str, ...] = ()


def render_checks(answer: Checks, style: str, **look: Unpack[Look]) -> str:
    """Return the results of checking plans, in a style."""
    made = map(_check_lines, answer.checks), map(_checked, answer.checks)
    return rendered(style, answer, *made, "checked plan", **look)


def _counts(one: Check) -> tuple[int, int]:
    return sum(c.certified for c in one.claims), sum(v.holds for v in one.verdicts)


def asked_in_words(asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield the parts of a question by name, and what is asked."""
    has_flavors = asked.flavors is not None
    for field, part in asked:
        if isinstance(part, bool):
            yield field, "yes" if part else "no"
        elif part is not None:
            yield field, moment(part) if isinstance(part, datetime) else str(part)
        elif field == "assume" or (has_flavors and field == "placement"):
            yield field, "none"


def _check_lines(one: Check) -> Iterator[str]:
    yield from labelled_lines(one)
    yield line("asked", **dict(asked_in_words(one.asked)))
    for verdict in one.verdicts:
        detail = Said(verdict.detail) if verdict.detail and not verdict.holds else None
        yield line("law", verdict.law, detail, holds=verdict.holds)
    yield line("unchecked", ",".join(one.unchecked))
    certified, held = _counts(one)
    counts = {"claims": f"{certified}/{len(one.claims)}", "laws": f"{held}/{len(one.verdicts)}"}
    yield line("accepted", one.accepted, **counts)


def _checked(one: Check) -> doc.Document:
    judged = (
        (name.capitalize().replace("_", " "), Cell(text))
        for name, text in asked_in_words(one.asked)
    )
    broken = (f"{v.law} {v.title}: {v.detail}" for v in one.verdicts if not v.holds)
    unchecked = f"Held against nothing: {', '.join(one.unchecked)}"
    certified, held = _counts(one)
    counted = f"{certified} of {plural(len(one.claims), 'claim')} certified"
    counted += f", {held} of {plural(len(one.verdicts), 'verdict')} hold"
    said = Cell("Accepted", tone="good") if one.accepted else Cell("Not accepted", tone="bad")
    found = labelled_document("Checked plan", one)
    sections = (
        Section("Judged by", (doc.Facts(tuple(judged)),)),
        Section("Does not hold", tuple(doc.Paragraph(text, "bad") for text in broken)),
        *found.sections,
        Section("Not looked at", (doc.Paragraph(unchecked, "dim"),)),
    )
    head = (*found.head, Fact("Answer", said, "verdict"), Fact("", Cell(counted), "answer"))
    return replace(found, head=head, sections=sections, answer_last=True)


def render_replay(
    files: Sequence[FileComparison],
    report: ReplayReport,
    style: str,
    *,
    show: int,
    **look: Unpack[Look],
) -> str:
    """Return the comparison of recorded answers, with the first few differences of each file."""
    made = [_replay_lines(files, show)], map(partial(_replayed, show=show), [files])
    return rendered(style, report, *made, **look)


_COUNTED: Final = ("instances", "equal", "skipped", "different", "uncovered")


def _replay_lines(files: Sequence[FileComparison], show: int) -> Iterator[str]:
    for file in files:
        yield f"file {words(file.file, **fields(file, ' '.join(_COUNTED)))}"
        for one in file.different[:show]:
            yield f"different {words(one.id)} {clean(one.detail)}"
        if len(file.different) > show:
            yield MORE.format(count=len(file.different) - show)
        for one in file.uncovered:
            yield f"uncovered {words(one.id)} {clean(one.detail)}"
    yield f"total {words(**{field: _count(field, *files) for field in _COUNTED})}"


def _count(field: str, *files: FileComparison) -> int:
    found = (getattr(file, field) for file in files)
    return sum(one if isinstance(one, int) else len(one) for one in found)


def _replayed(files: Sequence[FileComparison], show: int) -> doc.Document:
    def counted(field: str) -> Column[FileComparison]:
        def cell(file: FileComparison) -> Cell:
            count = _count(field, file)
            tone: doc.Tone = "" if field != "different" else "bad" if count else "good"
            return Cell(f"{count:,}", tone=tone)

        return Column(field.capitalize(), cell, f"{_count(field, *files):,}", number=True)

    columns: list[Column[FileComparison]] = [
        Column("File", lambda file: name(file.file), plural(len(files), "file"), folds=True),
        *map(counted, _COUNTED),
    ]
    sections = [Section("Files", (table("How the recorded answers fared", columns, files),))]
    for file in files:
        rows = tuple((f"  {one.id}", Cell(one.detail)) for one in file.different[:show])
        more = len(file.different) - show
        left_out = (doc.Paragraph(f"  {MORE.format(count=more)}", "dim"),) if more > 0 else ()
        if rows:
            sections.append(Section(file.file, (doc.Facts(rows), *left_out), heads=True))
    missing = Counter(one.detail for file in files for one in file.uncovered)
    if missing:
        counts = ((name, Cell(plural(count, "line"))) for name, count in sorted(missing.items()))
        title = "Not compared, for what the planner does not model"
        sections.append(Section(title, (doc.Facts(tuple(counts)),), heads=True))
    return doc.Document("Replay of recorded answers", (), tuple(sections))
