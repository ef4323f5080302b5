"""Who is pending in a state, and in which queue."""

from __future__ import annotations

from typing import Annotated

from planner.commands.whatif.edit import Waiting
from planner.plan.base import Published
from planner.plan.label import Label
from planner.plan.record import SchedulerId
from planner.scheduler import scheduler_of
from planner.state import AnyState


class Pending(Published):
    """Who is pending in a state, in the order of the dump."""

    scheduler: Annotated[SchedulerId, Label()]
    pending: Annotated[tuple[Waiting, ...], Label("Pending")]


def list_pending(state: AnyState) -> Pending:
    """Return who is pending in a state."""
    waiting = scheduler_of(state).editing.waiting(state, state.pending)
    return Pending(scheduler=state.scheduler, pending=tuple(waiting))
