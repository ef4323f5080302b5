"""JSON or YAML text to plain values, with bounds on depth and size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic_core import from_json

from planner.errors import ParseError
from planner.reader.source import Text
from planner.reader.yaml_text import parse_yaml

_POSITION: Final = re.compile(r"(?P<what>.*) at line (?P<line>\d+) column (?P<column>\d+)", re.S)
_SPACE: Final = b" \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Document:
    """One parsed document and how to name it in a message."""

    where: str
    value: object


def parse(text: Text) -> list[Document]:
    """Parse a text, JSON or YAML by its content, into its documents.

    Raises
    ------
    ParseError
        If it is neither, or too much of either.
    """
    data = text.data.removeprefix(_BOM)
    _check_encoding(data, text.where)
    values = list(_values(data, text))
    if not values:
        raise ParseError(text.where, "holds nothing", "Kueue objects as JSON or YAML")
    if len(values) == 1:
        return [Document(text.where, values[0])]
    return [
        Document(f"{text.where}: document {number}", value)
        for number, value in enumerate(values, start=1)
    ]


def _check_encoding(data: bytes, where: str) -> None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ParseError(
            where,
            "is UTF-16 text",
            "UTF-8",
            "a PowerShell redirection writes UTF-16: use kubectl ... | Out-File -Encoding utf8",
        )
    if b"\0" in data[:4096]:
        raise ParseError(where, "is binary data", "JSON or YAML text, or either packed with gzip")


def _values(data: bytes, text: Text) -> Iterator[object]:
    start = data.lstrip(_SPACE)[:2]
    if start[:1] not in {b"{", b"["}:
        return iter(parse_yaml(data, text.where))
    try:
        return iter(list(_json_values(data, text.where)))
    except ParseError:
        if not text.named_yaml:
            raise
        return iter(parse_yaml(data, text.where))


def _json_values(data: bytes, where: str) -> Iterator[object]:
    try:
        yield from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise ParseError(where, f"is not JSON: {error}") from None
