"""Run: tasks in, rows out, in parallel, from where the last run stopped; and the file of a run.

The file has a header, and a row for every task, as JSON lines.

While the run lasts, rows stand in the order in which they came. At its end the file is written
anew in the order of the tasks, so that a run that was stopped and went on leaves the same bytes
as one that nobody disturbed. A run that was killed in the middle of a row leaves a torn last line,
which is cut off when the run goes on. A row has the digest of its input; where the input has
changed since, a newer row of the same key is written, and the older one is dropped when the file is
written anew.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from math import ceil
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, get_args

from msgspec import Struct, field

from planner.batch.pool import Attempt, Limits, Outcome, Pool, Progress, Row, Task, Work, attempt
from planner.errors import InputError, ParseError, not_json
from planner.garbage import tidy

SYNC_S: Final = 2.0
"""Seconds after which rows are on the disk even if the power fails."""
_OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_FIELDS: Final = frozenset({"key", "digest", "outcome", "detail", "result"})
_ABSENT: Final = object()


class _Place(NamedTuple):
    """The offset of a task's row in the file, its outcome, and the digest of its input."""

    offset: int
    outcome: Outcome
    digest: str


class Results(Struct, frozen=True):
    """The rows of a finished run in the order of the tasks, read from the file one at a time."""

    header: Mapping[str, Any]
    counts: Mapping[Outcome, int]
    source: Path | bytes

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        source = self.source
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
            stream.readline()
            for line in stream:
                yield Row(**json.loads(line))


class Journal:
    """The file of a run: rows as they come, from which a run that was stopped goes on.

    Without a file the rows are kept in memory. Methods that write raise InputError if they cannot.
    ``places`` has the place of each row by the key of its task; a task that is taken out of it gets
    another row.
    """

    def __init__(self, stream: BinaryIO, path: Path | None, header: Mapping[str, Any]) -> None:
        self.places: dict[str, _Place] = {}
        self._stream, self._path, self._header = stream, path, header
        self._synced = time.monotonic()
        self._new = False

    @classmethod
    def open(cls, path: Path | None, header: Mapping[str, Any], *, resume: bool) -> Journal:
        """Begin a file, or go on with one.

        Raises ``InputError`` if the file cannot be written, is there without ``resume``, is in use,
        is not the file of such a run, or is that of another run.
        """
        if path is None:
            journal = cls(io.BytesIO(), None, header)
        else:
            target = path.resolve()  # a link stays a link: what it points to is replaced
            with _writing(path):
                journal = cls(_locked(target, path, resume=resume), target, header)
        try:
            journal._read(str(path))
        except BaseException:
            journal.close()
            raise
        return journal

    def add(self, key: str, found: Attempt, digest: str = "") -> None:
        """Write a row; it is in the file, whole, when this returns."""
        fields = {"key": key, "digest": digest, "outcome": found.outcome, "detail": found.detail}
        # ASCII, which no editor or tool takes for two lines.
        line = f'{json.dumps(fields)[:-1]}, "result": {found.result}}}\n'.encode("ascii")
        with _writing(self._path):
            offset = self._stream.seek(0, os.SEEK_END)
            self.places[key] = _Place(offset, found.outcome, digest)
            self._stream.write(line)
            self._stream.flush()
            if time.monotonic() > self._synced + SYNC_S:
                self._sync()

    def refuse_others(self, mine: Callable[[str], bool]) -> None:
        """Refuse rows of other tasks than those of this run, whose keys are ``mine``.

        Raises ``InputError`` if there are any.
        """
        if strays := [key for key in self.places if not mine(key)]:
            count = "a task" if len(strays) == 1 else f"{len(strays):,} tasks"
            more = f"{count} that this run does not have, such as {strays[0]}"
            hint = "give the input that the run began with, or name another file"
            same = "rows of the same input"
            raise InputError(str(self._path), f"has rows of {more}", same, hint)

    def finish(self, keys: Mapping[str, object]) -> Results:
        """Put the rows into the order of the keys; the file is replaced whole or not at all.

        Raises ``InputError`` if there are rows of other tasks.
        """
        self.refuse_others(keys.__contains__)

        def line_of(key: str) -> bytes:
            self._stream.seek(self.places[key].offset)
            return self._stream.readline()

        lines = map(line_of, keys)
        if self._path is None:
            source: Path | bytes = b"".join((_header_line(self._header), *lines))
        else:
            source = self._path
            with _writing(self._path):
                self._replace(self._path, lines)
                self._new = False
        counts: Counter[Outcome] = Counter(place.outcome for place in self.places.values())
        return Results(self._header, dict(counts), source)

    def close(self) -> None:
        """Close the file, which has whole rows; a new file that got no row is removed."""
        with _writing(self._path), closing(self._stream):
            if self._path is not None and self._new and not self.places:
                self._path.unlink(missing_ok=True)
            else:
                self._sync()

    def _read(self, where: str) -> None:
        """Read the rows of the file; cut off a torn last line, and begin a file that is empty."""
        first = self._stream.readline()
        header = _header_line(self._header)
        if first != header:
            # A torn header is left by a run that was killed at once: the file begins anew.
            if first.endswith(b"\n") or not header.startswith(first):
                where = f"{where}: line 1"
                there, here = _parsed(first, where), json.loads(header)
                at, found, expected = _difference(there, here, "")
                other = f"is the header of another run: {at} is {found}"
                hint = (
                    "give the options and the input that the run began with, or name another file"
                )
                raise InputError(where, other, f"{expected}, as in this run", hint)
            self._new = True
            self._stream.seek(0)
            self._stream.truncate()
            self._stream.write(header)
            self._stream.flush()
            return
        offset = len(header)
        for number, line in enumerate(self._stream, start=2):
            if not line.endswith(b"\n"):
                break
            key, outcome, digest = _read_row(line, f"{where}: line {number}")
            if key in self.places and self.places[key].digest == digest:
                raise InputError(f"{where}: line {number}", f"is a second row of {key}")
            self.places[key] = _Place(offset, outcome, digest)
            offset += len(line)
        self._stream.truncate(offset)

    def _replace(self, path: Path, lines: Iterable[bytes]) -> None:
        sorted_file = path.with_name(f".{path.name[:64]}.sorted")
        sorted_file.unlink(missing_ok=True)  # of a run that was killed right here
        try:
            with sorted_file.open("xb") as stream:
                stream.write(_header_line(self._header))
                stream.writelines(lines)
                stream.flush()
                # Before it replaces the other file: a power failure must not leave an empty one.
                os.fsync(stream.fileno())
            sorted_file.chmod(path.stat().st_mode & 0o777)
            sorted_file.replace(path)
        except BaseException:
            sorted_file.unlink(missing_ok=True)
            raise

    def _sync(self) -> None:
        self._synced = time.monotonic()
        if self._path is not None:
            os.fsync(self._stream.fileno())


def _locked(target: Path, path: Path, *, resume: bool) -> BinaryIO:
    """Open the file for one run alone."""
    if not target.exists():
        stream: BinaryIO = target.open("x+b")
    elif not resume:
        hint = "--resume goes on with it; or name another file"
        raise InputError(str(path), "is there already", hint=hint)
    elif not target.is_file():
        raise InputError(str(path), "is not a file")
    else:
        stream = target.open("r+b")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        if isinstance(error, BlockingIOError):
            raise InputError(str(path), "is being written by another run") from None
        raise
    return stream


@contextmanager
def _writing(path: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror or error}") from None


def _header_line(header: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(header), allow_nan=False).encode("ascii") + b"\n"


def _read_row(line: bytes, where: str) -> tuple[str, Outcome, str]:
    row, expected = _parsed(line, where), ""
    if row.keys() != _FIELDS:
        expected = "key, digest, outcome, detail and result"
    elif not all(isinstance(row[name], str) for name in ("key", "digest", "detail")):
        expected = "text as key, digest and detail"
    elif isinstance(row["result"], dict) != (row["outcome"] == "done"):
        expected = "a result if, and only if, it is done"
    elif row["outcome"] not in _OUTCOMES:
        expected = f"an outcome: {', '.join(_OUTCOMES)}"
    if expected:
        raise InputError(where, "is not a row of a run", expected)
    return row["key"], row["outcome"], row["digest"]


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise not_json(where, error) from None
    if not isinstance(value, dict):
        raise ParseError(where, "is not a JSON object")
    return value


def _difference(there: object, here: object, at: str) -> tuple[str, str, str]:
    """Return where two JSON values first differ, and both in words."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in {**here, **there}:
            one, other = there.get(key, _ABSENT), here.get(key, _ABSENT)
            if one != other:
                return _difference(one, other, f"{at}.{key}" if at else key)
    return at or "the order of the fields", _shown(there), _shown(here)


def _shown(value: object) -> str:
    return "absent" if value is _ABSENT else json.dumps(value)[:200]


CGROUP: Final = Path("/sys/fs/cgroup")
"""Where a container sees its limits."""
_PROCESSOR_TIME: Final = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
"""Microseconds of processor time that a container may have, and per how many: cgroup v2 and v1."""
Watch = Callable[[Progress], None]
Changed = Callable[[str], None]
Workers = Callable[[Iterator[Task], bytes, Limits], Iterator[tuple[str, Attempt]]]
"""What does pickled work elsewhere, as in `planner.wing.Wing.workers`: it yields the key and the
outcome of every task, as they come."""


class NobodyWorksError(InputError):
    """Workers elsewhere were gone for as long as the run may wait; rows that were written stay."""


def cores() -> int:
    """Return how many cores this process may use: affinity and container limits count.

    A container with a limit of 2.5 cores has three.
    """
    mine = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    for files in _PROCESSOR_TIME:
        if all((CGROUP / file).exists() for file in files):
            text = " ".join((CGROUP / file).read_text("ascii") for file in files)
            quota, period = text.split()
            return mine if quota in {"max", "-1"} else min(mine, ceil(int(quota) / int(period)))
    return mine


class Settings(Struct, frozen=True):
    """How a batch is run.

    Rows are written to ``file`` as they come, ``None`` keeps them in memory; ``resume`` goes on
    with the file, if it is there.

    The work is done by ``jobs`` processes on this machine, one core each; never more than cores,
    the default. For 1 without limits, it is done in this very process, which dies if the work kills
    it. With ``workers`` it is done by them. ``limits`` bound what a task may use.

    ``watch`` is called after every row with the progress of the run, of a ``total`` if it is known;
    ``changed`` with the key of every task that is done again, as its row is of another input.
    """

    file: Path | None = None
    resume: bool = False
    jobs: int | None = None
    workers: Workers | None = None
    limits: Limits = field(default_factory=Limits)
    watch: Watch | None = None
    changed: Changed | None = None
    total: int | None = None


def run(
    tasks: Iterable[Task],
    work: Work,
    settings: Settings,
    *,
    header: Mapping[str, Any],
    mine: Callable[[str], bool] | None = None,
) -> Results:
    """Do the work on every task, and return the rows in the order of the tasks.

    Tasks are read one by one, when there is a process for them. Every task gets a row, whatever it
    does. Outcomes that are no results are rows like the others: a run that goes on does not try
    these tasks again, unless a task has another digest now.

    ``header`` is a JSON object, the first line of the file: what the file is (schema, kind) and all
    that defines the rows (input, options, limits, version). A run goes on only under the same
    header. ``mine`` says whether a key may be that of a task: a file with rows of others is refused
    before any work.

    Raises ``InputError`` if a key comes twice, ``jobs`` is less than 1 or given along with
    workers, the file cannot be used (see Journal.open), or the workers cannot.
    Rows that were written stay.
    """
    file, jobs, total = settings.file, settings.jobs, settings.total
    if jobs is not None and (jobs < 1 or settings.workers is not None):
        said = f"{jobs} is less than 1" if jobs < 1 else "is for this machine, not for a cluster"
        raise InputError("--jobs", said)
    _take_free_streams()
    with closing(Journal.open(file, header, resume=settings.resume)) as journal:
        if mine is not None:
            journal.refuse_others(mine)
        digests: dict[str, str] = {}
        ahead = _without_row(tasks, journal, digests, settings.changed)
        begun = time.monotonic()
        try:
            with closing(_attempts(ahead, work, settings)) as attempts:
                for number, (key, found) in enumerate(attempts, start=1):
                    journal.add(key, found, digests[key])
                    if settings.watch is not None:
                        seconds = time.monotonic() - begun
                        settings.watch(Progress(len(journal.places), total, number / seconds))
        except NobodyWorksError as error:
            done = len(journal.places)
            missing = f"{done:,} states are done"
            if total is not None:
                missing = f"{total - done:,} of {total:,} states are not done"
            kept = f"{file} has what is done" if file else "--results FILE keeps what is done"
            said, hint = f"{error.found}; {missing}", f"{kept}; --resume goes on with it"
            raise NobodyWorksError(error.where, said, hint=hint) from None
        return journal.finish(digests)


def _take_free_streams() -> None:
    """Open the null device in place of each standard stream that is closed.

    Otherwise the file of the run could become that stream, and get what libraries print.
    """
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            # It gets the lowest free number, which is this stream's, also in our processes.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003


def _attempts(
    tasks: Iterator[Task], work: Work, settings: Settings
) -> Generator[tuple[str, Attempt]]:
    """Yield outcomes as they come, of workers, this process or a pool; closing ends the work."""
    jobs, limits = settings.jobs, settings.limits
    if settings.workers is not None:
        yield from settings.workers(tasks, pickle.dumps(work), limits)
    elif jobs == 1 and not limits.given:
        # Nothing guards against what kills the process.
        for number, task in enumerate(tasks, start=1):
            yield task.key, attempt(work, task.payload)
            tidy(number)
    else:
        with closing(Pool(pickle.dumps(work), min(jobs or cores(), cores()), limits)) as pool:
            yield from pool.run_tasks(tasks)


def _without_row(
    tasks: Iterable[Task], journal: Journal, digests: dict[str, str], changed: Changed | None
) -> Iterator[Task]:
    """Yield tasks without a row, or with a row of another input; note the digests of all tasks."""
    for task in tasks:
        if task.key in digests:
            raise InputError(task.key, "is there twice", hint="give every state once")
        digests[task.key] = task.digest
        if (place := journal.places.get(task.key)) is not None:
            if place.digest == task.digest:
                continue
            del journal.places[task.key]
            if changed is not None:
                changed(task.key)
        yield task
