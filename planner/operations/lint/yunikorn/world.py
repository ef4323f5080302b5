"""The facts that the rules look at; small clusters made of them: one node, a few allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planner.operations.lint.lint import Example
from planner.quota.yunikorn.cluster import Cluster, find_ask, prepare
from planner.quota.yunikorn.queue import Queue
from planner.reader.yunikorn import read_yunikorn_objects
from planner.reference.yunikorn.decision import decide
from planner.reference.yunikorn.turn import free_node
from planner.state.yunikorn import Partition, QueueConfig, YuniKornState


class Facts(Struct, frozen=True, dict=True):
    """One partition of a state of YuniKorn, and the one resource type of its examples."""

    state: YuniKornState
    partition: Partition
    type: str = "memory"

    def of_types(self) -> list[Facts]:
        """Return the facts with each type that is guaranteed, or else one that nodes have."""
        amounts = (item for one in self.queues.values() for item in (one.guaranteed or {}).items())
        types = list(dict.fromkeys(name for name, amount in amounts if amount))
        of_nodes = (name for one in self.partition.nodes for name in one.capacity)
        return [replace(self, type=one) for one in types or islice(chain(of_nodes, [self.type]), 1)]

    @cached_property
    def cluster(self) -> Cluster:
        """The partition as every decision sees it."""
        return prepare(self.state, self.partition.name)

    @cached_property
    def leaves(self) -> Sequence[Queue]:
        """The leaf queues, in the order of queues.yaml."""
        return [queue for queue in self.queues.values() if queue.is_leaf and queue.parent]

    @property
    def queues(self) -> Mapping[str, Queue]:
        """All queues by their paths, parents first."""
        return self.cluster.tree.by_path

    @cached_property
    def written(self) -> Mapping[str, QueueConfig]:
        """The queues as queues.yaml has them, by their paths."""
        return dict(_paths(self.partition.root, ""))

    def guarantees(self, leaf: Queue) -> bool:
        """Say whether anything is guaranteed to a leaf or to a queue above it."""
        return any(queue.guaranteed for queue in leaf.lineage)

    def others(self, leaf: Queue) -> list[Queue]:
        """Return all leaves except a given one."""
        return [other for other in self.leaves if other is not leaf]


def name(queue: Queue | str) -> str:
    """Return a queue as findings name it."""
    return f"queue/{queue if isinstance(queue, str) else queue.path}"


def _path(above: str, config: QueueConfig) -> str:
    return f"{above}.{config.name.lower()}".removeprefix(".")


def _paths(config: QueueConfig, above: str) -> Iterator[tuple[str, QueueConfig]]:
    path = _path(above, config)
    yield path, config
    for child in config.queues:
        yield from _paths(child, path)


Object = dict[str, Any]
Change = Callable[[Object], None]
"""A function that changes the objects of a cluster before they are read."""

ASKS: Final = "asks"
NODE: Final = "node"
_SECOND: Final = 10**9
_NOW: Final = 1_767_268_800 * _SECOND
_DAY: Final = 86_400 * _SECOND


class Runs(NamedTuple):
    """An allocation: its queue, its amount of the one type, and whether it opted out."""

    queue: Queue
    amount: int
    opted_out: bool = False


class Decided(NamedTuple):
    """What YuniKorn does for the ask: the victims, or whether it finds room at once."""

    fits: bool
    victims: tuple[str, ...]


class World(Struct, frozen=True):
    """A cluster of one node that ``runs`` fills, and an ask for ``amount`` in ``leaf``.

    ``given`` is what else it has.
    """

    facts: Facts
    leaf: Queue
    amount: int
    runs: Sequence[Runs]
    given: Sequence[Change] = ()

    def dump(self, *changes: Change) -> Object:
        """Return the objects of the cluster with some changes made."""
        leaves = (self.leaf, *(one.queue for one in self.runs))
        kept = {queue.path for leaf in leaves for queue in leaf.lineage}
        switches = self.facts.partition.preemption
        partition = {
            "name": "default",
            "preemption": {"enabled": switches.enabled, "quotapreemptionenabled": switches.quota},
            "queues": [self._queue(self.facts.partition.root, "", kept)],
        }
        ask = {"allocationKey": ASKS, "requestTime": _NOW - _DAY, **self._claim(self.amount)}
        capacity = {self.facts.type: sum(one.amount for one in self.runs)}
        value: Object = {
            "now": _NOW,
            "queues": {"partitions": [partition]},
            "nodes": [
                {
                    "partitionName": "default",
                    "nodesInfo": [{"nodeID": NODE, "capacity": capacity, "schedulable": True}],
                }
            ],
            "applications": [
                *(self._running(number, one) for number, one in enumerate(self.runs, 1)),
                _application(ASKS, self.leaf, requests=[ask]),
            ],
        }
        for change in (*self.given, *changes):
            change(value)
        return value

    def decided(self, *changes: Change) -> Decided:
        """Replay what YuniKorn does for the ask with some changes made."""
        cluster = prepare(read_yunikorn_objects(self.dump(*changes), where="example"))
        asking = find_ask(cluster, ASKS)
        victims = decide(cluster, asking).victim_keys
        return Decided(free_node(cluster, asking) is not None, victims)

    def example(self, *shows: str) -> Example:
        """Return the cluster as an example."""
        return Example(state=self.dump(), pending=ASKS, shows=shows)

    def _queue(self, config: QueueConfig, above: str, kept: set[str]) -> Object:
        path = _path(above, config)
        below = [child for child in config.queues if _path(path, child) in kept]
        found: Object = {
            "name": config.name,
            "parent": config.parent or bool(config.queues),
            "properties": dict(config.properties),
            "queues": [self._queue(child, path, kept) for child in below],
        }
        if above:
            found["resources"] = {
                "guaranteed": self._written(config.resources.guaranteed),
                "max": self._written(config.resources.max),
            }
        return found

    def _written(self, amounts: dict[str, int]) -> Object:
        return {
            name: f"{n}m" if name == "vcore" else str(n)
            for name, n in amounts.items()
            if name == self.facts.type
        }

    def _claim(self, amount: int) -> Object:
        return {"resource": {self.facts.type: amount}, "priority": "0"}

    def _running(self, number: int, one: Runs) -> Object:
        made, key = _NOW - _DAY + number * _SECOND, f"runs-{number}"
        allocation = {
            "allocationKey": key,
            "nodeId": NODE,
            "requestTime": made,
            "allocationTime": made,
            **self._claim(one.amount),
        }
        if one.opted_out:
            allocation["x"] = {"allowPreemptSelf": False}
        return _application(key, one.queue, allocations=[allocation])


def _application(key: str, leaf: Queue, **claims: list[Object]) -> Object:
    name = {"applicationID": f"app-{key}", "queueName": leaf.path, "partition": "default"}
    return {**name, "allocations": [], "requests": [], **claims}


def each_queue(change: Callable[[Object], object]) -> Change:
    """Return a change of the cluster that applies ``change`` to every queue."""

    def changed(value: Object) -> None:
        ahead = [queue for one in value["queues"]["partitions"] for queue in one["queues"]]
        while ahead:
            queue = ahead.pop()
            ahead += queue["queues"]
            change(queue)

    return changed


def of_leaf(path: str, change: Callable[[Object], object]) -> Change:
    """Return a change that applies ``change`` to the leaf queue at a path."""
    *above, last = path.split(".")

    def changed(value: Object) -> None:
        level = [queue for one in value["queues"]["partitions"] for queue in one["queues"]]
        for name in above:
            level = [
                below for one in level if one["name"].lower() == name for below in one["queues"]
            ]
        for queue in level:
            if queue["name"].lower() == last:
                change(queue)

    return changed


def without_property(name: str) -> Change:
    """Return a change that removes a property from every queue."""
    return each_queue(lambda queue: queue["properties"].pop(name, None))
