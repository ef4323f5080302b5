"""What all parts of one state have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.commands.import_.job import Trace
from planner.commands.import_.knobs import Knobs


@dataclass(frozen=True)
class Setting:
    """A trace at an instant.

    Attributes
    ----------
    work
        GPU-seconds by queue and flavor of the whole trace; its queues are the ClusterQueues.
    instant
        In seconds since 1970.
    """

    trace: Trace
    work: Mapping[tuple[str, str], int]
    instant: int
    knobs: Knobs

    def names(self, purpose: str, *of: object) -> tuple[object, ...]:
        """Return what a draw is for, as `planner.commands.import_.draw` wants it."""
        return (self.knobs.seed, purpose, self.instant, *of)
