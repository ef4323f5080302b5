"""The progress of long work, reported to a listener if there is one.

Work reports when a stage begins (`begin`), and now and then that it goes on (`going_on`). No thread
does this: the stack and the heap of a thread would count where memory is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Listener = Callable[[str | None], None]
"""Called with the name of a stage that begins, and with ``None`` when a stage goes on."""

_LISTENER: Final = ContextVar[Listener | None]("listener", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report the stages of the work in this block to a listener."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def begin(stage: str | None) -> None:
    """Report a stage that begins, in words that can follow a dash: ``level 3 of 8``."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage)


def going_on() -> None:
    """Report that the stage goes on."""
    begin(None)
