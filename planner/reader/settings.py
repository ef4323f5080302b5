"""The name of a state, the settings that the user gives for it, and its clock.

The clock is the one that the user gives, or the time when the objects of a dump were read, which
`planner snapshot` writes into it; what kubectl prints by itself has no such time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypedDict, Unpack

from planner.errors import InputError, ParseError
from planner.reader.parse import Document
from planner.reader.show import shown
from planner.reader.unknown import Ignored
from planner.state import AUTO, TIMESTAMP, RequestsFrom, parse_time

TAKEN_AT: Final = "preemption-planner.io/taken-at"
"""The annotation of a list that says when its objects were read from the cluster."""
FAR: Final = timedelta(days=1)
"""How much older than the snapshot the newest timestamp of a dump may be without a remark."""
SKEW: Final = timedelta(minutes=1)
"""By how much clocks may differ without a remark."""


class Said(TypedDict, total=False):
    """The settings that the user gives for a state.

    The clock, the release of Kueue, and where the requests of pending workloads are taken from.
    """

    now: datetime | str | None
    release: str
    requests: RequestsFrom


class How(Said, total=False):
    """All that `planner.read` can be told: besides, a bound on bytes, and where to count."""

    max_bytes: int
    ignored: Ignored | None


class Settings(NamedTuple):
    """The name and digest of a state, and the settings that the user gives for it."""

    source: str
    digest: str
    now: datetime | str | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"


def named(value: object, where: str, digest: str | None, **said: Unpack[Said]) -> Settings:
    """Return the settings of a JSON value.

    Without a digest, that of its canonical text is used: without spaces, and with sorted keys.

    Raises ``ParseError`` if the value is no JSON value.
    """
    if digest is None:
        try:
            text = json.dumps(value, sort_keys=True, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise ParseError(where, f"is not a JSON value: {error}") from None
        digest = hashlib.sha256(text.encode()).hexdigest()
    return Settings(where, digest, **said)


def taken_at(document: Document) -> datetime | None:
    """Return when a list was read from the cluster; ``None`` if it does not say.

    Raises ``InputError`` if its annotation is no timestamp.
    """
    found = document.value
    for key in ("metadata", "annotations", TAKEN_AT):
        found = found.get(key) if isinstance(found, dict) else None
    listed = isinstance(document.value, dict) and document.value.get("kind") == "List"
    if found is None or not listed:
        return None
    return moment_of(found, f'{document.where}: metadata.annotations["{TAKEN_AT}"]')


def remark(taken: datetime | None, newest: datetime | None) -> Iterator[str]:
    """Yield a remark if the newest timestamp is far from the time of the snapshot."""
    if taken is None or newest is None:
        return
    when, last = written(taken), written(newest)
    if taken - newest > FAR:
        days = (taken - newest).days
        yield (
            f"the newest timestamp in the dump, {last}, is {days} day{'s' * (days != 1)} older "
            f"than the snapshot, which is the clock: {when}; another one can be given"
        )
    elif newest - taken > SKEW:
        yield (
            f"the newest timestamp in the dump, {last}, is the clock: the machine that took the "
            f"snapshot was behind, at {when}; another one can be given"
        )


def written(moment: datetime) -> str:
    """Return a time as Kubernetes writes it, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(clock: object, where: str) -> datetime:
    """Return a clock, a text or a datetime, as a time in UTC; an error names ``where``."""
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

    Raises ``InputError`` if it is no timestamp.
    """
    return None if now is None else moment_of(now, "now")
