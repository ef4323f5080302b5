"""What tables are drawn on: a console that writes to a string, and the shapes used on it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

DEFAULT_WIDTH: Final = 108
SMALLEST_WIDTH: Final = 60
"""Narrower tables break words to pieces; a terminal that narrow wraps them itself."""

MAX_ROWS: Final = 200
CUT: Final = "... {count:,} more, use --format json"

_GAP: Final = 2
_FOLDED: Final = 12
"""A column that folds never gets narrower than this for the sake of others."""

Cell = str | Text
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column: its title, what it shows of a row, and what stands under it.

    A column that ``folds`` gives way when the table is too wide, down to about ``least``; the
    others keep their width.
    """

    title: str
    cell: Callable[[Row], Cell]
    total: str = ""
    number: bool = False
    folds: bool = False
    least: int = _FOLDED


class Paper:
    """A page of a given width; texts on it are never read as markup."""

    def __init__(self, width: int | None, *, color: bool) -> None:
        self._file = io.StringIO()
        self._color = color
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

        A table whose numbers need more room than there is makes the page wider: a terminal may
        break lines, but no digit gets lost.
        """
        usual = self._console.width
        if isinstance(part, Table) and part.min_width is not None:
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
        """Return the page, without spaces at the ends of lines and without a last empty line."""
        lines = [line.rstrip() for line in self._file.getvalue().split("\n")]
        return "\n".join(lines).rstrip("\n") + "\n"


def grid(facts: Iterable[tuple[str, Cell]]) -> Table:
    """Return labels with their facts, one under the other."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, fact in facts:
        table.add_row(label, _text(fact))
    return table


def table_of(columns: Sequence[Column[Row]], rows: Sequence[Row], most: int = MAX_ROWS) -> Table:
    """Return a table of at most so many rows; a last line says how many were left out."""
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        collapse_padding=True,
        header_style="bold",
        footer_style="bold",
        show_footer=any(column.total for column in columns),
    )
    shown = rows[:most]
    filled = [[_text(column.cell(row)) for row in shown] for column in columns]
    for column in columns:
        table.add_column(
            _text(column.title),
            _text(column.total),
            justify="right" if column.number else "left",
            no_wrap=not column.folds,
            overflow="fold",
        )
    for cells in zip(*filled, strict=True):
        table.add_row(*cells)
    if len(rows) > most:
        position = next(i for i, column in enumerate(columns) if column.folds)
        cut = CUT.format(count=len(rows) - most)
        table.add_row(*[""] * position, Text(cut, "dim"))
    table.min_width = sum(map(_least_width, columns, filled)) + _GAP * (len(columns) - 1)
    return table


def _text(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _least_width(column: Column[Row], cells: Iterable[Text]) -> int:
    """Return how much room a column needs: all of its text, unless it folds."""
    texts = [column.title, column.total, *(cell.plain for cell in cells)]
    widest = max(cell_len(line) for text in texts for line in text.split("\n"))
    return min(widest, column.least) if column.folds else widest
