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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from platform import python_version_tuple
from typing import Final, Protocol, cast
from urllib.parse import urlsplit

from planner.batch.attempt import Attempt
from planner.batch.child import can_measure_memory
from planner.batch.pool import Pool
from planner.batch.task import Limits, Task
from planner.errors import InputError, UnsupportedError

CONNECT_S: Final = 10.0
"""Seconds until a scheduler that does not answer, or has no workers, is given up."""

AHEAD: Final = 4
"""Tasks given to the cluster for each thread of its workers."""

_REVIEW_S: Final = 5.0
"""Seconds after which workers that came or went are noticed."""

_CLOSE_S: Final = 5.0

_here = threading.local()


class _Future(Protocol):
    """What is used of distributed.Future."""

    def exception(self) -> BaseException | None: ...


class _Client(Protocol):
    """What is used of distributed.Client."""

    loop: object

    def submit(self, call: Callable[..., Attempt], *args: object, pure: bool) -> _Future: ...
    def gather(self, futures: dict[int, _Future], errors: str) -> dict[int, Attempt | None]: ...
    def nthreads(self) -> Mapping[str, int]: ...
    def wait_for_workers(self, count: int, timeout: float) -> None: ...
    def run(self, call: Callable[[], object], *, on_error: str) -> Mapping[str, object]: ...
    def close(self, timeout: float) -> None: ...


def on_cluster(
    tasks: Iterable[Task], work: bytes, address: str, limits: Limits
) -> Iterator[tuple[str, Attempt]]:
    """Yield the key and the outcome of every task, as they come.

    A task whose worker is gone is done by another one, which is Dask's own doing. Dask gives up
    tasks that were on several workers that died, guilty or not; in the end, each of them is
    tried once more by itself, and only what kills workers then is ``killed``. What a worker has
    begun when the run is stopped, it finishes in vain.

    Raises
    ------
    InputError
        If Dask is not installed, the address is not one, the scheduler does not answer within
        CONNECT_S seconds or is lost, there are no workers, or theirs is not this planner.
    UnsupportedError
        If memory is limited and a worker's system does not show it.
    """
    with _connected(address) as client:
        _check_workers(client, address, limits)
        call = _Call(client, address, work, limits)
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
    """The work on a cluster."""

    def __init__(self, client: _Client, address: str, work: bytes, limits: Limits) -> None:
        self._client = client
        self._address = address
        self._work = work
        self._limits = limits
        self._window = 1
        self._reviewed = 0.0

    def all(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Attempt | None]]:
        """Yield every task with its outcome; ``None`` if Dask gave it up."""
        from distributed import as_completed  # noqa: PLC0415 - an extra

        ahead = iter(tasks)
        given: dict[_Future, Task] = {}
        answers = as_completed(loop=self._client.loop)
        while True:
            for task in islice(ahead, max(0, self._wanted() - len(given))):
                future = self._submit(task)
                given[future] = task
                answers.add(future)
            if not given:
                return
            ended = answers.next_batch()
            for future, found in zip(ended, self._answers(ended), strict=True):
                yield given.pop(future), found

    def _wanted(self) -> int:
        """Return how many tasks the cluster should have, the workers being what they are now."""
        if time.monotonic() > self._reviewed + _REVIEW_S:
            self._window = max(1, AHEAD * sum(self._client.nthreads().values()))
            self._reviewed = time.monotonic()
        return self._window

    def _submit(self, task: Task) -> _Future:
        with warnings.catch_warnings():
            # To lay large payloads out beforehand would save nothing: each is used once.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(
                attempt_here, self._work, self._limits, task.key, task.payload, pure=False
            )

    def _answers(self, ended: Sequence[_Future]) -> Iterator[Attempt | None]:
        """Fetch what came of the tasks, all in one go."""
        from distributed import CancelledError  # noqa: PLC0415 - an extra

        try:
            fetched = self._client.gather(dict(enumerate(ended)), errors="skip")
            for number, future in enumerate(ended):
                found = fetched[number]
                if found is None:
                    self._check_given_up(future)
                yield found
        except (OSError, CancelledError):
            raise InputError(
                f"--cluster {self._address}",
                "the connection to the Dask scheduler is lost",
                hint="--resume goes on with the rest",
            ) from None

    def _check_given_up(self, future: _Future) -> None:
        """Accept that Dask gave up a task, for the one good reason."""
        from distributed import KilledWorker  # noqa: PLC0415 - an extra

        error = future.exception()
        if not isinstance(error, KilledWorker):
            raise InputError(
                f"--cluster {self._address}",
                f"a worker cannot do the work: {type(error).__name__}: {error}",
            )


def attempt_here(work: bytes, limits: Limits, key: str, payload: object) -> Attempt:
    """Work on a task in the process that belongs to this thread of a Dask worker."""
    if getattr(_here, "given", None) != (work, limits):
        if hasattr(_here, "pool"):
            _here.pool.stop()
        _here.pool, _here.given = Pool(work, 1, limits), (work, limits)
    pool: Pool = _here.pool
    [(_, found)] = pool.run([Task(key, payload)])
    return found


def facts_here() -> tuple[dict[str, str], bool]:
    """Return the versions that decide the rows, and whether memory can be limited here."""
    packages = ("preemption-planner", "ortools", "distributed")
    python = ".".join(python_version_tuple()[:2])
    versions = {"Python": python, **{package: version(package) for package in packages}}
    return versions, can_measure_memory()


@contextmanager
def _connected(address: str) -> Iterator[_Client]:
    _check_address(address)
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
        from distributed.versions import VersionMismatchWarning  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        raise InputError(
            f"--cluster {address}",
            f"{error.name} is not installed",
            hint="pip install 'preemption-planner[cluster]'",
        ) from None
    try:
        asyncio.run(_knock(address))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # told in our own words
            client = cast("_Client", Client(address, timeout=CONNECT_S, set_as_default=False))
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # the last three: TLS
        root: BaseException = error
        while root.__cause__ is not None:
            root = root.__cause__
        reason = " ".join(str(root).split())
        raise _no_scheduler(address, reason or f"nothing within {CONNECT_S:g} s") from None
    except MemoryError:  # Dask takes the first bytes for the length of the greeting
        raise _no_scheduler(address, "something else is there") from None
    try:
        yield client
    finally:
        client.close(timeout=_CLOSE_S)


def _no_scheduler(address: str, reason: str) -> InputError:
    return InputError(
        f"--cluster {address}",
        f"no Dask scheduler answers: {reason}",
        "the address that `dask scheduler` prints",
    )


async def _knock(address: str) -> None:
    """Greet the scheduler, because a client that cannot start does not end quietly."""
    from distributed import Security  # noqa: PLC0415 - an extra
    from distributed.comm.core import connect  # noqa: PLC0415 - likewise

    security = Security().get_connection_args("client")
    async with asyncio.timeout(CONNECT_S + 1):
        connection = await connect(address, timeout=CONNECT_S, **security)
        await connection.close()


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"tcp", "tls"} and parts.hostname and parts.port
    except ValueError:  # the port is not a number
        usable = False
    if not usable:
        raise InputError(
            f"--cluster {address}", "is not an address", "tcp://HOST:PORT or tls://HOST:PORT"
        )


def _check_workers(client: _Client, address: str, limits: Limits) -> None:
    where = f"--cluster {address}"
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError:
        raise InputError(where, "has no workers", hint=f"dask worker {address}") from None
    ours, _ = facts_here()
    for worker, answer in client.run(facts_here, on_error="return").items():
        if not isinstance(answer, tuple):
            raise InputError(
                where,
                f"worker {worker} cannot load the planner: {type(answer).__name__}: {answer}",
                hint="install preemption-planner[cluster] on every worker",
            )
        theirs, measures = answer
        for name, here in ours.items():
            if theirs[name] != here:
                raise InputError(
                    where, f"worker {worker} has {name} {theirs[name]}", f"{here}, as here"
                )
        if limits.memory_bytes is not None and not measures:
            raise UnsupportedError(
                where, f"worker {worker} does not show the memory of a process", "Linux"
            )
