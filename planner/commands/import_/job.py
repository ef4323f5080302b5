"""A job of a trace, the rows it comes from, what can be set, and draws that never change.

Rows are read from a CSV file one at a time: never more than one line in memory, and every error a
place. The files are those of public traces: a header, no quoted line breaks, UTF-8, gzip or not.

Each draw goes by the seed and the names of what it decides, never from a running generator: the
order of rows, how many states are asked for, and options about other things change nothing.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal, Protocol, TypeVar

from planner.commands.replay.comparison import read_lines
from planner.dump import Policies
from planner.errors import InputError, ParseError, SchemaError
from planner.reader.show import shown
from planner.stage import begin, going_on

Used = TypeVar("Used")
OnBad = Callable[[SchemaError], None]

MAX_LINE: Final = 64 * 2**10
"""The longest line that is read, in bytes; those of the known traces have about 100."""

MOST_SECONDS: Final = 10**10
"""Some 317 years: with it, no date that is made of a row leaves the calendar."""

_WHOLE: Final = re.compile(r"[0-9]{1,12}")
_NUMBER: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?")
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?")
NAME: Final = "at most 53 small letters, digits and dashes, as in the name of an object"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its file, its line (the header is 1), and the text of each column."""

    path: str
    line: int
    fields: dict[str, str]

    def whole(self, column: str, most: int) -> int:
        """Return a whole number from 0 to ``most``; ``12.0`` is none.

        Raises
        ------
        SchemaError
            If something else stands there.
        """
        text = self.fields[column]
        value = int(text) if _WHOLE.fullmatch(text) else -1
        if not 0 <= value <= most:
            raise self.bad(column, f"a whole number from 0 to {most}")
        return value

    def seconds(self, column: str) -> float:
        """Return a time or duration in seconds.

        Raises
        ------
        SchemaError
            If something else stands there.
        """
        text = self.fields[column]
        value = float(text) if _NUMBER.fullmatch(text) else -1
        if not 0 <= value <= MOST_SECONDS:
            raise self.bad(column, f"a number of seconds from 0 to {MOST_SECONDS}")
        return value

    def moment(self, column: str) -> float:
        """Return a date and time as seconds since 1970; without a time zone it is UTC.

        Raises
        ------
        SchemaError
            If something else stands there.
        """
        try:
            moment = datetime.fromisoformat(self.fields[column])
            value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            value = -1
        if not 0 <= value <= MOST_SECONDS:
            raise self.bad(column, "a date and time since 1970, such as 2017-10-09 07:01:55")
        return value

    def name(self, column: str) -> str:
        """Return what may be the name of an object.

        Raises
        ------
        SchemaError
            If it may not.
        """
        text = self.fields[column]
        if not _NAME.fullmatch(text):
            raise self.bad(column, NAME)
        return text

    def one_of(self, column: str, values: Sequence[str]) -> str:
        """Return one of some words.

        Raises
        ------
        SchemaError
            If it is another.
        """
        text = self.fields[column]
        if text not in values:
            raise self.bad(column, f"one of {', '.join(values)}")
        return text

    def bad(self, column: str, expected: str, found: str = "") -> SchemaError:
        """Return the error about a column; ``found`` says what is wrong, the value if empty."""
        where = f"{self.path}: line {self.line}, column {column}"
        return SchemaError(where, found or f"{shown(self.fields[column])} stands here", expected)


def usable(
    path: str, columns: Sequence[str], use: Callable[[Row], Used], on_bad: OnBad | None = None
) -> Iterator[Used | None]:
    """Yield what each row is used for, None for one that cannot be used.

    Parameters
    ----------
    columns
        Those that are read; others are ignored.
    use
        It raises SchemaError for a row that it cannot use.
    on_bad
        Told of each row that cannot be used; without it the first is an error.

    Raises
    ------
    InputError
        If the file cannot be read, has no such header, has a line longer than MAX_LINE, or a row
        cannot be used.
    """
    begin(f"reading {path}")
    for row in _rows(path, columns):
        going_on()
        try:
            if isinstance(row, SchemaError):
                raise row
            yield use(row)
        except SchemaError as error:
            if on_bad is None:
                raise
            on_bad(error)
            yield None


def _rows(path: str, columns: Sequence[str]) -> Iterator[Row | SchemaError]:
    """Yield the rows of a file; for one that is not CSV, or too short or long, its error."""
    if Path(path).exists() and not Path(path).is_file():
        raise InputError(path, "is not a file", "a file of CSV: it may be read more than once")
    lines = read_lines(path, None, MAX_LINE)
    first = next(lines, None)
    if first is None:
        raise ParseError(path, "the file is empty", _header(columns))
    header = _fields(*first)
    places = {name: header.index(name) for name in columns if name in header}
    if missing := [name for name in columns if name not in places]:
        where, found = f"{path}: line {first[0]}", f"there is no column {', '.join(missing)}"
        raise SchemaError(where, found, _header(columns))
    for number, data in lines:
        fields = _fields(number, data)
        if len(fields) == len(header):
            yield Row(path, number, {name: fields[place] for name, place in places.items()})
        else:
            found = f"{len(fields)} fields stand here" if fields else "is not a row of CSV in UTF-8"
            yield SchemaError(f"{path}: line {number}", found, f"{len(header)} fields, as line 1")


def _fields(number: int, data: bytes) -> list[str]:
    """Return the fields of a line, none if it is not CSV in UTF-8."""
    try:
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
        return next(csv.reader((text,), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return []


def _header(columns: Sequence[str]) -> str:
    return f"a header with the columns {', '.join(columns)}"


T = TypeVar("T")

_BITS: Final = 52
"""So many that a half more is still exact in a float."""


def draw(*names: object) -> float:
    """Return a number of the uniform distribution, more than 0 and less than 1."""
    digest = blake2b("/".join(map(str, names)).encode(), digest_size=8).digest()
    number: float = ((int.from_bytes(digest) >> (64 - _BITS)) + 0.5) / 2**_BITS
    return number


def between(low: float, high: float, *names: object) -> float:
    """Return a number of the uniform distribution between two others."""
    return low + (high - low) * draw(*names)


def choose(values: Sequence[T], *names: object) -> T:
    """Return one of some values, each as likely as the others."""
    return values[int(draw(*names) * len(values))]


def weighted(weights: Mapping[T, float], *names: object) -> T:
    """Return one of some values, as likely as its weight says; not all weights may be 0."""
    left = draw(*names) * sum(weights.values())
    likely = [value for value, weight in weights.items() if weight > 0]
    for value in likely:
        left -= weights[value]
        if left < 0:
            return value
    return likely[-1]


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Divide a whole number in proportion to weights, equally if all are 0.

    The parts are whole and add up to it: largest remainders get what rounding leaves.
    """
    if not any(weights):
        weights = [1.0] * len(weights)
    exact = [total * (weight / sum(weights)) for weight in weights]
    parts = [int(part) for part in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: total - sum(parts)]:
        parts[i] += 1
    return parts


Sampling = Literal["running", "drawn"]
GPU: Final = "nvidia.com/gpu"
GPUS_PER_NODE: Final = 8
_STEPS: Final = {"cpu": 1000, "memory": 2**30}


def step(resource: str) -> int:
    """Return what quota is divided in: a core, a GiB, a device."""
    return _STEPS.get(resource, 1)


@dataclass(frozen=True, slots=True)
class Job:
    """A job or pod that ran.

    Attributes
    ----------
    line
        Of the file; no other job has it.
    gpus, cpu_milli, memory
        Of all its pods together; memory in bytes. A share of a GPU counts as a whole one.
    is_gang
        Whether more than 8 GPUs are pods of 8; otherwise it is one pod.
    is_training
        Whether it may write checkpoints.
    start, duration
        In seconds; the start since 1970.
    """

    line: int
    name: str
    queue: str
    flavor: str
    gpus: int
    cpu_milli: int
    memory: int
    priority: int
    is_gang: bool
    is_training: bool
    start: float
    duration: float

    @property
    def requests(self) -> dict[str, int]:
        """Return its amounts by resource, those of 0 left out."""
        amounts = {"cpu": self.cpu_milli, "memory": self.memory, GPU: self.gpus}
        return {resource: amount for resource, amount in amounts.items() if amount}


class Trace(Protocol):
    """A public trace: its columns, and what its rows mean."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        ...

    @property
    def usual_sampling(self) -> Sampling:
        """How its states are sampled unless somebody says otherwise."""
        ...

    def node_labels(self, flavor: str) -> dict[str, str]:
        """Return the labels of a flavor's nodes, which its pods select; none if there are none."""
        ...

    def capacity(self, flavor: str, gpus: int) -> dict[str, int]:
        """Return how much cpu and memory stands beside so many GPUs; nothing if nobody knows."""
        ...

    def job(self, row: Row) -> Job | None:
        """Return the job of a row, None if it never ran.

        Raises
        ------
        SchemaError
            If something in it cannot be used.
        """


GANGS: Final = (8, 16, 32, 64, 128, 512)
PREEMPTOR_PRIORITIES: Final = (100, 200, 1000)


@dataclass(frozen=True)
class Knobs:
    """Everything about a state but the trace itself and the instant.

    Attributes
    ----------
    seed
        Of every draw.
    workloads
        How many workloads hold quota, at most.
    sampling
        ``running`` or ``drawn``, see `planner.commands.import_.sample.sampled`; by default what
        is usual for the trace.
    factor
        Bounds of the factor that is drawn for each ClusterQueue: so many times what it uses is
        its nominal quota, before the rest of the cluster is shared out.
    utilisation
        What is used of the GPUs, more than 0 and at most 1.
    borrowing_limited, lending_limited
        How likely a ClusterQueue has a borrowing limit, and a lending limit.
    levels
        1: all ClusterQueues in one cohort. 2: in three cohorts by size, below one.
    policies
        The preemption policies of all ClusterQueues.
    fair
        Whether fair sharing is on.
    checkpointing
        How likely a training job with a GPU writes checkpoints.
    gangs, preemptor_priorities
        GPUs and priority of a preemptor: one of each is drawn.
    preemptors
        How many pending workloads there are.
    """

    seed: int = 0
    workloads: int = 1000
    sampling: Sampling | None = None
    factor: tuple[float, float] = (0.55, 1.15)
    utilisation: float = 1.0
    borrowing_limited: float = 0.5
    lending_limited: float = 0.2
    levels: int = 1
    policies: Policies = field(default_factory=Policies)
    fair: bool = False
    checkpointing: float = 0.4
    gangs: tuple[int, ...] = GANGS
    preemptor_priorities: tuple[int, ...] = PREEMPTOR_PRIORITIES
    preemptors: int = 1

    def __post_init__(self) -> None:
        """Refuse what no state can be made with.

        Raises
        ------
        InputError
            If a knob is out of its range.
        """
        low, high = self.factor
        shares = (self.borrowing_limited, self.lending_limited, self.checkpointing)
        are_shares = all(0 <= share <= 1 for share in shares)
        wishes = (
            ("workloads", self.workloads >= 1, "1 or more"),
            ("factor", 0 <= low <= high < math.inf, "two numbers from 0 on, the lower one first"),
            ("utilisation", 0 < self.utilisation <= 1, "more than 0 and at most 1"),
            ("borrowing_limited, lending_limited, checkpointing", are_shares, "0 to 1"),
            ("levels", self.levels in {1, 2}, "1 or 2"),
            ("gangs", bool(self.gangs) and min(self.gangs) >= 1, "one size or more, in GPUs"),
            ("preemptor_priorities", bool(self.preemptor_priorities), "one priority or more"),
            ("preemptors", self.preemptors >= 1, "1 or more"),
        )
        for name, is_kept, expected in wishes:
            if not is_kept:
                values = ", ".join(repr(getattr(self, each)) for each in name.split(", "))
                raise InputError(name, f"{values} cannot be used", expected)


@dataclass(frozen=True)
class Setting:
    """A trace at an instant.

    Attributes
    ----------
    work
        GPU-seconds by queue and flavor of the whole trace; its queues are the ClusterQueues.
    instant
        In seconds since 1970.
    """

    trace: Trace
    work: Mapping[tuple[str, str], int]
    instant: int
    knobs: Knobs

    def names(self, purpose: str, *of: object) -> tuple[object, ...]:
        """Return what a draw is for, as `planner.commands.import_.job` wants it."""
        return (self.knobs.seed, purpose, self.instant, *of)
