"""The traces of Microsoft's Philly clusters and of Alibaba's openb, as jobs.

Philly. Columns: ``timestamp`` (of the submission, UTC), ``duration`` (seconds), ``num_gpus``,
``cluster`` (the virtual cluster: a ClusterQueue). A job counts as started when it was submitted.

Source: msr-fiddle/philly-traces (Jeon et al., ATC'19); flattened by petuum/adaptdl @ de25dcc9,
simulator/traces/philly.csv.

Openb. Columns of the pods: ``name``, ``cpu_milli``, ``memory_mib``, ``num_gpu``, ``qos``,
``scheduled_time`` and ``deletion_time`` (seconds, here since 2023-01-01 UTC). Pods that were
never scheduled are left out. A share of a GPU counts as a whole one: a device is what quota is
in. Columns of the nodes: ``cpu_milli``, ``memory_mib``, ``gpu``, ``model``: a ResourceFlavor is
a GPU model. Which model a pod runs on is drawn by the GPUs there are, unless ``gpu_spec`` says.

Source: alibaba/clusterdata @ 7a6c496e, cluster-trace-gpu-v2023 (Weng et al., ATC'23).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from msgspec import Struct, field
from msgspec.structs import astuple

from planner.commands.import_.job import GPU, Job, Sampling, choose, draw, weighted
from planner.commands.import_.rows import OnBad, Row, usable
from planner.errors import InputError

FLAVOR: Final = "default"
MOST_GPUS: Final = 100_000
MOST_MILLI: Final = 10**9
MOST_MIB: Final = 10**9
MIB: Final = 2**20
MOST_SHAPES: Final = 1000
WHOLE_GPU_MILLI: Final = 1000

PRIORITIES: Final[Mapping[int, float]] = {0: 0.5, 50: 0.3, 100: 0.2}
"""Which priorities jobs have, and how likely: the trace has none."""


class Philly(Struct, frozen=True):
    """How rows become jobs.

    ``seed`` is that of the priorities and shapes. ``priorities`` are weights by priority, drawn by
    virtual cluster and line. ``shapes`` are milli-cores and bytes for each GPU, of which a job has
    one; without any, jobs request GPUs only.
    """

    name: ClassVar[str] = "philly"
    columns: ClassVar[tuple[str, ...]] = ("timestamp", "duration", "num_gpus", "cluster")
    usual_sampling: ClassVar[Sampling] = "running"
    seed: int = 0
    priorities: Mapping[int, float] = field(default_factory=lambda: PRIORITIES)
    shapes: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Refuse weights that say nothing, with an InputError."""
        weights = self.priorities.values()
        if not any(weights) or min(weights) < 0:
            expected = "numbers from 0 on, not all 0"
            raise InputError("priorities", "the weights cannot be used", expected)

    def node_labels(self, flavor: str) -> dict[str, str]:
        """Return none: the trace does not say which GPUs there were."""
        del flavor
        return {}

    def capacity(self, flavor: str, gpus: int) -> dict[str, int]:
        """Return nothing: the trace does not say what stood beside the GPUs."""
        del flavor, gpus
        return {}

    def job(self, row: Row) -> Job:
        """Return the job of a row; SchemaError if something in it cannot be used."""
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
"""2023-01-01T00:00:00Z, in seconds since 1970: where the seconds of the trace start here."""

QOS: Final[Mapping[str, int]] = {"Guaranteed": 1000, "LS": 200, "Burstable": 100, "BE": 0}
"""The priority of each class."""

TRAINING: Final = ("Burstable", "BE")
"""The classes whose pods may write checkpoints; the others serve."""

MODEL_LABEL: Final = "alibabacloud.com/gpu-card-model"
MOST_MODELS: Final = 100

QueueBy = Literal["name", "class"]


class Model(Struct, frozen=True):
    """What the nodes with a GPU model have in all: devices, milli-cores, bytes."""

    gpus: int
    cpu_milli: int
    memory: int


class Openb(Struct, frozen=True):
    """How rows become jobs.

    ``models`` are the GPU models by name, as `read_nodes` returns them. ``queue_by`` name: a hash
    of the pod's name into ``queues`` ClusterQueues; class: one for each QoS class and GPU model.
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
    queue_by: QueueBy = "name"

    def node_labels(self, flavor: str) -> dict[str, str]:
        """Return the label with the model."""
        return {MODEL_LABEL: flavor}

    def capacity(self, flavor: str, gpus: int) -> dict[str, int]:
        """Return how much cpu and memory the nodes of a model have beside so many GPUs."""
        model = self.models[flavor]
        beside = {"cpu": model.cpu_milli, "memory": model.memory}
        return {name: amount * gpus // model.gpus for name, amount in beside.items()}

    def job(self, row: Row) -> Job | None:
        """Return the pod of a row, None if it never was scheduled; errors as those of Philly."""
        if not row.fields["scheduled_time"]:
            return None
        name, qos = row.name("name"), row.one_of("qos", tuple(QOS))
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
