"""Clocks: YuniKorn counts nanoseconds since 1970; plans and users say dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_nanoseconds(moment: datetime) -> int:
    """Return the nanoseconds from 1970 to a moment, exactly; before 1970 they are negative."""
    # In whole numbers: a double is too short for nanoseconds of these years.
    return (moment - _EPOCH) // _MICROSECOND * 1000


def from_nanoseconds(clock: int) -> datetime:
    """Return the moment so many nanoseconds after 1970, in UTC, rounded down to a microsecond."""
    return _EPOCH + clock // 1000 * _MICROSECOND
