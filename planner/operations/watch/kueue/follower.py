"""A cluster followed as it goes on: its changes taken, and all read anew where that is due."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from planner.errors import InputError, one_line
from planner.operations.kubectl.call import Answer
from planner.operations.kubectl.kueue_dump import Dump
from planner.operations.kubectl.kueue_resource import (
    COHORTS,
    hint_of,
    is_forbidden,
    is_missing,
    watching_role,
)
from planner.operations.kubectl.watch import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    Source,
    WatchEvent,
    reason,
)
from planner.operations.watch.kueue.keep import Keeper
from planner.operations.watch.record import Note

Kept = TypeVar("Kept", bound=Keeper)
TIDY_S: Final = 30.0
"""Seconds between two times that memory is tidied: plans refer to themselves in circles, and this
process is set up to look for circles hardly ever, as suits a command that ends soon."""


class Pace(Struct, frozen=True):
    """How often one looks and reads, and by which clocks.

    ``interval_s`` is the time between two looks, and the least between two times that everything is
    read, ``resync_s`` the most; ``seconds`` is a clock that never jumps, ``used`` the processor
    time of this process.
    """

    interval_s: float = 5.0
    resync_s: float = 600.0
    seconds: Callable[[], float] = time.monotonic
    used: Callable[[], float] = time.process_time


class Watched(Struct, frozen=True):
    """A cluster: its changes, how all of it is read, and with which release and requests."""

    source: Source
    take: Callable[[], Dump]
    how: Mapping[str, Any]


class Follower(Generic[Kept]):
    """Whatever goes on for as long as a cluster does; what it does with what it knows is its own.

    What it knows is of the class ``kept``; ``tell`` is called with each line. What goes wrong once
    everything was read is a note, and reading is tried again and again.
    """

    def __init__(
        self, cluster: Watched, kept: type[Kept], tell: Callable[[Any], None], pace: Pace
    ) -> None:
        self._source, self._tell = cluster.source, tell
        self._cluster, self._kind = cluster, kept
        self._pace, self._seconds = pace, pace.seconds
        self._kept: Kept | None = None
        self._begun: set[str] = set()
        self._ended: set[str] = set()
        self._told: set[str] = set()
        # A gap: changes were missed. Else what is kept may be wrong, and no change is missed.
        self._is_gap = self._is_wanted = True
        self._read_at = self._retry_at = 0.0
        self._wait_s = FIRST_WAIT_S

    def _came(self, before: Kept | None, kept: Kept) -> None:
        """Go on with what was just read, in the place of what was kept before."""
        raise NotImplementedError

    def _look(self, kept: Kept) -> None:
        """Do what there is to be done by now."""
        raise NotImplementedError

    @property
    def _idle_s(self) -> float:
        """How long to wait for changes, before it looks again."""
        return self._pace.interval_s

    def run(self, for_s: float | None = None, until: Callable[[], bool] = lambda: False) -> None:
        """Follow for so many seconds, or until somebody says so, or the process is interrupted.

        Raises ``InputError`` if the cluster cannot be read at the start.
        """
        seconds = self._seconds
        end, tidy = inf if for_s is None else seconds() + for_s, seconds()
        try:
            while (self._kept is None or seconds() < end) and not until():
                wait_s = FIRST_WAIT_S
                if self._kept is not None:
                    wait_s = max(0.0, min(self._idle_s, end - seconds()))
                self._hear(wait_s)
                self._trying(self._read_if_due)
                if self._kept is not None:
                    self._look(self._kept)
                if seconds() >= tidy:
                    gc.collect()
                    tidy = seconds() + TIDY_S
        finally:
            self._source.close()

    def _hear(self, timeout_s: float) -> bool:
        """Wait for changes, at most so long, and take them; say whether there were any."""
        events = self._source.poll(timeout_s)
        for one in events:
            if one.kind == "BEGUN":
                self._begun.add(one.resource)
                self._is_gap = True
            elif one.kind == "LOST":
                self._lost(one.resource, one.answer or Answer(0, b"", ""))
            elif self._kept is not None and not self._is_gap:
                # Before everything is read no change is taken: what is read has it.
                self._trying(partial(self._take, self._kept, one))
        return bool(events)

    def _take(self, kept: Kept, event: WatchEvent) -> None:
        self._is_wanted |= kept.take(event)

    def _lost(self, resource: str, answer: Answer) -> None:
        """Note that a stream has ended, which starts again by itself, or raise why."""
        if resource == COHORTS and is_missing(answer):
            self._begun.add(resource)  # an older Kueue has no Cohorts that could change
            return
        self._begun.discard(resource)
        self._is_gap, begins = True, self._kept is None
        what, error = ended(resource, answer, begins=begins)
        again = resource in self._ended  # a server may close a stream once while all begins
        self._ended.add(resource)
        if begins and (answer.code or again):
            raise error
        if begins or answer.code or answer.stderr:  # else it ended as each does after a while
            self._trouble(str(error), what)

    def _read_if_due(self) -> None:
        """Read everything where that is due: at the start, after a break, or once in a while."""
        now, before = self._seconds(), self._kept
        old = now - self._read_at >= self._pace.resync_s
        due = self._is_gap or self._is_wanted or old
        if not due or now < self._retry_at or not self._begun.issuperset(self._source.resources):
            return
        self._retry_at = now + self._pace.interval_s
        kept = self._kind(self._cluster.take(), self._cluster.how, self._seconds)
        self._came(before, kept)
        self._kept, self._read_at, self._wait_s = kept, now, FIRST_WAIT_S
        is_news = self._is_gap or bool(self._told)
        self._told.clear()
        self._is_gap = self._is_wanted = False
        if is_news:
            self._note(f"read: {len(kept.state.workloads):,} workloads")

    def _trying(self, step: Callable[[], None]) -> bool:
        """Do a step; say whether it went well, and once all was read, read it anew if not."""
        try:
            step()
        except InputError as error:
            if self._kept is None:
                raise
            self._failed(f"cannot be read: {error}")
            return False
        return True

    def _failed(self, said: str) -> None:
        """Note what is wrong, and read everything anew in a while."""
        self._retry_at = self._seconds() + self._wait_s
        self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s)
        self._is_wanted = True
        self._trouble(said)

    def _trouble(self, text: str, what: str = "") -> None:
        """Note what is wrong, once until everything is read again: streams all say ``what``."""
        if (what or text) not in self._told:
            self._told.add(what or text)
            self._note(text)

    def _note(self, text: str) -> None:
        self._tell(Note(at=self._now, text=one_line(text), connected=not self._told))

    @property
    def _now(self) -> datetime:
        return datetime.now(UTC) if self._kept is None else self._kept.now


def ended(resource: str, answer: Answer, *, begins: bool) -> tuple[str, InputError]:
    """Return why a stream ended, in words that all streams share, and as an error.

    ``begins`` says that nothing was read yet: then the error has what helps.
    """
    where, why = f"kubectl get {resource} --watch", reason(answer)
    if is_forbidden(answer):
        hint = f"an administrator grants it: {watching_role()}"
        return "forbidden", InputError(where, f"is forbidden: {why}", "the right to watch", hint)
    if is_missing(answer):
        what = "Kueue is not installed in this cluster"
        return what, InputError(where, what, why)
    return why, InputError(where, f"ended: {why}", hint=hint_of(why) if begins else "")
