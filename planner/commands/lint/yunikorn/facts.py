"""What the rules look at: the queues of each partition, as written and as the core counts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.quota.yunikorn.cluster import Cluster, prepare
from planner.quota.yunikorn.queue import Queue
from planner.state.yunikorn import Partition, QueueConfig, YuniKornState


@dataclass(frozen=True)
class Facts:
    """One partition of a state of YuniKorn."""

    state: YuniKornState
    partition: Partition

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
        """The queues as they are written, by their paths."""
        return dict(_paths(self.partition.root, ""))

    @cached_property
    def type(self) -> str:
        """A resource type to make examples of: one that is guaranteed, or that nodes have."""
        for queue in self.queues.values():
            for name, amount in (queue.guaranteed or {}).items():
                if amount:
                    return name
        return next((name for one in self.partition.nodes for name in one.capacity), "memory")

    def guarantees(self, leaf: Queue) -> bool:
        """Say whether anything is guaranteed to a leaf or to a queue above it."""
        return any(queue.guaranteed for queue in leaf.lineage)

    def others(self, leaf: Queue) -> list[Queue]:
        """Return the other leaves."""
        return [other for other in self.leaves if other is not leaf]


def name(queue: Queue | str) -> str:
    """Return a queue as findings name it."""
    return f"queue/{queue if isinstance(queue, str) else queue.path}"


def _paths(config: QueueConfig, above: str) -> Iterator[tuple[str, QueueConfig]]:
    path = f"{above}.{config.name.lower()}".removeprefix(".")
    yield path, config
    for child in config.queues:
        yield from _paths(child, path)
