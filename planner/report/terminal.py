"""Any document on a screen: facts, tables and texts, as wide as there is room."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, cast

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from planner.report.document import (
    CUT,
    MAX_NAMES,
    REPEATED,
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Listing,
    Names,
    Paragraph,
    Section,
    Table,
    Tone,
)
from planner.report.text import clean, clean_lines, short

DEFAULT_WIDTH: Final = 108
SMALLEST_WIDTH: Final = 60
"""Narrower tables break words to pieces; a terminal that narrow wraps them itself."""

ROOMY: Final = 100
"""Narrower screens have no columns that repeat what is said below the table."""

STYLES: Final[dict[Tone, str]] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "dim": "dim",
    "strong": "bold",
}
LEFT_OUT: Final = "not shown at this width: {columns}"
_GAP: Final = 2
_APART: Final = "   "
"""What stands between a fact at the top and a remark on it."""


def text_of(documents: Iterable[Document], *, width: int | None, color: bool) -> str:
    """Return documents one after the other, with a line between them."""
    screen = Screen(width, color=color)
    for position, each in enumerate(documents):
        document = each.on("screen")
        if position:
            screen.rule()
        last = {"badge", "verdict", "answer"} if document.answer_last else set()
        if head := [_fact(fact) for fact in document.head if fact.role not in last]:
            screen.add(_grid(head))
        for section in document.sections:
            for part in _parts(section, screen.width):
                screen.add(part)
            for block in section.blocks:
                if isinstance(block, Listing):
                    screen.verbatim(map(clean, block.lines))
        if document.answer_last:
            said = f"{document.badge.upper()}: {document.answer}"
            screen.add(Text(clean_lines(said), f"{STYLES[document.tone]} bold".strip()))
    return screen.text()


class Screen:
    """A screen of a given width; texts on it are never read as markup."""

    def __init__(self, width: int | None, *, color: bool) -> None:
        self._file = io.StringIO()
        self._console = Console(
            file=self._file,
            width=max(width or DEFAULT_WIDTH, SMALLEST_WIDTH),
            color_system="standard" if color else None,
            force_terminal=color,
            force_jupyter=False,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    @property
    def width(self) -> int:
        """How many columns a line has."""
        return self._console.width

    def add(self, part: RenderableType) -> None:
        """Write a part, and an empty line after it.

        A table whose numbers need more room than there is makes the screen wider: a terminal may
        break lines, but no digit gets lost.
        """
        usual = self._console.width
        if isinstance(part, RichTable) and part.min_width is not None:
            self._console.width = max(usual, part.min_width + 1)
        self._console.print(Padding(part, (0, 0, 1, 1)))
        self._console.width = usual

    def verbatim(self, lines: Iterable[str]) -> None:
        """Write lines as they are, from the left edge and however long, and an empty line."""
        self._file.write("".join(f"{line}\n" for line in (*lines, "")))

    def rule(self) -> None:
        """Write a line from side to side, and an empty line after it."""
        self._console.print(Padding(Rule(style="dim"), (0, 0, 1, 0)))

    def text(self) -> str:
        """Return the screen, without spaces at the ends of lines and without a last empty line."""
        lines = [line.rstrip() for line in self._file.getvalue().split("\n")]
        return "\n".join(lines).rstrip("\n") + "\n"


def _fact(fact: Fact) -> tuple[str, Text]:
    text = _text(fact.cell, _APART)
    if fact.role == "verdict":
        text = Text(text.plain.upper(), STYLES[fact.cell.tone])
    if fact.role and fact.role != "answer":
        text.stylize_before("bold")
    return clean(fact.label), text


def _parts(section: Section, width: int) -> Iterator[RenderableType]:
    """Yield what stands apart; texts, facts and names follow one another without a gap.

    Lines to be copied are not among it: a section ends with them.
    """
    title = [Text(clean(section.title), f"{STYLES[section.tone]} bold")] if section.heads else []
    for is_table, blocks in groupby(section.blocks, lambda block: isinstance(block, Table)):
        if is_table:
            for block in blocks:
                shown, notes = _table(cast("Table", block), width)
                if title:
                    shown.title, shown.title_justify = title[0], "left"
                yield shown
                if notes:
                    yield Text("\n".join(map(clean_lines, notes)), "dim")
                title = []
        elif texts := [*title, *_texts(blocks)]:
            yield Group(*texts)
        title = []


def _texts(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Yield texts and lists; charts and what is folded away are for pages."""
    for kind, alike in groupby(blocks, type):
        if kind is Paragraph:
            for one in cast("Iterable[Paragraph]", alike):
                yield Text(clean_lines(one.text), STYLES[one.tone])
        elif kind is Facts:
            for each in cast("Iterable[Facts]", alike):
                yield _grid((clean(label), _text(cell, _APART)) for label, cell in each.rows)
        elif kind is Names:
            yield _grid(_names(names) for names in cast("Iterable[Names]", alike))


def _names(block: Names) -> tuple[str, Text]:
    text = Text(", ".join(map(short, block.names[:MAX_NAMES])), STYLES[block.tone])
    if len(block.names) > MAX_NAMES:
        text.append(f" {CUT.format(count=len(block.names) - MAX_NAMES)}", "dim")
    return f"  {clean(block.label)}", text


def _grid(facts: Iterable[tuple[str, Text]]) -> RichTable:
    """Return labels with their facts, one under the other."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, fact in facts:
        grid.add_row(label, fact)
    return grid


def _table(block: Table, width: int) -> tuple[RichTable, list[str]]:
    """Return the widest shape of a table that there is room for, and its notes."""
    shapes = [(one, most) for one in (block, *block.narrower) for most in _limits(one, width)]
    made = ((_with_columns(shape, most), shape, most) for shape, most in shapes)
    fitting = (each for each in made if (each[0].min_width or 0) < width)
    found, shape, most = next(fitting, None) or (_with_columns(*shapes[-1]), *shapes[-1])
    left_out = [one.title for one in shape.columns if most < one.rank < REPEATED]
    if not left_out:
        return found, list(shape.notes)
    titles = ", ".join(clean(" ".join(title.split("\n"))) for title in left_out)
    return found, [LEFT_OUT.format(columns=titles), *shape.notes]


def _limits(block: Table, width: int) -> list[int]:
    """Return the ranks up to which columns may be shown, from all of them down."""
    ranks = sorted({column.rank for column in block.columns} - {0}, reverse=True)
    limits = [ranks[0] if ranks else 0, *(rank - 1 for rank in ranks)]
    return limits if width >= ROOMY else [most for most in limits if most < REPEATED]


def _with_columns(block: Table, most: int) -> RichTable:
    """Return a table with its columns of at most a rank."""
    made = RichTable(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        collapse_padding=True,
        header_style="bold",
        footer_style="bold",
        show_footer=block.has_totals,
    )
    shown = [(n, column) for n, column in enumerate(block.columns) if column.rank <= most]
    filled = [[_text(row[n]) for row in block.rows[: block.most]] for n, _ in shown]
    for _, column in shown:
        made.add_column(
            clean_lines(column.title),
            clean(column.total),
            justify="right" if column.number else "left",
            no_wrap=not column.folds,
            overflow="fold",
        )
    for cells in zip(*filled, strict=True):
        made.add_row(*cells)
    if len(block.rows) > block.most:
        place = next(i for i, (_, column) in enumerate(shown) if column.folds)
        cut = CUT.format(count=len(block.rows) - block.most)
        made.add_row(*[""] * place, Text(cut, "dim"))
    needed = (_least_width(column, cells) for (_, column), cells in zip(shown, filled, strict=True))
    made.min_width = sum(needed) + _GAP * (len(shown) - 1)
    return made


def _least_width(column: Column[object], cells: Iterable[Text]) -> int:
    """Return how much room a column needs: all of its text, unless it folds."""
    texts = [clean_lines(column.title), clean(column.total), *(cell.plain for cell in cells)]
    widest = max(cell_len(line) for text in texts for line in text.split("\n"))
    return min(widest, column.least) if column.folds else widest


def _text(cell: Cell, gap: str = " ") -> Text:
    """Return a value with the remark on it, and under both the same in another unit."""
    text = Text(short(cell.text) if cell.is_name else clean_lines(cell.text), STYLES[cell.tone])
    if cell.aside:
        text.append(f"{gap}{clean(cell.aside)}", f"not bold {STYLES[cell.aside_tone]}".strip())
    if cell.under:
        text.append(f"\n{clean_lines(cell.under)}", "dim" if cell.is_name else "")
    return text
