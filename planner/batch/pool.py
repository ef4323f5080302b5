"""Several processes on this machine, watched for time, memory and death."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Final

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
    a new process. ``work`` is pickled. Close it: then the processes are gone.

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
        self._work = work
        self._jobs = jobs
        self._limits = limits
        self._next_look = 0.0
        self._slots: list[_Slot] = []

    def close(self) -> None:
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
        busy: list[_Slot] = []
        while True:
            while len(busy) < self._jobs and (task := next(ahead, None)) is not None:
                if idle:
                    slot = idle.pop()
                    slot.take(task)
                else:
                    slot = _Slot(self._work, self._limits, task)
                    self._slots.append(slot)
                busy.append(slot)
            if not busy:
                return
            for slot, found in self._look(busy):
                if found is not None:
                    busy.remove(slot)
                    idle.append(slot)
                    yield slot.key, found

    def _look(self, busy: Sequence[_Slot]) -> list[tuple[_Slot, Attempt | None]]:
        """Wait until something happens, and say what: an outcome, or none yet."""
        heard = set(wait([s.connection for s in busy], TICK_S if self._limits.given else None))
        silent = [slot for slot in busy if slot.connection not in heard]
        news = [(slot, slot.hear()) for slot in busy if slot.connection in heard]
        if self._limits.given and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + TICK_S
            news += [(slot, slot.over_limit()) for slot in silent]
        return news


class _Slot:
    """A place for one process and the task that it works on."""

    def __init__(self, work: bytes, limits: Limits, task: Task) -> None:
        self._work = work
        self._limits = limits
        self._task = task
        self._deaths = 0
        self._since: float | None = None
        """When the process got the task; ``None`` while it starts."""
        self._child = Child(work)

    @property
    def connection(self) -> Connection:
        """Where the process will be heard from."""
        return self._child.connection

    @property
    def key(self) -> str:
        """The key of the task."""
        return self._task.key

    def take(self, task: Task) -> None:
        """Begin with another task."""
        self._task, self._deaths = task, 0
        if self._child.alive:
            self._begin()
        else:  # it was ended, or left, having had nothing to do
            self._renew()

    def hear(self) -> Attempt | None:
        """Take what the process said; return the outcome if that is decided."""
        try:
            found = self._child.receive()
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
        if memory is not None and self._child.resident_bytes() > memory:
            if self._child.fresh:
                self.stop()
                return Attempt("out-of-memory", f"took more than {memory:,} bytes")
            self._renew()
        return None

    def stop(self) -> str:
        """End the process, and say what ended it."""
        return self._child.end()

    def _begin(self) -> None:
        """Hand the task over to a process that is ready for it."""
        self._since = time.monotonic()
        with contextlib.suppress(OSError):  # it has just died: hear() finds out
            self._child.send(self._task.payload)

    def _renew(self) -> None:
        """Put a new process in the place of the one that there is."""
        self.stop()
        self._child, self._since = Child(self._work), None

    def _died(self) -> Attempt | None:
        ended = self.stop()
        self._deaths += 1
        if self._deaths < TRIES:
            self._renew()
            return None
        if not self._child.ready:
            raise InternalError(f"worker processes end before they can work: {ended}")
        return Attempt("killed", f"{TRIES} processes died of it, the last one of {ended}")
