"""One process that works on one task at a time, and what its parent can do about it.

The processes are those of joblib (loky): a clean Python that does not run the main module again.
Its pools are not used. They hand out tasks without saying which process has which, and when one
process dies, the tasks of all of them are lost; a limit that ends processes needs to know.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import multiprocessing.resource_tracker
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from planner.batch.attempt import Attempt, attempt
from planner.batch.task import Work
from planner.errors import InternalError

PROC: Final = Path("/proc")

# One core per process: the solver takes one, and so must the numeric libraries.
_ONE_THREAD: Final = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
_ORPHAN_LOOKS_S: Final = 0.2
_IDLE_S: Final = 60.0


class Child:
    """The parent's side. The process starts at once and says when it is ready for a task."""

    def __init__(self, work: bytes) -> None:
        from joblib.externals.loky.backend import (  # noqa: PLC0415 - takes 0.2 s
            get_context,
            resource_tracker,
        )

        context: Any = get_context("loky")
        theirs: Connection
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        # A worker of Dask may have no children as long as it is a daemon. Nothing else hangs on
        # that: ours are daemons themselves and end with it.
        if multiprocessing.current_process().daemon:
            multiprocessing.current_process().daemon = False
        self._process = context.Process(
            target=_serve, args=(theirs, work), daemon=True, env=_ONE_THREAD
        )
        # These two let interrupts through when they start, so they must be there before.
        resource_tracker.ensure_running()
        multiprocessing.resource_tracker.ensure_running()
        with _interrupts_held_back(), _something_to_flush():
            self._process.start()
        theirs.close()
        self.pid: int = self._process.pid
        self.ready = False
        self.fresh = True

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return bool(self._process.is_alive())

    def send(self, payload: object) -> None:
        """Hand over a task.

        Raises
        ------
        OSError
            If the process is no more.
        """
        self.connection.send_bytes(pickle.dumps(payload, pickle.HIGHEST_PROTOCOL))

    def receive(self) -> Attempt | None:
        """Take what the process said: that it is ready (``None``), or the outcome of its task.

        Raises
        ------
        EOFError, OSError
            If the process is no more.
        InternalError
            If it cannot load the work.
        """
        message: object = self.connection.recv()
        if isinstance(message, Attempt):
            self.fresh = False
            return message
        if message:
            raise InternalError(f"a worker process cannot load the work: {message}")
        self.ready = True
        return None

    def resident_bytes(self) -> int:
        """Return the resident memory of the process, 0 once it has ended."""
        try:
            pages = (PROC / str(self.pid) / "statm").read_text("ascii").split()[1]
        except (FileNotFoundError, ProcessLookupError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> str:
        """Kill the process if it is still there, and say what ended it."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._process.join()
        self.connection.close()
        code: int | None = self._process.exitcode
        if code is None:  # who started us told the system not to keep exit codes (SIGCHLD)
            return "an unknown cause"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold SIGINT back; a process started meanwhile holds it back for good.

    Ctrl-C goes to every process of the terminal, and it is for the parent to decide.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _something_to_flush() -> Iterator[None]:
    """Stand in for standard streams that are closed: joblib flushes them."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is None:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if sys.stderr is None:
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        yield


def can_measure_memory() -> bool:
    """Whether this system shows the resident memory of a process; Linux does."""
    return (PROC / "self" / "statm").exists()


def _serve(connection: Connection, work: bytes) -> None:
    """Work on what comes until the parent is gone, or has had nothing to do for a minute."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output is for the result of the command alone
    try:
        call = pickle.loads(work)  # noqa: S301 - from the parent
    except Exception as error:  # noqa: BLE001 - the parent raises it
        connection.send(f"{type(error).__name__}: {error}")
        return
    connection.send("")
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while connection.poll(_IDLE_S):
            connection.send(attempt(_unpacked(call), connection.recv_bytes()))


def _unpacked(work: Work) -> Work:
    """Unpack the payload where a failure is the task's own."""
    return lambda payload: work(pickle.loads(payload))  # noqa: S301 - from the parent


def _leave_with_parent() -> None:
    """End the process, in the middle of its work, when the parent has been killed."""
    parent = multiprocessing.parent_process()
    while parent is not None and os.getppid() == parent.pid:
        time.sleep(_ORPHAN_LOOKS_S)
    os._exit(1)
