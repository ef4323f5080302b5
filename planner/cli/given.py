"""Small files given beside the state: costs, flavors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from planner.errors import InputError, SchemaError
from planner.reader.parse import parse
from planner.reader.show import shown
from planner.reader.source import load

MAX_BYTES: Final = 64 * 2**20


def read_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON (or YAML) object.

    Raises
    ------
    InputError
        If it cannot be read, is too large, or holds something else.
    """
    if path.is_dir():
        raise InputError(str(path), "is a folder", "a file")
    documents = [document for text in load(path, MAX_BYTES).texts for document in parse(text)]
    value = documents[0].value
    if len(documents) != 1 or not isinstance(value, dict):
        found = (
            f"{len(documents)} documents stand" if len(documents) != 1 else f"{shown(value)} stands"
        )
        raise SchemaError(str(path), f"{found} here", "one JSON object")
    return {str(key): item for key, item in value.items()}
