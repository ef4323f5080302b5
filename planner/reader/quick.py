"""A list of objects in JSON, read fast: its objects are left as text.

A text that is refused here is read by the parser, which says what is wrong.
"""

from __future__ import annotations

import codecs
import re
from typing import Final, Literal

import msgspec
from pydantic_core import from_json

from planner.reader.bound import Budget

_START: Final = re.compile(rb"\s*\{")
_PIECE: Final = 2**20
_DEEPEST: Final = 190
"""An object with fewer brackets is not nested more deeply than the parser of all JSON allows."""
_MOST_DIGITS: Final = 4300
_DIGITS: Final = re.compile(rb"[0-9]{%d}" % _MOST_DIGITS)


def quick_document(data: bytes, where: str, budget: Budget) -> dict[str, object] | None:
    """Return a v1 List, or a recorded instance of one, with its items as text.

    The items are certain to be JSON, and nested no deeper than the parser allows. The answer is
    ``None`` where only the parser can tell.

    Raises ``ParseError`` if the text has too many values.
    """
    if not _START.match(data) or not _is_utf8(data):
        return None
    if not budget.allows_text(data):
        return None
    try:
        found = _dump(data) or _instance(_parts(data))
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    if found is not None:
        budget.take_text(data, where)
    return found


class _List(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A List as kubectl prints it, which is decoded in one go."""

    apiVersion: msgspec.Raw  # noqa: N815 - as it stands there
    kind: Literal["List"]
    items: list[msgspec.Raw]
    metadata: msgspec.Raw = msgspec.Raw(b"null")


def _dump(data: bytes) -> dict[str, object] | None:
    """Return a List that has only the fields that kubectl prints; ``None`` for other values."""
    try:
        found = msgspec.json.decode(data, type=_List)
    except msgspec.ValidationError:  # a List with other fields, or an instance
        return None
    parts = {"apiVersion": found.apiVersion, "metadata": found.metadata}
    return {**_parsed(parts), "kind": found.kind, "items": _plain(found.items)}


def _instance(parts: dict[str, msgspec.Raw]) -> dict[str, object] | None:
    """Return a List with other fields, or a recorded instance of a List."""
    found = _listed(parts)
    if found is None and "kind" not in parts and "state" in parts:
        state = _listed(_parts(parts.pop("state")))
        found = None if state is None else {**_parsed(parts), "state": state}
    return found


def _parts(data: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(data, type=dict[str, msgspec.Raw])


def _listed(parts: dict[str, msgspec.Raw]) -> dict[str, object] | None:
    """Return a List; a value with ``spec`` is a single object, though its kind is List."""
    if "items" not in parts or "spec" in parts or bytes(parts.get("kind", b"")) != b'"List"':
        return None
    items = msgspec.json.decode(parts.pop("items"), type=list[msgspec.Raw])
    return {**_parsed(parts), "items": _plain(items)}


def _plain(items: list[msgspec.Raw]) -> list[msgspec.Raw]:
    """Return items as they are.

    Raises ``ValueError`` if only the parser of the whole text can tell whether all items are right.
    """
    if not all(map(_is_plain, items)):
        raise ValueError
    return items


def _parsed(parts: dict[str, msgspec.Raw]) -> dict[str, object]:
    """Parse the values beside the list of objects; raises ``ValueError`` as `_plain` does."""
    return dict(zip(parts, map(read_item, _plain([*parts.values()])), strict=True))


def _is_utf8(data: bytes) -> bool:
    """Say whether the bytes are UTF-8 throughout: msgspec does not check what it skips."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(view[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_plain(item: msgspec.Raw) -> bool:
    """Say whether the parser would accept an item that msgspec has not looked into."""
    text = bytes(item)
    if len(text) > _MOST_DIGITS and _DIGITS.search(text):
        return False
    return text.count(b"{") + text.count(b"[") <= _DEEPEST


def read_item(item: msgspec.Raw) -> object:
    """Return the JSON value of an item of a list."""
    return from_json(bytes(item), allow_inf_nan=False)
