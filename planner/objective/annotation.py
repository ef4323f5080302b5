"""What administrators tell the planner about a workload, by annotation.

All annotations share one prefix, ``preemption-planner.io/``:

``tier``
    ``last``: evict only when nothing else helps; ``normal`` is the default.
``last-checkpoint``
    RFC 3339 time of the newest checkpoint; without it all progress since the start is lost, or
    what an objective with ``unpublished = "median"`` takes to be lost.
``checkpoint-seconds``
    How long a checkpoint on SIGTERM takes; when the pod's grace period is long enough, an
    eviction loses no progress. With ``saving = "counts"`` in an objective it loses the time of
    saving, or the progress that would be lost without saving if that is less.
``restart-seconds``
    How long the workload needs until it is as far as before, 60 by default.
``milestones``
    What an eviction costs by run time, such as ``1h:50,4h:10``: 0 at the start unless there is a
    point ``0s:COST``, then on straight lines. Nothing by default.
``min-runtime-seconds``
    How long the workload should run before it is evicted, 0 by default. The term ``cut_short``
    counts the seconds that are missing; an objective whose ``[protect]`` says
    ``annotated = true`` forbids the eviction.
``run-seconds``
    How long the workload runs until it ends; only simulations use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar, overload

import numpy as np

from planner.errors import SchemaError
from planner.problem.array import IntArray
from planner.state import ANNOTATIONS, Remarks, parse_time
from planner.state.clock import SECOND, parse_duration, seconds_since

PREFIX: Final = ANNOTATIONS
DEFAULT_RESTART_S: Final = 60
T = TypeVar("T")

# Nine digits are 31 years, and stay exact when they are multiplied by sizes.
_SECONDS = re.compile(r"[0-9]{1,9}")


class Disruption(NamedTuple):
    """What evicting one workload loses, in whole seconds of its run.

    ``milestone_cost`` is in the units of the milestones given, ``preemptions`` how often the
    workload was preempted before, ``min_runtime_s`` how long it asks to run before an eviction.
    ``lost_s`` is lost progress; ``saving_s`` is the time that saving takes once the workload is
    told to stop. ``checkpoint_s`` is the age of its published checkpoint, at most that of its
    run; ``silent`` says that it neither publishes a checkpoint nor saves when told to stop.
    """

    last_tier: bool
    running_s: int
    lost_s: int
    restart_s: int
    milestone_cost: int = 0
    preemptions: int = 0
    min_runtime_s: int = 0
    saving_s: int = 0
    checkpoint_s: int | None = None
    silent: bool = True


class LookedUp(Sequence[T]):
    """A value of each of W workloads, looked up by position when it is needed."""

    def __init__(self, number: int, of: Callable[[int], T]) -> None:
        self._number: Final = number
        self._of: Final = of

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, position: int) -> T: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[T]: ...

    def __getitem__(self, position: int | slice) -> T | Sequence[T]:
        places = range(self._number)[position]  # it refuses a position behind the last
        return self._of(places) if isinstance(places, int) else [*map(self._of, places)]


class Disruptions(LookedUp[Disruption]):
    """What evicting each of W workloads loses.

    ``running_s`` is (W,) for how many seconds each workload runs; ``said`` has, by position, the
    losses of workloads of which more is known than that.
    """

    def __init__(self, running_s: IntArray, said: Mapping[int, Disruption]) -> None:
        def read(place: int) -> Disruption:
            return said[place] if place in said else plain_disruption(int(running_s[place]))

        super().__init__(len(running_s), read)
        self.running_s: Final = running_s
        self.said: Final = said

    @classmethod
    def one_by_one(cls, each: Sequence[Disruption]) -> Disruptions:
        """Return the losses of workloads that are given one by one."""
        running_s = np.array([one.running_s for one in each], dtype=np.int64)
        return cls(running_s, dict(enumerate(each)))


def plain_disruption(running_s: int) -> Disruption:
    """Return what evicting a workload without remarks loses, by the seconds it has run."""
    return Disruption(False, running_s, running_s, DEFAULT_RESTART_S)  # noqa: FBT003


def read_disruption(remarks: Remarks | None, now: datetime, running_s: int) -> Disruption:
    """Return what evicting a workload now would lose, by its remarks and the seconds it has run.

    Raises ``SchemaError`` if an annotation under the prefix has an unusable value.
    """
    if remarks is None:
        return plain_disruption(running_s)
    # Past preemptions stand in the status, and so count without any annotation.
    if not remarks.annotations:
        return plain_disruption(running_s)._replace(preemptions=remarks.preemptions)
    # A checkpoint is at most as old as the run.
    age = _read(remarks, "last-checkpoint", lambda text: seconds_since(parse_time(text), now))
    checkpoint_s = None if age is None else min(running_s, age)
    lost_s = running_s if checkpoint_s is None else checkpoint_s
    on_signal_s = _read(remarks, "checkpoint-seconds", _seconds)
    saves = on_signal_s is not None and on_signal_s <= remarks.grace_s
    restart_s = _read(remarks, "restart-seconds", _seconds)
    tier = remarks.annotations.get(PREFIX + "tier", "normal")
    if tier not in {"normal", "last"}:
        raise _unusable(remarks, "tier", tier, 'should be "normal" or "last"')
    cost = _read(
        remarks, "milestones", lambda text: milestone_cost(parse_milestones(text), running_s)
    )
    return Disruption(  # by position: keywords would take as long as all the rest
        tier == "last",
        running_s,
        0 if saves else lost_s,
        DEFAULT_RESTART_S if restart_s is None else restart_s,
        cost or 0,
        remarks.preemptions,
        _read(remarks, "min-runtime-seconds", _seconds) or 0,
        # Saving takes no longer than the progress lost without it: right after a checkpoint there
        # is little to save.
        min(on_signal_s or 0, lost_s) if saves else 0,
        checkpoint_s,
        checkpoint_s is None and not saves,
    )


def run_seconds(remarks: Remarks | None) -> int | None:
    """Return the ``run-seconds`` of a workload, at least 1; ``None`` without the annotation.

    Raises ``SchemaError`` if the annotation has an unusable value.
    """
    said = None if remarks is None else _read(remarks, "run-seconds", _seconds)
    return None if said is None else max(1, said)


def _read(remarks: Remarks, name: str, parse: Callable[[str], int]) -> int | None:
    """Return the value of an annotation, named without its prefix; ``None`` if it is not there."""
    text = remarks.annotations.get(PREFIX + name)
    if text is None:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise _unusable(remarks, name, text, str(error)) from None


def _seconds(text: str) -> int:
    if not _SECONDS.fullmatch(text):
        raise ValueError("should be a whole number of seconds")
    return int(text)


def _unusable(remarks: Remarks, name: str, value: str, expected: str) -> SchemaError:
    where = f'Workload {remarks.key}: metadata.annotations["{PREFIX}{name}"]'
    return SchemaError(where, f'"{value}" cannot be used', expected)


HIGHEST_COST: Final = 10**9
EXPECTED: Final = (
    "points TIME:COST, later ones last, costs whole numbers up to 1000000000, "
    'such as "1m:100,10m:0"; without one at 0s the cost begins at 0'
)

Milestones = tuple[tuple[int, int], ...]
"""Points of run time in whole seconds, strictly ascending from 0, each with the cost there.

They were proposed for Kueue, with ``1m:100,10m:0`` as the example. Between two points the cost is
on the straight line that joins them, after the last point it stays the same. It begins at 0, as in
the drawing there, unless there is a point at ``0s``. Values on a line are rounded up, so that
everything stays an integer.

Source: docs/design/objectives.md §2 and §3 (D6).
"""

_COST = re.compile(r"[0-9]{1,10}")


def parse_milestones(text: str) -> Milestones:
    """Read milestones, at 0 s of cost 0 by default; raise ``ValueError`` on any other text."""
    points: list[tuple[int, int]] = []
    for point in text.split(","):
        time, colon, cost = point.strip().partition(":")
        if not colon or not _COST.fullmatch(cost) or int(cost) > HIGHEST_COST:
            raise ValueError(EXPECTED)
        points.append((parse_seconds(time), int(cost)))
    if any(later <= time for (time, _), (later, _) in pairwise(points)):
        raise ValueError(EXPECTED)
    return (*points,) if points[0][0] == 0 else ((0, 0), *points)


def milestone_cost(points: Milestones, running_s: int) -> int:
    """Return the cost after so many seconds of run time, 0 or more."""
    for (start, cost), (end, next_cost) in pairwise(points):
        if running_s < end:
            # Subtracting what is rounded down rounds the result up, whether the line rises or
            # falls.
            return cost - (cost - next_cost) * (running_s - start) // (end - start)
    return points[-1][1]


def parse_seconds(text: str) -> int:
    """Read a duration as Go writes it, such as ``1h30m``, in whole seconds.

    Raises ``ValueError`` if it is none, or negative, or has a fraction of a second.
    """
    nanoseconds = parse_duration(text)
    if nanoseconds is None or nanoseconds < 0 or nanoseconds % SECOND:
        raise ValueError('a duration in whole seconds, such as "90s", "30m" or "1h30m"')
    return nanoseconds // SECOND
