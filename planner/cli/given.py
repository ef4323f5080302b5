"""Small files given beside the state: costs, flavors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


def read_optional(path: Path | None) -> Any:  # noqa: ANN401 - any JSON
    """Read a file that may be left out, as `read_object` does."""
    return None if path is None else read_object(path)


@contextmanager
def file_named(files: Mapping[str, Path | None]) -> Iterator[None]:
    """Let errors in what a file gave name the file, not the parameter it became."""
    try:
        yield
    except InputError as error:
        for parameter, path in files.items():
            if path is not None and error.where.startswith(parameter):
                rest = error.where.removeprefix(parameter).removeprefix(": ")
                error.where = f"{path}: {rest}" if rest else str(path)
        raise
