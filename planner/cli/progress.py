"""A line on standard error that says how far a long piece of work has come."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final, Self

from planner.cli.message import write
from planner.cli.output import is_terminal
from planner.report.text import clean

PATIENCE_S: Final = 1.0
REDRAW_S: Final = 0.1
BAR: Final = 24


class Progress:
    """Shows a share of work done, on a terminal only, and only after a second.

    Use it as a context manager: at its end the line is gone.
    """

    def __init__(self) -> None:
        self._shown = is_terminal(sys.stderr)
        self._drawn = False
        self._next = time.monotonic() + PATIENCE_S

    def __enter__(self) -> Self:
        """Start the clock."""
        self._next = time.monotonic() + PATIENCE_S
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wipe the line."""
        self.clear()

    def update(self, share: float, label: str) -> None:
        """Say that a share of the work, from 0 to 1, is done, and what comes next."""
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + REDRAW_S
        full = round(BAR * min(max(share, 0.0), 1.0))
        bar = "#" * full + "." * (BAR - full)
        write(f"\r\x1b[K[{bar}] {share:4.0%} {clean(label)[:60]}")
        self._drawn = True

    def clear(self) -> None:
        """Wipe the line, so that something else can be written."""
        if self._drawn:
            write("\r\x1b[K")
            self._drawn = False
