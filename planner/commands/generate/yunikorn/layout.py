"""What a cluster of YuniKorn consists of, before it is written as a dump."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from planner.commands.generate.knobs import YuniKornKnobs

VCORE, MEMORY, PODS = "vcore", "memory", "pods"

CORE: Final = 1000
"""A core in the core's own unit."""

WAITING: Final = -1
"""The node of a pod that waits for one."""

MIB_PER_CORE: Final = 4 * 1024
"""What a pod asks for; a node has twice as much, so that memory is never short."""


class Pod(NamedTuple):
    """A pod: ``milli`` of a core and ``mib`` of memory, on a node unless it waits.

    ``number`` tells apart the pods of an application; the first is its originator.
    """

    queue: int
    app: str
    number: int
    milli: int
    mib: int
    level: int
    age_s: int
    node: int
    opted_out: bool = False


class Amount(NamedTuple):
    """Cores and memory of a queue, in the units of a pod."""

    milli: int
    mib: int


@dataclass(slots=True)
class Layout:
    """A cluster: leaf queues, their parents by level, and the pods.

    ``leaf`` is the place of a leaf queue's parent on the last level of parents; ``widths`` says
    how many parents there are on each level below root. Queue 0 asks.
    """

    knobs: YuniKornKnobs
    leaf: list[int]
    widths: list[int]
    running: list[Pod] = field(default_factory=list)
    asks: list[Pod] = field(default_factory=list)
    guaranteed: list[Amount] = field(default_factory=list)
    maxima: list[Amount | None] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    fences: list[list[bool]] = field(default_factory=list)

    def used(self) -> list[Amount]:
        """Return what each leaf queue uses."""
        milli, mib = [0] * self.knobs.queues, [0] * self.knobs.queues
        for pod in self.running:
            milli[pod.queue] += pod.milli
            mib[pod.queue] += pod.mib
        return [Amount(*both) for both in zip(milli, mib, strict=True)]
