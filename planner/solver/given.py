"""What a user says of a plan besides its objective, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from planner.assignment import Assignment
from planner.errors import SchemaError
from planner.solver.engine import Deadline
from planner.state import TIMESTAMP, parse_time
from planner.state.kep83 import Kep83

AssignmentInput = Assignment | Mapping[str, Any]
RulesInput = Kep83 | str
"""Rules to plan by: options of KEP-83's, or text that holds them; or ``strict``, Kueue's own with
documented precedence."""
Flavors = Literal["kueue", "optimal"]
"""Whose choice of flavors: the scheduler's own, or the best for the objective."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a user says of a plan besides its objective: all of it may be left out.

    ``pending`` is who wants in, ``assignment`` the flavors to use (Kueue), ``now`` the clock,
    ``laws`` the side to take where the written laws and the code differ (YuniKorn), ``rules``
    other rules than its own (Kueue), ``certify`` whether to wait for proof trees.
    """

    pending: str | None = None
    assignment: AssignmentInput | None = None
    now: datetime | str | None = None
    laws: str | None = None
    rules: RulesInput | None = None
    certify: bool | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What else is to be found out, where a scheduler's victims queue again or flavors are chosen.

    ``stability`` asks whether victims would preempt again (where that is cheap, if ``None``),
    ``stable`` for a plan after which none would.
    """

    flavors: Flavors = "kueue"
    stability: bool | None = None
    stable: bool = False


def deadline_after(time_limit: float | None) -> Deadline:
    """Return the deadline of a time limit in seconds; none without one.

    Raises
    ------
    SchemaError
        If it is negative or no number.
    """
    if time_limit is not None and not time_limit >= 0:
        raise SchemaError("time_limit", f"{time_limit} cannot be used", "seconds, 0 or more")
    return Deadline.after(time_limit)


def clock_of(now: datetime | str | None) -> datetime | None:
    """Return the clock that is given as a time or as text.

    Raises
    ------
    SchemaError
        If the text is no RFC 3339 timestamp, or the time names no zone.
    """
    if isinstance(now, str):
        try:
            return parse_time(now)
        except ValueError:
            raise SchemaError("now", f"{now!r} is not a timestamp", TIMESTAMP) from None
    if now is not None and now.tzinfo is None:
        raise SchemaError("now", f"{now} names no time zone", "a datetime with tzinfo")
    return now
