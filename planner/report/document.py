"""The parts of a result, whatever its format: texts, facts, tables, names, charts.

Screens and pages (Markdown is a page) show the same document. Where they must differ, a part says
on which medium it is shown. Modules that make documents call this one ``doc``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from planner.plan import label
from planner.report.text import short

Tone = label.Tone
Role = Literal["", "title", "badge", "verdict", "answer"]
Medium = Literal["screen", "page"]
MAX_ROWS: Final = 200
MAX_ON_PAGE: Final = 5_000
"""Browsers are slow with tables of more rows."""

CUT: Final = "... {count:,} more, use --format json"
MAX_NAMES: Final = 20
REPEATED: Final = 99
"""The rank of a column whose content is repeated below the table: it is left out without a note."""

LEAST: Final = 12
"""A column that folds is not made narrower than this to make room for others."""

Row = TypeVar("Row")


class Cell(Struct, frozen=True):
    """One value.

    ``under`` is the same in another unit, ``is_name`` marks a name of the state, and ``href`` is a
    relative path to what is named. ``aside`` is a remark: after the value on a screen, below it on
    a page; ``aside_tone`` is its tone.
    """

    text: str
    under: str = ""
    tone: Tone = ""
    is_name: bool = False
    href: str = ""
    aside: str = ""
    aside_tone: Tone = "dim"


NO_CELL: Final = Cell("")
"""An empty cell, in the place of one that is missing."""


NOTHING: Final = "-"
NONE: Final = Cell(NOTHING, tone="dim")


class Column(Struct, Generic[Row], frozen=True):
    """A column of a table: its title, its cell of a row, and the total under it.

    Where the table is too wide for a screen, a column that ``folds`` gives way, down to its longest
    word, or to ``least`` if that is longer; the others keep their width. If that is not enough, its
    values stand under those of the column whose title ``below`` has; then columns with a ``rank``
    are left out, those of the highest first. ``page`` is the title on a page where that is another,
    and ``only`` the medium that has the column, if not both.
    """

    title: str
    cell: Callable[[Row], Cell | str]
    total: str = ""
    number: bool = False
    folds: bool = False
    least: int = LEAST
    rank: int = 0
    below: str = ""
    page: str = ""
    only: Medium | None = None


class Table(Struct, frozen=True):
    """A table: its columns, and their cells of each row. ``notes`` say what codes in it mean.

    A screen shows at most ``most`` rows, a page ``most_on_page``.
    """

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[Column[Any], ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    most: int = MAX_ROWS
    most_on_page: int = MAX_ON_PAGE

    @property
    def has_totals(self) -> bool:
        """Whether any column has a total."""
        return any(column.total for column in self.columns)

    def on(self, medium: Medium) -> Table:
        """Return the table with the columns and the titles of a medium."""
        places = [n for n, one in enumerate(self.columns) if one.only in {None, medium}]
        columns = tuple(self.columns[n] for n in places)
        if medium == "page":
            columns = tuple(replace(one, title=one.page or one.title) for one in columns)
        rows = tuple(tuple(row[n] for n in places) for row in self.rows)
        return replace(self, columns=columns, rows=rows)


def table(
    caption: str,
    columns: Sequence[Column[Row]],
    rows: Iterable[Row],
    notes: Iterable[str] = (),
    most: int = MAX_ROWS,
) -> Table:
    """Return a table of some rows, of which a screen shows at most ``most``."""
    cells = (tuple(column.cell(row) for column in columns) for row in rows)
    filled_in = (tuple(Cell(c) if isinstance(c, str) else c for c in row) for row in cells)
    return Table(caption, tuple(columns), tuple(filled_in), tuple(notes), most)


def name(text: str) -> Cell:
    """Return a cell with a name of the state."""
    return Cell(text, is_name=True)


def named(keys: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the names that people use for keys in one text, cut where there are too many."""
    text = ", ".join(short(names.get(key, key)) for key in keys[:MAX_NAMES])
    more = len(keys) - MAX_NAMES
    return f"{text} {CUT.format(count=more)}" if more > 0 else text


class Paragraph(Struct, frozen=True):
    """A text of one or more lines."""

    kind: ClassVar[str] = "paragraph"
    text: str
    tone: Tone = ""


class Facts(Struct, frozen=True):
    """Labels, each with its value."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, Cell], ...]


class Names(Struct, frozen=True):
    """A labelled list of names of the state; ``ordered`` says that their order counts."""

    kind: ClassVar[str] = "names"
    label: str
    names: tuple[str, ...]
    tone: Tone = ""
    ordered: bool = False


class Listing(Struct, frozen=True):
    """Lines to be copied as they are, such as commands: never broken or folded."""

    kind: ClassVar[str] = "listing"
    lines: tuple[str, ...]


class Gauge(NamedTuple):
    """The usage of a queue or cohort, before and after, against marks; all in one integer unit.

    ``before`` and ``after`` are the usage, ``after`` is ``None`` if there is no plan. ``mark`` is
    the amount it is compared with and ``limit`` how far it may go, ``None`` if there is none or no
    end. ``depth`` is the depth in the tree, from 0. ``kept`` is how much of the mark does not count
    higher up in the tree. ``notes`` are short remarks, ``tone`` is theirs.
    """

    name: str
    kind: str
    depth: int
    before: int
    after: int | None
    mark: int | None
    limit: int | None
    kept: int = 0
    notes: tuple[str, ...] = ()
    tone: Tone = ""


class Gauges(Struct, frozen=True):
    """Usage before and after as bars, all of the same unit.

    ``mark`` and ``limit`` are words for the marks of the gauges; ``show`` writes an amount.
    ``over`` is a word for usage beyond the mark, empty if that is nothing special, and ``kept``
    one for the part of the mark that does not count above.
    """

    kind: ClassVar[str] = "gauges"
    caption: str
    gauges: tuple[Gauge, ...]
    mark: str
    limit: str
    over: str
    show: Callable[[int], str]
    kept: str = ""
    before: str = "today"
    after: str = "after the plan"


class SlotRow(NamedTuple):
    """A domain of nodes, in slots: how many stay taken, and what becomes of the others.

    After the plan ``freed`` and ``free`` slots are free, ``used`` ones are the preemptor's.
    ``aside`` says that nothing changes in it or around it: a page folds it.
    """

    name: str
    depth: int
    stays: int
    used: int
    freed: int
    free: int
    notes: tuple[str, ...] = ()
    aside: bool = False

    @property
    def slots(self) -> int:
        """How many slots the domain has."""
        return self.stays + self.used + self.freed + self.free


class Slots(Struct, frozen=True):
    """Domains of nodes with their slots as bars; ``notes`` say what a slot is."""

    kind: ClassVar[str] = "slots"
    caption: str
    rows: tuple[SlotRow, ...]
    notes: tuple[str, ...] = ()


class Series(NamedTuple):
    """Counts, one for every bin of a histogram."""

    title: str
    counts: tuple[int, ...]


class Histogram(Struct, frozen=True):
    """How often a number lies in each of some ranges, from the smallest to the largest.

    ``notes`` say what is counted, and its mean and extremes.
    """

    kind: ClassVar[str] = "histogram"
    caption: str
    bins: tuple[str, ...]
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()


class Fold(Struct, frozen=True):
    """Blocks that a page hides until the reader opens them; a screen leaves them out."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: tuple[Block, ...]


class Only(NamedTuple):
    """Blocks of one medium; the other medium has them in another form, or not at all."""

    medium: Medium
    blocks: tuple[Block, ...]


Block = Table | Paragraph | Facts | Names | Listing | Gauges | Slots | Histogram | Fold | Only


def blocks_on(blocks: Iterable[Block], medium: Medium) -> Iterator[Block]:
    """Yield the blocks that a medium shows."""
    for block in blocks:
        if isinstance(block, Table):
            yield block.on(medium)
        elif isinstance(block, Fold):
            yield replace(block, blocks=tuple(blocks_on(block.blocks, medium)))
        elif not isinstance(block, Only):
            yield block
        elif block.medium == medium:
            yield from blocks_on(block.blocks, medium)


class Section(Struct, frozen=True):
    """A part with a title; a screen shows the title only with ``heads``."""

    title: str
    blocks: tuple[Block, ...]
    heads: bool = False
    tone: Tone = ""


def filled(*sections: Section) -> tuple[Section, ...]:
    """Return the sections that hold anything but empty tables."""
    return tuple(
        section
        for section in sections
        if any(not isinstance(block, Table) or block.rows for block in section.blocks)
    )


class Tile(NamedTuple):
    """A number at the top of a page: what it counts, and a text to compare it with."""

    value: str
    label: str
    beside: str = ""
    tone: Tone = ""


class Fact(NamedTuple):
    """A line at the top: a label with its value, and the role for which a page shows it larger.

    Roles: ``title`` is the subject of the document, ``badge`` the answer in a word or two,
    ``answer`` the answer in a sentence; of several facts of a role the last is meant. A ``verdict``
    is a badge that a screen has in capitals. A fact without a label continues the one before.
    """

    label: str
    cell: Cell
    role: Role = ""
    only: Medium | None = None


class Document(Struct, frozen=True):
    """A result: facts with its subject and the answer, then numbers and sections.

    Empty sections are left out. A screen shows the facts one under the other; a page has title,
    badge and answer larger.
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
        """The subject of the document."""
        return self._last("title", Cell(self.kind)).cell

    @property
    def badge(self) -> str:
        """The answer in a word or two; empty if there is none."""
        return self._last("badge").cell.text

    @property
    def tone(self) -> Tone:
        """The tone of the badge."""
        return self._last("badge").cell.tone

    @property
    def answer(self) -> str:
        """The answer in a sentence; may be empty."""
        return self._last("answer").cell.text

    @property
    def facts(self) -> tuple[tuple[str, Cell], ...]:
        """All facts but title, badge and answer."""
        larger = [self._last(role) for role in ("title", "badge", "answer")]
        rest = (fact for fact in self.head if not any(fact is one for one in larger))
        return tuple((fact.label, fact.cell) for fact in rest)

    def on(self, medium: Medium) -> Document:
        """Return the document as a medium shows it."""
        head = tuple(fact for fact in self.head if fact.only in {None, medium})
        sections = (
            replace(one, blocks=tuple(blocks_on(one.blocks, medium))) for one in self.sections
        )
        return replace(self, head=head, sections=filled(*sections))

    def _last(self, role: str, other: Cell = NO_CELL) -> Fact:
        alike = {role, "verdict"} if role == "badge" else {role}
        found = (fact for fact in reversed(self.head) if fact.role in alike)
        return next(found, Fact("", other))
