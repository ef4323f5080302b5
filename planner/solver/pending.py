"""What to plan for when nobody says."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import InputError
from planner.state import AnyState

_SHOWN = 10


def only_pending(state: AnyState, waiting: Sequence[str]) -> str:
    """Return the only thing that is pending.

    Raises
    ------
    InputError
        If nothing is, or several are.
    """
    if len(waiting) == 1:
        return waiting[0]
    if not waiting:
        raise InputError(state.source, "nothing is pending: there is nothing to plan for")
    more = len(waiting) - _SHOWN
    shown = ", ".join(waiting[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    raise InputError(
        state.source,
        f"{len(waiting)} are pending",
        f"one of them to be named: {shown}",
        "--pending NAME plans for one, planner solve --all for each",
    )
