"""The record of carrying out a plan: the steps, and the outcome."""

from __future__ import annotations

from typing import Literal

from planner.operations.steer.record import Act
from planner.plan import Published
from planner.plan.record import Command

ApplyStatus = Literal["planned", "applied", "otherwise", "refused", "stopped", "interrupted"]
"""planned: nothing was run, as asked. applied: only the planned victims were evicted, and the
preemptor holds quota. otherwise: Kueue did something else than planned. refused: nothing was
changed. stopped: the plan no longer held, or time was up, before the gate was opened: what was done
is taken back. interrupted: the user interrupted the run."""


class Applied(Published):
    """A plan, carried out or not.

    ``changes`` say why it was refused or stopped: what is no longer as the plan has it. ``steps``
    are the commands that carry it out, ``acts`` what was done. ``evicted`` are the workloads that
    Kueue evicted for the preemptor, as namespace/name; ``admitted`` says that it holds quota.
    ``way_on`` says what to do next, if there is anything to do.
    """

    preemptor: str
    status: ApplyStatus
    explanation: str
    victims: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    steps: tuple[Command, ...] = ()
    acts: tuple[Act, ...] = ()
    evicted: tuple[str, ...] = ()
    admitted: bool | None = None
    way_on: str = ""
    notes: tuple[str, ...] = ()
