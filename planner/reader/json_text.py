"""JSON text to plain values: one document or several, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pydantic_core import from_json

from planner.errors import ParseError
from planner.reader.bound import Budget

_POSITION: Final = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_SMALLEST_PIECE: Final = 4096
_HINTS: Final = {
    "EOF while": "the text ends too early: was the command that wrote it interrupted?",
    "key must be": "keys stand in double quotes",
    "trailing comma": "no comma follows the last item",
}


def parse_json(data: bytes, where: str, budget: Budget | None = None) -> Iterator[object]:
    """Parse documents that follow each other, on lines of their own or not.

    Where a key stands twice in an object the last one counts, as for kubectl.

    Raises
    ------
    ParseError
        With line and column, if a document is not JSON, holds NaN or Infinity or a number of
        thousands of digits, is nested too deeply, or has too many values.
    """
    (budget or Budget()).take_json(data, where)
    # The parser reads one document at a time and takes whole strings of bytes only, so what
    # follows the first document is handed over in pieces that grow until a document fits.
    start, size = 0, len(data)
    while (start := _after_space(data, start)) < len(data):
        value, end = _parse_one(data, start, size, where)
        yield value
        size = max(_SMALLEST_PIECE, 2 * (end - start))
        start = end


def _after_space(data: bytes, start: int) -> int:
    match = _SPACE.match(data, start)
    return match.end() if match else start


def _parse_one(data: bytes, start: int, size: int, where: str) -> tuple[object, int]:
    """Parse the document at ``start``; also return where it ends."""
    while True:
        piece = data[start : start + size] if start or size < len(data) else data
        try:
            return from_json(piece, allow_inf_nan=False), start + len(piece)
        except ValueError as error:
            problem, offset = _position(piece, str(error))
        if problem == "trailing characters":
            return from_json(piece[:offset], allow_inf_nan=False), start + offset
        if start + size >= len(data):
            raise _not_json(data, start + offset, problem, where)
        size *= 4


def _position(piece: bytes, message: str) -> tuple[str, int]:
    """Split the parser's message into the problem and its offset in the piece."""
    match = _POSITION.fullmatch(message)
    if match is None:
        return message, 0
    line_start = 0
    for _ in range(int(match[2]) - 1):
        line_start = piece.find(b"\n", line_start) + 1
    return match[1], min(max(line_start + int(match[3]) - 1, 0), len(piece))


def _not_json(data: bytes, offset: int, problem: str, where: str) -> ParseError:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - data.rfind(b"\n", 0, offset)
    place = f"{where}: line {line} column {column}"
    if problem.startswith("recursion limit"):
        return ParseError(place, "objects and lists are nested more than 200 deep")
    hint = next((text for start, text in _HINTS.items() if problem.startswith(start)), "")
    if re.match(rb"-?(NaN|Infinity)", data[offset : offset + 9]) or problem == "invalid number":
        hint = hint or "JSON has no NaN, no Infinity and no numbers with leading zeros"
    return ParseError(place, f"is not JSON: {problem}", hint=hint)
