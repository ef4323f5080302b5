"""The knobs of clusters of YuniKorn: queues, nodes full of pods, and an ask that no node can take.

Cores are contested, memory is not: a node has twice the memory per core that pods ask for. The ask
is larger than what is free on any node. On one node it is no larger than the free room together
with the pods of queues beyond their guaranteed; if all these pods are preempted, their queues
still use their guaranteed at least. The queue of the ask is guaranteed more than it uses and asks
for. All guaranteed amounts together are no more than the nodes have.

In a hard state every node has as many one-core pods of one queue, newer than all else, as the ask
has cores. The core begins with the newest pods and takes all of these; on each node an older pod
of the same queue and of the size of the ask would do alone.

The state dump is the one that the core and the Kubernetes shim would write. Source: yunikorn-core
be3bb487, webservice/state_dump.go and webservice/dao; yunikorn-k8shim 23b6b47f,
cache/external/scheduler_cache_dao.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, NamedTuple

from planner.dump import uid_of
from planner.errors import InputError
from planner.research.generate import names
from planner.research.generate.generate import (
    FULL,
    Knob,
    Knobs,
    Preset,
    check_limits,
    check_width,
    impossible,
)
from planner.research.generate.names import TASKS, Chance
from planner.state.clock import to_nanoseconds
from planner.state.yunikorn import NAMESPACE_TAG, POD_NAME_TAG, format_yunikorn_quantity
from planner.state.yunikorn_pods import ALLOW_PREEMPTION

NodeShapes = Literal["t-shirt", "distinct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class YuniKornKnobs(Knobs):
    """A cluster of YuniKorn. Shares are in percent; a chance is drawn for each by itself."""

    scheduler = "yunikorn"
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
        """Refuse values outside their limits, and values that contradict each other."""
        check_limits(self)
        if self.hard and (self.fits or self.fill < FULL):
            raise impossible("hard", "hard states need full nodes", "fill 100, and not fits")
        if self.hard and self.victims * 2 > self.cores:
            small = f"{self.victims} small pods and a large one of their size"
            found = f"{small} fill more than {self.cores} cores"
            raise impossible("hard", found, "cores of at least twice victims")
        check_width(self.branches, self.depth)


PRESETS: Mapping[str, Preset] = {
    "yunikorn": Preset("eight nodes, six leaf queues on two levels", YuniKornKnobs()),
    "yunikorn-small": Preset(
        "two nodes, three leaf queues",
        YuniKornKnobs(queues=3, depth=1, nodes=2, cores=16),
    ),
    "yunikorn-hierarchical": Preset(
        "queues three levels deep with fences, offsets and maxima",
        YuniKornKnobs(queues=12, depth=3, nodes=16, fences=30, offsets=40, maxima=40),
    ),
    "yunikorn-hard": Preset(
        "YuniKorn evicts many small pods where one would do",
        YuniKornKnobs(victims=6, hard=100, count_pods=False),
    ),
    "yunikorn-large": Preset(
        "200 nodes, 40 leaf queues, thousands of pods",
        YuniKornKnobs(queues=40, depth=3, branches=3, nodes=200, cores=64),
    ),
}


VCORE, MEMORY, PODS = "vcore", "memory", "pods"
CORE: Final = 1000
"""The milli-cores of a core: the unit that YuniKorn's core counts in."""
WAITING: Final = -1
"""The node number of a pod that waits for a node."""
MIB_PER_CORE: Final = 4 * 1024
"""The memory that a pod asks for; a node has twice as much, so that memory is never short."""


class Pod(NamedTuple):
    """A pod: ``milli`` of a core with the memory that goes with it, on a node unless it waits.

    ``number`` counts the pods of a queue; the first pod of an application is its originator.
    """

    queue: int
    milli: int
    level: int
    age_s: int
    node: int
    opted_out: bool = False
    app: str = "serve-ranker"
    number: int = 1

    @property
    def name(self) -> str:
        """The name of the pod."""
        return f"{self.app}-{self.number}"


@dataclass(slots=True)
class Layout:
    """A cluster: leaf queues, their parents by level, and the pods.

    ``leaf`` is the place of a leaf queue's parent on the last level of parents; ``widths`` says
    how many parents there are on each level, from root down. ``guaranteed`` and ``maxima`` are
    milli-cores, with the memory that goes with them. The ask is of queue 0.
    """

    knobs: YuniKornKnobs
    leaf: list[int]
    widths: list[int]
    running: list[Pod] = field(default_factory=list)
    asks: list[Pod] = field(default_factory=list)
    guaranteed: list[int] = field(default_factory=list)
    maxima: list[int | None] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    fences: list[list[bool]] = field(default_factory=list)

    @property
    def classes(self) -> tuple[names.Class, ...]:
        """The priority classes from the lowest up, that of the ask last."""
        return (*names.CLASSES[: self.knobs.priorities], names.PREEMPTOR_CLASS)


_SIZES: Final = (1, 1, 1, 2, 2, 2, 4, 4, 8)
"""Cores of a pod; a number is as likely as it is often here."""
_OFFSETS: Final = (-100, -10, 10, 100)
_ASKED_S: Final = 240
"""How long the ask has been waiting: longer than the delay of preemption."""
_YOUNGEST_S: Final = 600
"""The least age of a pod in seconds; only the small pods of a hard state are younger."""
_BEYOND: Final = (200, 700)
_WITHIN: Final = (1100, 1500)
"""The guaranteed amount of a queue, in thousandths of its usage."""
_OWN: Final = 4
"""The queue of the ask uses at most one of this many equal parts of all cores."""
_DODGER: Final = 1
"""The queue after that of the ask: always beyond its guaranteed, so that there are candidates."""


def lay_out(knobs: YuniKornKnobs, seed: int) -> Layout:
    """Draw a cluster; InputError if the knobs leave no such cluster."""
    chance = Chance(seed, "queue")
    widths = [min(knobs.branches**level, knobs.queues) for level in range(knobs.depth)]
    leaf = [queue * widths[-1] // knobs.queues for queue in range(knobs.queues)]
    layout = Layout(knobs, leaf, widths)
    for width in widths:
        # A fence above the ask would shut out all queues outside of it.
        fences = [bool(place) and chance.percent(knobs.fences) for place in range(width)]
        layout.fences.append(fences)
    for queue in range(knobs.queues):
        offset = chance.pick(_OFFSETS)
        layout.offsets.append(offset if queue and chance.percent(knobs.offsets) else 0)
    over = Chance(seed, "over")
    beyond = [over.percent(knobs.over) for _ in range(knobs.queues)]
    beyond[0], beyond[_DODGER] = False, True
    hard = Chance(seed, "hard").percent(knobs.hard)
    layout.running += _pods(layout, seed, hard=hard)
    # What is free on each node, and what queues beyond their guaranteed use there.
    free, taken = [knobs.cores * CORE] * knobs.nodes, [0] * knobs.nodes
    for pod in layout.running:
        free[pod.node] -= pod.milli
        taken[pod.node] += pod.milli if beyond[pod.queue] else 0
    # The ask: too large for the free room of every node, but not for one node with its candidates.
    mean = sum(pod.milli for pod in layout.running) // len(layout.running)
    most = max(map(sum, zip(free, taken, strict=True)))
    lacking = CORE * knobs.victims if hard else knobs.victims * mean
    milli = min(lacking, max(free)) if knobs.fits else min(max(free) + lacking, most)
    if milli <= 0 or (not knobs.fits and milli <= max(free)):
        found = "on no node is there both room for an ask and somebody who may go"
        raise InputError("fill", found, "less in use, more nodes, or not fits")
    layout.asks.append(Pod(0, milli, knobs.priorities, _ASKED_S, WAITING))
    best = max(range(knobs.nodes), key=lambda node: free[node] + taken[node])
    _guarantee(layout, beyond, best, Chance(seed, "guaranteed"))
    return layout


def _pods(layout: Layout, seed: int, *, hard: bool) -> Iterator[Pod]:
    """Yield pods that fill the nodes; a queue has up to three applications, and a sweep."""
    knobs, chance, kinds = layout.knobs, Chance(seed, "pod"), Chance(seed, "application")
    counts, seen = [0] * knobs.queues, set[int]()
    tasks = [kinds.pick(TASKS) for _ in counts]

    def named(pod: Pod) -> Pod:
        counts[pod.queue] += 1
        kind = "sweep" if pod.age_s < _YOUNGEST_S else str(kinds.between(1, 3))
        app = f"{tasks[pod.queue]}-{pod.queue + 1}-{kind}"
        return pod._replace(app=app, number=counts[pod.queue])

    own, most = 0, knobs.nodes * knobs.cores * CORE // _OWN
    for node in range(knobs.nodes):
        left = knobs.cores * CORE * knobs.fill // 100
        if hard:
            size = knobs.victims * CORE
            for place in range(knobs.victims):
                yield named(Pod(_DODGER, CORE, 0, 30 + 4 * (node + place) % 500, node))
            yield named(Pod(_DODGER, size, 0, 3600 * chance.between(2, 20), node))
            left -= 2 * size
        while left > 0:
            milli = min(left, _size(knobs, chance, seen))
            left -= milli
            age = chance.spread(_YOUNGEST_S, knobs.age * 3600)
            queue, level = chance.below(knobs.queues), chance.below(knobs.priorities)
            if not queue and (own := own + milli) > most:
                queue = _DODGER
            out = chance.percent(knobs.opted_out)
            yield named(Pod(queue, milli, level, age, node, out))


def _size(knobs: YuniKornKnobs, chance: Chance, seen: set[int]) -> int:
    """Return the milli-cores of a pod; distinct ones differ as long as enough are left."""
    if knobs.shapes == "t-shirt":
        return CORE * min(knobs.cores, chance.pick(_SIZES))
    while True:
        milli = chance.between(CORE // 2, 8 * CORE)
        if milli not in seen or len(seen) > 4 * CORE:
            seen.add(milli)
            return milli


def _guarantee(layout: Layout, beyond: list[bool], best: int, chance: Chance) -> None:
    """Give the leaf queues their guaranteed amounts, and some a maximum.

    On the node ``best`` all pods of the queues beyond their guaranteed may be victims together.
    """
    knobs, asked = layout.knobs, layout.asks[0].milli
    used, goes = [0] * knobs.queues, [0] * knobs.queues
    for pod in layout.running:
        used[pod.queue] += pod.milli
        goes[pod.queue] += pod.milli if pod.node == best else 0
    whole, needs = knobs.nodes * knobs.cores * CORE, used[0] + asked
    own = (needs + min(whole, needs + asked)) // 2
    wanted = [
        min(amount - goes[queue], amount * chance.between(*_BEYOND) // 1000)
        if beyond[queue]
        else amount * chance.between(*_WITHIN) // 1000
        for queue, amount in enumerate(used)
    ]
    others = max(1, sum(wanted[1:]))
    scale = min(others, whole - own)
    layout.guaranteed = [own, *(each * scale // others for each in wanted[1:])]
    for queue, amount in enumerate(used):
        most = max(amount, layout.guaranteed[queue]) + CORE * chance.between(1, 16)
        has = queue and chance.percent(knobs.maxima)
        layout.maxima.append(most if has else None)


KNOBS: Final = YuniKornKnobs
FOLDER: str = "statedump"

Object = dict[str, Any]

MIB: Final = 2**20
PODS_OF_A_NODE: Final = 1000
PARTITION: Final = "default"


def made(knobs: YuniKornKnobs, seed: int) -> Object:
    """Return what ``/ws/v1/fullstatedump`` would say of a cluster."""
    layout = lay_out(knobs, seed)
    pods = [*layout.running, *layout.asks]
    first = {pod.app: pod for pod in reversed(pods)}
    claims = {pod: _claim(layout, pod, seed, originator=first[pod.app] is pod) for pod in pods}
    return {
        "timestamp": to_nanoseconds(names.NOW),
        "partitions": [{"name": PARTITION, "preemptionEnabled": True, "state": "Active"}],
        "applications": list(_applications(layout, claims)),
        "nodes": [{"partitionName": PARTITION, "nodesInfo": list(_nodes(layout))}],
        "rmDiagnostics": {"cache": _shim(layout, pods, seed)},
        "config": {"Partitions": [{"Name": PARTITION, "Queues": [_root(layout)]}]},
    }


def _above(layout: Layout, level: int, place: int) -> int:
    """Return the place of the parent of a parent queue on the level above."""
    return place * layout.widths[level - 1] // layout.widths[level]


def _parent_name(level: int, place: int) -> str:
    return names.numbered(names.DEPARTMENTS, place) + (f"-{level}" if level > 1 else "")


def _root(layout: Layout) -> Object:
    """Return the queues as queues.yaml has them, with the capitals of a dump."""
    below: list[list[Object]] = [[] for _ in range(layout.widths[-1])]
    for queue in range(layout.knobs.queues):
        amounts = {"Guaranteed": layout.guaranteed[queue], "Max": layout.maxima[queue]}
        resources = {
            kind: {
                VCORE: format_yunikorn_quantity(milli, VCORE),
                MEMORY: format_yunikorn_quantity(_memory(milli), MEMORY),
            }
            for kind, milli in amounts.items()
            if milli is not None
        }
        written: Object = {"Name": names.team(queue), "Resources": resources}
        if layout.offsets[queue]:
            written["Properties"] = {"priority.offset": str(layout.offsets[queue])}
        below[layout.leaf[queue]].append(written)
    for level in range(len(layout.widths) - 1, 0, -1):
        above: list[list[Object]] = [[] for _ in range(layout.widths[level - 1])]
        for place, queues in enumerate(below):
            parent: Object = {"Name": _parent_name(level, place), "Parent": True, "Queues": queues}
            if layout.fences[level][place]:
                parent["Properties"] = {"preemption.policy": "fence"}
            above[_above(layout, level, place)].append(parent)
        below = above
    return {"Name": "root", "SubmitACL": "*", "Queues": below[0]}


def _memory(milli: int) -> int:
    """Return the bytes that go with so many milli-cores."""
    return milli * MIB_PER_CORE // CORE * MIB


def _key(pod: Pod, seed: int) -> str:
    return uid_of(seed, "pod", pod.queue, pod.name)


def _resource(layout: Layout, pod: Pod) -> dict[str, int]:
    counted = {PODS: 1} if layout.knobs.count_pods else {}
    return {MEMORY: _memory(pod.milli), **counted, VCORE: pod.milli}


def _claim(layout: Layout, pod: Pod, seed: int, *, originator: bool) -> Object:
    made = to_nanoseconds(names.NOW - timedelta(seconds=pod.age_s))
    written: Object = {
        "allocationKey": _key(pod, seed),
        "allocationTags": {NAMESPACE_TAG: names.team(pod.queue), POD_NAME_TAG: pod.name},
        "requestTime": made,
        "resource": _resource(layout, pod),
        "priority": str(layout.classes[pod.level].value),
        "applicationId": pod.app,
    }
    if pod.node != WAITING:
        written |= {"allocationTime": made, "nodeId": _node_name(pod.node)}
    return written | ({"originator": True} if originator else {})


def _applications(layout: Layout, claims: dict[Pod, Object]) -> Iterator[Object]:
    members: dict[str, list[Pod]] = {}
    for pod in claims:
        members.setdefault(pod.app, []).append(pod)
    for app, pods in members.items():
        queue = pods[0].queue
        parts, place = [names.team(queue)], layout.leaf[queue]
        for level in range(len(layout.widths) - 1, 0, -1):
            parts.append(_parent_name(level, place))
            place = _above(layout, level, place)
        yield {
            "applicationID": app,
            "partition": PARTITION,
            "queueName": ".".join(("root", *reversed(parts))),
            "submissionTime": min(claims[pod]["requestTime"] for pod in pods),
            "requests": [claims[pod] for pod in pods if pod.node == WAITING],
            "allocations": [claims[pod] for pod in pods if pod.node != WAITING],
            "applicationState": "Accepted" if pods[0].node == WAITING else "Running",
            "user": names.team(queue),
        }


def _node_name(node: int) -> str:
    return f"worker-{node + 1}"


def _nodes(layout: Layout) -> Iterator[Object]:
    cores = layout.knobs.cores
    capacity = {MEMORY: 2 * cores * MIB_PER_CORE * MIB, VCORE: cores * CORE}
    if layout.knobs.count_pods:
        capacity[PODS] = PODS_OF_A_NODE
    allocated = [dict.fromkeys(capacity, 0) for _ in range(layout.knobs.nodes)]
    for pod in layout.running:
        for resource, amount in _resource(layout, pod).items():
            allocated[pod.node][resource] += amount
    for node, used in enumerate(allocated):
        yield {
            "nodeID": _node_name(node),
            "capacity": capacity,
            "occupied": {},
            "allocated": used,
            "available": {one: amount - used[one] for one, amount in capacity.items()},
            "schedulable": True,
            "isReserved": False,
        }


def _shim(layout: Layout, pods: Iterable[Pod], seed: int) -> Object:
    """Return what the shim knows of the pods: which ones opted out, and their priority classes."""
    written = {}
    for pod in pods:
        namespace, cls = names.team(pod.queue), layout.classes[pod.level]
        written[f"{namespace}/{pod.name}"] = {
            "namespace": namespace,
            "name": pod.name,
            "uid": _key(pod, seed),
            "creationTimestamp": names.ago(pod.age_s),
            **({"annotations": {ALLOW_PREEMPTION: "false"}} if pod.opted_out else {}),
            "priorityClassName": cls.name,
            "priority": cls.value,
            "preemptionPolicy": "PreemptLowerPriority",
        }
    classes = {
        cls.name: {"name": cls.name, "value": cls.value, "preemptionPolicy": "PreemptLowerPriority"}
        for cls in layout.classes
    }
    return {"pods": written, "priorityClasses": classes}
