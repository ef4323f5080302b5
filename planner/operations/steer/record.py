"""The lines of a steering: what is done and why, how each decision of the scheduler came out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, RootModel

from planner.operations.watch.record import CONNECTED, HOUR_S, Figures, Metric, Note
from planner.plan import Record
from planner.plan.label import Label

Came = Literal["exact", "subset", "otherwise", "nobody"]
"""Whom Kueue evicted: just the planned victims; some of them, as others were gone by themselves;
others, too, as it does when left to itself; or nobody."""


class Act(Record):
    """Something that is done for a preemptor, or would be, and why."""

    kind: Literal["act"] = "act"
    at: Annotated[datetime, Label("When", "key")]
    act: Annotated[Literal["plan", "boost", "open", "take back"], Label("What", "key")]
    preemptor: str
    why: Annotated[str, Label("Why", "text")]
    victims: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    boosts: dict[str, int] = {}
    dry_run: bool = False


class Steered(Record):
    """A decision of the scheduler for a preemptor, from its gate to its quota.

    ``planned`` are the victims of the plan, ``own`` those of the scheduler left to itself, and
    ``evicted`` those whom it evicted. ``steered`` says that the gate was opened for the plan, not
    for the scheduler's own choice, and ``admitted`` that the preemptor holds quota. ``spared_s`` is
    the lost work that the plan saves, in accelerator-seconds, where it came about; ``blocked_s`` is
    how long the preemptor was blocked, ``used_s`` the time that this took here.
    """

    kind: Literal["steered"] = "steered"
    at: datetime
    preemptor: str
    queue: str
    came: Came
    steered: bool
    admitted: bool
    planned: tuple[str, ...]
    own: tuple[str, ...]
    evicted: tuple[str, ...]
    boosts: dict[str, int] = {}
    replans: int = 0
    spared_s: int = 0
    blocked_s: float = 0
    used_s: float = 0


class Finding(Record):
    """Something that steering needs, whether it is there, and else what to do about it."""

    kind: Literal["finding"] = "finding"
    what: str
    holds: bool
    found: str
    cure: str = ""


Line = Act | Steered | Note | Finding


class Steering(RootModel[Annotated[Line, Field(discriminator="kind")]]):
    """One line of ``planner steer --format jsonl``."""


_PREFIX: Final = "preemption_planner_steer"
DECISIONS: Final = Metric(
    f"{_PREFIX}_decisions_total",
    "Decisions of the scheduler whose gate was opened, by how they came out.",
    ("queue", "came"),
)
REPLANS, SPARED, BLOCKED = (
    Metric(f"{_PREFIX}_{name}_total", text)
    for name, text in {
        "replans": "Plans that were made anew before a gate was opened.",
        "spared_gpu_hours": "Lost work that plans saved beside the scheduler's own choice, in "
        "accelerator-hours.",
        "blocked_seconds": "Seconds from a blocked workload to its open gate.",
    }.items()
)


class SteerFigures(Figures):
    """The figures so far; there are at most a few for each queue."""

    metrics = (DECISIONS, REPLANS, SPARED, BLOCKED, CONNECTED)

    def count(self, line: Line) -> None:  # type: ignore[override] # lines of another kind
        """Add a line to the figures."""
        if isinstance(line, Note):
            self.values[CONNECTED, ()] = line.connected
        elif isinstance(line, Steered):
            queue = (line.queue,)
            self.values[DECISIONS, (line.queue, line.came)] += 1
            self.values[REPLANS, queue] += line.replans
            self.values[SPARED, queue] += line.spared_s / HOUR_S
            self.values[BLOCKED, queue] += line.blocked_s
