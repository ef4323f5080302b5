"""What long work is at, told to whoever listens; unless somebody does, nobody is told.

Work says when a stage begins (`begin`), and now and then that it goes on (`going_on`). There is no
thread behind it: its stack and its heap would count where memory is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Listener = Callable[[str | None], None]
"""Is told a stage that begins, or nothing when one goes on."""

_LISTENER: Final = ContextVar[Listener | None]("listener", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Let somebody listen."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def begin(stage: str | None) -> None:
    """Say what begins, in words that can follow a dash: ``level 3 of 8``."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage)


def going_on() -> None:
    """Say that the stage goes on."""
    begin(None)
