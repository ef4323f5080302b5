"""What the loop of a simulation asks of a cluster, whichever its scheduler."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from planner.commands.simulate.record import Event, Use
from planner.commands.simulate.tally import Tally


class Mark(NamedTuple):
    """What a part of a cluster is like: two moments with equal marks go on alike.

    ``state`` has all that decides and no clock; ``to_come`` what happens by itself, and after
    how long.
    """

    state: bytes
    to_come: bytes


def digest(value: object) -> bytes:
    """Return what names a value: one whose text is always the same, as that of tuples."""
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()


class Cycle(NamedTuple):
    """What a scheduling cycle did; ``moved`` says whether the next one could do anything else."""

    events: Sequence[Event]
    moved: bool


class World(Protocol):
    """A cluster in which time passes; times are whole seconds after the start.

    Its parts, called trees and numbered, have nothing to do with one another.
    """

    @property
    def start(self) -> datetime:
        """The clock at the start."""
        ...

    @property
    def cycles(self) -> int:
        """How many scheduling cycles there were."""
        ...

    def enter(self, tally: Tally) -> None:
        """Open the accounts of all who are there, or will come."""
        ...

    def next_s(self) -> int | None:
        """Return when something happens by itself; ``None`` if nothing is to come."""
        ...

    def happen(self, at_s: int) -> list[Event]:
        """Let everything happen that is due."""
        ...

    def cycle(self, at_s: int) -> Cycle:
        """Let the scheduler run once."""
        ...

    def tree_of(self, event: Event) -> int:
        """Return the tree in which something happened."""
        ...

    def mark(self, tree: int, at_s: int) -> Mark:
        """Say what a tree is like."""
        ...

    def busy(self) -> Collection[int]:
        """Return the trees in which something is to come, or the last cycle did something."""
        ...

    def used(self) -> Sequence[int]:
        """Return how much of each resource is in use, in the order of ``use``."""
        ...

    def use(self, shares: Sequence[float]) -> tuple[Use, ...]:
        """Return the use of each resource; ``shares`` are the amounts used on average."""
        ...
