"""The knobs of clusters of YuniKorn, and named clusters of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from planner.commands.generate.knobs import (
    FULL,
    WIDEST,
    Knob,
    Knobs,
    Preset,
    check_limits,
    impossible,
    too_wide,
)

NodeShapes = Literal["t-shirt", "distinct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class YuniKornKnobs(Knobs):
    """A cluster of YuniKorn. Shares are in percent; a chance is drawn for each by itself."""

    scheduler: ClassVar[str] = "yunikorn"
    queues: Annotated[int, Knob("leaf queues", 2, 1000)] = 6
    depth: Annotated[int, Knob("levels of queues below root", 1, 6)] = 2
    branches: Annotated[int, Knob("parent queues below a parent queue", 1, 10)] = 2
    nodes: Annotated[int, Knob("nodes", 1, 5000)] = 8
    cores: Annotated[int, Knob("cores of a node, with 8 GiB each", 8, 512)] = 32
    shapes: Annotated[NodeShapes, Knob("requests: whole cores, or no two alike")] = "t-shirt"
    priorities: Annotated[int, Knob("priority classes of what runs", 1, 8)] = 4
    victims: Annotated[int, Knob("how many pods of average size the ask lacks", 1, 100)] = 3
    fits: Annotated[bool, Knob("let the ask fit without any preemption")] = False
    fill: Annotated[int, Knob("percent of the cores in use", 50, 100)] = 100
    count_pods: Annotated[
        bool, Knob("pods are a resource that is counted, as the Kubernetes shim does")
    ] = True
    over: Annotated[int, Knob("percent of the leaf queues use more than guaranteed")] = 50
    maxima: Annotated[int, Knob("percent of the leaf queues have a maximum")] = 0
    fences: Annotated[int, Knob("percent of the parent queues are fences")] = 0
    offsets: Annotated[int, Knob("percent of the leaf queues have a priority offset")] = 0
    opted_out: Annotated[int, Knob("percent of the pods opted out of preemption")] = 10
    age: Annotated[int, Knob("hours that the oldest pod has been running", 1, 10_000)] = 72
    hard: Annotated[
        int, Knob("percent of the states are such that YuniKorn evicts many for one")
    ] = 0

    def __post_init__(self) -> None:
        """Refuse values outside their limits, and those that contradict each other."""
        check_limits(self)
        if self.hard and (self.fits or self.fill < FULL):
            raise impossible("hard", "hard states need full nodes", "fill 100, and not fits")
        if self.hard and self.victims * 2 > self.cores:
            raise impossible(
                "hard",
                f"{self.victims} small pods and a large one of their size fill more than "
                f"{self.cores} cores",
                "cores of at least twice victims",
            )
        if self.depth > 1 and self.branches ** (self.depth - 1) > WIDEST:
            raise too_wide(self.branches, self.depth)


PRESETS: Final = (
    Preset("yunikorn", "eight nodes, six leaf queues on two levels", YuniKornKnobs()),
    Preset(
        "yunikorn-small",
        "two nodes, three leaf queues",
        YuniKornKnobs(queues=3, depth=1, nodes=2, cores=16),
    ),
    Preset(
        "yunikorn-hierarchical",
        "queues three levels deep with fences, offsets and maxima",
        YuniKornKnobs(queues=12, depth=3, nodes=16, fences=30, offsets=40, maxima=40),
    ),
    Preset(
        "yunikorn-hard",
        "YuniKorn evicts many small pods where one would do",
        YuniKornKnobs(victims=6, hard=100, count_pods=False),
    ),
    Preset(
        "yunikorn-large",
        "200 nodes, 40 leaf queues, thousands of pods",
        YuniKornKnobs(queues=40, depth=3, branches=3, nodes=200, cores=64),
    ),
)
