"""Reading, where a state of Kueue is meant: anything else fails the test."""

from __future__ import annotations

import os
from typing import Any

import planner.reader
from planner.state.kueue import State


def read(source: str | os.PathLike[str], **more: Any) -> State:
    """Read a file, a folder or standard input."""
    state = planner.reader.read(source, **more)
    assert isinstance(state, State)
    return state


def read_objects(value: object, **more: Any) -> State:
    """Read a value that is parsed already."""
    state = planner.reader.read_objects(value, **more)
    assert isinstance(state, State)
    return state
