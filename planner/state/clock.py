"""Clocks and durations: YuniKorn counts nanoseconds since 1970, plans and users write dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final

from planner.errors import SchemaError
from planner.quantity import MAX_INT64
from planner.state.base import TIMESTAMP, parse_time

SECOND: Final = 10**9
"""A second in nanoseconds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_LONGEST: Final = 100
_DAY: Final = 86_400


def present() -> datetime:
    """Return the time by the clock of this machine, in UTC."""
    return datetime.now(UTC)


def to_nanoseconds(moment: datetime) -> int:
    """Return the nanoseconds from 1970 to a moment, exactly; before 1970 they are negative."""
    # In whole numbers: a double is too short for nanoseconds of these years.
    return (moment - _EPOCH) // _MICROSECOND * 1000


def from_nanoseconds(clock: int) -> datetime:
    """Return the moment so many nanoseconds after 1970, in UTC, rounded down to a microsecond."""
    return _EPOCH + clock // 1000 * _MICROSECOND


def seconds_since(start: datetime | None, now: datetime) -> int:
    """Return the whole seconds from ``start`` to ``now``; 0 if ``start`` is later, or not known."""
    passed = now - start if start else None
    return passed.days * _DAY + passed.seconds if passed and passed.days >= 0 else 0


def parse_duration(text: str) -> int | None:
    """Read a duration as Go writes it, such as ``1m30s``, in nanoseconds; None if it is not one."""
    unsigned = text[1:] if text[:1] in {"+", "-"} else text
    if unsigned == "0":
        return 0
    if not unsigned or len(text) > _LONGEST:
        return None
    total, at = 0, 0
    while at < len(unsigned):
        part = _PART.match(unsigned, at)
        if part is None:
            return None
        total += int(Fraction(part[1].rstrip(".")) * _UNITS[part[2]])
        at = part.end()
    if total > MAX_INT64:
        return None
    return -total if text[0] == "-" else total


def clock_of(now: datetime | str | None) -> datetime | None:
    """Return the clock that is given as a time or as text.

    Raises `SchemaError` if the text is no RFC 3339 timestamp, or the time names no zone.
    """
    if isinstance(now, str):
        try:
            return parse_time(now)
        except ValueError:
            raise SchemaError("now", f"{now!r} is not a timestamp", TIMESTAMP) from None
    if now is not None and now.tzinfo is None:
        raise SchemaError("now", f"{now} names no time zone", "a datetime with tzinfo")
    return now
