"""Disruption terms as tables, and their amounts in the units that people think in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from planner.report.document import NONE, Block, Cell, Column, Only, Table, table
from planner.report.text import decimal, hours
from planner.report.words import (
    COUNTING,
    SIZE_UNIT,
    SIZES_PER_ACCELERATOR,
    WORK_HOURS,
    WORK_UNIT,
    TermRow,
)

RARELY_SHOWN: Final = frozenset(
    {"D2p", "D6", "D8t", "D9", "D10", "D12", "pdb", "prio", "toll", "time", "early", "rated"}
)
"""Terms that a screen leaves out unless the objective minimises them."""

LEVELS_FIRST: Final = "Disruption, the levels of the objective first"


def terms_tables(caption: str, rows: Sequence[TermRow], beside: str) -> Iterator[Block]:
    """Yield the table of terms for a page, and the shorter one for a screen.

    The shorter one has amounts in the unit that people think in alone, and no count that says what
    one above it says.
    """
    shown: list[TermRow] = []
    for row in rows:
        counted = {(one.value, one.greedy) for one in shown if one.id in COUNTING}
        if row.id not in COUNTING or (row.value, row.greedy) not in counted:
            shown.append(row)
    yield Only("screen", (terms_table(caption, shown, beside, exact=False),))
    yield Only("page", (terms_table(caption, rows, beside),))


def terms_table(caption: str, rows: Sequence[TermRow], beside: str, *, exact: bool = True) -> Table:
    """Return terms with their values, and those of another plan, which ``beside`` says whose.

    Unless the table is to be ``exact``, amounts are in units that people think in.
    """

    def amount(row: TermRow, value: int | None) -> Cell:
        found = amount_of(row.unit, value)
        return found if exact or not found.under else Cell(found.under)

    def unit(row: TermRow) -> Cell:
        found = unit_of(row.unit)
        return found if exact or not found.under else Cell(found.under)

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
    columns.append(Column("Unit", unit))
    return table(caption, columns, rows)


_UNITS: Final[Mapping[str, tuple[str, Callable[[int], str]]]] = {
    WORK_UNIT: (WORK_HOURS, hours),
    SIZE_UNIT: ("accelerators", lambda value: decimal(value / SIZES_PER_ACCELERATOR)),
}
"""Units that nobody thinks in, each with the one that people do, and amounts of it in that one."""


def amount_of(unit: str, value: int | None) -> Cell:
    """Return an amount of a unit, and under it the same in the one that people think in."""
    if value is None:
        return NONE
    return Cell(f"{value:,}", _UNITS[unit][1](value) if unit in _UNITS else "")


def unit_of(unit: str) -> Cell:
    """Return a unit, and under it the one that people think in."""
    return Cell(unit, _UNITS[unit][0] if unit in _UNITS else "")
