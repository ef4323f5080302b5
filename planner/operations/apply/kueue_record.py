"""The record of carrying out a plan: the steps, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from planner.operations.steer.record import Act
from planner.plan import Published
from planner.plan.label import Label, Tone
from planner.plan.record import Command

ApplyStatus = Literal["planned", "applied", "otherwise", "refused", "stopped", "interrupted"]
"""planned: nothing was run, as asked. applied: only the planned victims were evicted, and the
preemptor holds quota. otherwise: Kueue did something else than planned. refused: nothing was
changed. stopped: the plan no longer held, or time was up, before the gate was opened: what was done
is taken back. interrupted: the user interrupted the run."""
ANSWERS: Final[Mapping[ApplyStatus, tuple[str, Tone]]] = {
    "planned": ("Not run", ""),
    "applied": ("As planned", "good"),
    "otherwise": ("Otherwise than planned", "warn"),
    "refused": ("Refused, nothing changed", "bad"),
    "stopped": ("Stopped", "bad"),
    "interrupted": ("Interrupted", "warn"),
}


class Applied(Published):
    """A plan, carried out or not.

    ``changes`` say why it was refused or stopped: what is no longer as the plan has it. ``steps``
    are the commands that carry it out, ``acts`` what was done. ``evicted`` are the workloads that
    Kueue evicted for the preemptor, as namespace/name; ``admitted`` says that it holds quota.
    ``way_on`` says what to do next, if there is anything to do.
    """

    preemptor: Annotated[str, Label("Preemptor", "title")]
    status: Annotated[ApplyStatus, Label("Result", "verdict", said=ANSWERS)]
    explanation: Annotated[str, Label(role="answer")]
    victims: Annotated[tuple[str, ...], Label("Victims", "name")] = ()
    changes: Annotated[tuple[str, ...], Label("What changed", "text")] = ()
    steps: Annotated[tuple[Command, ...], Label("Commands")] = ()
    acts: Annotated[tuple[Act, ...], Label("What was done")] = ()
    evicted: Annotated[tuple[str, ...], Label("Whom Kueue evicted", "name")] = ()
    admitted: Annotated[bool | None, Label()] = None
    way_on: Annotated[str, Label("Next", "text", "next")] = ""
    notes: Annotated[tuple[str, ...], Label("Notes", "text")] = ()
