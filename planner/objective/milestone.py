"""What an eviction costs by how long the workload has run, as KEP-83 proposed it.

The cost is given at some run times, such as ``1m:100,10m:0``, the example of KEP-83. Between two
points it is on the straight line that joins them, after the last it stays as it is there. It
begins at 0, as the drawing of the KEP does, unless there is a point at ``0s``. Values on a line are
rounded up, so that everything stays an integer.

Source: docs/design/objectives.md §2 and §3 (D6); KEP-83, Alternatives, "Inform how costly is to
interrupt a Workload".
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from planner.state.clock import SECOND, parse_duration

HIGHEST_COST: Final = 10**9
EXPECTED: Final = (
    "points TIME:COST, later ones last, costs whole numbers up to 1000000000, "
    'such as "1m:100,10m:0"; without one at 0s the cost begins at 0'
)

Milestones = tuple[tuple[int, int], ...]
"""Points of whole seconds of run time, strictly ascending from 0, and the cost there."""

_COST = re.compile(r"[0-9]{1,10}")


def parse_milestones(text: str) -> Milestones:
    """Read milestones; where there is no point at 0 s, the cost there is 0.

    Raises
    ------
    ValueError
        If the text cannot be used.
    """
    points = tuple(_parse_point(point) for point in text.split(","))
    times = [time for time, _ in points]
    if any(later <= time for time, later in pairwise(times)):
        raise ValueError(EXPECTED)
    return points if times[0] == 0 else ((0, 0), *points)


def milestone_cost(points: Milestones, running_s: int) -> int:
    """Return the cost after some seconds of run time, 0 or more."""
    for (start, cost), (end, next_cost) in pairwise(points):
        if running_s < end:
            # Subtracting what is rounded down rounds the result up, whether the line rises or
            # falls.
            return cost - (cost - next_cost) * (running_s - start) // (end - start)
    return points[-1][1]


def parse_seconds(text: str) -> int:
    """Read a duration as Go writes it, such as ``1h30m``, in whole seconds.

    Raises
    ------
    ValueError
        If it is none, or negative, or has a fraction of a second.
    """
    nanoseconds = parse_duration(text)
    if nanoseconds is None or nanoseconds < 0 or nanoseconds % SECOND:
        message = 'a duration in whole seconds, such as "90s", "30m" or "1h30m"'
        raise ValueError(message)
    return nanoseconds // SECOND


def _parse_point(text: str) -> tuple[int, int]:
    time, colon, cost = text.strip().partition(":")
    if not colon or not _COST.fullmatch(cost) or int(cost) > HIGHEST_COST:
        raise ValueError(EXPECTED)
    return parse_seconds(time), int(cost)
