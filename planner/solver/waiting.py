"""Long calls of solvers in a thread of their own, so that whoever waits can still be told things.

Python runs no handler of a signal before a call of a library returns: in the thread of the call,
Ctrl-C would end nothing, and nobody could say that the work goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from planner.stage import going_on

TICK_S: Final = 0.5
T = TypeVar("T")


def waited_for(call: Callable[[], T], stop: Callable[[], None] | None = None) -> T:
    """Return what a call returns that lets other threads run, and say now and then that it goes on.

    Where the wait is interrupted, ``stop`` makes the call end. A call that nothing ends is left to
    itself: its thread keeps no process alive, and what it returns is lost.

    Raises
    ------
    MemoryError
        If there is no memory for a thread.
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
        _start(thread)
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


def _start(thread: threading.Thread) -> None:
    try:
        thread.start()
    except RuntimeError as error:
        raise MemoryError from error
