"""A bound on the values made of a text: one on bytes is not enough, since ``{},`` is an object.

A dump has a value for every nine bytes or more, and takes about 60 bytes of memory for each; three
bytes that become an object take eighty.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from planner.errors import AT_MOST, ParseError
from planner.reader.source import MAX_BYTES, megabytes

BYTES_FOR_EACH: Final = 8
"""One value may be made per this many bytes that may be read: a denser text is no dump."""
AT_LEAST: Final = 2**20
"""This many values may be made in any case."""
MEMORY_FOR_EACH: Final = 96
"""Bytes of memory that a value takes until it is checked; in ``{"k":1.5},`` each takes 78."""

_MARKS: Final = (b"{", b"[", b",", b":")
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ADDRESSES: Final = re.compile(rb"Max address space +([0-9]+)")
_FREE: Final = re.compile(rb"(?:MemAvailable|SwapFree): +([0-9]+) kB")
_PIECE: Final = 2**20
_CGROUP: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


class Budget:
    """How many more values may be made of texts, of which at most ``max_bytes`` are read."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._most = max(max_bytes // BYTES_FOR_EACH, AT_LEAST)
        self.left = self._most

    def take(self, values: int, where: str) -> None:
        """Count values that are about to be made, or were.

        Raises ``ParseError`` if they are too many.
        """
        self.left -= values
        if self.left < 0:
            error = ParseError(
                where,
                f"has more than the {self._most:,} values {AT_MOST}",
                "Kubernetes objects, which have fewer in a text of that size",
                "max_bytes=BYTES sets another bound on bytes, and on values with it",
            )
            raise error.of_kind("too large")

    def allows_text(self, data: bytes) -> bool:
        """Say whether there is memory for all objects of a JSON text, left as text."""
        return len(data) <= _PIECE or data.count(b"{") * MEMORY_FOR_EACH <= memory_left()

    def take_text(self, data: bytes, where: str) -> None:
        """Count the values of a JSON text of which only the objects are kept, as text.

        Raises ``ParseError`` if they are too many.
        """
        count = _values(data)
        # This counts marks inside strings, too: they are left out only where the count is too high.
        self.take(count if count <= self.left else _values_outside_strings(data), where)

    def take_json(self, data: bytes, where: str) -> None:
        """Count the values of a JSON text before any of them is made.

        Raises ``ParseError`` if they are too many, or more than there is memory for.
        """
        if len(data) <= _PIECE:
            return self.take(_values(data), where)
        count = _values(data)
        if count > self.left or count * MEMORY_FOR_EACH > memory_left():
            count = _values_outside_strings(data)
        self.take(count, where)
        needed, room = count * MEMORY_FOR_EACH, memory_left()
        if needed > room:
            left = megabytes(max(0, room))
            found = f"needs memory of about {megabytes(needed)}, {left} are left"
            hint = "read it where there is more, or read less at once"
            raise ParseError(where, found, hint=hint).of_kind("memory")
        return None


def _values(data: bytes) -> int:
    """Return how many objects, lists and entries there are at most, by the marks in a text."""
    if len(data) <= _PIECE:
        return sum(map(data.count, _MARKS))
    import numpy as np  # noqa: PLC0415 - it takes as long to load as a small dump to be planned for

    octets = np.frombuffer(data, dtype=np.uint8)  # counts frequent marks faster than bytes.count
    pieces = (octets[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    return sum(int(np.count_nonzero(one == mark[0])) for one in pieces for mark in _MARKS)


def _values_outside_strings(data: bytes) -> int:
    """Count as `_values`, but without the marks inside strings, which make no values.

    The text is taken piece by piece: the parts between millions of strings would take more memory
    than the values themselves.
    """
    count = start = 0
    size = _PIECE
    while start < len(data):
        piece = data[start : start + size]
        bare = _STRING.sub(b"", piece)
        quote = bare.find(b'"')  # of a string that goes on in the next piece
        rest = 0 if quote < 0 else len(bare) - quote
        if rest == len(piece) and start + size < len(data):
            size *= 2
            continue
        count += _values(bare[: len(bare) - rest])
        start += len(piece) - rest or len(piece)
        size = _PIECE
    return count


def memory_left() -> int:
    """Return how many bytes this process may still take, as far as the system says."""
    rooms = [2**63]
    # Every bound on this process: its own limit, the container's, and what the machine has.
    page = os.sysconf("SC_PAGE_SIZE")
    try:
        size, resident = map(int, Path("/proc/self/statm").read_bytes().split()[:2])
        limit = _ADDRESSES.search(Path("/proc/self/limits").read_bytes())
        rooms += [int(limit[1]) - size * page] if limit else []
        for path in _CGROUP:
            with suppress(OSError, ValueError):  # of a container without a limit
                most = int(path.read_bytes())
                rooms += [most - resident * page] if most else []
        free = _FREE.findall(Path("/proc/meminfo").read_bytes())
        rooms += [sum(map(int, free)) * 1024] if free else []
    except (OSError, ValueError):  # another system than Linux
        pass
    return min(rooms)
