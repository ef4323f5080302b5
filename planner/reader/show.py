"""Values and paths as they stand in messages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 60
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

Path = tuple[str | int, ...]


def shown(value: object) -> str:
    """Write a value as JSON would, cut short; objects and lists by their size only."""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, str):
        text = json.dumps(value[: _LONGEST + 1], ensure_ascii=not value.isprintable())
        return f'{text[:_LONGEST]}..."' if len(text) > _LONGEST + 2 else text
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) >= 10**_LONGEST:
        return "a whole number of more than 60 digits"
    return str(value)[:_LONGEST]


def plain(text: str) -> str:
    """Write a name so that it can be printed, cut short, without quotes."""
    return shown(text)[1:-1]


def first_of(names: Sequence[str]) -> str:
    """Write the first of some names, and how many more there are."""
    return plain(names[0]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def path_text(path: Sequence[str | int]) -> str:
    """Write a path such as ``items[3].spec`` or ``requests["nvidia.com/gpu"]``."""
    parts = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _IDENTIFIER.fullmatch(step):
            parts.append(f".{step}")
        else:
            parts.append(f"[{shown(step)}]")
    return "".join(parts).removeprefix(".")


def place(root: str, path: Sequence[str | int]) -> str:
    """Join the name of a document and a path inside it."""
    return f"{root}: {path_text(path)}" if path else root
