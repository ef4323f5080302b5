"""A connection to a Dask cluster: a scheduler that answers, workers that can do the work."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from platform import python_version_tuple
from typing import Any, Final, Protocol, cast
from urllib.parse import urlsplit

from planner.batch.attempt import Attempt
from planner.batch.child import can_measure_memory
from planner.batch.patience import Patience
from planner.batch.task import Limits
from planner.errors import InputError, UnsupportedError

CONNECT_S: Final = 10.0
"""Seconds in which a scheduler must answer; then it is asked again, or given up."""

LOOK_S: Final = 1.0
"""Seconds between two looks at a cluster that nothing is heard of."""

_ANSWER_S: Final = 10.0
"""Seconds in which a scheduler must say who its workers are."""

_CLOSE_S: Final = 5.0


class LostError(Exception):
    """The connection is no more; what was given over it must be given again."""


class Future(Protocol):
    """What is used of distributed.Future."""

    def add_done_callback(self, call: Callable[[Future], object]) -> None:
        """Have something called once the task has ended, however it did."""
        ...

    def cancelled(self) -> bool:
        """Say whether nobody will do the task any more."""
        ...

    def exception(self) -> BaseException | None:
        """Return why there is no result."""
        ...


class Client(Protocol):
    """What is used of distributed.Client."""

    loop: Any

    def submit(self, call: Callable[..., Attempt], *args: object, pure: bool) -> Future:
        """Have a worker make a call."""
        ...

    def gather(self, futures: dict[int, Future], errors: str, *, asynchronous: bool) -> Any:  # noqa: ANN401
        """Fetch what came of calls."""
        ...

    def nthreads(self, *, callback_timeout: float) -> Mapping[str, int]:
        """Return the workers, each with its number of threads."""
        ...

    def run(self, call: Callable[[], object], *, on_error: str) -> Mapping[str, object]:
        """Make a call on every worker."""
        ...

    def close(self, timeout: float) -> None:
        """End the connection."""
        ...


@contextmanager
def connected(limits: Limits, patience: Patience) -> Iterator[Client]:
    """Connect, and wait for workers that can do the work.

    Raises
    ------
    InputError
        If Dask is not installed, something else is at the address, or a worker has another
        planner than this one.
    UnsupportedError
        If memory is limited and a worker's system does not show it.
    NobodyWorksError
        If there is no scheduler, or no worker, for as long as the run may wait.
    """
    with _only_our_words(patience.address):
        client = _opened(patience)
        try:
            check_workers(client, limits, patience)
            yield client
        finally:
            # A connection that is broken, or a machine that is busy, may not close it in time.
            with suppress(OSError, RuntimeError):
                client.close(timeout=_CLOSE_S)


def threads(client: Client, patience: Patience) -> int:
    """Return how many threads the workers have, 0 if there is none now, which costs patience.

    Raises
    ------
    LostError
        If there is no connection any more.
    NobodyWorksError
        If there has been nobody for too long.
    """
    try:
        workers = client.nthreads(callback_timeout=_ANSWER_S)
    except (OSError, RuntimeError):  # the second: the client has given up and closed itself
        patience.absent("the Dask scheduler does not answer")
        raise LostError from None
    if not workers:
        patience.absent("no Dask worker is connected")
    return sum(workers.values())


def check_workers(client: Client, limits: Limits, patience: Patience) -> None:
    """Wait for workers, and see that they give the rows that this machine would give.

    Raises
    ------
    InputError
        If a worker has another planner, or none.
    UnsupportedError
        If memory is limited and a worker's system does not show it.
    LostError, NobodyWorksError
        As `threads` does.
    """
    while True:
        if threads(client, patience):
            try:
                answers = client.run(facts_here, on_error="return")
            except (OSError, RuntimeError):
                patience.absent("the Dask scheduler does not answer")
                raise LostError from None
            # A worker that died meanwhile is not asked for.
            there = {name: one for name, one in answers.items() if not isinstance(one, OSError)}
            for worker, answer in there.items():
                _check_worker(f"--cluster {patience.address}", worker, answer, limits)
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


def check_address(address: str) -> None:
    """Refuse what is no address of a scheduler.

    Raises
    ------
    InputError
        If it is not.
    """
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"tcp", "tls"} and parts.hostname and parts.port
    except ValueError:  # the port is not a number
        usable = False
    if not usable:
        raise InputError(
            f"--cluster {address}", "is not an address", "tcp://HOST:PORT or tls://HOST:PORT"
        )


@contextmanager
def _only_our_words(address: str) -> Iterator[None]:
    """Keep Dask from writing tracebacks about connections that are told in our own words."""
    try:
        import distributed  # noqa: F401, PLC0415 - an extra; sets up its logging
    except ModuleNotFoundError as error:
        raise InputError(
            f"--cluster {address}",
            f"{error.name} is not installed",
            hint="pip install 'preemption-planner[cluster]'",
        ) from None
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
    while True:
        try:
            return _client(patience.address)
        except OSError as error:
            patience.absent(f"no Dask scheduler answers: {_reason(error)}")
        time.sleep(LOOK_S)


def _client(address: str) -> Client:
    from distributed import Client as DaskClient  # noqa: PLC0415 - an extra
    from distributed.versions import VersionMismatchWarning  # noqa: PLC0415 - likewise

    try:
        asyncio.run(_knock(address))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # told in our own words
            made = DaskClient(address, timeout=CONNECT_S, set_as_default=False)
            return cast("Client", made)
    except MemoryError:  # Dask takes the first bytes for the length of the greeting
        raise _no_scheduler(address, "something else is there") from None
    except (RuntimeError, TypeError, ValueError) as error:  # TLS
        raise _no_scheduler(address, _reason(error)) from None


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or f"nothing within {CONNECT_S:g} s"


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


def _check_worker(where: str, worker: str, answer: object, limits: Limits) -> None:
    if not isinstance(answer, tuple):
        raise InputError(
            where,
            f"worker {worker} cannot load the planner: {type(answer).__name__}: {answer}",
            hint="install preemption-planner[cluster] on every worker",
        )
    theirs, measures = answer
    for name, here in facts_here()[0].items():
        if theirs[name] != here:
            raise InputError(
                where, f"worker {worker} has {name} {theirs[name]}", f"{here}, as here"
            )
    if limits.memory_bytes is not None and not measures:
        raise UnsupportedError(
            where, f"worker {worker} does not show the memory of a process", "Linux"
        )
