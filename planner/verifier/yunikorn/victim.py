"""A victim as the state knows it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.laws.yunikorn import Spared
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import Resource
from planner.state.yunikorn import Allocation


@dataclass(frozen=True, slots=True, eq=False)
class Victim:
    """An allocation with the queue and the application that it belongs to."""

    allocation: Allocation
    queue: Queue
    application_id: str

    @property
    def key(self) -> str:
        """The key of the allocation."""
        return self.allocation.allocation_key

    @property
    def resource(self) -> Resource:
        """What it holds, in the core's units."""
        return self.allocation.resource

    def is_spared(self, spare: Spared) -> bool:
        """Say whether YK-01 spares it."""
        return (
            self.allocation.opted_out
            if spare == "opted-out"
            else (spare == "last-tier" and self.last_tier)
        )

    @property
    def last_tier(self) -> bool:
        """Whether it opted out of preemption, or is the originator of its application."""
        return self.allocation.opted_out or self.allocation.originator
