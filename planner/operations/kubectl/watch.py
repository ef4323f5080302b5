"""Several ``kubectl get --watch`` at once: the changes in a cluster, for as long as one reads them.

No thread reads: a selector waits for all streams. A stream that ends (the server went away, or says
410 Gone because the changes since are forgotten), that prints what is no event, or that cannot be
started any more is started anew, after a pause that grows.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from planner.errors import InputError, one_line
from planner.operations.kubectl.call import (
    MAX_ERROR_BYTES,
    Answer,
    Kubectl,
    kill,
    last_words,
    part_with,
)

FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
"""The longest rest of a stream that ended: rests double until the stream reports a change."""
QUIET_S: Final = 5.0
"""A stream that has run for so long has begun, though it printed nothing: there are no objects."""
MAX_OBJECT: Final = 2**23
"""More bytes than any object has: the API server stores none above 1.5 MiB."""
_PIECE: Final = 2**18
_CHANGES: Final = ("ADDED", "MODIFIED", "DELETED")
_NO_EVENT: Final = "kubectl printed something that is no event"
_END: Final = b"\n"
"""Where an event ends: kubectl prints each on a line of its own."""


class WatchEvent(NamedTuple):
    """An event of a stream.

    ``kind`` is the API server's ADDED, MODIFIED or DELETED, for the object ``value``; or ``BEGUN``:
    the stream has listed the objects of one moment, and all later changes follow; or ``LOST``: it
    ended, as ``answer`` says, whose exit code is 0 where kubectl did not end by itself. No event
    has the listed objects: to get them, read them after BEGUN.
    """

    resource: str
    kind: str
    value: dict[str, Any] = {}
    answer: Answer | None = None


class Source:
    """A source of changes to the objects of certain resource types."""

    resources: Sequence[str]

    def poll(self, timeout_s: float) -> Sequence[WatchEvent]:
        """Wait for events, at most for ``timeout_s``, and return them."""
        raise NotImplementedError

    def close(self) -> None:
        """End the source."""


class _Stream:
    """One resource type with its kubectl, or with none while the stream rests."""

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.process: subprocess.Popen[bytes] | None = None
        self.buffer = bytearray()
        self.stderr = bytearray()
        self.begun = self.lists = False
        self.started: float | None = None
        self.wait_s = FIRST_WAIT_S
        self.due = 0.0


class Streams(Source):
    """One stream per resource type, for all objects of the type in all namespaces.

    ``connect`` makes the kubectl of a stream, ``resources`` are the full names of the types, and
    ``seconds`` is a clock that never jumps.
    """

    def __init__(
        self,
        connect: Callable[[], Kubectl],
        resources: Sequence[str],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect, self._seconds = connect, seconds
        self.resources = tuple(resources)
        self._streams = [_Stream(one) for one in resources]
        self._selector = selectors.DefaultSelector()

    def poll(self, timeout_s: float) -> Sequence[WatchEvent]:
        """Start the streams that are due, and return their events; perhaps none in the time.

        Raises ``InputError`` if kubectl cannot be started for a stream for the first time.
        """
        now = self._seconds()
        events: list[WatchEvent] = []
        for one in self._streams:
            if one.process is None and one.due <= now:
                try:
                    self._start(one, now)
                except InputError as error:
                    if one.started is None:
                        raise
                    one.stderr.extend(one_line(str(error)).encode(errors="replace"))
                    events.append(self._ended(one))
        least = timeout_s
        for one in self._streams:
            if one.process is None or one.started is None:
                least = min(least, one.due - now)
            elif not one.begun and now - one.started < QUIET_S:
                least = min(least, one.started + QUIET_S - now)
            elif not one.begun:
                one.begun, one.lists = True, False
                events.append(WatchEvent(one.resource, "BEGUN"))
        for key, _ in self._selector.select(0.0 if events else max(0.0, least)):
            events += self._read(*key.data)
        return events

    def _start(self, one: _Stream, now: float) -> None:
        how = ("--all-namespaces", "--watch", "--output-watch-events", "--output=json")
        one.process = self._connect().start("get", one.resource, *how)
        one.started, one.begun, one.lists = now, False, True
        for stream, is_output in ((one.process.stdout, True), (one.process.stderr, False)):
            if stream is not None:
                self._selector.register(stream, selectors.EVENT_READ, (one, is_output))

    def close(self) -> None:
        """Kill every kubectl."""
        for one in self._streams:
            self._stop(one)
        self._selector.close()

    def _read(
        self,
        one: _Stream,
        is_output: bool,  # noqa: FBT001 - a key's data
    ) -> Iterator[WatchEvent]:
        process = one.process
        stream = None if process is None else process.stdout if is_output else process.stderr
        if stream is None:
            return
        piece = os.read(stream.fileno(), _PIECE)
        if not is_output:
            one.stderr.extend(piece)
            del one.stderr[:-MAX_ERROR_BYTES]
            if not piece:
                self._selector.unregister(stream)
            return
        if not piece:
            yield self._ended(one, by_itself=True)
            return
        if not one.begun:
            one.begun = True
            yield WatchEvent(one.resource, "BEGUN")
        if one.lists:  # the first line lists all objects, and may be very long: it is dropped
            _, end, piece = piece.partition(_END)
            one.lists = not end
        one.buffer.extend(piece)
        if _END in piece:
            yield from self._events(one)
        if len(one.buffer) > MAX_OBJECT:
            one.stderr.extend(b"kubectl printed an object that is larger than any can be\n")
            yield self._ended(one)

    def _events(self, one: _Stream) -> Iterator[WatchEvent]:
        """Yield the events of the whole lines that were read."""
        *whole, rest = bytes(one.buffer).split(_END)
        one.buffer = bytearray(rest)
        for text in whole:
            try:
                event = json.loads(text)
                kind, value = str(event["type"]), event["object"]
            except (ValueError, RecursionError, KeyError, TypeError):
                kind, value = "ERROR", {}
            if kind == "ERROR" or (kind in _CHANGES and not isinstance(value, dict)):
                said = value.get("message") if isinstance(value, dict) else ""
                one.stderr.extend(f"{said or _NO_EVENT}\n".encode(errors="replace"))
                yield self._ended(one)
                return
            if kind in _CHANGES and isinstance(value, dict):
                one.wait_s = FIRST_WAIT_S
                yield WatchEvent(one.resource, kind, value)

    def _ended(self, one: _Stream, *, by_itself: bool = False) -> WatchEvent:
        """Let a stream rest, and return the event that says how it ended."""
        code = self._stop(one)
        said = bytes(one.stderr).decode(errors="replace")
        one.stderr.clear()
        one.buffer.clear()
        one.due = self._seconds() + one.wait_s
        one.wait_s = min(LONGEST_WAIT_S, one.wait_s * 2)
        return WatchEvent(one.resource, "LOST", answer=Answer(code if by_itself else 0, b"", said))

    def _stop(self, one: _Stream) -> int:
        process, one.process = one.process, None
        if process is None:
            return 0
        one.stderr.extend(part_with(process, self._selector))
        kill(process)
        with process:
            return process.wait()


def reason(answer: Answer) -> str:
    """Say in kubectl's words why a stream ended."""
    return last_words(answer.stderr) or f"kubectl ended with exit code {answer.code}"
