"""One call of kubectl: a list of words, no shell, within a time and a number of bytes."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from typing import Final, NamedTuple

from planner.errors import InputError
from planner.reader.show import shown
from planner.reader.source import MAX_BYTES, too_large

PROGRAM: Final = "kubectl"
TIMEOUT_S: Final = 120.0
MAX_ERROR_BYTES: Final = 2**16
"""How much of kubectl's standard error is kept; the rest is read and dropped."""
_PIECE: Final = 2**16
_WAIT_S: Final = 3600.0
"""How long is waited at once: the system knows no waiting for more than 24 days."""
_CHATTER: Final = re.compile(r"[EIWF]\d{4} |Warning: ")
"""Log lines of klog, such as ``E0411 12:00:00.0 memcache.go:265]``, and the server's warnings."""


class Answer(NamedTuple):
    """How a call ended: its exit code, its standard output, and what it said beside that."""

    code: int
    output: bytes
    stderr: str


class Kubectl:
    """kubectl, found on PATH, with the cluster it asks and what all its calls may take together.

    Parameters
    ----------
    **options
        Handed on as options of kubectl, such as ``context`` and ``request_timeout``; without
        them, or where they are ``None``, kubectl decides.
    timeout_s
        Seconds for all calls together, from now on; None for no limit.
    max_bytes
        Bytes that all calls may print together.

    Raises
    ------
    InputError
        If there is no kubectl, or a value could be taken for an option.
    """

    def __init__(
        self,
        *,
        timeout_s: float | None = TIMEOUT_S,
        max_bytes: int = MAX_BYTES,
        **options: str | None,
    ) -> None:
        named = ((name.replace("_", "-"), value) for name, value in options.items())
        self.options = [word for name, value in named for word in option(name, value)]
        found = shutil.which(PROGRAM)
        if found is None:
            raise InputError(
                PROGRAM,
                "is not on PATH",
                hint="https://kubernetes.io/docs/tasks/tools/ says how to install it; a dump "
                "that was written elsewhere does without",
            )
        self._program = found
        self._timeout_s = timeout_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._max_bytes = max_bytes
        self._room = max_bytes

    def call(self, *words: str) -> Answer:
        """Run kubectl with these words and wait for it.

        Raises
        ------
        InputError
            If it cannot be started, takes too long or prints too much. Nothing that it started
            is left running then.
        """
        where = " ".join((PROGRAM, *words[:2]))
        process = self.start(*words)
        output, stderr = bytearray(), bytearray()
        with process:
            try:
                self._read(process, output, stderr, where)
                process.wait(self._left())
                _read_rest(process, stderr)
            except subprocess.TimeoutExpired:
                kill(process)
                raise self._too_slow(where, stderr) from None
            except BaseException:
                kill(process)
                raise
        self._room -= len(output)
        return Answer(process.returncode, bytes(output), stderr.decode(errors="replace"))

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start kubectl with these words, for whoever reads what it prints: no limit holds for it.

        Raises
        ------
        InputError
            If it cannot be started.
        """
        try:
            return subprocess.Popen(  # noqa: S603 - a list of words, no shell
                [self._program, *words, *self.options],
                stdin=subprocess.DEVNULL,  # it must not ask for passwords
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            where = " ".join((PROGRAM, *words[:2]))
            raise InputError(where, f"cannot be started: {error}") from None

    def _read(
        self, process: subprocess.Popen[bytes], output: bytearray, stderr: bytearray, where: str
    ) -> None:
        """Read both streams until standard output ends."""
        with selectors.DefaultSelector() as selector:
            for stream, into in ((process.stdout, output), (process.stderr, stderr)):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ, into)
            while process.stdout in selector.get_map():
                left = self._left()
                if left == 0:
                    raise subprocess.TimeoutExpired(where, self._timeout_s or 0)
                for key, _ in selector.select(None if left is None else min(left, _WAIT_S)):
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        selector.unregister(key.fileobj)
                    key.data.extend(piece)
                del stderr[MAX_ERROR_BYTES:]
                if len(output) > self._room:
                    raise too_large(where, self._max_bytes)

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _too_slow(self, where: str, stderr: bytearray) -> InputError:
        last = last_words(stderr.decode(errors="replace"))
        return InputError(
            where,
            f"had no answer when the {self._timeout_s:g} s were over"
            + (f"; it said: {last}" if last else ""),
            hint="--timeout SECONDS gives it longer",
        )


def option(name: str, value: str | None) -> list[str]:
    """Return an option as one word; none without a value.

    Raises
    ------
    InputError
        If the value is empty, or begins like an option.
    """
    if value is None:
        return []
    if not value or value.startswith("-") or "\0" in value:
        found = f"{shown(value)} is no value for it" if value else "the value is empty"
        raise InputError(f"--{name}", found, hint="kubectl would take it for something else")
    return [f"--{name}={value}"]


def last_words(stderr: str) -> str:
    """Return the last line on standard error that is neither a log line nor a warning."""
    lines = [line.strip() for line in stderr.splitlines()]
    telling = [line for line in lines if line and not _CHATTER.match(line)]
    return telling[-1] if telling else ""


def _read_rest(process: subprocess.Popen[bytes], stderr: bytearray) -> None:
    """Read what kubectl still said, without waiting for others that hold on to the stream.

    A plugin that logs in may outlive kubectl.
    """
    if process.stderr is not None:
        os.set_blocking(process.stderr.fileno(), False)
        stderr.extend(process.stderr.read(MAX_ERROR_BYTES) or b"")


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill kubectl and what it started: they are a process group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
