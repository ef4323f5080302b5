"""Documents in GitHub-flavoured Markdown.

Names of a state stand in code spans, where nothing is markup, a mention or a link; other texts are
escaped. Charts become tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from planner.report import document as doc
from planner.report.document import CUT, NOTHING, Cell
from planner.report.text import clean, short

MAX_ROWS: Final = 100
"""A comment may have 65,536 characters; longer tables end with a line that says so."""

MARKS: Final[dict[doc.Tone, str]] = {"warn": "⚠️ ", "bad": "❌ "}

INDENT: Final = "&emsp;"

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|~$&!])")
_LINE_START: Final = re.compile(r"^([-+#=]|\d+(?=[.)]))")
_LIVE: Final = re.compile(
    r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=GH)(?=-)", re.IGNORECASE
)
"""Places in which GitHub would see a mention, a reference or a link: an empty comment stops it."""
_HERE: Final = "\0"
"""Marks such a place until the comment is put there; no text made harmless has this character."""


def text_of(document: doc.Document) -> str:
    """Return a document in Markdown."""
    document = document.on("page")
    answer = prose(document.answer)
    if document.badge:
        badge = f"**{prose(document.badge)}**"
        answer = f"{badge}: {answer}" if document.answer else badge
    lines = [f"## {_cell(replace(document.title, aside=''), in_table=False)}", "", answer, ""]
    for tile in document.tiles:
        beside = f" ({prose(tile.beside)})" if tile.beside else ""
        lines.append(f"- **{prose(tile.value)}** {prose(tile.label)}{beside}")
    lines += ["", *_facts(document.facts)]
    for section in document.sections:
        lines += ["", f"### {prose(section.title)}", ""]
        lines += _blocks(section.blocks)
    text = "\n".join(lines).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def code(text: str, *, in_table: bool = False) -> str:
    """Return a name as a code span, in which nothing is markup."""
    inner = short(text) or " "
    ticks = "`" * (max(map(len, re.findall("`+", inner)), default=0) + 1)
    # Markdown takes one space at both ends away again, unless there is nothing but spaces.
    pad = " " if inner.strip() and {inner[0], inner[-1]} & {"`", " "} else ""
    text = inner.replace("|", "\\|") if in_table else inner
    return f"{ticks}{pad}{text}{pad}{ticks}"


def prose(text: str, *, in_table: bool = False) -> str:
    """Return a text in which nothing is markup; in a table no line begins a list anyway."""
    lines = (_LIVE.sub(_HERE, clean(line).strip()) for line in text.split("\n"))
    lines = (_MARKUP.sub(r"\\\1", line).replace(_HERE, "<!-- -->") for line in lines)
    if in_table:
        return "<br>".join(lines)

    def guarded(match: re.Match[str]) -> str:
        """Return the start of a line that would begin a list or a heading, so that it does not."""
        start = match[1]
        return f"{start}\\" if start.isdigit() else f"\\{start}"

    return "\\\n".join(_LINE_START.sub(guarded, line) for line in lines)


def _facts(rows: Iterable[tuple[str, Cell]]) -> Iterator[str]:
    """Yield a list; a value without a label continues the entry before."""
    lines: list[str] = []
    for label, value in rows:
        text = _cell(value, in_table=False)
        if label or not lines:
            lines.append(f"- {prose(label)}: {text}" if label else f"- {text}")
        else:
            lines[-1] += f"\\\n  {text}"
    yield from lines


def _cell(cell: Cell, *, in_table: bool = True) -> str:
    text = MARKS.get(cell.tone, "") if cell.tone == "bad" else ""
    if cell.is_name or cell.href:
        text += code(cell.text, in_table=in_table)
    else:
        text += prose(cell.text, in_table=in_table)
    if cell.tone == "strong" and not (cell.is_name or cell.href):
        text = f"**{text}**"
    below = [prose(one, in_table=in_table) for one in (cell.aside, cell.under) if one]
    return "<br>".join([text, *below])


def _blocks(blocks: Iterable[doc.Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case doc.Table():
                yield from _table(block)
            case doc.Paragraph():
                yield MARKS.get(block.tone, "") + prose(block.text)
            case doc.Facts():
                yield from _facts(block.rows)
            case doc.Names():
                shown = [code(text) for text in block.names[:MAX_ROWS]]
                mark, label = MARKS.get(block.tone, ""), prose(block.label.capitalize())
                label = f"{mark}{label} ({len(block.names):,})"
                if block.ordered:
                    yield from (f"{label}:", "")
                    yield from (f"{place}. {text}" for place, text in enumerate(shown, start=1))
                else:
                    yield f"- {label}: {', '.join(shown)}"
                yield from _after(len(block.names) - MAX_ROWS, ())
            case doc.Listing():
                # Lines between fences that are longer than any run of backticks in the lines.
                lines = [clean(line) for line in block.lines]
                runs = (len(run) for line in lines for run in re.findall("`+", line))
                fence = "`" * max(3, max(runs, default=0) + 1)
                yield from (fence, *lines, fence)
            case doc.Gauges() | doc.Slots() | doc.Histogram():
                yield from (f"**{prose(block.caption)}**", "")
                yield from _chart(block)
            case doc.Fold():
                yield from (f"<details><summary>{prose(block.summary)}</summary>", "")
                yield from _blocks(block.blocks)
                yield "</details>"
        yield ""


def _table(block: doc.Table) -> Iterator[str]:
    titles = [prose(column.title, in_table=True) for column in block.columns]
    most = min(MAX_ROWS, block.most_on_page)
    rows = [[_cell(cell) for cell in row] for row in block.rows[:most]]
    if block.has_totals:
        totals = (prose(column.total, in_table=True) for column in block.columns)
        rows.append([f"**{total}**" if total else "" for total in totals])
    yield from _grid(titles, [column.number for column in block.columns], rows)
    yield from _after(len(block.rows) - most, block.notes)


def _after(left_out: int, notes: Iterable[str]) -> Iterator[str]:
    """Yield the lines below a table: how many rows are left out, and its notes."""
    if left_out > 0:
        yield from ("", CUT.format(count=left_out))
    for note in notes:
        yield from ("", prose(note))


def _chart(block: doc.Gauges | doc.Slots | doc.Histogram) -> Iterator[str]:
    """Yield a chart as a table: all columns but the first have numbers, at the right.

    Names are indented by their depth in the tree.
    """
    most = MAX_ROWS
    rows: list[list[str]] = []
    match block:
        case doc.Gauges():
            titles, rows = _gauges(block)
        case doc.Slots():
            titles = ["", "stays taken", "used", "freed", "free"]
            for row in block.rows:
                remarks = prose(", ".join(row.notes), in_table=True)
                about = f"{INDENT * row.depth}{code(row.name, in_table=True)} {remarks}".rstrip()
                counts = (row.stays, row.used, row.freed, row.free)
                rows.append([about, *(f"{count:,}" for count in counts)])
        case doc.Histogram():
            titles = ["", *(prose(one.title, in_table=True) for one in block.series)]
            rows = [
                [prose(label, in_table=True), *(f"{one.counts[place]:,}" for one in block.series)]
                for place, label in enumerate(block.bins)
            ]
            most = len(rows)
    yield from _grid(titles, [False] + [True] * (len(titles) - 1), rows[:most])
    yield from _after(len(rows) - most, () if isinstance(block, doc.Gauges) else block.notes)


def _grid(
    titles: Sequence[str], numbers: Sequence[bool], rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"| {' | '.join('---:' if number else '---' for number in numbers)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _gauges(block: doc.Gauges) -> tuple[list[str], list[list[str]]]:
    """Return the titles and the rows of gauges."""
    planned = any(gauge.after is not None for gauge in block.gauges)
    titles = ["", block.before, *([block.after] if planned else []), block.mark, block.limit]

    def amount(units: int | None) -> str:
        return NOTHING if units is None else block.show(units)

    rows = []
    for gauge in block.gauges:
        about = prose(", ".join([gauge.kind, *gauge.notes]), in_table=True)
        after = [amount(gauge.after)] if planned else []
        rows.append(
            [
                f"{INDENT * gauge.depth}{code(gauge.name, in_table=True)} {about}",
                amount(gauge.before),
                *(f"**{value}**" if gauge.after != gauge.before else value for value in after),
                amount(gauge.mark),
                amount(gauge.limit),
            ]
        )
    return titles, rows
