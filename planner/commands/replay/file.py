"""The lines of a file of recorded answers, unpacked and parsed one at a time, within bounds."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from planner.errors import InputError, ParseError, SchemaError
from planner.reader.bound import Budget
from planner.state import AnyState

MAX_LINE: Final = 128 * 2**20
"""The longest line that is read, in bytes: a recorded state of 100,000 workloads has 93 million."""

_GZIP_MAGIC: Final = b"\x1f\x8b"

Watch = Callable[[float], None]


class Recorded(NamedTuple):
    """The state of a recorded line, and who is asked about with which flavors, where it says so."""

    state: AnyState
    pending: str | None = None
    assignment: Mapping[str, Any] | None = None


def parse_line(text: bytes, where: str) -> dict[str, Any]:
    """Read a line as a JSON object.

    Raises
    ------
    InputError
        If it is not one.
    """
    Budget(MAX_LINE).take_json(text, where)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(where, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise SchemaError(where, "is not a JSON object", "one recorded instance a line")
    return value


def part_of(line: Mapping[str, Any], name: str, kind: type, where: str) -> Any:  # noqa: ANN401
    """Return a part of a recorded instance, a string or an object.

    Raises
    ------
    SchemaError
        If it is not there, or is something else.
    """
    value = line.get(name)
    if not isinstance(value, kind):
        words = "a string" if kind is str else "an object"
        found = f'has no "{name}"' if value is None else f'"{name}" is not {words}'
        raise SchemaError(where, found, f'{words} "{name}" in a recorded instance')
    return value


def read_lines(
    path: str, watch: Watch | None, longest: int = MAX_LINE
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty with their numbers, unpacked, one at a time.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or has a line longer than ``longest`` bytes.
    """
    number = 0
    try:
        with Path(path).open("rb") as raw, _unpacked(raw) as stream:
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
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(path, f"cannot be read: {reason}") from None


def _unpacked(raw: io.BufferedReader) -> gzip.GzipFile | io.BufferedReader:
    """Undo gzip, recognised by its first two bytes."""
    return gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(_GZIP_MAGIC) else raw
