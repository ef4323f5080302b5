"""The Philly trace of Microsoft, flattened: one row a job.

Columns: ``timestamp`` (of the submission, UTC), ``duration`` (seconds), ``num_gpus``, ``cluster``
(the virtual cluster: a ClusterQueue). A job counts as started when it was submitted.

Source: msr-fiddle/philly-traces (Jeon et al., ATC'19); flattened by petuum/adaptdl @ de25dcc9,
simulator/traces/philly.csv.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from planner.commands.import_.draw import choose, draw, weighted
from planner.commands.import_.job import Job, Sampling
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


@dataclass(frozen=True)
class Philly:
    """How rows become jobs.

    Attributes
    ----------
    seed
        Of the priorities and shapes.
    priorities
        Priority to weight; drawn by virtual cluster and line.
    shapes
        Milli-cores and bytes for each GPU, of which a job has one; without any, jobs request
        GPUs only.
    """

    seed: int = 0
    priorities: Mapping[int, float] = field(default_factory=lambda: PRIORITIES)
    shapes: tuple[tuple[int, int], ...] = ()
    name: str = "philly"
    columns: tuple[str, ...] = ("timestamp", "duration", "num_gpus", "cluster")
    usual_sampling: Sampling = "running"

    def __post_init__(self) -> None:
        """Refuse weights that say nothing.

        Raises
        ------
        InputError
            If they are.
        """
        weights = self.priorities.values()
        if not any(weights) or min(weights) < 0:
            raise InputError(
                "priorities", "the weights cannot be used", "numbers from 0 on, not all 0"
            )

    def node_labels(self, flavor: str) -> dict[str, str]:
        """Return none: the trace does not say which GPUs there were."""
        del flavor
        return {}

    def capacity(self, flavor: str, gpus: int) -> dict[str, int]:
        """Return nothing: the trace does not say what stood beside the GPUs."""
        del flavor, gpus
        return {}

    def job(self, row: Row) -> Job:
        """Return the job of a row.

        Raises
        ------
        SchemaError
            If something in it cannot be used.
        """
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

    Pods without a whole GPU are left out; of more than 1000, a sample is drawn. ``on_bad`` is
    told of each row that cannot be used; without it the first is an error.

    Raises
    ------
    InputError
        If the file cannot be read, a row of it cannot be used, or it has no such pod.
    """
    kept: list[tuple[float, tuple[int, int]]] = []

    def entry(row: Row) -> tuple[float, tuple[int, int]] | None:
        gpus = row.whole("num_gpu", MOST_GPUS)
        cpu, memory = row.whole("cpu_milli", MOST_MILLI), row.whole("memory_mib", MOST_MIB) * MIB
        if not gpus or row.whole("gpu_milli", MOST_MILLI) < WHOLE_GPU_MILLI:
            return None
        return draw(seed, "shapes", row.line), (cpu // gpus, memory // gpus)

    for one in usable(path, ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli"), entry, on_bad):
        if one is not None:
            kept.append(one)
            if len(kept) >= 2 * MOST_SHAPES:
                kept = sorted(kept)[:MOST_SHAPES]
    if not kept:
        raise InputError(path, "no pod has a whole GPU", "an openb pod list")
    return tuple(shape for _, shape in sorted(kept)[:MOST_SHAPES])
