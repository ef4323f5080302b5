"""What a simulation asks of YuniKorn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.commands.simulate.kueue_leave import Leaving
from planner.commands.simulate.script import Script
from planner.commands.simulate.yunikorn_world import YuniKornWorld
from planner.errors import InputError
from planner.reference.yunikorn.decision import decide
from planner.state import YuniKornState

if TYPE_CHECKING:
    from planner.commands.simulate.optimum import Doubts
    from planner.commands.simulate.simulate import Asked


def check(state: YuniKornState, asked: Asked) -> None:
    """Refuse laws to take sides on where the core chooses the victims itself.

    Raises
    ------
    InputError
        If it is so.
    """
    del state
    if asked.rules is not None and asked.decider != "optimum":
        expected = "leave it out: only the optimum in the place of YuniKorn's choice takes a side"
        raise InputError("rules", f'"{asked.rules}" means nothing here', expected)


def own_world(state: YuniKornState, script: Script, leaving: Leaving) -> YuniKornWorld:
    """Return a cluster in which the core chooses the victims itself; they leave at once."""
    del leaving
    return YuniKornWorld(state, script, lambda _, cluster, asking: decide(cluster, asking))


def planned_world(
    state: YuniKornState, script: Script, leaving: Leaving, asked: Asked, doubts: Doubts
) -> YuniKornWorld:
    """Return a cluster in which the optimum chooses."""
    # Only the optimum needs a solver, which takes longer to load than a small simulation.
    from planner.commands.simulate.optimum import YuniKornOptimum  # noqa: PLC0415

    del leaving
    laws = asked.rules or "design"
    return YuniKornWorld(
        state, script, YuniKornOptimum(asked.profile, laws, asked.time_limit, doubts)
    )
