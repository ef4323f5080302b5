"""The lines of a file of recorded answers, and the results of a replay: of lines, files, and all.

Lines are unpacked and parsed one at a time, within bounds.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from msgspec import Struct

from planner.errors import InputError, ParseError, SchemaError, not_json
from planner.plan import Record
from planner.reader.bound import Budget
from planner.state import AnyState

RECORDED: Final = "one recorded instance a line"
MAX_LINE: Final = 128 * 2**20
"""The longest line that is read, in bytes: a recorded state of 100,000 workloads has 93 million."""
Watch = Callable[[float], None]
PartT = TypeVar("PartT")


class Recorded(NamedTuple):
    """The state of a recorded line; its pending workload or ask, and flavors, if it gives any."""

    state: AnyState
    pending: str | None = None
    assignment: Mapping[str, Any] | None = None


def parse_line(text: bytes, where: str) -> dict[str, Any]:
    """Read a line as a JSON object; InputError if it is none."""
    Budget(max(MAX_LINE, len(text))).take_json(text, where)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise not_json(where, error, RECORDED) from None
    if not isinstance(value, dict):
        raise SchemaError(where, "is not a JSON object", RECORDED)
    return value


def part_of(line: Mapping[str, Any], name: str, kind: type[PartT], where: str) -> PartT:
    """Return a part of a recorded instance, a string or an object.

    Raises ``SchemaError`` if the part is missing, or is not of the ``kind``.
    """
    if not isinstance(value := line.get(name), kind):
        words = "a string" if kind is str else "an object"
        found = f'has no "{name}"' if value is None else f'"{name}" is not {words}'
        raise SchemaError(where, found, f'{words} "{name}" in a recorded instance')
    return value


def rows_of(expected: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    """Return the objects in a part of a recorded answer; none if the part is missing.

    Raises ``SchemaError`` if the part is no list of objects.
    """
    rows = expected.get(name) or []
    if not (isinstance(rows, list) and all(isinstance(one, dict) for one in rows)):
        raise SchemaError(f"{where}: expect.{name}", "is not a list of objects")
    return rows


def read_lines(
    path: str, watch: Watch | None, longest: int = MAX_LINE
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty with their numbers, unpacked, one at a time.

    Raises ``InputError`` if the file cannot be read, is damaged, or has a line longer than
    ``longest`` bytes.
    """
    number = 0
    try:
        with (
            Path(path).open("rb") as raw,
            gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(b"\x1f\x8b") else raw as stream,
        ):
            size = max(1, Path(path).stat().st_size)
            while text := stream.readline(longest + 1):
                number += 1
                if len(text) > longest:
                    raise ParseError(f"{path}: line {number}", f"is longer than {longest} bytes")
                if text.strip():
                    yield number, text
                if watch is not None:
                    watch(raw.tell() / size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ParseError(f"{path}: line {number + 1}", f"is damaged: {error}") from None
    except IsADirectoryError:
        raise InputError(path, "is a directory", f"a file, {RECORDED}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(path, f"cannot be read: {reason}") from None


Outcome = Literal["equal", "different", "skipped", "uncovered"]
Answer = dict[str, Any]
"""An answer in the form in which it is recorded."""
MAX_ORDERS: Final = 1000
"""How many orders are tried where the real scheduler has no fixed order."""


class Comparison(Struct, frozen=True):
    """One line compared; ``detail`` is the first difference, or why it was not compared."""

    id: str
    outcome: Outcome
    detail: str = ""


class FileComparison(Struct, frozen=True):
    """One file compared.

    ``different`` holds the comparisons that found a difference, ``uncovered`` the lines that hold
    what the model does not cover, each with the name of that feature.
    """

    file: str
    instances: int
    equal: int
    skipped: int
    different: tuple[Comparison, ...]
    uncovered: tuple[Comparison, ...] = ()


class FileReport(Record):
    """One file of a replay as it is printed: how many lines, and which ones differ.

    ``uncovered`` has the lines that were not compared, each with the name of the feature in it
    that the model does not cover.
    """

    file: str
    instances: int
    equal: int
    skipped: int
    different: tuple[str, ...]
    uncovered: dict[str, str]


class ReplayReport(Record):
    """The output of ``planner replay --format json``."""

    files: tuple[FileReport, ...]
    instances: int
    equal: int
    skipped: int
    uncovered: int


def summarise(files: Sequence[FileComparison]) -> ReplayReport:
    """Add up the comparisons of files to the report that is printed."""
    return ReplayReport(
        files=tuple(
            FileReport(
                file=file.file,
                instances=file.instances,
                equal=file.equal,
                skipped=file.skipped,
                different=tuple(comparison.id for comparison in file.different),
                uncovered={one.id: one.detail for one in file.uncovered},
            )
            for file in files
        ),
        instances=sum(file.instances for file in files),
        equal=sum(file.equal for file in files),
        skipped=sum(file.skipped for file in files),
        uncovered=sum(len(file.uncovered) for file in files),
    )


def difference_from_all(recorded: Iterable[Answer], found: Answer) -> str:
    """Return where an answer first differs from the first recorded one; empty if any agrees.

    Parts of an answer that were not recorded are not compared.
    """
    differences = []
    for one in recorded:
        parts = (first_difference(one[part], found[part], part) for part in found if part in one)
        differences.append(next(filter(None, parts), ""))
    return differences[0] if all(differences) else ""


def first_difference(recorded: object, found: object, at: str) -> str:
    """Say in words where two values first differ; empty if they do not.

    Absent, null and empty values are the same: the scheduler leaves out empty values.
    """
    pairs: Iterable[tuple[str, object, object]]
    if isinstance(recorded, dict) and isinstance(found, dict):
        keys = dict.fromkeys((*found, *recorded))
        pairs = ((f"{at}.{key}", recorded.get(key), found.get(key)) for key in keys)
    elif isinstance(recorded, list) and isinstance(found, list):
        rows = zip_longest(recorded, found)
        pairs = ((f"{at}[{i}]", one, other) for i, (one, other) in enumerate(rows))
    elif recorded == found or not (recorded or found):
        return ""
    else:
        return f"{at}: recorded {_shown(recorded)}, replayed {_shown(found)}"
    differences = (first_difference(one, other, path) for path, one, other in pairs)
    return next(filter(None, differences), "")


def _shown(value: object) -> str:
    return "nothing" if value is None else json.dumps(value)
