"""Everything that goes to standard error: errors, warnings, remarks."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable


def say(kind: str, message: str) -> None:
    """Write ``kind: message`` to standard error; a closed one is no reason to fail.

    Messages quote names from dumps that anyone may have written, so they are made harmless.
    """
    from planner.report.text import clean_lines

    write(f"{kind}: {clean_lines(message)}\n")


def write(text: str) -> None:
    """Write text to standard error as it is."""
    if sys.stderr is None:
        return
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()


def warn(notes: Iterable[str]) -> None:
    """Write every note as a warning, once."""
    for note in dict.fromkeys(notes):
        say("warning", note)
