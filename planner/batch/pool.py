"""The input and output of a run, and the processes on this machine that do the work.

Each process has one task at a time and is watched for time, memory and death. It is a Python of its
own that runs nothing but `serve`: processes of `multiprocessing` would run the main module again. A
pool of `concurrent.futures` does not say which process has which task, which limits have to know,
and when one of its processes dies, the tasks of all are lost.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from planner.errors import InputError, InternalError, UnsupportedError, one_line
from planner.stage import begin, going_on

Outcome = Literal["done", "failed", "bug", "timeout", "out-of-memory", "killed"]
"""done: the work returned. failed: the input cannot be used. bug: the work raised what it never
should. timeout, out-of-memory: it went over a limit. killed: the process that worked on it died,
and died again when the task was tried anew."""
Work = Callable[[Any], Mapping[str, Any]]
"""From a task's payload to a JSON object. Other processes and machines load it by its name: a
function of an importable module, or a functools.partial of one. What it returns must depend on
the payload alone, and holds no times, or two runs would not give the same file."""


class Task(Struct, frozen=True):
    """One state to work on.

    ``key`` is its name, unique in the run and the same in every run, such as
    ``dir/a.jsonl.gz:17``. ``payload`` is what the work gets, anything that can be pickled: another
    machine has no files of this one, so it should be the bytes of the state themselves. ``digest``
    is that of the input that the payload was made of. The row has it, too: a run that goes on does
    a task again if its digest has changed. It is empty where nothing but the key can change.
    """

    key: str
    payload: object
    digest: str = ""


class Limits(Struct, frozen=True):
    """What one task may use; ``None`` for no limit.

    ``seconds`` are those of the clock on the wall, without the start of a process. The work does
    not watch them itself, so they should be more than the solver's own time limit. ``memory_bytes``
    is the resident memory of the process that works on the task, Python and the solver included
    (some 150 MB before it starts), on Linux only. It is looked at every 0.05 s, and so bounds the
    memory that a task keeps, not what it takes for a moment.
    """

    seconds: float | None = None
    memory_bytes: int | None = None

    @property
    def given(self) -> bool:
        """Whether there is any limit."""
        return self.seconds is not None or self.memory_bytes is not None


class Row(Struct, frozen=True):
    """The outcome of one task; ``detail`` says in one line why there is no result."""

    key: str
    outcome: Outcome
    detail: str
    result: dict[str, Any] | None
    digest: str = ""


class Progress(Struct, frozen=True):
    """How far a run is.

    ``done`` counts tasks that have a row, those of an earlier run included; ``total`` is ``None``
    where it is not known. ``per_second`` is the rate of this run alone.
    """

    done: int
    total: int | None
    per_second: float

    @property
    def seconds_left(self) -> float | None:
        """The time that the rest will take at this rate; ``None`` where that is not known."""
        if self.total is None or not self.per_second:
            return None
        return max(0, self.total - self.done) / self.per_second


DETAIL: Final = 500
"""Characters of a detail that are kept."""


class Attempt(NamedTuple):
    """The outcome of working on a task; ``result`` is JSON text, ``null`` where there is none."""

    outcome: Outcome
    detail: str = ""
    result: str = "null"


def attempt(work: Work, payload: object) -> Attempt:
    """Work on one task. Whatever the work raises is an outcome, never the end of the run."""
    try:
        return Attempt("done", result=json.dumps(dict(work(payload)), allow_nan=False))
    except MemoryError:
        return Attempt("out-of-memory", "the system gave no more memory")
    except Exception as error:  # noqa: BLE001 - thousands of other states are waiting
        text = one_line(str(error))
        if not isinstance(error, InputError):
            text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        # As the command line has it: what the system refuses is no bug.
        outcome: Outcome = "failed" if isinstance(error, InputError | OSError) else "bug"
        return Attempt(outcome, text if len(text) <= DETAIL else text[: DETAIL - 3] + "...")


PROC: Final = Path("/proc")

# A process imports modules from the same places as its parent.
_PROGRAM: Final = """import sys
sys.path[:] = sys.argv[3:]
from planner.batch.pool import serve
serve(*map(int, sys.argv[1:3]))
"""

# One core per process: the solver takes one, and so must the numeric libraries.
_ONE_THREAD: Final = {"VECLIB_MAXIMUM_THREADS": "1"} | {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")
}
_STANDARD_ERROR: Final = 2
_ORPHAN_LOOKS_S: Final = 0.2
_IDLE_S: Final = 60.0


def can_measure_memory() -> bool:
    """Whether this system shows the resident memory of a process; Linux does."""
    return (PROC / "self" / "statm").exists()


def serve(number: int, parent: int) -> None:
    """Work on the parent's tasks until the parent is gone, or has sent none for a minute.

    ``number`` is that of the open file that is the connection to the parent, ``parent`` that of the
    parent's process.
    """

    def leave_with_parent() -> None:
        """End the process, in the middle of its work, when the parent has been killed."""
        while os.getppid() == parent:
            time.sleep(_ORPHAN_LOOKS_S)
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    with suppress(EOFError, OSError), Connection(number) as connection:
        try:
            work = pickle.loads(connection.recv_bytes())  # noqa: S301 - from the parent
        except Exception as error:  # noqa: BLE001 - the parent raises it
            connection.send(f"{type(error).__name__}: {error}")
            return
        connection.send("")
        unpacking: Work = lambda payload: work(pickle.loads(payload))  # noqa: E731, S301 - as above
        while connection.poll(_IDLE_S):
            # A payload that cannot be unpacked is the failure of its task alone.
            connection.send(attempt(unpacking, connection.recv_bytes()))


TRIES: Final = 3
"""How many processes may die under a task until it counts as their killer."""
TICK_S: Final = 0.05
"""Seconds between two looks at limits."""
SIGN_S: Final = 1.0
"""Seconds after which progress is reported."""


class Pool:
    """At most ``jobs`` processes, each started when first needed, with a task each.

    A process that dies takes one known task with it, which is tried again in a new process.
    ``work`` is pickled. The processes are gone when the pool is closed.

    Raises ``UnsupportedError`` if memory is limited on a system that does not show it.
    """

    def __init__(self, work: bytes, jobs: int, limits: Limits) -> None:
        if limits.memory_bytes is not None and not can_measure_memory():
            found = "this system does not show the memory of a process"
            raise UnsupportedError("memory limit", found, "Linux")
        self._work, self._jobs, self._limits = work, jobs, limits
        self._next_look = 0.0
        self._slots: list[_Slot] = []

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        for slot in self._slots:
            slot.stop()

    def run_tasks(self, tasks: Iterable[Task]) -> Iterator[tuple[str, Attempt]]:
        """Yield the key and the outcome of every task, as they come.

        A task is read when a process is free for it, and forgotten once it is done.

        Raises ``InternalError`` if a process cannot start or load the work.
        """
        begin("waiting for other processes")
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
                    yield slot.task.key, found

    def _look(self, busy: Sequence[_Slot]) -> list[tuple[_Slot, Attempt | None]]:
        """Wait for messages, test limits, and return slots, each with its outcome or none yet."""
        ready = set(wait([s.connection for s in busy], TICK_S if self._limits.given else SIGN_S))
        going_on()
        # Limits hold for silent slots only: a task that has answered is done, however late.
        silent = [slot for slot in busy if slot.connection not in ready]
        news = [(slot, slot.receive()) for slot in busy if slot.connection in ready]
        if self._limits.given and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + TICK_S
            news += [(slot, slot.over_limit()) for slot in silent]
        return news


class _Slot:
    """A place for one process and the task that it works on."""

    def __init__(self, work: bytes, limits: Limits, task: Task) -> None:
        self._work, self._limits, self.task = work, limits, task
        self._deaths = 0
        self._start()

    def _start(self) -> None:
        """Start a process, which says when it is ready for a task."""
        self._is_ready, self._is_fresh = False, True
        self._since: float | None = None  # when it got the task
        self.connection, theirs = Pipe()
        number = theirs.fileno()
        # Ctrl-C goes to every process of the terminal, and only the parent is to act on it: a
        # process that is started while SIGINT is blocked keeps it blocked for good.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - this very Python
                    [sys.executable, "-c", _PROGRAM, str(number), str(os.getpid()), *sys.path],
                    env=os.environ | _ONE_THREAD,
                    stdin=subprocess.DEVNULL,
                    stdout=_STANDARD_ERROR,  # standard output is for the command's result alone
                    pass_fds=[number],
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with suppress(OSError):  # it has died already: receive() finds out
            self.connection.send_bytes(self._work)

    def take(self, task: Task) -> None:
        self.task, self._deaths = task, 0
        if self._process.poll() is None:
            self._begin()
        else:  # the process was ended, or left after a minute without a task
            self._renew()

    def receive(self) -> Attempt | None:
        """Return the outcome that the process sent; ``None`` if it is ready, or was replaced."""
        try:
            message: object = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        if isinstance(message, Attempt):
            self._is_fresh = False
            return message
        if message:
            raise InternalError(f"a worker process cannot load the work: {message}")
        self._is_ready = True
        self._begin()
        return None

    def over_limit(self) -> Attempt | None:
        """End the process and return the outcome, if the task has gone over a limit.

        A process keeps memory from earlier tasks: only in a new process is all of it the task's.
        """
        seconds, memory = self._limits.seconds, self._limits.memory_bytes
        if self._since is None:
            return None
        if seconds is not None and time.monotonic() - self._since > seconds:
            self.stop()
            return Attempt("timeout", f"not done within {seconds:g} s")
        if memory is None:
            return None
        try:
            pages = (PROC / str(self._process.pid) / "statm").read_text("ascii").split()[1]
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            return None
        if int(pages) * os.sysconf("SC_PAGE_SIZE") > memory:
            if self._is_fresh:
                self.stop()
                return Attempt("out-of-memory", f"took more than {memory:,} bytes")
            self._renew()
        return None

    def stop(self) -> str:
        """Kill the process if it is still there, and say what ended it."""
        self._process.kill()
        code = self._process.wait()
        self.connection.close()
        if code == 0:  # also where SIGCHLD is ignored: the system then keeps no exit codes
            return "exit code 0, or a cause that is not known"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def _begin(self) -> None:
        """Hand the task over to a process that is ready for it."""
        self._since = time.monotonic()
        with suppress(OSError):  # it has just died: receive() finds out
            payload = pickle.dumps(self.task.payload, pickle.HIGHEST_PROTOCOL)
            self.connection.send_bytes(payload)

    def _renew(self) -> None:
        self.stop()
        self._start()

    def _died(self) -> Attempt | None:
        ended = self.stop()
        self._deaths += 1
        if self._deaths < TRIES:
            self._renew()
            return None
        # Never ready for a task in all these tries: that is not the task's fault.
        if not self._is_ready:
            raise InternalError(f"worker processes end before they can work: {ended}")
        return Attempt("killed", f"{TRIES} processes died of it, the last one of {ended}")
