"""From the files of public traces to jobs: Microsoft's Philly clusters, and Alibaba's openb.

Files are CSV with a header, no quoted line breaks, UTF-8, gzip or not. They are read one row at a
time, never more than one line in memory, and every error names a place.

Each draw is made of the seed and the names of what it decides, never of a running generator: the
order of rows, the number of states, and options about other things do not change it.

Philly. Columns: ``timestamp`` (of the submission, UTC), ``duration`` (seconds), ``num_gpus``,
``cluster`` (the virtual cluster: a ClusterQueue). A job counts as started when it was submitted.

Source: msr-fiddle/philly-traces (Jeon et al., ATC'19); flattened by petuum/adaptdl @ de25dcc9,
simulator/traces/philly.csv.

Openb. Columns of the pods: ``name``, ``cpu_milli``, ``memory_mib``, ``num_gpu``, ``qos``,
``scheduled_time`` and ``deletion_time`` (seconds, here since 2023-01-01 UTC). Pods that were
never scheduled are left out. A share of a GPU counts as a whole GPU: quota is in whole devices.
Columns of the nodes: ``cpu_milli``, ``memory_mib``, ``gpu``, ``model``: a ResourceFlavor is a GPU
model. The model of a pod is drawn, from those in ``gpu_spec`` if it names any, by their GPUs.

Source: alibaba/clusterdata @ 7a6c496e, cluster-trace-gpu-v2023 (Weng et al., ATC'23).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import astuple

from planner.commands.replay.comparison import read_lines
from planner.errors import InputError, ParseError, SchemaError
from planner.reader.show import shown
from planner.stage import begin, going_on

T = TypeVar("T")

_BITS: Final = 52
"""Bits of a draw: so few that a half added to their number is still exact in a float."""


def draw(*names: object) -> float:
    """Return a number of the uniform distribution, more than 0 and less than 1."""
    digest = blake2b("/".join(map(str, names)).encode(), digest_size=8).digest()
    number: float = ((int.from_bytes(digest) >> (64 - _BITS)) + 0.5) / 2**_BITS
    return number


def between(low: float, high: float, *names: object) -> float:
    """Return a number of the uniform distribution between two others."""
    return low + (high - low) * draw(*names)


def choose(values: Sequence[T], *names: object) -> T:
    """Return one of the values, each as likely as the others."""
    return values[int(draw(*names) * len(values))]


def weighted(weights: Mapping[T, float], *names: object) -> T:
    """Return one of the values, each as likely as its weight says; not all weights may be 0."""
    left = draw(*names) * sum(weights.values())
    likely = [value for value, weight in weights.items() if weight > 0]
    for value in likely:
        left -= weights[value]
        if left < 0:
            return value
    return likely[-1]


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Divide a whole number in proportion to weights, equally if all are 0.

    The parts are whole and add up to ``total``: the largest remainders get what rounding leaves.
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
    """Return the unit in which quota of a resource is divided: a core, a GiB, a device."""
    return _STEPS.get(resource, 1)


class Job(Struct, frozen=True):
    """A job or pod that ran; ``line`` is its line in the file, which no other job has.

    ``gpus``, ``cpu_milli`` and ``memory``, in bytes, are of all its pods together; a share of a GPU
    counts as a whole GPU. ``is_gang`` says whether a job of more than 8 GPUs has pods of 8, instead
    of a single pod, ``is_training`` whether it may write checkpoints. ``start`` and ``duration``
    are in seconds, the start since 1970.
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


OnBad = Callable[[SchemaError], None]

MAX_LINE: Final = 64 * 2**10
"""The longest line that is read, in bytes; lines of the known traces have about 100."""

MOST_SECONDS: Final = 10**10
"""Some 317 years: with it, no date that is made of a row leaves the calendar."""

_WHOLE: Final = re.compile(r"[0-9]{1,12}")
_NUMBER: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?")
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?")
NAME: Final = "at most 53 small letters, digits and dashes, as in the name of an object"


class Row(Struct, frozen=True):
    """One row: its file, its line (the header is 1), and the text of each column.

    The methods that read a column raise SchemaError if its text is not what they return.
    """

    path: str
    line: int
    fields: dict[str, str]

    def whole(self, column: str, most: int) -> int:
        """Return a whole number from 0 to ``most``; ``12.0`` is not a whole number here."""
        text = self.fields[column]
        value = int(text) if _WHOLE.fullmatch(text) else -1
        if not 0 <= value <= most:
            raise self.bad(column, f"a whole number from 0 to {most}")
        return value

    def seconds(self, column: str) -> float:
        """Return a time or duration in seconds."""
        text = self.fields[column]
        value = float(text) if _NUMBER.fullmatch(text) else -1
        if not 0 <= value <= MOST_SECONDS:
            raise self.bad(column, f"a number of seconds from 0 to {MOST_SECONDS}")
        return value

    def moment(self, column: str) -> float:
        """Return a date and time as seconds since 1970; without a time zone it is UTC."""
        try:
            moment = datetime.fromisoformat(self.fields[column])
            value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            value = -1
        if not 0 <= value <= MOST_SECONDS:
            raise self.bad(column, "a date and time since 1970, such as 2017-10-09 07:01:55")
        return value

    def name(self, column: str) -> str:
        """Return a text that may be the name of an object."""
        text = self.fields[column]
        if not _NAME.fullmatch(text):
            raise self.bad(column, NAME)
        return text

    def bad(self, column: str, expected: str, found: str = "") -> SchemaError:
        """Return the error about a column; ``found`` says what is wrong, by default the value."""
        where = f"{self.path}: line {self.line}, column {column}"
        return SchemaError(where, found or f"{shown(self.fields[column])} stands here", expected)


def usable(
    path: str, columns: Sequence[str], use: Callable[[Row], T], on_bad: OnBad | None = None
) -> Iterator[T | None]:
    """Yield what ``use`` makes of each row, None for a row that cannot be used.

    ``columns`` are the columns that are read. ``use`` raises SchemaError for a row that it cannot
    use. ``on_bad`` is called with each such error; without it the first of them is raised.

    Raises ``InputError`` if the file cannot be read, its header lacks a column, it has a line
    longer than MAX_LINE, or a row cannot be used.
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
    """Yield the rows of a file; for a row that is not CSV, or too short or long, its error."""
    if not path or (Path(path).exists() and not Path(path).is_file()):
        raise InputError(
            path or "the empty name",
            "is not a file",
            "a file of CSV: it may be read more than once",
        )
    wanted = f"a header with the columns {', '.join(columns)}"
    lines = read_lines(path, None, MAX_LINE)
    first = next(lines, None)
    if first is None:
        raise ParseError(path, "the file is empty", wanted)
    header = _fields(*first)
    places = {name: header.index(name) for name in columns if name in header}
    if missing := [name for name in columns if name not in places]:
        where, found = f"{path}: line {first[0]}", f"there is no column {', '.join(missing)}"
        raise SchemaError(where, found, wanted)
    for number, data in lines:
        fields = _fields(number, data)
        if len(fields) == len(header):
            yield Row(path, number, {name: fields[place] for name, place in places.items()})
        else:
            found = f"{len(fields)} fields stand here" if fields else "is not a row of CSV in UTF-8"
            yield SchemaError(f"{path}: line {number}", found, f"{len(header)} fields, as line 1")


def _fields(number: int, data: bytes) -> list[str]:
    try:
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
        return next(csv.reader((text,), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return []


FLAVOR: Final = "default"
MOST_GPUS: Final = 100_000
MOST_MILLI: Final = 10**9
MOST_MIB: Final = 10**9
MIB: Final = 2**20
MOST_SHAPES: Final = 1000
WHOLE_GPU_MILLI: Final = 1000

PRIORITIES: Final[Mapping[int, float]] = {0: 0.5, 50: 0.3, 100: 0.2}
"""The priorities that jobs may have, and how likely each is: the trace has none."""


class Philly(Struct, frozen=True):
    """How rows of the Philly trace become jobs.

    ``seed`` is for drawing priorities and shapes. ``priorities`` are weights by priority: each job
    has one drawn by virtual cluster and line. ``shapes`` are milli-cores and bytes for each GPU,
    one of which is drawn for a job; without any, jobs request GPUs only.
    """

    name: ClassVar[str] = "philly"
    columns: ClassVar[tuple[str, ...]] = ("timestamp", "duration", "num_gpus", "cluster")
    usual_sampling: ClassVar[Sampling] = "running"
    seed: int = 0
    priorities: Mapping[int, float] = field(default_factory=lambda: PRIORITIES)
    shapes: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Refuse weights that are negative or all 0, with an InputError."""
        weights = self.priorities.values()
        if not any(weights) or min(weights) < 0:
            expected = "numbers from 0 on, not all 0"
            raise InputError("priorities", "the weights cannot be used", expected)

    def node_labels(self, _: str) -> dict[str, str]:
        """Return no labels: the trace does not say which GPUs there were."""
        return {}

    def capacity(self, _: str, __: int) -> dict[str, int]:
        """Return no amounts: the trace does not say how much cpu and memory there was."""
        return {}

    def job(self, row: Row) -> Job:
        """Return the job of a row; SchemaError if a value in the row cannot be used."""
        queue = row.name("cluster")
        gpus = row.whole("num_gpus", MOST_GPUS)
        if not gpus:
            raise row.bad("num_gpus", "1 or more")
        cpu_milli, memory = 0, 0
        if self.shapes:
            cpu_milli, memory = choose(self.shapes, self.seed, "shape", row.line)
        return Job(
            line=row.line,
            name=f"job-{row.line}",
            queue=queue,
            flavor=FLAVOR,
            gpus=gpus,
            cpu_milli=cpu_milli * gpus,
            memory=memory * gpus,
            priority=weighted(self.priorities, self.seed, "priority", queue, row.line),
            is_gang=True,
            is_training=True,
            start=row.moment("timestamp"),
            duration=row.seconds("duration"),
        )


def read_shapes(
    path: str, seed: int = 0, on_bad: OnBad | None = None
) -> tuple[tuple[int, int], ...]:
    """Return milli-cores and bytes for each GPU of up to 1000 pods of an openb pod list.

    Pods without a whole GPU are left out; of more than 1000, a sample is drawn. ``on_bad`` and
    errors are as of `usable`; InputError, too, if there is no such pod.
    """
    kept: list[tuple[float, tuple[int, int]]] = []

    def entry(row: Row) -> tuple[float, tuple[int, int]] | None:
        gpus = row.whole("num_gpu", MOST_GPUS)
        cpu, memory = row.whole("cpu_milli", MOST_MILLI), row.whole("memory_mib", MOST_MIB) * MIB
        if not gpus or row.whole("gpu_milli", MOST_MILLI) < WHOLE_GPU_MILLI:
            return None
        return draw(seed, "shapes", row.line), (cpu // gpus, memory // gpus)

    pods = usable(path, ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli"), entry, on_bad)
    for one in filter(None, pods):
        kept.append(one)
        if len(kept) >= 2 * MOST_SHAPES:
            kept = sorted(kept)[:MOST_SHAPES]
    if not kept:
        raise InputError(path, "no pod has a whole GPU", "an openb pod list")
    return tuple(shape for _, shape in sorted(kept)[:MOST_SHAPES])


EPOCH: Final = 1_672_531_200
"""2023-01-01T00:00:00Z, in seconds since 1970: second 0 of the trace, by our choice."""

QOS: Final[Mapping[str, int]] = {"Guaranteed": 1000, "LS": 200, "Burstable": 100, "BE": 0}
"""The priority of each QoS class."""

TRAINING: Final = ("Burstable", "BE")
"""The QoS classes whose pods may write checkpoints; pods of the other classes serve."""

MODEL_LABEL: Final = "alibabacloud.com/gpu-card-model"
MOST_MODELS: Final = 100


class Model(Struct, frozen=True):
    """What the nodes with a GPU model have in all: devices, milli-cores, bytes."""

    gpus: int
    cpu_milli: int
    memory: int


class Openb(Struct, frozen=True):
    """How rows of the openb trace become jobs.

    ``models`` are the GPU models by name, as `read_nodes` returns them. With ``queue_by`` name,
    a hash of a pod's name chooses one of ``queues`` ClusterQueues; with class, each QoS class and
    GPU model has its own.
    """

    name: ClassVar[str] = "openb"
    columns: ClassVar[tuple[str, ...]] = (
        *("name", "cpu_milli", "memory_mib", "num_gpu"),
        *("gpu_spec", "qos", "deletion_time", "scheduled_time"),
    )
    usual_sampling: ClassVar[Sampling] = "drawn"
    models: Mapping[str, Model]
    seed: int = 0
    queues: int = 20
    queue_by: Literal["name", "class"] = "name"

    def node_labels(self, flavor: str) -> dict[str, str]:
        """Return the label with the model."""
        return {MODEL_LABEL: flavor}

    def capacity(self, flavor: str, gpus: int) -> dict[str, int]:
        """Return how much cpu and memory the nodes of a model have beside so many GPUs."""
        model = self.models[flavor]
        beside = {"cpu": model.cpu_milli, "memory": model.memory}
        return {name: amount * gpus // model.gpus for name, amount in beside.items()}

    def job(self, row: Row) -> Job | None:
        """Return the pod of a row, None if it never was scheduled; errors as of `Philly.job`."""
        if not row.fields["scheduled_time"]:
            return None
        name, qos = row.name("name"), row.fields["qos"]
        if qos not in QOS:
            raise row.bad("qos", f"one of {', '.join(QOS)}")
        start, end = row.seconds("scheduled_time"), row.seconds("deletion_time")
        if end < start:
            raise row.bad("deletion_time", "a time not before scheduled_time")
        permitted = [model for model in row.fields["gpu_spec"].split("|") if model]
        if unknown := [model for model in permitted if model.lower() not in self.models]:
            raise row.bad("gpu_spec", f"models of the nodes: {', '.join(self.models)}", unknown[0])
        names = [model.lower() for model in permitted] or list(self.models)
        flavor = weighted({model: self.models[model].gpus for model in names}, self.seed, name)
        queue = f"queue-{int(draw(self.seed, 'queue', name) * self.queues) + 1:02d}"
        return Job(
            line=row.line,
            name=name,
            queue=f"{qos.lower()}-{flavor}" if self.queue_by == "class" else queue,
            flavor=flavor,
            gpus=row.whole("num_gpu", MOST_GPUS),
            cpu_milli=row.whole("cpu_milli", MOST_MILLI),
            memory=row.whole("memory_mib", MOST_MIB) * MIB,
            priority=QOS[qos],
            is_gang=False,
            is_training=qos in TRAINING,
            start=EPOCH + start,
            duration=end - start,
        )


Trace = Philly | Openb


def read_nodes(path: str, on_bad: OnBad | None = None) -> dict[str, Model]:
    """Return the GPU models of a node list, their names in small letters, largest first.

    ``on_bad`` and errors are as of `usable`; InputError, too, if no node has a GPU.
    """

    def node(row: Row) -> tuple[str, Model]:
        row.fields["model"] = row.fields["model"].lower()
        gpus, cpu_milli = row.whole("gpu", MOST_GPUS), row.whole("cpu_milli", MOST_MILLI)
        memory = row.whole("memory_mib", MOST_MIB) * MIB
        return row.name("model"), Model(gpus, cpu_milli, memory)

    totals: dict[str, Model] = {}
    nodes = usable(path, ("cpu_milli", "memory_mib", "gpu", "model"), node, on_bad)
    for name, more in filter(None, nodes):
        one = totals.get(name, Model(0, 0, 0))
        totals[name] = Model(*(a + b for a, b in zip(astuple(one), astuple(more), strict=True)))
        if len(totals) > MOST_MODELS:
            raise InputError(path, f"there are more than {MOST_MODELS} models", "a few GPU models")
    models = {name: total for name, total in totals.items() if total.gpus}
    if not models:
        raise InputError(path, f"no node has a GPU ({GPU})", "an openb node list")
    return dict(sorted(models.items(), key=lambda item: -item[1].gpus))
