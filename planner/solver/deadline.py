"""When to stop, how long to look for trees, and long calls of solvers in a thread of their own.

This module loads no solver: the replay of decisions needs none, but has deadlines, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeVar

from planner.stage import going_on

Trees = Literal["brief"] | bool | None
"""Whether to wait for proof trees: ``True`` as long as they take, ``False`` never, ``None`` for
short ones, ``brief`` for those that are found nearly at once."""


class OutOfTime(Exception):  # noqa: N818 - says what happened, as the others do
    """Time was up before something was known: a decision of the scheduler, or a solver's answer."""


def never() -> bool:
    """Return False: there is no time limit."""
    return False


class Deadline(NamedTuple):
    """A point in time after which nothing new is started; ``None`` for no limit."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline that is some seconds from now; ``None`` is no limit."""
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


@dataclass(slots=True)
class Clock:
    """The deadline of what is going on: several keep to it, and none has to know who sets it."""

    deadline: Deadline = field(default_factory=Deadline)

    def is_late(self) -> bool:
        """Say whether the time is up."""
        return self.deadline.passed


TICK_S: Final = 0.5
GRACE_S: Final = 0.3
"""Seconds that a call is waited for once it should have ended."""
T = TypeVar("T")


def waited_for(
    call: Callable[[], T], stop: Callable[[], object] | None = None, seconds: float | None = None
) -> T:
    """Run a call in a thread of its own, report meanwhile that it goes on, and return its result.

    The call must let other threads run. Python runs no handler of a signal before a call of a
    library returns: without the thread, Ctrl-C would end nothing, and nothing could be reported.

    Where the wait is interrupted, or the call takes more than ``seconds``, ``stop`` makes it end. A
    call that does not listen is left to itself: its thread keeps no process alive, and its result
    is lost. What it works on must not be changed any more.

    Raises `OutOfTime` if it is left so after ``seconds``, `MemoryError` if there is no memory for a
    thread.
    """
    returned: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            returned.append(call())
        except BaseException as error:  # noqa: BLE001 - it is for the thread that waits
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    try:
        try:
            thread.start()
        except RuntimeError as error:
            raise MemoryError from error
        end = Deadline.after(None if seconds is None else seconds + GRACE_S)
        while thread.is_alive() and not end.passed:
            going_on()
            left = end.left()
            thread.join(TICK_S if left is None else min(TICK_S, left))
    finally:
        grace = Deadline.after(GRACE_S)
        while stop is not None and thread.is_alive() and not grace.passed:
            stop()
            thread.join(GRACE_S / 10)
    if raised:
        raise raised[0]
    if not returned:
        raise OutOfTime
    return returned[0]
