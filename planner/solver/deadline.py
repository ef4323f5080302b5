"""When to stop, how long to look for trees, and long calls of solvers in a thread of their own.

No solver is loaded by it: who only replays decisions has deadlines, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeVar

from planner.stage import going_on

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


TICK_S: Final = 0.5
T = TypeVar("T")


def waited_for(call: Callable[[], T], stop: Callable[[], None] | None = None) -> T:
    """Return what a call returns that lets other threads run, and say now and then that it goes on.

    Python runs no handler of a signal before a call of a library returns: in the thread of the
    call, Ctrl-C would end nothing, and nobody could say that the work goes on.

    Where the wait is interrupted, ``stop`` makes the call end. A call that nothing ends is left to
    itself: its thread keeps no process alive, and what it returns is lost.

    Raises `MemoryError` if there is no memory for a thread.
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
        while thread.is_alive():
            going_on()
            thread.join(TICK_S)
    finally:
        while stop is not None and thread.is_alive():
            stop()
            thread.join(TICK_S)
    if raised:
        raise raised[0]
    return returned[0]
