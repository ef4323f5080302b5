"""From what kubectl prints to a state: files, text, objects, and what they refer to."""

from __future__ import annotations

import os
from datetime import datetime

from planner.reader.assemble import assemble
from planner.reader.parse import Document, parse
from planner.reader.source import MAX_BYTES, load
from planner.state import State

__all__ = ["MAX_BYTES", "read", "read_objects"]


def read(
    source: str | os.PathLike[str],
    *,
    now: datetime | str | None = None,
    max_bytes: int = MAX_BYTES,
) -> State:
    """Read a file, a directory of files, or standard input (``-``)."""
    loaded = load(source, max_bytes)
    documents = [document for text in loaded.texts for document in parse(text)]
    return assemble(documents, source=loaded.name, digest=loaded.digest, now=now)


def read_objects(
    value: object,
    *,
    where: str,
    digest: str | None = None,
    now: datetime | str | None = None,
) -> State:
    """Read an already parsed JSON value: a List, one object, or a Python list of objects."""
    return assemble([Document(where, value)], source=where, digest=digest, now=now)
