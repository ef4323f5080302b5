"""Disruption terms as tables, and their amounts in the units that people think in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from planner.report.document import NONE, Block, Cell, Column, Fold, Only, Paragraph, Table, table
from planner.report.words import COUNTING, WORK_UNIT, TermRow, Work

Row = TypeVar("Row")

RARELY_SHOWN: Final = frozenset(
    {"D2p", "D6", "D8t", "D9", "D10", "D12", "pdb", "prio", "toll", "time", "early", "rated"}
)
"""Terms that a screen leaves out unless the objective minimises them."""

ALL_TERMS: Final = "All measures in the integers that are calculated with"


def terms_tables(rows: Sequence[TermRow], beside: str, work: Work) -> Iterator[Block]:
    """Yield the terms that matter in the unit that people think in; on a page all, exactly, too.

    Left out are `RARELY_SHOWN` terms that are no levels, and counts that repeat one above them.
    """
    usual = [row for row in rows if row.level or row.id not in RARELY_SHOWN]
    shown = not_twice(usual, lambda row: (row.id, (row.value, row.greedy)))
    if shown:
        caption = "Disruption, the levels of the objective first"
        yield terms_table(caption, shown, beside, work, exact=False)
        if any(row.unit == WORK_UNIT for row in shown):
            yield Only("page", (Paragraph(work.note, "dim"),))
    if rows:
        yield Fold("All measures, exactly", (terms_table(ALL_TERMS, rows, beside, work),))


def not_twice(
    rows: Iterable[Row], of: Callable[[Row], tuple[str, tuple[int | None, ...]]]
) -> list[Row]:
    """Return rows without counts that repeat one above; ``of`` gives a row's term and values."""
    shown: list[Row] = []
    for row in rows:
        term, values = of(row)
        above = (of(one) for one in shown)
        if term not in COUNTING or all(
            one not in COUNTING or before != values for one, before in above
        ):
            shown.append(row)
    return shown


def terms_table(
    caption: str, rows: Sequence[TermRow], beside: str, work: Work, *, exact: bool = True
) -> Table:
    """Return terms with their values, and those of another plan, whose title is ``beside``.

    Unless the table is to be ``exact``, amounts are in units that people think in.
    """

    def amount(row: TermRow, value: int | None) -> Cell:
        if value is None:
            return NONE
        said = work.amount(row.unit, value)
        converted = work.unit(row.unit) != row.unit
        return Cell(f"{value:,}", said if converted else "") if exact else Cell(said)

    def unit(row: TermRow) -> Cell:
        said = work.unit(row.unit)
        return Cell(row.unit, said if said != row.unit else "") if exact else Cell(said)

    columns: list[Column[TermRow]] = [
        Column("Level", lambda row: str(row.level or ""), number=True),
        Column("Term", lambda row: row.id),
        Column("Disruption", lambda row: row.title, folds=True),
        Column("This plan", lambda row: amount(row, row.value), number=True),
    ]
    if any(row.greedy is not None for row in rows):
        columns.append(Column(beside, lambda row: amount(row, row.greedy), number=True))
    if any(row.bound is not None for row in rows):
        columns.append(Column("Bound", lambda row: amount(row, row.bound), number=True))
    columns.append(Column("Unit", unit, below="Disruption"))
    return table(caption, columns, rows)
