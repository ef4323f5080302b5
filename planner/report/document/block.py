"""What a page is made of, whatever it is written in: texts, facts, tables, names, charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

Tone = Literal["", "good", "warn", "bad", "dim"]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Cell:
    """One value.

    ``under`` is the same in another unit, ``is_name`` marks what the state calls something, and
    ``href`` is a relative path to it.
    """

    text: str
    under: str = ""
    tone: Tone = ""
    is_name: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table: its title, what it shows of a row, and what stands under it."""

    title: str
    cell: Callable[[Row], Cell | str]
    total: str = ""
    number: bool = False


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a column, and whether numbers stand in it."""

    text: str
    number: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table. ``totals`` is one text a column, or empty; ``notes`` say what codes in it mean."""

    kind: ClassVar[str] = "sheet"
    caption: str
    titles: tuple[Title, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def sheet(
    caption: str, columns: Sequence[Column[Row]], rows: Sequence[Row], notes: Sequence[str] = ()
) -> Sheet:
    """Return a table of some rows."""
    totals = tuple(column.total for column in columns)
    return Sheet(
        caption,
        tuple(Title(column.title, column.number) for column in columns),
        tuple(tuple(_cell(column.cell(row)) for column in columns) for row in rows),
        totals if any(totals) else (),
        tuple(notes),
    )


def _cell(value: Cell | str) -> Cell:
    return Cell(value) if isinstance(value, str) else value


def name(text: str) -> Cell:
    """Return what the state calls something."""
    return Cell(text, is_name=True)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text of one or more lines."""

    kind: ClassVar[str] = "paragraph"
    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels, each with its value."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Names:
    """A labelled list of what the state calls things; ``ordered`` says that their order counts."""

    kind: ClassVar[str] = "names"
    label: str
    names: tuple[str, ...]
    tone: Tone = ""
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Gauge:
    """Something that is used, before and after, against marks; all in one integer unit.

    ``before`` and ``after`` are what is used. ``mark`` is what it is held against and ``limit`` how
    far it may go, ``None`` if there is none or no end. ``depth`` is its depth in a tree, from 0.
    ``after`` is ``None`` if there is no plan. ``notes`` are short remarks, ``tone`` how they are
    meant.
    """

    name: str
    kind: str
    depth: int
    before: int
    after: int | None
    mark: int | None
    limit: int | None
    notes: tuple[str, ...] = ()
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Gauges:
    """Usage before and after as bars, all of the same unit.

    ``mark`` and ``limit`` are words for the marks of the gauges; ``show`` writes an amount.
    ``over`` is a word for what is used beyond the mark, empty if that is nothing special.
    """

    kind: ClassVar[str] = "gauges"
    caption: str
    gauges: tuple[Gauge, ...]
    mark: str
    limit: str
    over: str
    show: Callable[[int], str]
    before: str = "today"
    after: str = "after the plan"


@dataclass(frozen=True, slots=True)
class Series:
    """Counts, one for every bin of a histogram."""

    title: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often a number lies in each of some ranges, from the smallest to the largest.

    ``notes`` say what is counted, and its mean and extremes.
    """

    kind: ClassVar[str] = "histogram"
    caption: str
    bins: tuple[str, ...]
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are out of the way until somebody wants them."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: tuple[Block, ...]


Block = Sheet | Paragraph | Facts | Names | Gauges | Histogram | Fold


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a title."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """A number to see first: what it counts, and what it is to be compared with."""

    value: str
    label: str
    beside: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A page: what it is about, the answer as a badge and in a sentence, numbers, sections."""

    kind: str
    title: Cell
    badge: str
    tone: Tone
    answer: str
    facts: tuple[tuple[str, Cell], ...]
    tiles: tuple[Tile, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Particulars:
    """What only the plans of one scheduler have: who asks, the request, the victims, usage."""

    asking: tuple[tuple[str, Cell], ...]
    request: tuple[Block, ...]
    victims: tuple[Block, ...]
    usage: tuple[Block, ...]
