"""One process that works on one task at a time, and what its parent can do about it.

It is a Python of its own that runs nothing but `serve`: those of `multiprocessing` would run the
main module again. A pool of `concurrent.futures` does not say which process has which task, and
when one process dies, the tasks of all of them are lost; a limit that ends processes needs to know.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from planner.batch.attempt import Attempt, attempt
from planner.batch.task import Work
from planner.errors import InternalError

PROC: Final = Path("/proc")

# The modules of the parent are imported from where it has them.
_PROGRAM: Final = """import sys
sys.path[:] = sys.argv[3:]
from planner.batch.child import serve
serve(*map(int, sys.argv[1:3]))
"""

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
_STANDARD_ERROR: Final = 2
_ORPHAN_LOOKS_S: Final = 0.2
_IDLE_S: Final = 60.0


class Child:
    """The parent's side. The process starts at once and says when it is ready for a task."""

    def __init__(self, work: bytes) -> None:
        self.connection, theirs = Pipe()
        number = theirs.fileno()
        with theirs, _interrupts_held_back():
            self._process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-c", _PROGRAM, str(number), str(os.getpid()), *sys.path],
                env=os.environ | _ONE_THREAD,
                stdin=subprocess.DEVNULL,
                stdout=_STANDARD_ERROR,  # standard output is for the result of the command alone
                pass_fds=[number],
            )
        with contextlib.suppress(OSError):  # it has died already: receive() finds out
            self.connection.send_bytes(work)
        self.ready = False
        self.fresh = True

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

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
            pages = (PROC / str(self._process.pid) / "statm").read_text("ascii").split()[1]
        except (FileNotFoundError, ProcessLookupError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> str:
        """Kill the process if it is still there, and say what ended it."""
        self._process.kill()
        code = self._process.wait()
        self.connection.close()
        if code == 0:  # as well where who started us told the system not to keep them (SIGCHLD)
            return "exit code 0, or a cause that is not known"
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


def can_measure_memory() -> bool:
    """Whether this system shows the resident memory of a process; Linux does."""
    return (PROC / "self" / "statm").exists()


def serve(number: int, parent: int) -> None:
    """Work on what comes until the parent is gone, or has had nothing to do for a minute.

    Parameters
    ----------
    number
        The open file that is the connection to it.
    parent
        The number of its process.
    """
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError), Connection(number) as connection:
        try:
            work = pickle.loads(connection.recv_bytes())  # noqa: S301 - from the parent
        except Exception as error:  # noqa: BLE001 - the parent raises it
            connection.send(f"{type(error).__name__}: {error}")
            return
        connection.send("")
        while connection.poll(_IDLE_S):
            connection.send(attempt(_unpacked(work), connection.recv_bytes()))


def _unpacked(work: Work) -> Work:
    """Unpack the payload where a failure is the task's own."""
    return lambda payload: work(pickle.loads(payload))  # noqa: S301 - from the parent


def _leave_with(parent: int) -> None:
    """End the process, in the middle of its work, when the parent has been killed."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_LOOKS_S)
    os._exit(1)
