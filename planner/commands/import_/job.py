"""What a row of a trace becomes, whatever the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol

from planner.commands.import_.rows import Row

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
