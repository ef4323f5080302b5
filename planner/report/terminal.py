"""Any document on a screen: facts, tables and texts, as wide as there is room.

A table that is too wide is narrowed in this order: columns that repeat a text below the table are
left out; columns move below others (`Column.below`); columns with a rank are left out, with a note.
Words and names stay whole as long as that makes room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from planner.report import document as doc
from planner.report.document import CUT, LEAST, MAX_NAMES, NOTHING, REPEATED, Cell, Column, Section
from planner.report.text import cells, clean, clean_lines, short

DEFAULT_WIDTH: Final = 108
SMALLEST_WIDTH: Final = 60
"""Narrower tables break words to pieces; a terminal that narrow wraps them itself."""

ROOMY: Final = 100
"""Narrower screens have no columns that repeat what is said below the table."""

STYLES: Final[dict[doc.Tone, str]] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "dim": "dim",
    "strong": "bold",
}
LEFT_OUT: Final = "not shown at this width: {columns}"
_SGR: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_GAP: Final = "  "
_APART: Final = "   "
"""What stands between a fact at the top and a remark on it."""
_JOINTS: Final = "/-.,:_="
"""Characters after which a word that is longer than a line may be broken."""

Line = list[tuple[str, str]]
"""Texts, each with its style: words of `_SGR`."""


def text_of(
    documents: Iterable[doc.Document], *, width: int | None = None, color: bool = False
) -> str:
    """Return documents one after the other, with a line between them."""
    columns = max(width or DEFAULT_WIDTH, SMALLEST_WIDTH)
    lines: list[Line] = []
    for position, each in enumerate(documents):
        document = each.on("screen")
        if position:
            lines += [[("─" * columns, "dim")], []]
        for part in _parts_of(document, columns - 1):
            indent = [] if isinstance(part, _Verbatim) else [(" ", "")]
            lines += [*([*indent, *line] for line in part), []]

    def written(text: str, style: str) -> str:
        if not (color and style and text):
            return text
        return f"\x1b[{';'.join(_SGR[word] for word in style.split())}m{text}\x1b[0m"

    whole = ("".join(written(*piece) for piece in line).rstrip() for line in lines)
    return "\n".join(whole).rstrip("\n") + "\n"


class _Verbatim(list[Line]):
    """Lines as they are, from the left edge and however long."""


def _parts_of(document: doc.Document, width: int) -> Iterator[list[Line]]:
    last = {"badge", "verdict", "answer"} if document.answer_last else set()
    head = []
    for fact in document.head:
        lines = _text(fact.cell, _APART)
        if fact.role == "verdict":
            upper = "".join(text for text, _ in lines[0]).upper()
            lines = [[(upper, f"bold {STYLES[fact.cell.tone]}")]]
        elif fact.role and fact.role != "answer":
            lines[0][0] = (lines[0][0][0], f"bold {lines[0][0][1]}".strip())
        if fact.role not in last:
            head.append((clean(fact.label), lines))
    if head:
        yield _grid(head, width)
    for section in document.sections:
        yield from _parts(section, width)
        for block in section.blocks:
            if isinstance(block, doc.Listing):
                yield _Verbatim([(clean(line), "")] for line in block.lines)
    if document.answer_last:
        said = f"{document.badge.upper()}: {document.answer}"
        yield _paragraph(said, f"bold {STYLES[document.tone]}", width)


def _parts(section: Section, width: int) -> Iterator[list[Line]]:
    """Yield the parts of a section, with a gap between; texts, facts and names make one part.

    Lines to be copied are in none of them: they follow at the end of the section.
    """
    title: list[Line] = []
    if section.heads:
        title = _paragraph(section.title, f"bold {STYLES[section.tone]}", width)
    for is_table, blocks in groupby(section.blocks, lambda block: isinstance(block, doc.Table)):
        if is_table:
            for block in blocks:
                shown, notes = _table(cast("doc.Table", block), width)
                yield [*title, *shown]
                title = []
                if notes:
                    yield [line for note in notes for line in _paragraph(note, "dim", width)]
        elif texts := [*title, *_texts(blocks, width)]:
            yield texts
        title = []


def _texts(blocks: Iterable[doc.Block], width: int) -> Iterator[Line]:
    """Yield texts and lists; charts and what is folded away are for pages."""
    for kind, alike in groupby(blocks, type):
        if kind is doc.Paragraph:
            for one in cast("Iterable[doc.Paragraph]", alike):
                yield from _paragraph(one.text, STYLES[one.tone], width)
        elif kind is doc.Facts:
            for each in cast("Iterable[doc.Facts]", alike):
                rows = ((clean(label), _text(cell, _APART)) for label, cell in each.rows)
                yield from _grid(list(rows), width)
        elif kind is doc.Names:
            lists = []
            for block in cast("Iterable[doc.Names]", alike):
                line = [(", ".join(map(short, block.names[:MAX_NAMES])), STYLES[block.tone])]
                if len(block.names) > MAX_NAMES:
                    line.append((f" {CUT.format(count=len(block.names) - MAX_NAMES)}", "dim"))
                lists.append((f"  {clean(block.label)}", [line]))
            yield from _grid(lists, width)


def _paragraph(text: str, style: str, width: int) -> list[Line]:
    return _wrapped([[(line, style)] for line in clean_lines(text).split("\n")], width)


def _grid(facts: Sequence[tuple[str, list[Line]]], width: int) -> list[Line]:
    beside = max((cells(label) for label, _ in facts), default=0)
    lines: list[Line] = []
    for label, fact in facts:
        for number, line in enumerate(_wrapped(fact, width - beside - len(_GAP))):
            shown = "" if number else label
            lines.append([(f"{shown}{' ' * (beside - cells(shown))}{_GAP}", "dim"), *line])
    return lines


def _size(line: Line) -> int:
    return sum(cells(text) for text, _ in line)


def _wrapped(lines: Iterable[Line], width: int) -> list[Line]:
    """Break lines between words; the rest of a line is indented as far as its start.

    Only a word that is longer than a line is broken itself, after a joint where it has one.
    """
    done: list[Line] = []
    for line in lines:
        if _size(line) <= width:
            done.append(line)
            continue
        first = line[0][0]
        indent = " " * min(len(first) - len(first.lstrip()), width // 2)
        current, used = [(indent, "")], len(indent)
        for space, word, style in _words(line, width - len(indent)):
            text = space + word if len(current) > 1 else word
            if len(current) > 1 and used + cells(text) > width:
                done.append(current)
                current, used, text = [(indent, "")], len(indent), word
            current.append((text, style))
            used += cells(text)
        done.append(current)
    return done


def _words(line: Line, room: int) -> Iterator[tuple[str, str, str]]:
    """Yield the words of a line, each with the space before it and its style."""
    for text, style in line:
        for before, whole in re.findall(r"( *)([^ ]+)", text):
            space, word = before, whole
            while cells(word) > room:
                # The longest start of the word that fits, or up to a joint in its second half.
                end = next(n for n in range(len(word), 0, -1) if cells(word[:n]) <= room)
                joint = max(word.rfind(joint, 0, end) for joint in _JOINTS) + 1
                head = word[: joint if joint > end // 2 else end]
                yield space, head, style
                space, word = "", word[len(head) :]
            yield space, word, style


class _Shown(Struct, frozen=True):
    """A column on a screen: the lines of its title, and of each of its cells."""

    column: Column[Any]
    title: list[Line]
    rows: list[list[Line]]

    def lines(self) -> Iterator[Line]:
        """Yield all lines that need room: title, total and cells."""
        yield from self.title
        yield [(clean(self.column.total), "")]
        for row in self.rows:
            yield from row

    @property
    def wanted(self) -> int:
        """How wide the column would be without folding."""
        return max(map(_size, self.lines()))

    def needed(self, *, words: bool = True, least: int | None = None) -> int:
        """Return how narrow the column can be: as wide as `wanted` unless it folds.

        A column that folds needs at least ``least``; with ``words`` its words and names stay whole.
        """
        if not self.column.folds:
            return self.wanted
        texts = (text for line in self.lines() for text, _ in line)
        longest = max((cells(word) for text in texts for word in text.split(" ")), default=0)
        indented = max((_size(line) for row in self.rows for line in row[1:]), default=0)
        floor = self.column.least if least is None else least
        return min(self.wanted, max(floor, longest, indented) if words else floor)


def _table(block: doc.Table, width: int) -> tuple[list[Line], list[str]]:
    """Return the widest shape of a table that there is room for, and its notes."""
    every = [
        _Shown(
            column,
            [[(part, "bold")] for part in clean_lines(column.title).split("\n")],
            [_text(row[n]) for row in block.rows[: block.most]],
        )
        for n, column in enumerate(block.columns)
    ]

    def is_within_width(shape: Sequence[_Shown]) -> bool:
        repeats = any(one.column.rank == REPEATED for one in shape)
        needed = sum(one.wanted if repeats else one.needed() for one in shape)
        return needed + len(_GAP) * (len(shape) - 1) <= width

    shapes = list(_shapes(every, width))
    found, most = next((one for one in shapes if is_within_width(one[0])), shapes[-1])
    by_title = {one.column.title: one.column for one in every}
    # Before any column is left out, all that have a ``below`` stand there, and go with that column.
    left_out = [
        one.column
        for one in every
        if most < by_title.get(one.column.below or one.column.title, one.column).rank < REPEATED
    ]
    titles = ", ".join(clean(" ".join(one.title.split("\n"))) for one in left_out)
    notes = [LEFT_OUT.format(columns=titles)] if left_out else []
    lines = _laid_out(found, _widths(found, width), has_totals=block.has_totals)
    if len(block.rows) > block.most:
        cut: Line = [(CUT.format(count=len(block.rows) - block.most), "dim")]
        lines.insert(len(lines) - (2 if block.has_totals else 0), cut)
    return lines, [*notes, *block.notes]


def _shapes(every: Sequence[_Shown], width: int) -> Iterator[tuple[list[_Shown], int]]:
    """Yield the columns in ever narrower shapes, each with the highest rank that is shown."""
    ranks = sorted({one.column.rank for one in every} - {0}, reverse=True)
    usual = max((rank for rank in ranks if rank < REPEATED), default=0)
    if width + 1 >= ROOMY:
        yield list(every), REPEATED
    shown = [one for one in every if one.column.rank < REPEATED]
    yield shown, usual
    able = [one.column.title for one in shown if one.column.below]
    for count in range(1, len(able) + 1):
        yield _stacked(shown, able[-count:]), usual
    shown = _stacked(shown, able)
    for rank in ranks:
        if rank < REPEATED:
            shown = [one for one in shown if one.column.rank < rank]
            yield shown, rank - 1


def _stacked(shown: Sequence[_Shown], titles: Sequence[str]) -> list[_Shown]:
    """Return columns with those of ``titles`` below others, indented; empty values have no line."""
    done = dict(enumerate(shown))  # by place: several may have one title
    for place, base in reversed([*done.items()]):
        for other, one in enumerate(shown):
            if one.column.below == base.column.title and one.column.title in titles:
                upper, lower = done[place], done.pop(other)
                rows = map(_below, upper.rows, lower.rows)
                total = upper.column.total or lower.column.total
                column = replace(upper.column, total=total)
                title = [*upper.title, *_indented(lower.title)]
                done[place] = _Shown(column, title, [*rows])
    return list(done.values())


def _below(upper: list[Line], lower: list[Line]) -> list[Line]:
    said = "".join(text for text, _ in lower[0])
    lines = [*(upper if any(text for text, _ in upper[0]) else [])]
    lines += _indented(lower) if said not in {"", NOTHING} else []
    return lines or [[("", "")]]


def _indented(lines: Iterable[Line]) -> list[Line]:
    return [[(_GAP, ""), *((text, style or "dim") for text, style in line)] for line in lines]


def _widths(shown: Sequence[_Shown], width: int) -> list[int]:
    """Return how wide each column is: the widest of those that fold are narrowed first."""
    widths = [one.wanted for one in shown]
    room = width - len(_GAP) * (len(shown) - 1)
    for words, most in ((True, None), (True, 0), (False, LEAST)):
        least = [one.needed(words=words, least=most) for one in shown]
        while sum(widths) > room:
            able = [n for n, size in enumerate(widths) if size > least[n]]
            if not able:
                break
            widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _laid_out(shown: Sequence[_Shown], widths: Sequence[int], *, has_totals: bool) -> list[Line]:
    """Return the lines of a table: titles at the bottom, a rule, rows, and totals."""
    titles = [_wrapped(one.title, size) for one, size in zip(shown, widths, strict=True)]
    highest = max(map(len, titles))
    heads = [[[("", "")]] * (highest - len(title)) + title for title in titles]
    lines = [*_row(shown, widths, heads)]
    lines.append([("─" * (sum(widths) + len(_GAP) * (len(widths) - 1)), "")])
    for row in zip(*(one.rows for one in shown), strict=True):
        wrapped = (_wrapped(cell, size) for cell, size in zip(row, widths, strict=True))
        lines += _row(shown, widths, list(wrapped))
    if has_totals:
        totals = [[[(clean(one.column.total), "bold")]] for one in shown]
        lines += [[], *_row(shown, widths, totals)]
    return lines


def _row(
    shown: Sequence[_Shown], widths: Sequence[int], row: Sequence[list[Line]]
) -> Iterator[Line]:
    """Yield the lines of a row, numbers at the right of their columns."""
    for parts in zip_longest(*row, fillvalue=cast("Line", [])):
        line: Line = []
        for number, (one, size, part) in enumerate(zip(shown, widths, parts, strict=True)):
            gap, space = _GAP if number else "", " " * (size - _size(part))
            before, after = (space, "") if one.column.number else ("", space)
            line += [(gap + before, ""), *part, (after, "")]
        yield line


def _text(cell: Cell, gap: str = " ") -> list[Line]:
    """Return the lines of a value: with its remark, and below it the same in another unit."""
    text = short(cell.text) if cell.is_name else clean_lines(cell.text)
    lines: list[Line] = [[(part, STYLES[cell.tone])] for part in text.split("\n")]
    if cell.aside:
        lines[-1].append((f"{gap}{clean(cell.aside)}", STYLES[cell.aside_tone]))
    if cell.under:
        style = "dim" if cell.is_name else ""
        lines += [[(part, style)] for part in clean_lines(cell.under).split("\n")]
    return lines
