"""Files, folders and recorded lines to states, packed so that another process can open them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from planner.commands.replay.comparison import Recorded, parse_line, read_lines
from planner.reader import MAX_BYTES, load, read_loaded, read_objects
from planner.reader.source import EXTENSIONS, Source
from planner.scheduler import Part
from planner.solver.start import pending_workloads
from planner.state import AUTO, AnyState, RequestsFrom

LINES: Final = (".jsonl", ".jsonl.gz")
STDIN: Final = "-"
_WHOLE: Final = tuple(
    re.compile(rb"""["']?kind["']?\s*:\s*["']?%s\b""" % kind)
    for kind in (b"ClusterQueue", b"Workload")
)
RECORDED: Final = Part[Callable[..., Recorded | None]]("recorded")
"""Reads a recorded line, if it is of the scheduler."""


class Packed(Struct, frozen=True):
    """One state as bytes: everything that is read of a dump, or a recorded line."""

    name: str
    content: Source | bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of what is in it."""
        if isinstance(self.content, bytes):
            return hashlib.sha256(self.content).hexdigest()
        return self.content.digest


class Instance(Struct, frozen=True):
    """One state, who waits in it, and the flavors that a recorded line fixes."""

    name: str
    state: AnyState
    pending: tuple[str, ...]
    assignment: Mapping[str, Any] | None = None


def packed_states(path: str, max_bytes: int = MAX_BYTES) -> Iterator[Packed]:
    """Yield every state of a file, a folder, or standard input (``-``), one at a time.

    A file of recorded lines, ``.jsonl`` or ``.jsonl.gz``, has one state a line. A folder with
    several complete dumps has one state a file; otherwise its files are one state together.
    Folders in it are looked into, too, each once, however many links lead to it.

    Raises
    ------
    InputError
        If something cannot be read.
    """
    folder = Path(path)
    if path != STDIN and path.endswith(LINES):
        for number, text in read_lines(path, None):
            yield Packed(f"{path}: line {number}", text)
    elif path != STDIN and folder.is_dir():
        seen: set[tuple[int, int]] = set()
        links = [folder]
        for link in links:  # it grows by what links in it lead to
            yield from _in_folder(link, max_bytes, seen, links)
    else:
        loaded = load(path, max_bytes)
        yield Packed(loaded.name, loaded)


def count_states(paths: Iterable[str]) -> int | None:
    """Return how many states there are to work on, ``None`` where only opening them would tell.

    Raises
    ------
    InputError
        If a file of recorded lines cannot be read.
    """
    total = 0
    for path in paths:
        if path != STDIN and path.endswith(LINES):
            total += sum(1 for _ in read_lines(path, None))
        elif path != STDIN and Path(path).is_dir():
            return None
        else:
            total += 1
    return total


def open_packed(
    packed: Packed, release: str = AUTO, requests: RequestsFrom = "template"
) -> Instance:
    """Read a packed state.

    ``release`` is the one of Kueue whose rules hold, or ``auto`` for the one that each state
    tells; ``requests`` says where those of pending workloads are taken from.

    Raises
    ------
    InputError
        If it cannot be used.
    """
    if isinstance(packed.content, bytes):
        line = parse_line(packed.content, packed.name)
        # A recorded line that names nobody is about everybody who waits.
        tried = (read(line, packed.name, release, requests) for read in RECORDED.of_all())
        known = next((one for one in tried if one is not None), None)
        found = known or Recorded(
            read_objects(line, where=packed.name, release=release, requests=requests)
        )
        pending = pending_workloads(found.state) if found.pending is None else (found.pending,)
        return Instance(packed.name, found.state, pending, found.assignment)
    state = read_loaded(packed.content, release=release, requests=requests)
    return Instance(packed.name, state, pending_workloads(state))


def _in_folder(
    folder: Path, max_bytes: int, seen: set[tuple[int, int]], links: list[Path]
) -> Iterator[Packed]:
    status = folder.stat()
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    children = sorted(folder.iterdir())
    lines = [child for child in children if child.name.endswith(LINES)]
    below = [child for child in children if child.is_dir() and not child.name.startswith(".")]
    if any(one.is_file() and one.name.removesuffix(".gz").endswith(EXTENSIONS) for one in children):
        together = load(folder, max_bytes)
        if sum(all(each.search(text.data) for each in _WHOLE) for text in together.texts) > 1:
            for text in together.texts:
                yield Packed(text.where, load(text.where, max_bytes))
        else:
            yield Packed(together.name, together)
    elif not (lines or below):
        load(folder, max_bytes)  # says what is missing
    for child in lines:
        yield from packed_states(str(child), max_bytes)
    links += [child for child in below if child.is_symlink()]
    for child in below:
        if not child.is_symlink():
            yield from _in_folder(child, max_bytes, seen, links)
