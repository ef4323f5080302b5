"""Several processes on this machine, watched for time, memory and death."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Final, Self

from planner.batch.attempt import Attempt
from planner.batch.child import Child, can_measure_memory
from planner.batch.task import Limits, Task
from planner.errors import InternalError, UnsupportedError

TRIES: Final = 3
"""Processes that a task may take with it before it counts as their killer."""

TICK_S: Final = 0.05
"""Seconds between two looks at limits."""


class Pool:
    """At most ``jobs`` processes, each started when first needed, with a task each.

    A process that dies takes one task with it, and everybody knows which: it is tried again in
    a new process. ``work`` is pickled. Use it as a context manager: at its end the
    processes are gone.

    Raises
    ------
    UnsupportedError
        If memory is limited on a system that does not show it.
    """

    def __init__(self, work: bytes, jobs: int, limits: Limits) -> None:
        if limits.memory_bytes is not None and not can_measure_memory():
            raise UnsupportedError(
                "memory limit", "this system does not show the memory of a process", "Linux"
            )
        self._limits = limits
        self._next_look = 0.0
        self._slots = [_Slot(work, limits) for _ in range(jobs)]

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes, whatever they are doing."""
        self.stop()

    def stop(self) -> None:
        """End the processes, whatever they are doing."""
        for slot in self._slots:
            slot.stop()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[str, Attempt]]:
        """Yield the key and the outcome of every task, as they come.

        A task is read when a process is free for it, and forgotten once it is done.

        Raises
        ------
        InternalError
            If a process cannot start or load the work.
        """
        ahead = iter(tasks)
        idle = list(self._slots)
        busy: dict[Connection, _Slot] = {}
        while True:
            while idle and (task := next(ahead, None)) is not None:
                slot = idle.pop()
                busy[slot.take(task)] = slot
            if not busy:
                return
            for connection, found in self._look(busy):
                slot = busy.pop(connection)
                if found is None:
                    busy[slot.connection] = slot
                else:
                    idle.append(slot)
                    yield slot.key, found

    def _look(self, busy: Mapping[Connection, _Slot]) -> list[tuple[Connection, Attempt | None]]:
        """Wait until something happens, and say what: an outcome, or none yet."""
        heard = wait(list(busy), TICK_S if self._limits.given else None)
        news = [(connection, busy[connection].hear()) for connection in busy if connection in heard]
        if self._limits.given and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + TICK_S
            news += [(c, slot.over_limit()) for c, slot in busy.items() if c not in heard]
        return news


class _Slot:
    """A place for one process and the task that it works on."""

    def __init__(self, work: bytes, limits: Limits) -> None:
        self._work = work
        self._limits = limits
        self._child: Child | None = None
        self._task: Task | None = None
        self._deaths = 0
        self._since: float | None = None
        """When the process got the task; ``None`` while it starts."""

    @property
    def connection(self) -> Connection:
        """Where the process will be heard from."""
        return self._working.connection

    @property
    def key(self) -> str:
        """The key of the task."""
        return self._at_work.key

    @property
    def _working(self) -> Child:
        if self._child is None:
            raise InternalError("a slot without a process was asked for it")
        return self._child

    @property
    def _at_work(self) -> Task:
        if self._task is None:
            raise InternalError("a slot without a task was asked for it")
        return self._task

    def take(self, task: Task) -> Connection:
        """Begin with a task, in a new process if there is none."""
        self._task, self._deaths = task, 0
        if self._child is not None and not self._child.alive:
            self.stop()  # it left, having had nothing to do
        return self._begin()

    def hear(self) -> Attempt | None:
        """Take what the process said; return the outcome if that is decided."""
        try:
            found = self._working.receive()
        except (EOFError, OSError):
            return self._died()
        if found is None:
            self._begin()
        return found

    def over_limit(self) -> Attempt | None:
        """Return the outcome if the task has gone over a limit, having ended its process.

        A process keeps memory from earlier tasks: only in a new one is it the task's own.
        """
        seconds, memory = self._limits.seconds, self._limits.memory_bytes
        if self._since is None:
            return None
        if seconds is not None and time.monotonic() - self._since > seconds:
            self.stop()
            return Attempt("timeout", f"not done within {seconds:g} s")
        if memory is not None and self._working.resident_bytes() > memory:
            fresh = self._working.fresh
            self.stop()
            if fresh:
                return Attempt("out-of-memory", f"took more than {memory:,} bytes")
            self._begin()
        return None

    def stop(self) -> str:
        """End the process, if there is one, and say what ended it."""
        ended = "" if self._child is None else self._child.end()
        self._child = self._since = None
        return ended

    def _begin(self) -> Connection:
        """Hand the task over as soon as the process is ready for it."""
        self._since = None
        if self._child is None:
            self._child = Child(self._work)
        elif self._child.ready:
            with contextlib.suppress(OSError):  # it has just died: hear() finds out
                self._child.send(self._at_work.payload)
            self._since = time.monotonic()
        return self._child.connection

    def _died(self) -> Attempt | None:
        was_ready = self._working.ready
        ended = self.stop()
        self._deaths += 1
        if self._deaths < TRIES:
            self._begin()
            return None
        if not was_ready:
            raise InternalError(f"worker processes end before they can work: {ended}")
        return Attempt("killed", f"{TRIES} processes died of it, the last one of {ended}")
