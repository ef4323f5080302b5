"""What can be set in a state by edits, with the values it has now, and who is pending there.

kueue_edit.py and yunikorn_edit.py say what a state of their scheduler has to set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Literal, Protocol

from pydantic import Field

from planner.plan import Record
from planner.plan.record import SCHEMA_VERSION, SchedulerId
from planner.scheduler import Part
from planner.state import AnyState

MOST_WORKLOADS: Final = 1000
"""Of those that run so many are listed with their priority; there may be a hundred thousand."""


class Waiting(Record):
    """Something pending: its key, what people call it, the queue it waits in, its priority."""

    key: str
    name: str
    queue: str
    priority: int


class Goal(Record):
    """An objective: its name, and what it is in words."""

    name: str
    summary: str


class Settable(Record):
    """One value that an edit can set.

    ``target`` is what stands before the ``=`` of the edit, ``value`` what would stand behind it for
    the value of now; it is empty where nothing is written, and a default holds. ``group`` and
    ``label`` say in words what it is. ``choices`` are all values that it can have; without any it
    is a quantity, a number or a duration.
    """

    target: str
    group: str
    label: str
    value: str
    choices: tuple[str, ...] = ()


class Editable(Record):
    """An object with what can be set in it: a queue, a cohort, a workload."""

    kind: str
    name: str
    settings: tuple[Settable, ...]


class Settings(Record):
    """Who is pending in a state, which objectives there are, and what can be set.

    ``left_out`` is how many that run are not listed, because they are too many.
    """

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    scheduler: SchedulerId
    pending: tuple[Waiting, ...]
    objectives: tuple[Goal, ...]
    objects: tuple[Editable, ...]
    left_out: int = 0


class Listed(Protocol):
    """What the listing asks of a scheduler."""

    def waiting(self, state: AnyState, pending: Collection[str]) -> Iterator[Waiting]:
        """Yield what is pending, by its keys."""
        ...

    def queues(self, state: AnyState) -> Iterator[Editable]:
        """Yield what has quota, parents before children where the state has them so."""
        ...

    def workloads(self, state: AnyState) -> Iterator[Editable]:
        """Yield what waits, then what runs, each with its priority."""
        ...


LISTED: Final = Part[Listed]("settings")


def settings(state: AnyState, pending: Iterable[str], objectives: Mapping[str, str]) -> Settings:
    """Return who is pending, and what can be set.

    Parameters
    ----------
    state
        What was read.
    pending
        The keys of what is pending, in the order of the dump.
    objectives
        What each objective is in words, by its name.
    """
    listed, keys = LISTED.of(state), tuple(pending)
    workloads = listed.workloads(state)
    shown = tuple(islice(workloads, MOST_WORKLOADS))
    return Settings(
        scheduler=state.scheduler,
        pending=tuple(listed.waiting(state, keys)),
        objectives=tuple(Goal(name=name, summary=said) for name, said in objectives.items()),
        objects=(*listed.queues(state), *shown),
        left_out=sum(1 for _ in workloads),
    )
