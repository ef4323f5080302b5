"""The same work on a Dask cluster that runs already.

Every thread of every worker has a process of its own that does the work (see pool.py), so that
limits hold there as they do here, and work that kills the process spares the worker. Anyone who may
use the scheduler may run anything on the workers, and answers of workers are unpickled here:
connect to trusted clusters only.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from platform import python_version_tuple
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import urlsplit

from planner.batch.engine import NobodyWorksError, Workers
from planner.batch.pool import Attempt, Limits, Pool, Task, can_measure_memory
from planner.errors import InputError, UnsupportedError
from planner.stage import going_on

Notice = Callable[[str], None]


@dataclass
class Patience:
    """Adds up the time in which nobody could work since the last row, and ends the run in time.

    The sum is kept where the scheduler or a worker comes back and dies again: otherwise a run might
    see them come and go for ever. The run waits for ``seconds``, ``None`` for ever. ``notice`` is
    called, once between two rows, with a sentence that nobody works and how long the run waits.
    ``clock`` gives seconds that never go back.
    """

    address: str
    seconds: float | None
    notice: Notice | None = None
    clock: Callable[[], float] = time.monotonic
    _since: float | None = field(default=None, init=False)
    _spent: float = field(default=0.0, init=False)
    _noticed: bool = field(default=False, init=False)

    @property
    def where(self) -> str:
        """The option that names the cluster, as messages begin."""
        return f"--cluster {self.address}"

    @property
    def waiting(self) -> bool:
        """Whether there was no scheduler or no worker at the last look."""
        return self._since is not None

    def left(self, most: float) -> float:
        """Return the seconds that an attempt may take now: ``most``, or the rest of the wait."""
        if self._since is None or self.seconds is None:
            return most
        gone = self._spent + self.clock() - self._since
        return min(most, max(LOOK_S, self.seconds - gone))

    def absent(self, why: str) -> None:
        """Note that nobody can work now, and why.

        Raises ``NobodyWorksError`` if nobody could work for too long.
        """
        now = self.clock()
        self._spent += 0.0 if self._since is None else now - self._since
        self._since = now
        if self.seconds is not None and self._spent >= self.seconds:
            waited = f", and the {self.seconds:g} s of waiting are over" if self.seconds else ""
            raise NobodyWorksError(self.where, f"{why}{waited}")
        if not self._noticed and self.notice is not None:
            bound = "" if self.seconds is None else f", at most {self.seconds:g} s"
            self.notice(f"{self.where}: {why}; waiting{bound}")
        self._noticed = True

    def present(self) -> None:
        """Note that somebody can work."""
        if self._since is not None:
            self._spent += self.clock() - self._since
            self._since = None

    def progress(self) -> None:
        """Note that there is a new row: the waiting before it counts no longer."""
        self._since, self._spent, self._noticed = None, 0.0, False


CONNECT_S: Final = 10.0
"""Seconds in which a scheduler must answer; then it is asked again, or given up."""
LOOK_S: Final = 1.0
"""Seconds between two looks at a silent cluster."""
_ANSWER_S: Final = 10.0
"""Seconds in which a scheduler must say who its workers are."""
_CLOSE_S: Final = 5.0


Client = Any
Future = Any
"""Client and Future of the package distributed, an extra that need not be installed."""


class LostError(Exception):
    """The connection is lost; the tasks that were given over it must be given again."""


def _lost(patience: Patience, why: str = "the Dask scheduler does not answer") -> LostError:
    patience.absent(why)
    return LostError()


@contextmanager
def connected(limits: Limits, patience: Patience) -> Iterator[Client]:
    """Connect, and wait for workers that can do the work.

    Raises ``InputError`` if Dask is not installed, something else is at the address, or a worker
    has another planner than this one; ``UnsupportedError`` if memory is limited and a worker's
    system does not show it; ``NobodyWorksError`` if there is no scheduler, or no worker, for as
    long as the run may wait.
    """
    with _only_our_words(patience.where):
        client = _opened(patience)
        try:
            check_workers(client, limits, patience)
            yield client
        finally:
            # A connection that is broken, or a machine that is busy, may not close it in time.
            with suppress(OSError, RuntimeError):
                client.close(timeout=patience.left(_CLOSE_S))


def threads(client: Client, patience: Patience) -> int:
    """Return how many threads the workers have; 0 without workers, which costs patience.

    Raises ``LostError`` if there is no connection any more; ``NobodyWorksError`` if there has been
    nobody for too long.
    """
    if client.status != "running":  # the client connects anew, with a patience of its own
        raise _lost(patience)
    try:
        workers = client.nthreads(callback_timeout=patience.left(_ANSWER_S))
    except (OSError, RuntimeError):  # the second: the client has given up and closed itself
        raise _lost(patience) from None
    if not workers:
        patience.absent("no Dask worker is connected")
    return sum(workers.values())


def check_workers(client: Client, limits: Limits, patience: Patience) -> None:
    """Wait for workers, and check that they give the same rows as this machine would.

    Raises what `connected` says of workers, and what `threads` raises.
    """
    while True:
        if threads(client, patience):
            try:
                answers = client.run(facts_here, on_error="return")
            except (OSError, RuntimeError):
                raise _lost(patience) from None
            # A worker that died meanwhile does not count.
            there = {name: one for name, one in answers.items() if not isinstance(one, OSError)}
            for worker, answer in there.items():
                _check_worker(patience.where, worker, answer, limits)
            if there:
                patience.present()
                return
        time.sleep(LOOK_S)


def facts_here() -> tuple[dict[str, str], bool]:
    """Return the versions that decide the rows, and whether memory can be limited here."""
    packages = ("preemption-planner", "ortools", "distributed")
    python = ".".join(python_version_tuple()[:2])
    versions = {"Python": python, **{package: version(package) for package in packages}}
    return versions, can_measure_memory()


@contextmanager
def _only_our_words(where: str) -> Iterator[None]:
    """Keep Dask from writing tracebacks about connections: errors are told in our own words."""
    try:
        import distributed  # noqa: F401, PLC0415 - an extra; sets up its logging
    except ModuleNotFoundError as error:
        found = f"{error.name} is not installed"
        raise InputError(where, found, hint="pip install distributed") from None
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _opened(patience: Patience) -> Client:
    """Connect to the scheduler, however often it takes."""
    from distributed import Client as DaskClient  # noqa: PLC0415 - an extra
    from distributed.versions import VersionMismatchWarning  # noqa: PLC0415 - likewise

    where, address = patience.where, patience.address
    silent, expected = "no Dask scheduler answers", "the address that `dask scheduler` prints"
    while True:
        seconds = patience.left(CONNECT_S)
        try:
            asyncio.run(_knock(address, seconds))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", VersionMismatchWarning)  # told in our own words
                return DaskClient(address, timeout=seconds, set_as_default=False)
        except MemoryError:  # Dask takes the first bytes for the length of the greeting
            raise InputError(where, f"{silent}: something else is there", expected) from None
        except (RuntimeError, TypeError, ValueError) as error:  # TLS
            raise InputError(where, f"{silent}: {_reason(error, seconds)}", expected) from None
        except OSError as error:
            patience.absent(f"{silent}: {_reason(error, seconds)}")
        time.sleep(LOOK_S)


def _reason(error: BaseException, seconds: float) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or f"nothing within {seconds:g} s"


async def _knock(address: str, seconds: float) -> None:
    """Greet the scheduler, because a client that cannot start does not end quietly."""
    from distributed import Security  # noqa: PLC0415 - an extra
    from distributed.comm.core import connect  # noqa: PLC0415 - likewise

    security = Security().get_connection_args("client")
    async with asyncio.timeout(seconds + 1):
        connection = await connect(address, timeout=seconds, **security)
        await connection.close()


def _check_worker(where: str, worker: str, answer: object, limits: Limits) -> None:
    if not isinstance(answer, tuple):
        raise InputError(
            where,
            f"worker {worker} cannot load the planner: {type(answer).__name__}: {answer}",
            hint="install preemption-planner[operations] on every worker",
        )
    theirs, measures = answer
    for name, here in facts_here()[0].items():
        if theirs[name] != here:
            found = f"worker {worker} has {name} {theirs[name]}"
            raise InputError(where, found, f"{here}, as here")
    if limits.memory_bytes is not None and not measures:
        found = f"worker {worker} does not show the memory of a process"
        raise UnsupportedError(where, found, "Linux")


AHEAD: Final = 4
"""Tasks given to the cluster for each thread of its workers."""
_REVIEW_S: Final = 5.0
"""Seconds after which workers that came or went are noticed, while rows come in."""
_here = threading.local()


def workers(address: str, seconds: float | None, notice: Notice) -> Workers:
    """Return what does the work of a batch on a cluster, waiting with `Patience` for it."""

    def work_there(
        tasks: Iterator[Task], work: bytes, limits: Limits
    ) -> Iterator[tuple[str, Attempt]]:
        return on_cluster(tasks, work, limits, Patience(address, seconds, notice))

    return work_there


def on_cluster(
    tasks: Iterable[Task], work: bytes, limits: Limits, patience: Patience
) -> Iterator[tuple[str, Attempt]]:
    """Yield the key and the outcome of every task, as they come.

    A task whose worker is gone is done by another worker, which Dask sees to. Dask gives up tasks
    that were on several workers that died, guilty or not; in the end, each such task is tried once
    more by itself, and only a task that kills workers then is ``killed``. A task that a worker has
    begun when the run is stopped is finished in vain. The run waits for a scheduler that is gone,
    and for workers where none is left; a scheduler that comes back is given its tasks again.

    Raises ``InputError`` if the address is not one, and what `connected` raises.
    """
    usable = None
    with suppress(ValueError):  # the port is not a number
        parts = urlsplit(patience.address)
        usable = parts.scheme in {"tcp", "tls"} and parts.hostname and parts.port
    if not usable:
        expected = "tcp://HOST:PORT or tls://HOST:PORT"
        raise InputError(patience.where, "is not an address", expected)
    with closing(_Call(work, limits, patience)) as call:
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
        self._work, self._limits, self._patience = work, limits, patience
        self._open = ExitStack()
        self.close = self._open.close
        self._window = 1
        self._again: list[Task] = []
        self._forget()

    def _forget(self) -> None:
        """Forget the connection, and the tasks given over it."""
        self._connection: Client | None = None
        self._given: dict[Future, Task] = {}
        self._ended: SimpleQueue[Future] = SimpleQueue()
        self._reviewed = 0.0

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
                self._again += self._given.values()
                self._forget()
                self._open.close()
                continue
            self._patience.progress()
            for future, found in zip(ended, answers, strict=True):
                yield self._given.pop(future), found

    @property
    def _client(self) -> Client:
        if self._connection is None:
            self._connection = self._open.enter_context(connected(self._limits, self._patience))
        return self._connection

    def _give(self, ahead: Iterator[Task]) -> None:
        """Give the cluster tasks, as many as its threads call for."""
        if self._connection is None or time.monotonic() > self._reviewed + _REVIEW_S:
            self._look()
        from distributed.client import ClosedClientError  # noqa: PLC0415 - an extra

        while len(self._given) < self._window:
            task = self._again.pop() if self._again else next(ahead, None)
            if task is None:
                return
            try:
                with warnings.catch_warnings():
                    # To lay large payloads out beforehand would save nothing: each is used once.
                    warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
                    what = self._work, self._limits, task.key, task.payload
                    future = self._client.submit(attempt_here, *what, pure=False)
            except ClosedClientError:  # Dask has given up to connect again
                self._again.append(task)
                raise self._lost() from None
            self._given[future] = task
            # Called by a thread of Dask's: the queue is all that both sides touch.
            future.add_done_callback(self._ended.put)

    def _look(self) -> None:
        """Count the workers; having none costs patience, and workers that come back are checked."""
        found = threads(self._client, self._patience)
        if found and self._patience.waiting:
            check_workers(self._client, self._limits, self._patience)
        # One task even without workers, so that a worker that comes finds work.
        self._window = max(1, AHEAD * found)
        self._reviewed = time.monotonic()

    def _next(self) -> list[Future]:
        """Wait until tasks have ended, and return them all."""
        while True:
            try:
                ended = [self._ended.get(timeout=LOOK_S)]
                break
            except Empty:
                going_on()
                self._look()
        while not self._ended.empty():
            ended.append(self._ended.get())
        return ended

    def _answers(self, ended: Sequence[Future]) -> list[Attempt | None]:
        """Fetch the outcomes of the tasks, all in one go; ``None`` for a task that Dask gave up.

        If a worker has died with an outcome, another worker does the task again first, for which
        there must be a worker.
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
        for number, future in enumerate(ended):
            if found[number] is None:
                self._check_given_up(future)
        return [found[number] for number in range(len(ended))]

    def _check_given_up(self, future: Future) -> None:
        """Accept that Dask gave up a task only because its workers died; else raise."""
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415 - an extra

        if future.cancelled():
            raise self._lost()
        try:
            error = future.exception()
        except (OSError, CancelledError):
            raise self._lost() from None
        if not isinstance(error, KilledWorker):
            found = f"a worker cannot do the work: {type(error).__name__}: {error}"
            raise InputError(self._patience.where, found)

    def _lost(self) -> LostError:
        return _lost(self._patience, "the connection to the Dask scheduler is lost")


def attempt_here(work: bytes, limits: Limits, key: str, payload: object) -> Attempt:
    """Work on a task in the process that belongs to this thread of a Dask worker."""
    if getattr(_here, "given", None) != (work, limits):
        if hasattr(_here, "pool"):
            _here.pool.close()
        _here.pool, _here.given = Pool(work, 1, limits), (work, limits)
    pool: Pool = _here.pool
    [(_, found)] = pool.run_tasks([Task(key, payload)])
    return found
