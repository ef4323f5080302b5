"""A state that must be of Kueue."""

from __future__ import annotations

from planner.errors import UnsupportedError
from planner.state import AnyState, State


def of_kueue(state: AnyState) -> State:
    """Return a state if it is of Kueue, for what no other scheduler has.

    Raises
    ------
    UnsupportedError
        If it is of YuniKorn.
    """
    if not isinstance(state, State):
        raise UnsupportedError(state.source, "is a state of YuniKorn", "a state of Kueue")
    return state
