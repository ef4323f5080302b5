"""What a state is called, and what the user says of it."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import NamedTuple

from planner.errors import ParseError
from planner.state import AUTO, RequestsFrom


class Settings(NamedTuple):
    """What a state is called, and what the user says of it.

    The clock, the release of Kueue, and where the requests of pending workloads are taken from.
    """

    source: str
    digest: str
    now: datetime | str | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"


def canonical_digest(value: object, where: str) -> str:
    """Return the SHA-256 of a JSON value, written without spaces and with sorted keys.

    Raises
    ------
    ParseError
        If it is no JSON value.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ParseError(where, f"is not a JSON value: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()
