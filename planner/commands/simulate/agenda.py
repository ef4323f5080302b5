"""What is to happen by itself, in the order in which it does."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple


class Due(IntEnum):
    """What may happen; at one time the smaller comes first."""

    FINISH = 0
    RELEASE = 1
    WAKE = 2
    BACKOFF = 3
    ARRIVE = 4


class Appointment(NamedTuple):
    """Something that happens at a time, in seconds after the start, to a workload or a tree."""

    at_s: int
    due: Due
    place: int
    key: str
    tree: int


class Agenda:
    """All that is to happen; what is called off stays until its time comes, and is passed over."""

    def __init__(self) -> None:
        self._heap: list[Appointment] = []
        self._valid: dict[tuple[Due, str], Appointment] = {}
        self._made = 0

    def set(self, at_s: int, due: Due, key: str, tree: int) -> None:
        """Make an appointment in the place of any other of the kind for the same key."""
        self._made += 1
        made = Appointment(at_s, due, self._made, key, tree)
        self._valid[due, key] = made
        heapq.heappush(self._heap, made)

    def has(self, due: Due, key: str) -> bool:
        """Say whether there is an appointment of a kind for a key."""
        return (due, key) in self._valid

    def call_off(self, due: Due, key: str) -> None:
        """Call an appointment off, if there is one."""
        self._valid.pop((due, key), None)

    def next_s(self) -> int | None:
        """Return when the next thing happens; ``None`` if nothing is to come."""
        while self._heap:
            first = self._heap[0]
            if self._valid.get((first.due, first.key)) is first:
                return first.at_s
            heapq.heappop(self._heap)
        return None

    def take(self, until_s: int) -> Iterator[Appointment]:
        """Yield, and forget, all that is due, also what is made meanwhile."""
        while (at_s := self.next_s()) is not None and at_s <= until_s:
            found = heapq.heappop(self._heap)
            del self._valid[found.due, found.key]
            yield found

    def to_come(self) -> list[Appointment]:
        """Return all that is to come, in order."""
        return sorted(self._valid.values())
