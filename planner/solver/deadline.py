"""When to stop, and how long to look for trees.

No solver is loaded by it: who only replays decisions has deadlines, too.
"""

from __future__ import annotations

import time
from typing import Literal, NamedTuple

Trees = Literal["brief"] | bool | None
"""Whether to wait for proof trees: always, never (then two engines are asked), with ``None`` for
short ones, and ``brief`` for those that show nearly at once."""


class OutOfTime(Exception):  # noqa: N818 - says what happened, as the others do
    """A decision of the scheduler was not replayed, for time was up: what it says is not known."""


def never() -> bool:
    """Say that time is not up: nobody waits."""
    return False


class Deadline(NamedTuple):
    """A point in time after which nothing new is started; ``None`` for no limit."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def half(self) -> Deadline:
        """Return the deadline after half of the time that is left."""
        return self.part(1 / 2)

    def part(self, share: float) -> Deadline:
        """Return the deadline after a share of the time that is left."""
        left = self.left()
        return self if left is None else Deadline.after(left * share)

    def left(self) -> float | None:
        """Return the seconds that are left, never negative."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self.at is not None and time.monotonic() >= self.at
