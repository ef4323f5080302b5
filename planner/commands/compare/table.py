"""The rows of a comparison as a flat table with a column for each value, for Parquet and pandas."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Final

from planner.commands.compare.record import Comparison, Row
from planner.errors import InputError, UnsupportedError
from planner.plan.base import Record
from planner.term import TERMS

EXTRA: Final = "pip install matplotlib pandas pyarrow"


def need(where: str, *packages: str) -> None:
    """Refuse an output that needs packages which are not installed, before any work is done.

    Raises ``InputError`` if a package is not installed.
    """
    for package in packages:
        if find_spec(package) is None:
            raise InputError(where, f"{package} is not installed", hint=EXTRA)


Cell = str | int | float | bool | None

_KINDS: Final[Mapping[object, str]] = {
    annotation: name
    for kind, name in ((bool, "boolean"), (int, "Int64"), (float, "Float64"))
    for annotation in (kind, kind | None)
}


def kinds_of(record: type[Record]) -> dict[str, str]:
    """Return the fields of a record, with pandas' name of the kind of their values."""
    fields = record.model_fields.items()
    return {name: _KINDS.get(one.annotation, "string") for name, one in fields}


_KNOWN: Final = kinds_of(Row) | dict.fromkeys(("victims", "value", "bound"), "Int64")
KINDS: Final[dict[str, str]] = {
    name: _KNOWN.get(name, "string")
    for name in (
        *("state", "pending", "scheduler", "algorithm", "rules", "status", "proved", "uncovered"),
        *("outside_rules", "own_flavors", "running", "candidates", "victims", "ratio", "ratio_of"),
        *("level", "value", "bound", "levels", "seconds", "detail"),
    )
}
"""The fixed columns, with the kinds of their values as pandas names them; every term follows.

``victims`` is their number, ``outside_rules`` the ids of laws, ``uncovered`` those of features;
``level``, ``value`` and ``bound`` are those of the first level, and ``levels`` has all levels as
``last_resort=0>=0 workloads=3>=3``: the value, and its proven bound."""


def kinds(comparison: Comparison) -> dict[str, str]:
    """Return the columns, with their kinds: the fixed ones, then every term that any row has."""
    measured = {term for row in comparison.rows for term in row.terms}
    return KINDS | {term: "Int64" for term in TERMS if term in measured}


def values(comparison: Comparison) -> Iterator[tuple[Cell, ...]]:
    """Yield the values of every row, in the order of the columns; ``None`` for a missing value."""
    terms = [*kinds(comparison)][len(KINDS) :]
    for row in comparison.rows:
        first = row.levels[0] if row.levels else None
        fixed = {
            **{name: getattr(row, name) for name in KINDS if name in Row.model_fields},
            "victims": len(row.victims) if row.has_plan else None,
            "uncovered": " ".join(row.uncovered),
            "outside_rules": " ".join(law.partition(" ")[0] for law in row.outside_rules),
            "level": first and first.term,
            "value": first and first.value,
            "bound": first and first.bound,
            "levels": " ".join(f"{one.term}={one.value}>={one.bound}" for one in row.levels),
        }
        yield (*(fixed[name] for name in KINDS), *(row.terms.get(term) for term in terms))


def parquet(columns: Mapping[str, str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return rows as a Parquet file; ``columns`` have pandas' kinds, which know missing values.

    Raises ``InputError`` if pandas or pyarrow is not installed, or a number is beyond 64 bits.
    """
    need("parquet", "pandas", "pyarrow")
    import pandas as pd  # noqa: PLC0415 - an extra

    by_column = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = {}
    for (name, kind), column in zip(columns.items(), by_column, strict=True):
        try:
            arrays[name] = pd.array(list(column), dtype=kind)
        except OverflowError:
            hint = "CSV and JSON hold numbers of any size"
            raise UnsupportedError(name, "a number is beyond 64 bits", hint=hint) from None
    file = io.BytesIO()
    pd.DataFrame(arrays).to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()
