"""The same work on a Dask cluster that is there already.

Every thread of every worker has a process of its own that does the work (see pool.py), so that
limits hold there as they do here, and what kills the process spares the worker. Whoever may use
the scheduler may run anything on the workers, and what they answer is unpickled here: connect to
trusted clusters only.
"""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import wait
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Final, Self

from planner.batch.attempt import Attempt
from planner.batch.connection import (
    LOOK_S,
    Client,
    Future,
    LostError,
    check_address,
    check_workers,
    connected,
    threads,
)
from planner.batch.patience import Patience
from planner.batch.pool import Pool
from planner.batch.task import Limits, Task
from planner.errors import InputError

AHEAD: Final = 4
"""Tasks given to the cluster for each thread of its workers."""

_REVIEW_S: Final = 5.0
"""Seconds after which workers that came or went are noticed, while rows come in."""

_here = threading.local()


def on_cluster(
    tasks: Iterable[Task], work: bytes, limits: Limits, patience: Patience
) -> Iterator[tuple[str, Attempt]]:
    """Yield the key and the outcome of every task, as they come.

    A task whose worker is gone is done by another one, which is Dask's own doing. Dask gives up
    tasks that were on several workers that died, guilty or not; in the end, each of them is
    tried once more by itself, and only what kills workers then is ``killed``. What a worker has
    begun when the run is stopped, it finishes in vain. A scheduler that is gone is waited for,
    and so are workers where there is none left; one that comes back is given again what it had.

    Raises
    ------
    InputError
        If Dask is not installed, the address is not one, something else is there, or a worker
        has another planner than this one.
    UnsupportedError
        If memory is limited and a worker's system does not show it.
    NobodyWorksError
        If there is no scheduler, or no worker, for as long as the run may wait.
    """
    check_address(patience.address)
    with _Call(work, limits, patience) as call:
        suspects: list[Task] = []
        for task, found in call.all(tasks):
            if found is None:
                suspects.append(task)
            else:
                yield task.key, found
        for suspect in suspects:
            [(_, found)] = call.all([suspect])
            yield suspect.key, found or Attempt("killed", "every Dask worker that had it died")


class _Call:
    """The work on a cluster, over as many connections as it takes."""

    def __init__(self, work: bytes, limits: Limits, patience: Patience) -> None:
        self._work = work
        self._limits = limits
        self._patience = patience
        self._window = 1
        self._reviewed = 0.0
        self._open = ExitStack()
        self._connection: Client | None = None
        self._given: dict[Future, Task] = {}
        self._again: list[Task] = []
        self._ended: SimpleQueue[Future] = SimpleQueue()

    def __enter__(self) -> Self:
        """Connect when there is something to do."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the cluster alone."""
        self._open.close()

    def all(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Attempt | None]]:
        """Yield every task with its outcome; ``None`` if Dask gave it up."""
        ahead = iter(tasks)
        while True:
            try:
                self._give(ahead)
                if not self._given:
                    return
                ended = self._next()
                answers = self._answers(ended)
            except LostError:
                self._lose()
                continue
            self._patience.progress()
            for future, found in zip(ended, answers, strict=True):
                yield self._given.pop(future), found

    @property
    def _client(self) -> Client:
        if self._connection is None:
            self._connection = self._open.enter_context(connected(self._limits, self._patience))
        return self._connection

    def _lose(self) -> None:
        """Take back what was given over a connection that is no more."""
        self._again += self._given.values()
        self._given = {}
        self._ended = SimpleQueue()
        self._connection = None
        self._reviewed = 0.0
        self._open.close()

    def _give(self, ahead: Iterator[Task]) -> None:
        """Let the cluster have as many tasks as it should."""
        wanted = self._wanted()
        from distributed.client import ClosedClientError  # noqa: PLC0415 - an extra

        while len(self._given) < wanted:
            task = self._again.pop() if self._again else next(ahead, None)
            if task is None:
                return
            try:
                future = self._submit(task)
            except ClosedClientError:  # Dask has given up to connect again
                self._again.append(task)
                raise self._lost() from None
            self._given[future] = task
            future.add_done_callback(self._ended.put)

    def _wanted(self) -> int:
        """Return how many tasks the cluster should have, the workers being what they are now."""
        if self._connection is None or time.monotonic() > self._reviewed + _REVIEW_S:
            self._look()
        return self._window

    def _look(self) -> None:
        """See who is there; nobody costs patience, and those who come back are checked."""
        found = threads(self._client, self._patience)
        if found and self._patience.waiting:
            check_workers(self._client, self._limits, self._patience)
        self._window = max(1, AHEAD * found)
        self._reviewed = time.monotonic()

    def _submit(self, task: Task) -> Future:
        with warnings.catch_warnings():
            # To lay large payloads out beforehand would save nothing: each is used once.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(
                attempt_here, self._work, self._limits, task.key, task.payload, pure=False
            )

    def _next(self) -> list[Future]:
        """Wait until tasks have ended, and return them all."""
        while True:
            try:
                ended = [self._ended.get(timeout=LOOK_S)]
                break
            except Empty:
                self._look()
        while not self._ended.empty():
            ended.append(self._ended.get())
        return ended

    def _answers(self, ended: Sequence[Future]) -> list[Attempt | None]:
        """Return what came of the tasks."""
        fetched = self._fetched(ended)
        for number, future in enumerate(ended):
            if fetched[number] is None:
                self._check_given_up(future)
        return [fetched[number] for number in range(len(ended))]

    def _fetched(self, ended: Sequence[Future]) -> dict[int, Attempt | None]:
        """Fetch what came of the tasks, all in one go.

        If a worker has died with what it had found out, another one does it again first, for
        which there must be one.
        """
        from distributed import CancelledError  # noqa: PLC0415 - an extra

        fetching = asyncio.run_coroutine_threadsafe(
            self._client.gather(dict(enumerate(ended)), errors="skip", asynchronous=True),
            self._client.loop.asyncio_loop,
        )
        try:
            while not wait([fetching], LOOK_S).done:
                self._look()
            found: dict[int, Attempt | None] = fetching.result()
        except (OSError, Dropped, CancelledError):
            raise self._lost() from None
        finally:
            fetching.cancel()
        return found

    def _check_given_up(self, future: Future) -> None:
        """Accept that Dask gave up a task, for the one good reason."""
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415 - an extra

        if future.cancelled():
            raise self._lost()
        try:
            error = future.exception()
        except (OSError, CancelledError):
            raise self._lost() from None
        if not isinstance(error, KilledWorker):
            raise InputError(
                f"--cluster {self._patience.address}",
                f"a worker cannot do the work: {type(error).__name__}: {error}",
            )

    def _lost(self) -> LostError:
        self._patience.absent("the connection to the Dask scheduler is lost")
        return LostError()


def attempt_here(work: bytes, limits: Limits, key: str, payload: object) -> Attempt:
    """Work on a task in the process that belongs to this thread of a Dask worker."""
    if getattr(_here, "given", None) != (work, limits):
        if hasattr(_here, "pool"):
            _here.pool.close()
        _here.pool, _here.given = Pool(work, 1, limits), (work, limits)
    pool: Pool = _here.pool
    [(_, found)] = pool.run([Task(key, payload)])
    return found
