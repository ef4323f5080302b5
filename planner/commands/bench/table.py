"""The rows as a flat table: one line a row, one column a number; Parquet and pandas take it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from planner.commands.bench.record import Bench, Row
from planner.commands.compare.table import Cell, parquet_of

KINDS: Final[dict[str, str]] = {
    "case": "string",
    "kind": "string",
    "scheduler": "string",
    "size": "string",
    "hard": "boolean",
    "running": "Int64",
    "candidates": "Int64",
    "objective": "string",
    "rival": "string",
    "family": "string",
    "seed": "string",
    "status": "string",
    "legal": "boolean",
    "broken": "string",
    "victims": "Int64",
    "fewest": "Int64",
    "values": "string",
    "digest": "string",
    "optimal": "boolean",
    "worse_at": "string",
    "gap": "Float64",
    "proved": "boolean",
    "refuted": "boolean",
    "judgements": "Int64",
    "late": "boolean",
    "cpu_seconds": "Float64",
    "prepare_seconds": "Float64",
}
"""Columns, with what pandas calls what they hold: the fields of a row; ``values`` as ``D2=3``."""


def values(bench: Bench) -> Iterator[tuple[Cell, ...]]:
    """Yield the values of every row, in the order of the columns; ``None`` for what is not."""
    for row in bench.rows:
        yield tuple(_cell(row, name) for name in KINDS)


def parquet(bench: Bench) -> bytes:
    """Return the rows as a Parquet file.

    Raises
    ------
    InputError
        If pandas or pyarrow is not installed, or a number is beyond 64 bits.
    """
    return parquet_of(KINDS, list(values(bench)))


def _cell(row: Row, name: str) -> Cell:
    value: Any = getattr(row, name)
    if name == "broken":
        return " ".join(value)
    if name == "values":
        return " ".join(f"{term}={level}" for term, level in row.values.items())
    found: Cell = value
    return found
