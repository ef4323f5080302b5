"""The states of files, folders and recorded lines, packed so that another process can open them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from planner.commands.replay.comparison import Recorded, parse_line, read_lines
from planner.errors import InputError
from planner.reader import MAX_BYTES, load, read_loaded, read_objects
from planner.reader.bound import Budget
from planner.reader.parse import parse
from planner.reader.source import STDIN as STANDARD_INPUT
from planner.reader.source import Holds, Source, Text, is_dump, printable
from planner.scheduler import schedulers
from planner.state import AUTO, AnyState, RequestsFrom

LINES: Final = (".jsonl", ".jsonl.gz")
STDIN: Final = "-"
Order = Callable[[Path], Any]
"""The key by which the files of a folder are sorted."""


class Packed(Struct, frozen=True):
    """One state as bytes: everything that is read of a dump, or a recorded line.

    In the place of what cannot be read, such as a damaged file, stands why.
    """

    name: str
    content: Source | bytes | InputError

    @property
    def digest(self) -> str:
        """The SHA-256 of its content."""
        if isinstance(self.content, Source):
            return self.content.digest
        content = self.content if isinstance(self.content, bytes) else str(self.content).encode()
        return hashlib.sha256(content).hexdigest()


class Place(NamedTuple):
    """Where states stand: standard input, a file, or a folder whose files are one state together.

    ``lines`` says that the file has one state a line.
    """

    path: str
    lines: bool = False

    @property
    def where(self) -> str:
        """How messages name it."""
        return STANDARD_INPUT if self.path == STDIN else printable(self.path)


class Instance(Struct, frozen=True):
    """One state, the keys of its pending workloads, and the flavors that a recorded line fixes."""

    name: str
    state: AnyState
    pending: tuple[str, ...]
    assignment: Mapping[str, Any] | None = None


def packed_states(
    path: str, max_bytes: int = MAX_BYTES, order: Order | None = None
) -> Iterator[Packed]:
    """Yield every state that `find_places` finds at a path, one at a time; see there for errors."""
    for place in find_places(path, max_bytes, order):
        yield from packed_at(place, max_bytes)


def find_places(path: str, max_bytes: int = MAX_BYTES, order: Order | None = None) -> list[Place]:
    """Return where the states of a file, a folder, or standard input (``-``) stand.

    A file of recorded lines, ``.jsonl`` or ``.jsonl.gz``, has one state a line. What a folder is,
    its files say: each is a state where several are states by themselves, or all that can be read;
    otherwise they are one state together. Folders in a folder are looked at, too, each once,
    however many links lead to it; so is a file. ``order`` is the key of what is in a folder, by
    default its name.

    Raises ``InputError`` if there is nothing of that name, no state in it, or a folder of states
    has files that are none.
    """
    folder, found = Path(path), [Place(path)]
    if path != STDIN and path.endswith(LINES):
        found = _lines_at(path)
    elif path and folder.is_dir():
        seen: set[tuple[int, int]] = set()
        links = [folder]
        # It grows meanwhile: the links found in a folder are added.
        found = [one for link in links for one in _in_folder(link, max_bytes, order, seen, links)]
    elif path != STDIN and not folder.is_file():
        load(path, max_bytes)  # says what is wrong
    if not found:
        expected = "a file of a state, a folder of such files, or a .jsonl file of one state a line"
        raise InputError(printable(path), "there is no state in it", expected)
    return found


def packed_at(place: Place, max_bytes: int) -> Iterator[Packed]:
    """Yield every state at a place; one that cannot be read has the error as its content."""
    where = place.where
    try:
        if place.lines:
            for number, text in read_lines(place.path, None, max_bytes):
                yield Packed(f"{where}: line {number}", text)
        else:
            yield Packed(where, load(place.path, max_bytes))
    except InputError as error:
        if place.lines:
            where = printable(error.where)
            error = InputError(where, f"{error.found}; what follows it is not read")
        yield Packed(where, error)


def count_states(places: Iterable[Place], max_bytes: int = MAX_BYTES) -> int:
    """Return how many states stand at some places."""
    return sum(sum(1 for _ in packed_at(one, max_bytes)) if one.lines else 1 for one in places)


def refuse_as_state(where: str, file: Path, paths: Iterable[str]) -> None:
    """Refuse a file to be written that would be read as one of the states at some paths.

    Results that are read while they grow have no end. ``where`` names the file in messages.

    Raises ``InputError`` if the file is a state, or lies in a folder of states under the name of
    one.
    """
    target = file.resolve()
    is_named = target.name.endswith(LINES) or is_dump(target.name)
    places = [Path(path).resolve() for path in paths if path != STDIN]
    if target in places or (is_named and any(map(target.is_relative_to, places))):
        raise InputError(
            where,
            "lies where the states are read from, and would be read as one of them",
            "a file elsewhere",
        )


def open_packed(
    packed: Packed,
    release: str = AUTO,
    requests: RequestsFrom = "template",
    now: datetime | None = None,
) -> Instance:
    """Read a packed state.

    ``release`` is the release of Kueue whose rules hold, or ``auto`` for the one that each state
    tells; ``requests`` says where the requests of pending workloads are taken from. ``now`` is the
    clock, of which a dump need have none then; a recorded line has its own.

    Raises ``InputError`` if the state cannot be used.
    """
    if isinstance(packed.content, InputError):
        raise packed.content
    content = packed.content
    if isinstance(content, bytes) and _is_list(content):
        text, most = Text(packed.name, content), max(MAX_BYTES, len(content))
        content = Source(packed.name, (text,), packed.digest, most)
    if isinstance(content, bytes):
        line = parse_line(content, packed.name)
        # A recorded line that names no pending workload is about all of them.
        tried = (one.recorded(line, packed.name, release, requests) for one in schedulers())
        known = next((one for one in tried if one is not None), None)
        found = known or Recorded(
            read_objects(line, where=packed.name, release=release, requests=requests, now=now)
        )
        pending = found.state.pending if found.pending is None else (found.pending,)
        return Instance(packed.name, found.state, pending, found.assignment)
    state = read_loaded(content, release=release, requests=requests, now=now)
    return Instance(packed.name, state, state.pending)


def _is_list(line: bytes) -> bool:
    """Say whether a line is a list as kubectl prints it, which recorded lines are not."""
    try:
        return "items" in msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):  # who parses it says what is wrong
        return False


def _lines_at(path: str) -> list[Place]:
    """Return the file of recorded lines, unless it has none.

    Raises ``InputError`` if there is no such file.
    """
    try:
        is_empty = next(read_lines(path, None), None) is None
    except InputError:
        if not Path(path).is_file():
            raise
        is_empty = False
    return [] if is_empty else [Place(path, lines=True)]


def _in_folder(
    folder: Path,
    max_bytes: int,
    order: Order | None,
    seen: set[tuple[int, int]],
    links: list[Path],
) -> Iterator[Place]:
    try:
        status = folder.stat()
        shown = sorted((one for one in folder.iterdir() if not one.name.startswith(".")), key=order)
    except FileNotFoundError:  # it went while others were looked at
        return
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    own = {one.resolve() for one in shown if not one.is_symlink()}
    children = [one for one in shown if not one.is_symlink() or one.resolve() not in own]
    below = [child for child in children if child.is_dir()]
    files = [child for child in children if child.is_file()]
    yield from _dumps_of(folder, [one for one in files if is_dump(one.name)], max_bytes)
    for child in files:
        if child.name.endswith(LINES):
            yield from _lines_at(str(child))
    links += [child for child in below if child.is_symlink()]
    for child in below:
        if not child.is_symlink():
            yield from _in_folder(child, max_bytes, order, seen, links)


def _dumps_of(folder: Path, dumps: Sequence[Path], max_bytes: int) -> Iterator[Place]:
    """Yield the dumps of a folder, or the folder where its files are one state together.

    Raises ``InputError`` if several are states by themselves, and others are no states.
    """
    # Read one by one: a folder of dumps may hold more than is read of one state.
    held = {child: _holds(child, max_bytes) for child in dumps}
    states = [child for child in dumps if held[child] == "state"]
    parts = (one for one in dumps if held[one] == "part" and _is_sound(one, max_bytes))
    part = next(parts, None) if states else None
    if len(states) > 1 and part:
        names = [printable(one.name) for one in (states[0], part)]
        raise InputError(
            printable(str(folder)),
            f"{names[0]} is a state by itself, and so are others, but {names[1]} is none",
            "files that are a state each, or one state together",
            "put each state of several files into a folder of its own, and other files elsewhere",
        )
    if len(states) > 1 or (states and not part and "perhaps" not in held.values()):
        yield from (Place(str(child)) for child in dumps)
    elif dumps:
        yield Place(str(folder))


def _holds(path: Path, max_bytes: int) -> Holds | None:
    """Say whether a file is a state by itself, of any scheduler; ``None`` if it cannot be read."""
    try:
        (text,) = load(path, max_bytes).texts
    except InputError:
        return None
    found = {one.holds_state(text.data) for one in schedulers()}
    return "state" if "state" in found else "perhaps" if "perhaps" in found else "part"


def _is_sound(path: Path, max_bytes: int) -> bool:
    """Say whether a file is JSON or YAML, and not what is left of a dump that was broken off."""
    try:
        parse(load(path, max_bytes).texts[0], Budget(max_bytes), quick=True)
    except InputError:
        return False
    return True
