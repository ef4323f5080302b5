"""Calls of kubectl: lists of words, no shell, within a total time and a total number of bytes."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from planner.errors import InputError
from planner.reader.show import shown
from planner.reader.source import MAX_BYTES, too_large
from planner.stage import going_on

PROGRAM: Final = "kubectl"
NAMES: Final = "--"
"""Ends the options: what comes after it are names."""
TIMEOUT_S: Final = 120.0
MAX_ERROR_BYTES: Final = 2**16
"""How much of kubectl's standard error is kept; the rest is read and dropped."""
AT_ONCE: Final = 9
"""How many calls run at a time: each is a process of some 20 MB, and a question to the server."""
_PIECE: Final = 2**16
_WAIT_S: Final = 0.5
"""Seconds to wait for output of kubectl before progress is reported."""
_UNTIL_WE_END: Final = ("/bin/sh", "-c", '"$@" & exec >&- 2>&-; read -r _; kill $!', "sh")
"""Runs the words after it until its standard input is at its end: nobody holds the other end."""
_CHATTER: Final = re.compile(r"[EIWF]\d{4} |Warning: ")
"""Log lines of klog, such as ``E0411 12:00:00.0 memcache.go:265]``, and the server's warnings."""


class Answer(NamedTuple):
    """How a call ended: its exit code, its standard output, and its standard error."""

    code: int
    output: bytes
    stderr: str


@dataclass
class _Call:
    """A call that has begun, and its output so far; ``ended`` if its standard output is closed."""

    where: str
    process: subprocess.Popen[bytes]
    output: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    ended: bool = False


class Kubectl:
    """kubectl, found on PATH, with the cluster it asks and the limits of all its calls together.

    The ``options`` are handed on, such as ``context`` and ``request_timeout``; without them, or
    where they are ``None``, kubectl decides. All calls together have ``timeout_s`` seconds from now
    on, ``None`` for no limit, and may print ``max_bytes``.

    Raises ``InputError`` if there is no kubectl, or a value could be taken for an option.
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
            says = "https://kubernetes.io/docs/tasks/tools/ says how to install it"
            hint = f"{says}; a dump that was written elsewhere does without"
            raise InputError(PROGRAM, "is not on PATH", hint=hint)
        self._program = found
        self._timeout_s = timeout_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._max_bytes = self._room = max_bytes

    def call(self, *words: str) -> Answer:
        """Run kubectl with these words and wait for it.

        Raises ``InputError`` if kubectl cannot be started, takes too long or prints too much.
        Nothing that it started is left running then.
        """
        (answer,) = self.calls([words])
        return answer

    def calls(self, each: Iterable[Sequence[str]]) -> Generator[Answer]:
        """Run kubectl with each list of words, several at a time; yield the answers in this order.

        A caller that wants no more answers closes the iterator: nothing is left running then. There
        are no threads, whose stacks would count where memory is limited.

        Raises ``InputError``, as for one call: about the first in this order that took too long, or
        the one that printed most where all together printed too much.
        """
        waiting = deque(each)
        begun: deque[_Call] = deque()
        try:
            found = selectors.DefaultSelector()
        except OSError as error:  # too many open files
            raise InputError(PROGRAM, f"cannot be started: {error}") from None
        with found as selector:
            try:
                while waiting or begun:
                    while waiting and sum(not call.ended for call in begun) < AT_ONCE:
                        words = waiting.popleft()
                        call = _Call(" ".join((PROGRAM, *words[:2])), self.start(*words))
                        begun.append(call)
                        for stream in (call.process.stdout, call.process.stderr):
                            if stream is not None:
                                selector.register(stream, selectors.EVENT_READ, call)
                    if begun[0].ended:
                        yield self._answer(begun, selector)
                    else:
                        self._hear(begun, selector)
            finally:
                for call in begun:
                    kill(call.process)
                    with call.process:
                        pass

    def start(self, *words: str, until_we_end: bool = False) -> subprocess.Popen[bytes]:
        """Start kubectl with these words; the caller reads its output, and no limit holds for it.

        Words after ``--`` are names, whatever they begin with: options stand before it.
        ``until_we_end``: it ends with this process, even if that is killed.

        Raises ``InputError`` if kubectl cannot be started.
        """
        place = words.index(NAMES) if NAMES in words else len(words)
        try:
            return subprocess.Popen(  # noqa: S603 - a list of words, no shell
                [
                    *(_UNTIL_WE_END if until_we_end else ()),
                    *(self._program, *words[:place], *self.options, *words[place:]),
                ],
                # It must not ask for passwords.
                stdin=subprocess.PIPE if until_we_end else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            where = " ".join((PROGRAM, *words[:2]))
            raise InputError(where, f"cannot be started: {error}") from None

    def _hear(self, begun: Iterable[_Call], selector: selectors.BaseSelector) -> None:
        """Read what all streams have now, or wait for a while if none has anything."""
        left = self._left()
        if left == 0:
            raise self._too_slow(next(call for call in begun if not call.ended))
        for key, _ in selector.select(_WAIT_S if left is None else min(left, _WAIT_S)):
            call: _Call = key.data
            piece = os.read(key.fd, _PIECE)
            of_output = key.fileobj is call.process.stdout
            (call.output if of_output else call.stderr).extend(piece)
            if not piece:
                selector.unregister(key.fileobj)
                call.ended |= of_output
            del call.stderr[MAX_ERROR_BYTES:]
        if sum(len(call.output) for call in begun) > self._room:
            raise too_large(max(begun, key=lambda call: len(call.output)).where, self._max_bytes)
        going_on()

    def _answer(self, begun: deque[_Call], selector: selectors.BaseSelector) -> Answer:
        """Wait for the end of the first call, which has closed its output."""
        process, output, stderr = begun[0].process, begun[0].output, begun[0].stderr
        try:
            process.wait(self._left())
        except subprocess.TimeoutExpired:
            raise self._too_slow(begun[0]) from None
        begun.popleft()
        with process:
            stderr.extend(part_with(process, selector))
        self._room -= len(output)
        return Answer(process.returncode, bytes(output), stderr.decode(errors="replace"))

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _too_slow(self, call: _Call) -> InputError:
        last = last_words(call.stderr.decode(errors="replace"))
        said = f"; it said: {last}" if last else ""
        found = f"had no answer when the {self._timeout_s:g} s were over{said}"
        return InputError(call.where, found, hint="--timeout SECONDS gives it longer")


def option(name: str, value: str | None) -> list[str]:
    """Return an option as a list of one word; an empty list without a value.

    Raises ``InputError`` if the value is empty, or begins like an option.
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


def part_with(process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> bytes:
    """Stop reading from kubectl, and return the rest of its standard error.

    The rest is read without waiting for other processes that keep the stream open: a plugin that
    logs in may outlive kubectl.
    """
    for stream in (process.stdout, process.stderr):
        if stream is not None and stream in selector.get_map():
            selector.unregister(stream)
    if process.stderr is None:
        return b""
    os.set_blocking(process.stderr.fileno(), False)
    return process.stderr.read(MAX_ERROR_BYTES) or b""


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill kubectl and the processes that it started: they are a process group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
