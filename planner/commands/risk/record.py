"""What is at risk, as a record."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.plan.base import Record
from planner.plan.covered import Status, Uncovered
from planner.plan.record import SCHEMA_VERSION, SchedulerId

Origin = Literal["pending", "running"]
"""pending: it waits in the state. running: one that runs was submitted once more."""


class Attempt(Record):
    """One preemptor, planned for as if it came alone.

    ``preemptor`` is its key: namespace/name, or the allocation key of an ask. One of origin
    ``running`` has the shape of ``like``, and of ``alike`` workloads or allocations in all.
    ``name`` is what people call it, or the one that it is like. ``status`` is that of the
    optimum. ``greedy`` and ``optimum`` are the victims by their keys, each in the order of its
    plan.
    """

    preemptor: str
    name: str
    origin: Origin
    like: str | None = None
    alike: int = 1
    queue: str
    priority: int
    greedy_status: Status
    status: Status
    greedy: tuple[str, ...]
    optimum: tuple[str, ...]


class Exposed(Record):
    """A workload or allocation that runs, and for how many preemptors it is a victim.

    The shares are those of all preemptors that were answered, from 0 to 1.
    """

    key: str
    name: str
    queue: str
    priority: int
    greedy: int
    optimum: int
    greedy_share: float
    optimum_share: float


class Skipped(Record):
    """A preemptor that cannot be planned for, and why."""

    preemptor: str
    reason: str


class Risk(Record):
    """How often everything that runs is a victim under the scheduler's own plan and the optimum.

    ``running`` has everything that runs, those most often victims of the scheduler's own plan
    first, then of the optimum. ``beyond_limit`` counts preemptors that the limit left out,
    ``unanswered`` those that the time did not suffice for. ``coverage`` is what the state holds
    that is not modelled: then nothing is proved.
    """

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    scheduler: SchedulerId
    objective: str
    digest: str
    preemptors: tuple[Attempt, ...]
    running: tuple[Exposed, ...]
    beyond_limit: int = 0
    unanswered: int = 0
    skipped: tuple[Skipped, ...] = ()
    coverage: tuple[Uncovered, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether every preemptor that was to be asked has a proved answer."""
        proved = all(one.status in {"optimal", "infeasible"} for one in self.preemptors)
        return proved and not self.unanswered and not self.coverage
