"""What a result is made of, whatever it is written in: texts, facts, tables, names, charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, Literal, TypeVar

Tone = Literal["", "good", "warn", "bad", "dim", "strong"]
Role = Literal["", "title", "badge", "verdict", "answer"]
MAX_ROWS: Final = 200
MAX_ON_PAGE: Final = 5_000
"""Of more rows a browser makes heavy weather."""

PAGES_ONLY: Final = 99
LEAST: Final = 12
"""A column that folds never gets narrower than this for the sake of others."""

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
    """A column of a table: its title, what it shows of a row, and what stands under it.

    Where the table is too wide for a screen, a column that ``folds`` gives way, down to about
    ``least``; the others keep their width. If that is not enough, columns with a ``rank`` are left
    out, those of the highest first; those of rank PAGES_ONLY always.
    """

    title: str
    cell: Callable[[Row], Cell | str]
    total: str = ""
    number: bool = False
    folds: bool = False
    least: int = LEAST
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a column, whether numbers stand in it, and how it gives way."""

    text: str
    number: bool
    folds: bool = False
    least: int = LEAST
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table. ``totals`` is one text a column, or empty; ``notes`` say what codes in it mean.

    A screen shows at most ``most`` rows, a page ``most_on_page``.
    """

    kind: ClassVar[str] = "sheet"
    caption: str
    titles: tuple[Title, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    most: int = MAX_ROWS
    most_on_page: int = MAX_ON_PAGE


def sheet(
    caption: str,
    columns: Sequence[Column[Row]],
    rows: Sequence[Row],
    notes: Sequence[str] = (),
    most: int = MAX_ROWS,
) -> Sheet:
    """Return a table of some rows."""
    totals = tuple(column.total for column in columns)
    return Sheet(
        caption,
        tuple(Title(one.title, one.number, one.folds, one.least, one.rank) for one in columns),
        tuple(tuple(_cell(column.cell(row)) for column in columns) for row in rows),
        totals if any(totals) else (),
        tuple(notes),
        most,
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
class Listing:
    """Lines to be copied as they are, such as commands: never broken or folded."""

    kind: ClassVar[str] = "listing"
    lines: tuple[str, ...]


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
    """Blocks that are out of the way until somebody wants them; a screen leaves them out."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: tuple[Block, ...]


Block = Sheet | Paragraph | Facts | Names | Listing | Gauges | Histogram | Fold


@dataclass(frozen=True, slots=True)
class Section:
    """A part with a title, which a screen shows only where it ``heads`` what follows."""

    title: str
    blocks: tuple[Block, ...]
    heads: bool = False
    tone: Tone = ""


def filled(*sections: Section) -> tuple[Section, ...]:
    """Return the sections that hold anything."""
    return tuple(section for section in sections if section.blocks)


@dataclass(frozen=True, slots=True)
class Tile:
    """A number to see first: what it counts, and what it is to be compared with."""

    value: str
    label: str
    beside: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line at the top: a label with its value, and whether a page makes more of it.

    ``title`` is what it is about, ``badge`` the answer in a word or two, ``answer`` the answer in
    a sentence; of several of a kind that is the last. A ``verdict`` is a badge that a screen has
    in capitals. Without a label it belongs to the one before.
    """

    label: str
    cell: Cell
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A result: what it is about and the answer, in facts, then numbers and sections.

    A screen shows the facts one under the other; a page has title, badge and answer larger.
    ``kind`` says what sort of result it is; ``tiles`` are for pages only. ``answer_last`` says that
    a screen ends with badge and answer.
    """

    kind: str
    head: tuple[Fact, ...]
    sections: tuple[Section, ...]
    tiles: tuple[Tile, ...] = ()
    answer_last: bool = False

    @property
    def title(self) -> Cell:
        """What it is about."""
        return self._last("title", Cell(self.kind)).cell

    @property
    def badge(self) -> str:
        """The answer in a word or two; empty if there is none."""
        return self._last("badge").cell.text

    @property
    def tone(self) -> Tone:
        """How the badge is meant."""
        return self._last("badge").cell.tone

    @property
    def answer(self) -> str:
        """The answer in a sentence; may be empty."""
        return self._last("answer").cell.text

    @property
    def facts(self) -> tuple[tuple[str, Cell], ...]:
        """All other facts."""
        larger = [self._last(role) for role in ("title", "badge", "answer")]
        rest = (fact for fact in self.head if not any(fact is one for one in larger))
        return tuple((fact.label, fact.cell) for fact in rest)

    def _last(self, role: str, other: Cell = Cell("")) -> Fact:
        alike = {role, "verdict"} if role == "badge" else {role}
        found = (fact for fact in reversed(self.head) if fact.role in alike)
        return next(found, Fact("", other))


def facts(rows: Iterable[tuple[str, Cell]]) -> Iterator[Fact]:
    """Yield facts that a page makes nothing more of."""
    return (Fact(label, cell) for label, cell in rows)


@dataclass(frozen=True, slots=True)
class Particulars:
    """What only the plans of one scheduler have: who asks, the request, the victims, usage.

    ``found`` are facts of the plan itself, such as the node that it chooses.
    """

    asking: tuple[tuple[str, Cell], ...]
    request: tuple[Block, ...]
    victims: tuple[Block, ...]
    usage: tuple[Block, ...]
    found: tuple[tuple[str, Cell], ...] = ()
