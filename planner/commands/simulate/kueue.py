"""What a simulation asks of Kueue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.commands.simulate.kueue_leave import Leaving
from planner.commands.simulate.kueue_world import KueueWorld
from planner.commands.simulate.script import Script
from planner.errors import InputError, UnsupportedError
from planner.reference.kueue.decision import decide
from planner.state import State

if TYPE_CHECKING:
    from planner.commands.simulate.optimum import Doubts
    from planner.commands.simulate.simulate import Asked

_LAST_YEAR: Final = 9_900


def check(state: State, asked: Asked) -> None:
    """Refuse laws to take sides on, and a clock that has no room before it.

    Raises
    ------
    InputError
        If it is so.
    """
    if asked.rules is not None:
        expected = "leave it out: only the optimum in the place of YuniKorn's choice takes a side"
        raise InputError("rules", f'"{asked.rules}" means nothing here', expected)
    if state.now.year > _LAST_YEAR:
        raise UnsupportedError(state.source, f"its clock is {state.now}", "a year before 9900")


def own_world(state: State, script: Script, leaving: Leaving) -> KueueWorld:
    """Return a cluster in which Kueue chooses the victims itself."""
    return KueueWorld(state, script, decide, leaving)


def planned_world(
    state: State, script: Script, leaving: Leaving, asked: Asked, doubts: Doubts
) -> KueueWorld:
    """Return a cluster in which the optimum chooses."""
    # Only the optimum needs a solver, which takes longer to load than a small simulation.
    from planner.commands.simulate.optimum import KueueOptimum  # noqa: PLC0415

    optimum = KueueOptimum(state, asked.profile, asked.time_limit, doubts)
    return KueueWorld(state, script, optimum, leaving)
