"""What a cluster consists of, and what its workloads ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Final

from planner.commands.generate.kueue.knobs import SCALE_SHAPES, KueueKnobs
from planner.commands.generate.names import CLASSES, PREEMPTOR_CLASS, SCALE_CLASSES, Chance, Class

CPU, MEMORY, GPU = "cpu", "memory", "nvidia.com/gpu"

GPUS_OF_A_NODE: Final = 8
_SIZES: Final = (1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16)
"""GPUs of a workload; each as often as it stands here."""

_GIB: Final = 1024
_CATALOGUE: Final = 12


@dataclass(frozen=True, slots=True)
class Shape:
    """What all pods together ask for, and how many there are.

    Amounts are cores of ``cpu``, MiB of ``memory``, and GPUs; each is a multiple of ``pods``.
    """

    total: Mapping[str, int]
    pods: int = 1

    def per_pod(self) -> dict[str, int]:
        """Return what one pod asks for."""
        return {resource: amount // self.pods for resource, amount in self.total.items()}


@dataclass(frozen=True, slots=True)
class Sized:
    """A shape of Kueue's scalability test with the place of its class among the priorities."""

    cores: int
    level: int


SMALL, MEDIUM, LARGE = Sized(1, 0), Sized(5, 1), Sized(20, 2)

SCALE: Final[dict[str, tuple[Sized, ...]]] = {
    "kueue-baseline": (*[SMALL] * 7, *[MEDIUM] * 2, LARGE),
    "kueue-large-scale": (*[SMALL] * 35, *[MEDIUM] * 11, *[LARGE] * 4),
}
"""What the workloads of each queue are, in a cycle: 350, 100, 50 of 500, and 35, 11, 4 of 50.

Source: kueue test/performance/scheduler/configs/{baseline,large-scale}/generator.yaml.
"""


def of_gpus(gpus: int, memory: int, cores: int, *, gang: bool = False) -> Shape:
    """Return a shape of so many GPUs; ``memory`` (MiB) and ``cores`` are for each of them.

    A gang has a pod for each GPU; the others fill whole nodes where they are larger than one.
    """
    pods = gpus if gang else gpus // gcd(gpus, GPUS_OF_A_NODE)
    if not gang and gpus <= GPUS_OF_A_NODE:
        pods = 1
    return Shape({CPU: gpus * cores, MEMORY: gpus * memory, GPU: gpus}, pods)


def shapes(knobs: KueueKnobs, chance: Chance) -> Iterator[Shape]:
    """Yield shapes without end, of a catalogue or all distinct."""
    catalogue = [
        _drawn(chance, knobs, _GIB * chance.pick((32, 64, 96, 128))) for _ in range(_CATALOGUE)
    ]
    seen: set[tuple[tuple[str, int], ...]] = set()
    while True:
        if knobs.shapes == "t-shirt":
            yield chance.pick(catalogue)
            continue
        shape = _drawn(chance, knobs, chance.between(16 * _GIB, 128 * _GIB))
        key = tuple(sorted(shape.total.items()))
        if key not in seen:
            seen.add(key)
            yield shape


def _drawn(chance: Chance, knobs: KueueKnobs, memory: int) -> Shape:
    gpus, cores = chance.pick(_SIZES), chance.pick((4, 8, 12, 16))
    return of_gpus(gpus, memory, cores, gang=chance.percent(knobs.gangs))


_UNITS: Final = {CPU: 1000, MEMORY: 2**20}
"""Kueue's units in one of a shape's: milli-cores, bytes; GPUs are GPUs."""


def in_units(resource: str, amount: int) -> int:
    """Return an amount of a shape in Kueue's units."""
    return amount * _UNITS.get(resource, 1)


def units_of(shape: Shape) -> dict[str, int]:
    """Return what one pod of a shape asks for, in Kueue's units."""
    return {name: in_units(name, amount) for name, amount in shape.per_pod().items()}


Place = tuple[int, str]
"""A flavor by its number, and a resource."""


@dataclass(frozen=True, slots=True)
class Run:
    """A workload: what it asks for, and since when; ``level`` is the place of its class.

    Times are whole seconds before the clock: ``age_s`` when it got its quota, ``waited_s`` how
    long it had waited for it, ``checkpoint_s`` of the newest checkpoint, ``evicted_s`` of the
    eviction. One that waits for quota has no age, and waited until now.
    """

    number: int
    task: str
    queue: int
    shape: Shape
    level: int
    flavor: int = 0
    age_s: int | None = None
    waited_s: int = 0
    checkpoint_s: int | None = None
    evicted_s: int | None = None
    last_tier: bool = False


@dataclass(frozen=True, slots=True)
class Quota:
    """What a queue or cohort has of a resource in a flavor, in the units of shapes."""

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


@dataclass(slots=True)
class Layout:
    """A cluster: its trees, what runs in the queues and what waits, and the quotas.

    ``leaf`` is the place of a queue's cohort among the ``leaves`` of its tree on the last level.
    ``lacking`` is what the preemptor lacks of the contested resource in the first flavor, and
    ``trap`` the queue in which a hard state has its sweep. ``weights`` are those of fair sharing,
    as quantities; ``None`` is 1.
    """

    knobs: KueueKnobs
    leaf: list[int]
    leaves: list[int]
    running: list[Run] = field(default_factory=list)
    waiting: list[Run] = field(default_factory=list)
    lacking: int = 0
    trap: int | None = None
    quotas: list[dict[Place, Quota]] = field(default_factory=list)
    pools: list[dict[Place, int]] = field(default_factory=list)
    weights: list[str | None] = field(default_factory=list)

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that the queues cover, the contested one last."""
        return (CPU,) if self.knobs.shapes in SCALE_SHAPES else (CPU, MEMORY, GPU)

    @property
    def contested(self) -> str:
        """The resource that the preemptor lacks."""
        return self.resources[-1]

    def tree(self, queue: int) -> int:
        """Return the tree of a queue; a queue without a cohort is a tree by itself."""
        return queue % self.knobs.cohorts if self.knobs.depth else queue

    def members(self, tree: int) -> range:
        """Return the queues of a tree."""
        step = self.knobs.cohorts if self.knobs.depth else self.knobs.queues
        return range(tree, self.knobs.queues, step)

    @property
    def trees(self) -> range:
        """The trees."""
        return range(self.knobs.cohorts if self.knobs.depth else self.knobs.queues)

    def used(self) -> list[Counter[Place]]:
        """Return what each queue uses."""
        amounts: list[Counter[Place]] = [Counter() for _ in range(self.knobs.queues)]
        for run in self.running:
            for resource, amount in run.shape.total.items():
                amounts[run.queue][run.flavor, resource] += amount
        return amounts

    def used_in(self, tree: int) -> Counter[Place]:
        """Return what a tree uses."""
        members, found = self.members(tree), Counter[Place]()
        for run in self.running:
            if run.queue in members:
                for resource, amount in run.shape.total.items():
                    found[run.flavor, resource] += amount
        return found

    def free(self, used: int) -> int:
        """Return what is free where so much is used; less than 0 where it is more than there is."""
        return used * 100 // self.knobs.fill - used

    def pool(self, total: int) -> int:
        """Return how much of what a tree has is the root cohort's own."""
        return total * self.knobs.pool // 100 if self.knobs.depth else 0

    def owned_by_queues(self, used: int) -> int:
        """Return how much the queues of a tree have where so much is used."""
        there = used + self.free(used)
        return there - self.pool(there)

    @property
    def classes(self) -> tuple[Class, ...]:
        """The priority classes from the lowest up, the preemptor's last."""
        if self.knobs.shapes in SCALE_SHAPES:
            return (*SCALE_CLASSES, PREEMPTOR_CLASS)
        return (*CLASSES[: self.knobs.priorities], PREEMPTOR_CLASS)
