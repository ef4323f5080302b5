"""Reading a state that must be of Kueue."""

from __future__ import annotations

from datetime import datetime

from planner.errors import UnsupportedError
from planner.reader import MAX_BYTES, read
from planner.state import AnyState, State


def read_kueue(source: str, now: datetime | None, max_size: int | None, release: str) -> State:
    """Read a state for a command that knows Kueue only.

    Raises
    ------
    UnsupportedError
        If the state is of YuniKorn.
    InputError
        If it cannot be read.
    """
    return of_kueue(read(source, now=now, max_bytes=max_size or MAX_BYTES, release=release))


def of_kueue(state: AnyState) -> State:
    """Return a state if it is of Kueue.

    Raises
    ------
    UnsupportedError
        If it is of YuniKorn.
    """
    if not isinstance(state, State):
        raise UnsupportedError(state.source, "is a state of YuniKorn", "a state of Kueue")
    return state
