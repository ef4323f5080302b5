"""The values of disruption terms, each beside the number that people think in."""

from __future__ import annotations

from planner.report.document.block import Cell
from planner.report.table_parts import NOTHING, units_of, value_in
from planner.report.words import TermRow


def value_of(row: TermRow, value: int | None) -> Cell:
    """Return a value of a measure, and under it the one in another unit."""
    if value is None:
        return Cell(NOTHING, tone="dim")
    return amount_of(row.unit, value)


def amount_of(unit: str, value: int) -> Cell:
    """Return an amount of a unit, and under it the same in the one that people think in."""
    exact, _, in_short = value_in(unit, value).plain.partition("\n")
    return Cell(exact, in_short)


def unit_of(row: TermRow) -> Cell:
    """Return the unit of a measure, and under it that other one."""
    exact, *in_short = units_of(row.unit)
    return Cell(exact, "".join(in_short))
