"""The record of carrying out a plan: the steps that were done, and the outcome."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from planner.plan import Published
from planner.plan.record import Command

Way = Literal["eviction", "boosts"]
"""eviction: the victims get the condition Evicted. boosts: priorities change, and Kueue itself
evicts them."""
ApplyStatus = Literal[
    "planned", "nothing", "applied", "otherwise", "refused", "stopped", "interrupted", "undone"
]
"""planned: nothing was run, as asked. nothing: Kueue evicts the victims by itself. applied: the
preemptor holds quota, and only the victims were evicted. otherwise: all steps were done, and Kueue
did something else than planned. refused: nothing was changed. stopped: a step could not be done.
interrupted: the user interrupted the run. undone: what an earlier run had left behind was taken
back."""


class Step(Command):
    """One step of a run.

    ``at`` is when it was done, by the clock of this machine; it is not there if it was not.
    """

    at: datetime | None = None


class Applied(Published):
    """A plan, carried out or not.

    ``plan`` is the digest by which marks in the cluster name the plan. ``changes`` say why it was
    refused: what is no longer as the plan has it. ``also_evicted`` are workloads beside the victims
    that were evicted meanwhile, as namespace/name. ``admitted`` says that the preemptor holds
    quota. ``way_on`` says what to do next, if there is anything to do.
    """

    preemptor: str
    plan: str
    way: Way
    status: ApplyStatus
    explanation: str
    victims: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    also_evicted: tuple[str, ...] = ()
    admitted: bool | None = None
    way_on: str = ""
    notes: tuple[str, ...] = ()
