"""The states of files, folders and recorded lines; a question about many states, as a batch.

States are packed, so that another process can open them; each is a task, here or on a cluster.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from pydantic import ValidationError

from planner.batch import WAIT_S, Limits, Progress, Results, Task, Work, run
from planner.commands.audit.record import Failure
from planner.commands.replay.comparison import Recorded, parse_line, read_lines
from planner.errors import InputError, InternalError, PlannerError, SchemaError
from planner.plan import SCHEMA_VERSION
from planner.plan.base import Assume, Record
from planner.reader import MAX_BYTES, load, read_loaded, read_objects
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.reader.source import EXTENSIONS, Source, printable
from planner.scheduler import Part
from planner.solver.start import Given, pending_workloads
from planner.state import AUTO, AnyState, RequestsFrom

LINES: Final = (".jsonl", ".jsonl.gz")
STDIN: Final = "-"
_WHOLE: Final = tuple(
    re.compile(rb"""["']?kind["']?\s*:\s*["']?%s\b""" % kind)
    for kind in (b"ClusterQueue", b"Workload")
)
RECORDED: Final = Part[Callable[..., Recorded | None]]("recorded")
"""Reads a recorded line; ``None`` if it is of another scheduler."""


Order = Callable[[Path], Any]
"""The key by which the files of a folder are sorted."""


class Packed(Struct, frozen=True):
    """One state as bytes: everything that is read of a dump, or a recorded line."""

    name: str
    content: Source | bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of its content."""
        if isinstance(self.content, bytes):
            return hashlib.sha256(self.content).hexdigest()
        return self.content.digest


class Instance(Struct, frozen=True):
    """One state, the keys of its pending workloads, and the flavors that a recorded line fixes."""

    name: str
    state: AnyState
    pending: tuple[str, ...]
    assignment: Mapping[str, Any] | None = None


def packed_states(
    path: str, max_bytes: int = MAX_BYTES, order: Order | None = None
) -> Iterator[Packed]:
    """Yield every state of a file, a folder, or standard input (``-``), one at a time.

    A file of recorded lines, ``.jsonl`` or ``.jsonl.gz``, has one state a line. A folder with
    several complete dumps has one state a file; otherwise its files are one state together.
    Folders in a folder are read, too, each once, however many links lead to it. ``order`` is the
    key of what is in a folder, by default its name.

    Raises
    ------
    InputError
        If something cannot be read.
    """
    folder = Path(path)
    if path != STDIN and path.endswith(LINES):
        for number, text in read_lines(path, None):
            yield Packed(f"{printable(path)}: line {number}", text)
    elif path != STDIN and folder.is_dir():
        seen: set[tuple[int, int]] = set()
        links = [folder]
        for link in links:  # grows meanwhile: the links found in a folder are added
            yield from _in_folder(link, max_bytes, order, seen, links)
    else:
        loaded = load(path, max_bytes)
        yield Packed(loaded.name, loaded)


def count_states(paths: Iterable[str]) -> int | None:
    """Return how many states there are to work on, ``None`` where only opening files would tell.

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

    ``release`` is the release of Kueue whose rules hold, or ``auto`` for the one that each state
    tells; ``requests`` says where the requests of pending workloads are taken from.

    Raises
    ------
    InputError
        If the state cannot be used.
    """
    if isinstance(packed.content, bytes):
        line = parse_line(packed.content, packed.name)
        # A recorded line that names no pending workload is about all of them.
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
    folder: Path,
    max_bytes: int,
    order: Order | None,
    seen: set[tuple[int, int]],
    links: list[Path],
) -> Iterator[Packed]:
    status = folder.stat()
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    shown = (child for child in folder.iterdir() if not child.name.startswith("."))
    children = sorted(shown, key=order)
    lines = [child for child in children if child.name.endswith(LINES)]
    below = [child for child in children if child.is_dir()]
    dumps = [child for child in children if child.is_file() and _is_dump(child)]
    # One by one: a folder of dumps may hold more than is read of one state. Two tell that it does.
    whole = (child for child in dumps if _is_whole(load(child, max_bytes)))
    if len(dumps) > 1 and len([*islice(whole, 2)]) > 1:
        for child in dumps:
            loaded = load(child, max_bytes)
            yield Packed(loaded.name, loaded)
    elif dumps:
        together = load(folder, max_bytes)
        yield Packed(together.name, together)
    elif not (lines or below):
        load(folder, max_bytes)  # says what is missing
    for child in lines:
        yield from packed_states(str(child), max_bytes)
    links += [child for child in below if child.is_symlink()]
    for child in below:
        if not child.is_symlink():
            yield from _in_folder(child, max_bytes, order, seen, links)


def _is_dump(path: Path) -> bool:
    """Say whether a file of this name is read as a dump."""
    return path.name.removesuffix(".gz").endswith(EXTENSIONS)


def _is_whole(source: Source) -> bool:
    """Say whether a file has what makes a state by itself: ClusterQueues and workloads."""
    return any(all(each.search(text.data) for each in _WHOLE) for text in source.texts)


class Named(Protocol):
    """What answers are told apart by."""

    @property
    def name(self) -> str:
        """The name of an objective or an algorithm."""
        ...


NamedT = TypeVar("NamedT", bound=Named)


def each_once(some: Iterable[NamedT], what: str) -> tuple[NamedT, ...]:
    """Return objectives or algorithms, each once, in order; ``what`` says which they are.

    Raises
    ------
    SchemaError
        If two have the same name.
    """
    found: dict[str, NamedT] = {}
    for one in some:
        if found.setdefault(one.name, one) != one:
            raise SchemaError(what, f'two objectives have the name "{one.name}"', "a name for each")
    return tuple(found.values())


AnswerT = TypeVar("AnswerT")
RecordT = TypeVar("RecordT", bound=Record)

_VERSION: Final = version("preemption-planner")


class Settings(Struct, frozen=True):
    """How a batch is run; see `planner.batch.run` for each field."""

    file: Path | None = None
    resume: bool = False
    jobs: int | None = None
    cluster: str | None = None
    cluster_wait: float | None = WAIT_S
    limits: Limits = field(default_factory=Limits)
    watch: Callable[[Progress], None] | None = None
    changed: Callable[[str], None] | None = None
    notice: Callable[[str], None] | None = None

    def run(
        self, tasks: Iterable[Task], work: Work, header: Mapping[str, Any], total: int | None
    ) -> Results:
        """Do the work on every task, as `planner.batch.run` does under these settings."""
        return run(tasks, work, header=header, total=total, **asdict(self))


HERE: Final = Settings(jobs=1)
"""One state after the other, in this process."""


class Asked(Struct, frozen=True, kw_only=True):
    """What every question about states says: the clock, the rules, the pending workload.

    ``rules`` is the side that is taken where YuniKorn's written laws and its code differ.
    ``pending`` is the only workload to answer for, if given. ``assume`` is the user's word that
    what is not modelled decides nothing. ``release`` is the release of Kueue whose rules hold;
    ``auto`` that of each state. ``requests`` is as for ``planner.read``.
    """

    now: datetime | None = None
    rules: str | None = None
    pending: str | None = None
    assume: Assume | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"

    def of_each(
        self,
        instance: Instance,
        given: Given,
        answer: Callable[[Given], AnswerT],
        failures: list[Failure],
    ) -> Iterator[AnswerT]:
        """Yield the answer for every pending workload of a state.

        A workload that cannot be planned for becomes a failure, and does not stop the others.

        Raises
        ------
        InternalError
            If a plan fails its own verification.
        """
        for pending in (self.pending,) if self.pending else instance.pending:
            try:
                found = answer(replace(given, pending=pending))
            except InternalError:
                raise
            except PlannerError as error:
                failures.append(Failure(state=instance.name, pending=pending, detail=str(error)))
            else:
                yield found


QuestionT = TypeVar("QuestionT", bound=Asked)


def sweep(  # noqa: PLR0913, PLR0917 - what a sweep of many states needs
    paths: Sequence[str],
    work: Callable[[Instance, QuestionT], RecordT],
    model: type[RecordT],
    question: QuestionT,
    settings: Settings,
    max_bytes: int,
    kind: str,
    **asked: object,
) -> Iterator[RecordT]:
    """Yield the answer for every state of files and folders.

    The answer for a state that could not be worked on has the failure alone.

    Parameters
    ----------
    work, model
        The function that answers for one state, perhaps in another process, to which it is sent;
        and the class that it returns: a record with the fields ``state`` and ``failures``.
    question, kind, asked
        All that the rows of a results file depend on besides the states themselves. It is the
        first line of that file.

    Raises
    ------
    InputError
        If a file cannot be read, the results file cannot be used, or there is no state at all.
    SchemaError
        If a row of the results file is no ``model``: anybody may have written that file.
    """
    if settings.file is not None:
        # A results file must not be read as states while it grows, without an end.
        target = settings.file.resolve()
        folders = (Path(path).resolve() for path in paths if path != STDIN)
        is_read = target.name.endswith(LINES) or _is_dump(target)
        if is_read and any(target.is_relative_to(one) for one in folders):
            raise InputError(
                str(settings.file),
                "lies where the states are read from, and would be read as one of them",
                "a results file elsewhere",
            )
    packed = (one for path in paths for one in packed_states(path, max_bytes))
    header = {
        "schema": SCHEMA_VERSION,
        "kind": kind,
        "version": _VERSION,
        "states": list(paths),
        "now": None if question.now is None else question.now.isoformat(),
        "release": question.release,
        "requests": question.requests,
        **asked,
        "rules": question.rules,
        "pending": question.pending,
        "assume": question.assume,
    }
    tasks = (Task(one.name, one, one.digest) for one in packed)
    total = count_states(paths) if settings.watch else None
    for row in settings.run(tasks, partial(_answer, work, question), header, total):
        value: Mapping[str, Any] = row.result or {}
        if row.outcome != "done":
            failure = Failure(state=row.key, outcome=row.outcome, detail=row.detail)
            value = {"state": row.key, "failures": (failure,)}
        try:
            yield model.model_validate(value, context=asked)
        except ValidationError as error:
            item = Item(str(settings.file or ""), ("result",), dict(value))
            raise schema_error(item, f"the row of {row.key}", error, error.error_count()) from None


def _answer(
    work: Callable[[Instance, QuestionT], Record], question: QuestionT, packed: Packed
) -> Mapping[str, Any]:
    instance = open_packed(packed, question.release, question.requests)
    return work(instance, question).model_dump(mode="json")
