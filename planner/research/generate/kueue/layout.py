"""The knobs of clusters of Kueue, named clusters, and what a cluster consists of.

``kueue-baseline`` and ``kueue-large-scale`` have the cohorts, queues, requests, priorities,
policies and numbers of kueue test/performance/scheduler/configs/{baseline,large-scale}/
generator.yaml (cc13fff8, f6517b0c). There workloads come and go and 20 cores are the quota of a
queue; here all of them run at the same moment, and quotas are as large as their usage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import gcd
from typing import Annotated, Final, Literal

from msgspec import Struct

from planner.dump.kueue import Quota
from planner.research.generate.generate import (
    Knob,
    Knobs,
    Preset,
    check_limits,
    check_width,
    impossible,
)
from planner.research.generate.names import CLASSES, PREEMPTOR_CLASS, SCALE_CLASSES, Chance, Class

Shapes = Literal["t-shirt", "distinct", "kueue-baseline", "kueue-large-scale"]
ReclaimPolicy = Literal["Never", "LowerPriority", "Any"]
WithinPolicy = Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
BorrowPolicy = Literal["Never", "LowerPriority"]
Strategies = Literal["both", "final-share", "initial-share"]

MOST_PLACED: Final = 5000
"""The most workloads of a cluster with a topology: to place each, all nodes are looked at."""
SCALE_SHAPES: Final = ("kueue-baseline", "kueue-large-scale")


@dataclass(frozen=True, slots=True, kw_only=True)
class KueueKnobs(Knobs):
    """A cluster of Kueue. Shares are in percent; a chance is drawn for each thing by itself."""

    scheduler = "kueue"
    queues: Annotated[int, Knob("ClusterQueues, each with two LocalQueues", 1, 5000)] = 6
    cohorts: Annotated[int, Knob("root cohorts; the queues are dealt out to them", 1, 1000)] = 1
    depth: Annotated[int, Knob("levels of cohorts; 0: queues without a cohort", 0, 6)] = 1
    branches: Annotated[int, Knob("cohorts below a cohort", 1, 10)] = 2
    workloads: Annotated[int, Knob("workloads that run", 1, 200_000)] = 120
    pending: Annotated[int, Knob("workloads that wait; quotas are made for the first", 1, 5000)] = 1
    flavors: Annotated[int, Knob("ResourceFlavors, each with quotas of its own", 1, 8)] = 1
    shapes: Annotated[
        Shapes,
        Knob(
            "requests: a catalogue of twelve, no two alike, or the classes of a scalability test "
            "of Kueue's"
        ),
    ] = "t-shirt"
    gangs: Annotated[int, Knob("percent of the workloads have a pod for each GPU")] = 30
    priorities: Annotated[int, Knob("priority classes of what runs", 1, 8)] = 4
    victims: Annotated[
        int, Knob("how many workloads of average size the preemptor lacks", 1, 10_000)
    ] = 4
    fits: Annotated[bool, Knob("let the preemptor fit without any preemption")] = False
    beyond: Annotated[
        int, Knob("percent of its request that the preemptor must borrow or take from its queue")
    ] = 0
    fill: Annotated[
        int, Knob("percent of the quota in use; above 100 more is in use than there is", 50, 150)
    ] = 100
    borrowers: Annotated[int, Knob("percent of the queues use more than their quota")] = 50
    pool: Annotated[int, Knob("percent of the quota that is the root cohorts' own", 0, 50)] = 0
    limits: Annotated[int, Knob("percent of the queues have borrowing and lending limits")] = 0
    fair: Annotated[bool, Knob("fair sharing is on")] = False
    strategies: Annotated[Strategies, Knob("strategies of fair sharing")] = "both"
    weights: Annotated[int, Knob("percent of the queues have a fair sharing weight but 1")] = 0
    within: Annotated[WithinPolicy, Knob("withinClusterQueue")] = "LowerPriority"
    reclaim: Annotated[ReclaimPolicy, Knob("reclaimWithinCohort")] = "Any"
    borrow: Annotated[BorrowPolicy, Knob("borrowWithinCohort")] = "LowerPriority"
    age: Annotated[int, Knob("hours that the oldest workload has been running", 1, 10_000)] = 72
    checkpoints: Annotated[int, Knob("percent of the workloads published a checkpoint")] = 40
    last_tier: Annotated[int, Knob("percent of the workloads are to be evicted last")] = 0
    evicted: Annotated[int, Knob("percent of the workloads are being evicted already")] = 0
    hard: Annotated[int, Knob("percent of the states are such that Kueue evicts many for one")] = 0
    topology: Annotated[bool, Knob("place pods on nodes in racks, as Kueue would")] = False
    hosts: Annotated[int, Knob("nodes of 8 GPUs in each rack of a topology", 1, 64)] = 4
    fragmentation: Annotated[
        int, Knob("in a topology: workloads that came and went, in percent of those that run")
    ] = 0

    def __post_init__(self) -> None:
        """Refuse values outside their limits, and values that contradict each other."""
        check_limits(self)
        if self.cohorts > self.queues:
            found = f"{self.cohorts} root cohorts for {self.queues} queues"
            raise impossible("cohorts", found, "at least a queue for each")
        check_width(self.branches, self.depth)
        if self.workloads < self.flavors:
            found = f"{self.workloads} workloads for {self.flavors} flavors"
            raise impossible("flavors", found, "at least a workload for each")
        if self.beyond and self.fits:
            raise impossible("fits", "who fits needs nothing beyond its quota", "beyond 0")
        if self.depth == 0 and (self.pool or self.limits):
            raise impossible("depth", "limits and pools need a cohort", "depth of at least 1")
        if self.topology and self.shapes in SCALE_SHAPES:
            found = f"the shapes {self.shapes} have no GPUs"
            raise impossible("topology", found, "shapes t-shirt or distinct")
        if self.topology and self.workloads > MOST_PLACED:
            found = f"{self.workloads} workloads are placed one after the other"
            raise impossible("topology", found, f"at most {MOST_PLACED}")
        if self.fragmentation and not self.topology:
            raise impossible("fragmentation", "there are no nodes", "topology, too")
        if self.hard and (self.fits or self.beyond or self.evicted):
            found = "hard states are built for a preemptor that reclaims its own quota"
            raise impossible("hard", found, "not fits, beyond 0, evicted 0")
        alone = self.depth == 0 or self.queues <= self.cohorts
        policy, name = (self.within, "within") if alone else (self.reclaim, "reclaim")
        if self.hard and policy == "Never":
            found = f"hard states need victims, and {name} Never permits none"
            raise impossible("hard", found, f"another policy for {name}")


_scalability_test = partial(KueueKnobs, borrow="Never", victims=12)
_distinct = partial(KueueKnobs, shapes="distinct", victims=12)
PRESETS: Mapping[str, Preset] = {
    "flat": Preset("one cohort of six queues", KueueKnobs()),
    "small": Preset(
        "three queues, a dozen workloads: few enough to try all victim sets",
        KueueKnobs(queues=3, workloads=12, victims=2, gangs=0),
    ),
    "no-cohort": Preset("queues by themselves", KueueKnobs(queues=3, depth=0, workloads=60)),
    "hierarchical": Preset(
        "cohorts three levels deep, with limits",
        KueueKnobs(queues=12, depth=3, workloads=240, limits=40, borrowers=60),
    ),
    "borrowing": Preset(
        "the preemptor must borrow", KueueKnobs(beyond=50, limits=20, borrowers=60)
    ),
    "fair": Preset(
        "fair sharing with weights, and a pool that belongs to nobody",
        KueueKnobs(fair=True, pool=20, weights=40),
    ),
    "fair-hierarchical": Preset(
        "fair sharing in cohorts three levels deep",
        KueueKnobs(queues=12, depth=3, workloads=240, fair=True, pool=10, weights=40),
    ),
    "many-flavors": Preset("five flavors, all of them full", KueueKnobs(flavors=5, workloads=200)),
    "hard": Preset(
        "Kueue evicts many of a sweep where one job would do",
        KueueKnobs(victims=6, hard=100),
    ),
    "kueue-baseline": Preset(
        "Kueue's scalability test: 5 cohorts of 6 queues, 15,000 workloads",
        _scalability_test(queues=30, cohorts=5, workloads=15_000, shapes="kueue-baseline"),
    ),
    "kueue-large-scale": Preset(
        "the large one: 10 cohorts of 100 queues, 50,000 workloads",
        _scalability_test(queues=1000, cohorts=10, workloads=50_000, shapes="kueue-large-scale"),
    ),
    "large": Preset(
        "30 queues three levels deep, 10,000 workloads, no two alike",
        _distinct(queues=30, depth=3, workloads=10_000),
    ),
    "huge": Preset(
        "1,000 queues in 10 cohorts, 100,000 workloads, no two alike",
        _distinct(queues=1000, cohorts=10, depth=2, workloads=100_000),
    ),
}


CPU, MEMORY, GPU = "cpu", "memory", "nvidia.com/gpu"

GPUS_OF_A_NODE: Final = 8
_SIZES: Final = (1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16)
"""GPUs of a workload; a number is as likely as it is often here."""

_GIB: Final = 1024
_CATALOGUE: Final = 12


class Shape(Struct, frozen=True):
    """The request of all pods of a workload together, and the number of pods.

    Amounts are cores of ``cpu``, MiB of ``memory``, and GPUs; each is a multiple of ``pods``.
    """

    total: Mapping[str, int]
    pods: int = 1


SMALL, MEDIUM, LARGE = (1, 0), (5, 1), (20, 2)
SCALE: Final = {
    "kueue-baseline": (*[SMALL] * 7, *[MEDIUM] * 2, LARGE),
    "kueue-large-scale": (*[SMALL] * 35, *[MEDIUM] * 11, *[LARGE] * 4),
}
"""The workloads of each queue, in a cycle: 350, 100, 50 of 500, and 35, 11, 4 of 50.

Each entry is the cores of a workload, and the place of its class among the priorities.
Source: kueue test/performance/scheduler/configs/{baseline,large-scale}/generator.yaml.
"""


def of_gpus(gpus: int, memory: int, cores: int, *, gang: bool = False) -> Shape:
    """Return a shape of so many GPUs; ``memory`` (MiB) and ``cores`` are for each GPU.

    A gang has a pod for each GPU. Any other shape is one pod, or, where it is larger than a node,
    pods of the largest size that divides a node.
    """
    pods = gpus if gang else gpus // gcd(gpus, GPUS_OF_A_NODE)
    if not gang and gpus <= GPUS_OF_A_NODE:
        pods = 1
    return Shape({CPU: gpus * cores, MEMORY: gpus * memory, GPU: gpus}, pods)


def shapes(knobs: KueueKnobs, chance: Chance) -> Iterator[Shape]:
    """Yield shapes without end, from a catalogue or all distinct."""
    catalogue = [
        _drawn(chance, knobs, _GIB * chance.pick((32, 64, 96, 128))) for _ in range(_CATALOGUE)
    ]
    seen: set[tuple[tuple[str, int], ...]] = set()
    while knobs.shapes == "t-shirt":
        yield chance.pick(catalogue)
    while True:
        shape = _drawn(chance, knobs, chance.between(16 * _GIB, 128 * _GIB))
        key = tuple(sorted(shape.total.items()))
        if key not in seen:
            seen.add(key)
            yield shape


def _drawn(chance: Chance, knobs: KueueKnobs, memory: int) -> Shape:
    gpus, cores = chance.pick(_SIZES), chance.pick((4, 8, 12, 16))
    return of_gpus(gpus, memory, cores, gang=chance.percent(knobs.gangs))


_UNITS: Final = {CPU: 1000, MEMORY: 2**20}
"""How many of Kueue's units (milli-cores, bytes) one unit of a shape is; 1 for GPUs."""


def in_units(resource: str, amount: int) -> int:
    """Return an amount of a shape in Kueue's units."""
    return amount * _UNITS.get(resource, 1)


def units_of(shape: Shape) -> dict[str, int]:
    """Return the request of one pod of a shape, in Kueue's units."""
    return {name: in_units(name, amount // shape.pods) for name, amount in shape.total.items()}


Place = tuple[int, str]
"""A flavor by its number, and a resource."""


class Run(Struct, frozen=True):
    """A workload: its request and its times; ``level`` is the place of its priority class.

    Times are whole seconds before the clock: ``age_s`` when it got its quota, ``waited_s`` how
    long it had waited for quota, ``checkpoint_s`` of the newest checkpoint, ``evicted_s`` of the
    eviction. A workload that waits for quota has no age, and waited until now.
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


@dataclass(slots=True)
class Layout:
    """A cluster: its trees, the running and the waiting workloads, and the quotas.

    ``leaf`` is the place of a queue's cohort among the ``leaves`` of its tree on the last level.
    ``lacking`` is what the preemptor lacks of the contested resource in the first flavor, and
    ``trap`` the queue in which a hard state has its sweep. ``quotas`` of the queues and ``pools``
    of the root cohorts are in the units of shapes. ``weights`` of fair sharing are quantities;
    ``None`` is 1.
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

    @property
    def trees(self) -> range:
        """The trees; a queue without a cohort is a tree by itself."""
        return range(self.knobs.cohorts if self.knobs.depth else self.knobs.queues)

    def tree(self, queue: int) -> int:
        """Return the tree of a queue."""
        return queue % len(self.trees)

    def members(self, tree: int) -> range:
        """Return the queues of a tree."""
        return range(tree, self.knobs.queues, len(self.trees))

    def used(self) -> list[Counter[Place]]:
        """Return the usage of each queue."""
        amounts: list[Counter[Place]] = [Counter() for _ in range(self.knobs.queues)]
        for run in self.running:
            for resource, amount in run.shape.total.items():
                amounts[run.queue][run.flavor, resource] += amount
        return amounts

    def used_in(self, tree: int) -> Counter[Place]:
        """Return the usage of a tree."""
        used = self.used()
        return sum((used[queue] for queue in self.members(tree)), Counter[Place]())

    def free(self, used: int) -> int:
        """Return how much is free beside a usage; less than 0 if that is more than the quota."""
        return used * 100 // self.knobs.fill - used

    def pool(self, total: int) -> int:
        """Return how much of the quota ``total`` of a tree is the root cohort's own."""
        return total * self.knobs.pool // 100 if self.knobs.depth else 0

    def owned_by_queues(self, used: int) -> int:
        """Return how much quota the queues of a tree own together at a usage of the tree."""
        there = used + self.free(used)
        return there - self.pool(there)

    @property
    def classes(self) -> tuple[Class, ...]:
        """The priority classes from the lowest up, the preemptor's last."""
        if self.knobs.shapes in SCALE_SHAPES:
            return (*SCALE_CLASSES, PREEMPTOR_CLASS)
        return (*CLASSES[: self.knobs.priorities], PREEMPTOR_CLASS)
