"""Any document on a screen: facts, tables and texts, as wide as there is room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from planner.report.document.block import (
    PAGES_ONLY,
    Block,
    Cell,
    Document,
    Fact,
    Facts,
    Listing,
    Names,
    Paragraph,
    Section,
    Sheet,
    Tone,
)
from planner.report.paper import Column, Paper, grid, table_of
from planner.report.table_parts import best_fit
from planner.report.text import clean, clean_lines, short

STYLES: Final[dict[Tone, str]] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "dim": "dim",
    "strong": "bold",
}
MAX_NAMES: Final = 20
LEFT_OUT: Final = "not shown at this width: {columns}"
CUT: Final = "... {count:,} more, use --format json"


def text_of(documents: Iterable[Document], *, width: int | None, color: bool) -> str:
    """Return documents one after the other, with a line between them."""
    paper = Paper(width, color=color)
    for position, document in enumerate(documents):
        if position:
            paper.rule()
        paper.add(grid([_fact(fact) for fact in document.head if not _is_last(document, fact)]))
        for section in document.sections:
            for part in _parts(section, paper.width):
                paper.add(part)
            for block in section.blocks:
                if isinstance(block, Listing):
                    paper.verbatim(map(clean, block.lines))
        if document.answer_last:
            said = f"{document.badge.upper()}: {document.answer}"
            paper.add(Text(clean_lines(said), f"{STYLES[document.tone]} bold".strip()))
    return paper.text()


def _is_last(document: Document, fact: Fact) -> bool:
    return document.answer_last and fact.role in {"badge", "verdict", "answer"}


def _fact(fact: Fact) -> tuple[str, Text]:
    text = _text(fact.cell)
    if fact.role == "verdict":
        text = Text(text.plain.upper(), STYLES[fact.cell.tone])
    if fact.role and fact.role != "answer":
        text.stylize("bold")
    return clean(fact.label), text


def _parts(section: Section, width: int) -> Iterator[RenderableType]:
    """Yield what stands apart; texts, facts and names follow one another without a gap.

    Lines to be copied are not among it: a section ends with them.
    """
    title = [Text(clean(section.title), f"{STYLES[section.tone]} bold")] if section.heads else []
    for is_table, blocks in groupby(section.blocks, lambda block: isinstance(block, Sheet)):
        if is_table:
            for block in blocks:
                table, notes = _sheet(cast("Sheet", block), width)
                if title:
                    table.title, table.title_justify = title[0], "left"
                yield table
                yield from notes
                title = []
        elif shown := [*title, *_texts(blocks)]:
            yield Group(*shown)
        title = []


def _texts(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Yield texts and lists; charts and what is folded away are for pages."""
    for kind, alike in groupby(blocks, type):
        if kind is Paragraph:
            for one in cast("Iterable[Paragraph]", alike):
                yield Text(clean_lines(one.text), STYLES[one.tone])
        elif kind is Facts:
            for each in cast("Iterable[Facts]", alike):
                yield grid([(clean(label), _text(cell)) for label, cell in each.rows])
        elif kind is Names:
            yield grid([_names(names) for names in cast("Iterable[Names]", alike)])


def _names(block: Names) -> tuple[str, Text]:
    text = Text(", ".join(map(short, block.names[:MAX_NAMES])), STYLES[block.tone])
    if len(block.names) > MAX_NAMES:
        text.append(f" {CUT.format(count=len(block.names) - MAX_NAMES)}", "dim")
    return f"  {clean(block.label)}", text


def _sheet(block: Sheet, width: int) -> tuple[Table, list[Text]]:
    """Return a table with as many columns as there is room for, and what is to be said of it."""
    ranks = sorted({title.rank for title in block.titles} - {0, PAGES_ONLY}, reverse=True)
    limits = (PAGES_ONLY - 1, *(rank - 1 for rank in ranks))
    tables = [_table(block, most) for most in limits]
    table = best_fit(tables, width)
    most = limits[tables.index(table)]
    notes = [Text(clean_lines(note), "dim") for note in block.notes]
    if left_out := [one.text for one in block.titles if most < one.rank < PAGES_ONLY]:
        notes.insert(0, Text(LEFT_OUT.format(columns=", ".join(map(_in_line, left_out))), "dim"))
    return table, notes


def _in_line(title: str) -> str:
    return clean(" ".join(title.split("\n")))


def _table(block: Sheet, most: int) -> Table:
    """Return the columns of at most a rank."""
    totals = block.totals or ("",) * len(block.titles)
    columns: list[Column[Sequence[Cell]]] = [
        Column(
            clean_lines(title.text),
            lambda row, place=place: _text(row[place]),  # type: ignore[misc]
            clean(total),
            number=title.number,
            folds=title.folds,
            least=title.least,
        )
        for place, (title, total) in enumerate(zip(block.titles, totals, strict=True))
        if title.rank <= most
    ]
    return table_of(columns, block.rows, block.most)


def _text(cell: Cell) -> Text:
    """Return a value, and under it the same in another unit."""
    text = Text(short(cell.text) if cell.is_name else clean_lines(cell.text), STYLES[cell.tone])
    return text.append(f"\n{clean_lines(cell.under)}") if cell.under else text
