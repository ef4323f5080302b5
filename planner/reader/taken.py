"""The clock: what the user gave, or when the objects of a dump were read, and whether that fits.

A dump of `planner snapshot` says it; what kubectl prints by itself does not.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from planner.errors import InputError
from planner.reader.parse import Document
from planner.reader.show import shown
from planner.state import TIMESTAMP, parse_time

TAKEN_AT: Final = "preemption-planner.io/taken-at"
"""The annotation of a list that says when its objects were read from the cluster."""
FAR: Final = timedelta(days=1)
"""What may lie between the newest timestamp of a dump and its snapshot without a remark."""
SKEW: Final = timedelta(minutes=1)
"""By how much clocks may differ without a remark."""


def taken_at(document: Document) -> datetime | None:
    """Return when a list was read from the cluster; ``None`` if it does not say.

    Raises
    ------
    InputError
        If it says something that is no timestamp.
    """
    found = document.value
    for key in ("metadata", "annotations", TAKEN_AT):
        found = found.get(key) if isinstance(found, dict) else None
    listed = isinstance(document.value, dict) and document.value.get("kind") == "List"
    if found is None or not listed:
        return None
    return moment_of(found, f'{document.where}: metadata.annotations["{TAKEN_AT}"]')


def clock_of(taken: datetime | None, newest: datetime | None) -> datetime | None:
    """Return the clock of a dump: the time of its snapshot, unless the cluster is ahead of that."""
    known = [moment for moment in (taken, newest) if moment is not None]
    # Never before what is in the dump: ages would be negative.
    return max(known, default=None)


def remark(taken: datetime | None, newest: datetime | None) -> list[str]:
    """Say so where the newest timestamp is far from the snapshot."""
    if taken is None or newest is None:
        return []
    when, last = written(taken), written(newest)
    if taken - newest > FAR:
        days = (taken - newest).days
        text = (
            f"the newest timestamp in the dump, {last}, is {days} day{'s' * (days != 1)} older "
            f"than the snapshot, which is the clock: {when}; --now sets another one"
        )
    elif newest - taken > SKEW:
        text = (
            f"the newest timestamp in the dump, {last}, is the clock: the machine that took the "
            f"snapshot was behind, at {when}; --now sets another one"
        )
    else:
        return []
    return [text]


def written(moment: datetime) -> str:
    """Return a time as Kubernetes writes it, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(clock: object, where: str) -> datetime:
    """Return a clock that was written or given, in UTC; an error names ``where``."""
    try:
        if isinstance(clock, str):
            return parse_time(clock)
        if isinstance(clock, datetime) and clock.tzinfo is not None:
            return clock.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    found = str(clock) if isinstance(clock, datetime) else shown(clock)
    raise InputError(where, f"{found} is not a timestamp", f"{TIMESTAMP}, with a time zone")


def given_moment(now: datetime | str | None) -> datetime | None:
    """Return the clock that the user gave as a time in UTC, None if there is none.

    Raises
    ------
    InputError
        If it is no timestamp.
    """
    return None if now is None else moment_of(now, "--now")
