"""What a generated cluster is like: every knob with its unit, its limits and its default.

The command line makes its options of these records, and the library its keyword arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from planner.errors import InputError

Shapes = Literal["t-shirt", "distinct", "kueue-baseline", "kueue-large-scale"]
NodeShapes = Literal["t-shirt", "distinct"]
ReclaimPolicy = Literal["Never", "LowerPriority", "Any"]
WithinPolicy = Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
BorrowPolicy = Literal["Never", "LowerPriority"]
Strategies = Literal["both", "final-share", "initial-share"]

SCALE_SHAPES: Final = ("kueue-baseline", "kueue-large-scale")
FULL: Final = 100
WIDEST: Final = 1024
"""How many cohorts or parent queues a level may have at most."""


@dataclass(frozen=True, slots=True)
class Knob:
    """What a knob does, with its unit; numbers have limits, both included."""

    what: str
    least: int = 0
    most: int = 100

    def holds(self, value: int) -> bool:
        """Say whether a number is within the limits."""
        return self.least <= value <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class KueueKnobs:
    """A cluster of Kueue. Shares are in percent; a chance is drawn for each thing by itself."""

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

    def __post_init__(self) -> None:
        """Refuse values outside their limits, and those that contradict each other."""
        check_limits(self)
        _check_kueue(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class YuniKornKnobs:
    """A cluster of YuniKorn. Shares are in percent; a chance is drawn for each by itself."""

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
            raise _impossible("hard", "hard states need full nodes", "fill 100, and not fits")
        if self.hard and self.victims * 2 > self.cores:
            raise _impossible(
                "hard",
                f"{self.victims} small pods and a large one of their size fill more than "
                f"{self.cores} cores",
                "cores of at least twice victims",
            )
        if self.depth > 1 and self.branches ** (self.depth - 1) > WIDEST:
            raise _too_wide(self.branches, self.depth)


Knobs = KueueKnobs | YuniKornKnobs


class KnobOption(NamedTuple):
    """A knob as the command line and the documentation tell of it."""

    name: str
    knob: Knob
    kind: type | tuple[str, ...]
    default: Any


def knobs_of(record: type[Knobs]) -> Iterator[KnobOption]:
    """Yield the knobs of a record; ``kind`` is int, bool, or the words to choose from."""
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        written, knob = get_args(hints[field.name])
        words = get_args(written) if get_origin(written) is Literal else None
        yield KnobOption(field.name, knob, words or written, field.default)


def with_knobs(knobs: Knobs, given: Mapping[str, object]) -> Knobs:
    """Return a record with some knobs turned.

    Raises
    ------
    InputError
        If there is no such knob, or its value cannot be used.
    """
    record = type(knobs)
    known = {field.name: getattr(knobs, field.name) for field in fields(record)}
    for name in given:
        if name not in known:
            what = "YuniKorn" if record is YuniKornKnobs else "Kueue"
            raise InputError(
                _option(name), f"there is no such knob for {what}", f"one of {', '.join(known)}"
            )
    return record(**{**known, **given})


def check_limits(knobs: Knobs) -> None:
    """Refuse a value of the wrong type or outside its limits.

    Raises
    ------
    InputError
        If there is one.
    """
    for option in knobs_of(type(knobs)):
        value = getattr(knobs, option.name)
        if isinstance(option.kind, tuple):
            if value not in option.kind:
                raise InputError(
                    _option(option.name), f"{value!r} is not one of them", ", ".join(option.kind)
                )
        elif type(value) is not option.kind:
            raise InputError(
                _option(option.name), f"{value!r} is not of type {option.kind.__name__}"
            )
        elif isinstance(value, int) and not option.knob.holds(value):
            limits = f"{option.knob.least} to {option.knob.most}"
            raise InputError(_option(option.name), f"{value} is outside the limits", limits)


def _check_kueue(knobs: KueueKnobs) -> None:
    alone = knobs.depth == 0 or knobs.queues <= knobs.cohorts
    policy, name = (knobs.within, "within") if alone else (knobs.reclaim, "reclaim")
    if knobs.cohorts > knobs.queues:
        found = f"{knobs.cohorts} root cohorts for {knobs.queues} queues"
        raise _impossible("cohorts", found, "at least a queue for each")
    if knobs.branches ** max(0, knobs.depth - 1) > WIDEST:
        raise _too_wide(knobs.branches, knobs.depth)
    if knobs.workloads < knobs.flavors:
        found = f"{knobs.workloads} workloads for {knobs.flavors} flavors"
        raise _impossible("flavors", found, "at least a workload for each")
    if knobs.beyond and knobs.fits:
        raise _impossible("fits", "who fits needs nothing beyond its quota", "beyond 0")
    if knobs.depth == 0 and (knobs.pool or knobs.limits):
        raise _impossible("depth", "limits and pools need a cohort", "depth of at least 1")
    if not knobs.hard:
        return
    if knobs.fits or knobs.beyond or knobs.evicted:
        found = "hard states are built for a preemptor that reclaims its own quota"
        raise _impossible("hard", found, "not fits, beyond 0, evicted 0")
    if policy == "Never":
        found = f"hard states need victims, and {name} Never permits none"
        raise _impossible("hard", found, f"another policy for {name}")


def _too_wide(branches: int, depth: int) -> InputError:
    found = f"{depth} levels with {branches} branches each"
    return _impossible("branches", found, f"at most {WIDEST} on the last level")


def _impossible(name: str, found: str, expected: str) -> InputError:
    return InputError(_option(name), found, expected)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
