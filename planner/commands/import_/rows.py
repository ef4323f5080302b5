"""Rows of a CSV file, one at a time: never more than one line in memory, and every error a place.

The files are those of public traces: a header, no quoted line breaks, UTF-8, gzip or not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from planner.commands.replay.comparison import read_lines
from planner.errors import InputError, ParseError, SchemaError
from planner.reader.show import shown
from planner.stage import begin, going_on

T = TypeVar("T")
OnBad = Callable[[SchemaError], None]

MAX_LINE: Final = 64 * 2**10
"""The longest line that is read, in bytes; those of the known traces have about 100."""

MOST_SECONDS: Final = 10**10
"""Some 317 years: with it, no date that is made of a row leaves the calendar."""

_WHOLE: Final = re.compile(r"[0-9]{1,12}")
_NUMBER: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?")
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?")
NAME: Final = "at most 53 small letters, digits and dashes, as in the name of an object"


class Row(Struct, frozen=True):
    """One row: its file, its line (the header is 1), and the text of each column.

    What reads a column raises SchemaError if something else than that stands there.
    """

    path: str
    line: int
    fields: dict[str, str]

    def whole(self, column: str, most: int) -> int:
        """Return a whole number from 0 to ``most``; ``12.0`` is none."""
        text = self.fields[column]
        value = int(text) if _WHOLE.fullmatch(text) else -1
        if not 0 <= value <= most:
            raise self.bad(column, f"a whole number from 0 to {most}")
        return value

    def seconds(self, column: str) -> float:
        """Return a time or duration in seconds."""
        text = self.fields[column]
        value = float(text) if _NUMBER.fullmatch(text) else -1
        if not 0 <= value <= MOST_SECONDS:
            raise self.bad(column, f"a number of seconds from 0 to {MOST_SECONDS}")
        return value

    def moment(self, column: str) -> float:
        """Return a date and time as seconds since 1970; without a time zone it is UTC."""
        try:
            moment = datetime.fromisoformat(self.fields[column])
            value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            value = -1
        if not 0 <= value <= MOST_SECONDS:
            raise self.bad(column, "a date and time since 1970, such as 2017-10-09 07:01:55")
        return value

    def name(self, column: str) -> str:
        """Return what may be the name of an object."""
        text = self.fields[column]
        if not _NAME.fullmatch(text):
            raise self.bad(column, NAME)
        return text

    def one_of(self, column: str, values: Sequence[str]) -> str:
        """Return one of some words."""
        text = self.fields[column]
        if text not in values:
            raise self.bad(column, f"one of {', '.join(values)}")
        return text

    def bad(self, column: str, expected: str, found: str = "") -> SchemaError:
        """Return the error about a column; ``found`` says what is wrong, the value if empty."""
        where = f"{self.path}: line {self.line}, column {column}"
        return SchemaError(where, found or f"{shown(self.fields[column])} stands here", expected)


def usable(
    path: str, columns: Sequence[str], use: Callable[[Row], T], on_bad: OnBad | None = None
) -> Iterator[T | None]:
    """Yield what each row is used for, None for one that cannot be used.

    ``columns`` are those that are read. ``use`` raises SchemaError for a row that it cannot use:
    ``on_bad`` is told of each; without it the first is an error.

    Raises
    ------
    InputError
        If the file cannot be read, has no such header, has a line longer than MAX_LINE, or a row
        cannot be used.
    """
    begin(f"reading {path}")
    for row in _rows(path, columns):
        going_on()
        try:
            if isinstance(row, SchemaError):
                raise row
            yield use(row)
        except SchemaError as error:
            if on_bad is None:
                raise
            on_bad(error)
            yield None


def _rows(path: str, columns: Sequence[str]) -> Iterator[Row | SchemaError]:
    """Yield the rows of a file; for one that is not CSV, or too short or long, its error."""
    if Path(path).exists() and not Path(path).is_file():
        raise InputError(path, "is not a file", "a file of CSV: it may be read more than once")
    wanted = f"a header with the columns {', '.join(columns)}"
    lines = read_lines(path, None, MAX_LINE)
    first = next(lines, None)
    if first is None:
        raise ParseError(path, "the file is empty", wanted)
    header = _fields(*first)
    places = {name: header.index(name) for name in columns if name in header}
    if missing := [name for name in columns if name not in places]:
        where, found = f"{path}: line {first[0]}", f"there is no column {', '.join(missing)}"
        raise SchemaError(where, found, wanted)
    for number, data in lines:
        fields = _fields(number, data)
        if len(fields) == len(header):
            yield Row(path, number, {name: fields[place] for name, place in places.items()})
        else:
            found = f"{len(fields)} fields stand here" if fields else "is not a row of CSV in UTF-8"
            yield SchemaError(f"{path}: line {number}", found, f"{len(header)} fields, as line 1")


def _fields(number: int, data: bytes) -> list[str]:
    try:
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
        return next(csv.reader((text,), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return []
