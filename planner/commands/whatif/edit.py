"""Edits of a state, written as ``OBJECT.FIELD=VALUE``, whichever its scheduler.

kueue_edit.py and yunikorn_edit.py say what can be set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, Protocol, overload

from planner.commands.whatif.field import Setting
from planner.scheduler import Part
from planner.state import AnyState, State, YuniKornState


class Edits(Protocol):
    """What editing asks of a scheduler."""

    EXAMPLE: str
    """An edit as it is written."""

    def edited(self, state: AnyState, setting: Setting) -> AnyState:
        """Return the state with one value set."""
        ...


EDITS: Final = Part[Edits]("edits")


@overload
def edit(state: State, assignments: Sequence[str]) -> State: ...
@overload
def edit(state: YuniKornState, assignments: Sequence[str]) -> YuniKornState: ...
@overload
def edit(state: AnyState, assignments: Sequence[str]) -> AnyState: ...
def edit(state: AnyState, assignments: Sequence[str]) -> AnyState:
    """Return the state with some values set, one after the other.

    The digest names the edited state, not the dump.

    Parameters
    ----------
    state
        What was read; it stays as it is.
    assignments
        Texts such as ``clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority`` or
        ``queue/root.team-a.guaranteed.memory=64Gi``.

    Raises
    ------
    SchemaError
        If a text is no edit, names what is not in the state, or gives a value that cannot be.
    """
    if not assignments:
        return state
    edits = EDITS.of(state)
    for text in assignments:
        state = edits.edited(state, _setting(text, edits.EXAMPLE))
    told = "\n".join((state.digest, *assignments))
    return state.model_copy(update={"digest": hashlib.sha256(told.encode()).hexdigest()})


def _setting(text: str, example: str) -> Setting:
    target, equals, value = (part.strip() for part in text.partition("="))
    setting = Setting(text, target, value)
    if not equals or not target or not value:
        raise setting.refused("is not an edit", "OBJECT.FIELD=VALUE", f"such as {example}")
    return setting
