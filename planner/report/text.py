"""How single values read on a screen: names made harmless, ages, amounts, times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from math import isfinite
from typing import Final
from unicodedata import category, east_asian_width

from planner.errors import readable

LONGEST_NAME: Final = 330
"""Kubernetes allows 253 + 1 + 63 characters for namespace/name; a dump may hold anything."""

SECONDS_PER_HOUR: Final = 3600

_MINUTE: Final = 60
_AGE_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", _MINUTE))
_WIDE: Final = {"W": 2, "F": 2}
_SMALLEST_SHOWN: Final = 0.01
_SMALLEST_SHARE: Final = 0.001


def clean(text: str) -> str:
    """Return the text with every character that could control a terminal written as an escape.

    Names come from a dump that anyone may have written: control characters, line breaks,
    escape sequences and marks that reverse the reading direction must not reach the screen.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def clean_lines(text: str) -> str:
    """Return a message made harmless line by line; its own line breaks stay."""
    return "\n".join(clean(line) for line in text.split("\n"))


def message(text: str) -> str:
    """Return a message with every line made harmless, and cut where it is too long to read.

    Its further lines are indented: no name makes a line that looks like another message.
    """
    first, *more = clean_lines(text).split("\n")
    lines = (first, *(line if line.startswith("  ") else f"  {line}" for line in more))
    return "\n".join(map(readable, lines))


def word(text: str) -> str:
    """Return the text as one word without quotes, for output that is split at spaces."""
    escaped = "".join(_escaped(c) if c in " \"'\\" else c for c in text)
    return clean(escaped) or '""'


def short(text: str) -> str:
    """Return a name made harmless, and cut where no real name would be as long."""
    return clean(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide letters two, marks on them none."""
    if text.isascii():
        return len(text)
    letters = (one for one in text if category(one) not in {"Mn", "Me", "Cf"})
    return sum(_WIDE.get(east_asian_width(one), 1) for one in letters)


def _escaped(character: str) -> str:
    if character.isascii():
        return f"\\x{ord(character):02x}"
    return character.encode("unicode_escape").decode("ascii")


def age(seconds: int) -> str:
    """Return a duration in at most two units, such as ``45s``, ``12m`` or ``3d4h``."""
    for (unit, size), (below, part) in pairwise(_AGE_UNITS):
        if seconds >= size:
            whole, rest = divmod(seconds, size)
            return f"{whole}{unit}" + (f"{rest // part}{below}" if rest >= part else "")
    if seconds >= _MINUTE:
        return f"{seconds // _MINUTE}m"
    return f"{seconds}s"


def hours(accelerator_seconds: float) -> str:
    """Return accelerator-seconds as accelerator-hours."""
    return decimal(accelerator_seconds / SECONDS_PER_HOUR)


def decimal(value: float) -> str:
    """Return a number with two digits after the point; what is not zero never reads as zero."""
    if value < 0:
        return f"-{decimal(-value)}"
    if 0 < value < _SMALLEST_SHOWN:
        return f"<{_SMALLEST_SHOWN}"
    return f"{value:,.2f}"


def thousandths(share: float) -> str:
    """Return a share to three digits after the point; what is not zero never reads as zero."""
    if 0 < share < _SMALLEST_SHARE:
        return f"<{_SMALLEST_SHARE}"
    return f"{share:,.3f}".rstrip("0").rstrip(".") if isfinite(share) else f"{share}"


def moment(time: datetime) -> str:
    """Return a time as RFC 3339 in UTC, to the second unless it is finer."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def some_of(shown: Sequence[str], count: int) -> str:
    """Return the names that are shown, and how many more of ``count`` there are."""
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
