"""What the rules look at: the trees of a cluster, what its queues can use, known priorities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.quantity import UNLIMITED
from planner.quota.holding import effective_priority
from planner.quota.snapshot import Snapshot, take_snapshot
from planner.state import State
from planner.state.queues import Preemption

_OF_KUBERNETES: Final = "system-"
"""How the priority classes begin that every cluster has, and no batch workload uses."""
_UNCOUNTED: Final = "pods"
"""The one resource that preemption does not count (docs/semantics/kueue.md §4.1)."""


@dataclass(frozen=True)
class Facts:
    """A state of Kueue, and what follows from its configuration."""

    state: State

    @cached_property
    def snapshot(self) -> Snapshot:
        """The state as every decision sees it."""
        return take_snapshot(self.state)

    @property
    def fair(self) -> bool:
        """Whether fair sharing is on."""
        return self.snapshot.configuration.fair_sharing_on

    @property
    def trees(self) -> Iterable[Sequence[int]]:
        """The ClusterQueues, those under one root together, in the order of the dump."""
        return self._tree_of.values()

    @cached_property
    def _tree_of(self) -> Mapping[int, Sequence[int]]:
        by_root: dict[int, list[int]] = {}
        for queue in self.snapshot.queues:
            by_root.setdefault(self.snapshot.tree.path(queue)[-1], []).append(queue)
        return by_root

    @cached_property
    def queues(self) -> Sequence[int]:
        """The active ClusterQueues, in the order of the dump."""
        return self.active(self.snapshot.queues)

    @cached_property
    def priorities(self) -> Sequence[int]:
        """Every effective priority of a workload, and every class there is for them; sorted."""
        state = self.state
        classes = (*state.workload_priority_classes, *state.priority_classes)
        named = {one.value for one in classes if not one.metadata.name.startswith(_OF_KUBERNETES)}
        used = {
            effective_priority(one, state.configuration)
            for one in state.workloads
            if not one.is_true("Finished")
        }
        return sorted(named | used)

    def active(self, queues: Iterable[int]) -> list[int]:
        """Return those of some ClusterQueues that take part in scheduling."""
        return [queue for queue in queues if self.snapshot.is_active(queue)]

    def policies(self, queue: int) -> Preemption:
        """Return the preemption policies of a ClusterQueue."""
        return self.snapshot.queues[queue].spec.preemption

    def reclaims(self, queue: int) -> bool:
        """Say whether a ClusterQueue may preempt others of its cohort at all."""
        return self.policies(queue).reclaim_within_cohort != "Never"

    def borrows_by_force(self, queue: int) -> bool:
        """Say whether a ClusterQueue asks to preempt while it borrows."""
        return self.policies(queue).borrow_within_cohort.policy != "Never"

    def threshold(self, queue: int, otherwise: int) -> int:
        """Return up to which priority a ClusterQueue may preempt while it borrows."""
        told = self.policies(queue).borrow_within_cohort.max_priority_threshold
        return otherwise if told is None else told

    def frs(self, queue: int) -> Iterator[int]:
        """Yield the flavor-resources that a ClusterQueue has quotas for and preemption counts."""
        for fr in self.snapshot.tree.nodes[queue].quotas:
            if self.snapshot.tree.frs[fr].resource != _UNCOUNTED:
                yield fr

    def nominal(self, queue: int, fr: int) -> int:
        """Return a ClusterQueue's own nominal quota."""
        return self.snapshot.tree.nominal(queue, fr)

    def most(self, queue: int, fr: int) -> int:
        """Return what a ClusterQueue could use if nothing ran anywhere."""
        return self.snapshot.tree.potential(queue, fr)

    def is_bounded(self, queue: int, fr: int) -> bool:
        """Say whether a flavor-resource can run out at all."""
        return self.most(queue, fr) < UNLIMITED

    def can_borrow(self, queue: int, fr: int) -> bool:
        """Say whether a ClusterQueue could ever use more than its nominal quota."""
        return self.most(queue, fr) > self.nominal(queue, fr)

    def lends(self, queue: int, fr: int) -> bool:
        """Say whether others can borrow quota of a ClusterQueue."""
        tree = self.snapshot.tree
        return tree.subtree[queue][fr] > tree.kept[queue][fr]

    def others(self, queue: int) -> Sequence[int]:
        """Return the other ClusterQueues under the same root."""
        tree = self._tree_of[self.snapshot.tree.path(queue)[-1]]
        return [other for other in tree if other != queue]

    def alike(self, queues: Iterable[int]) -> Iterator[list[int]]:
        """Yield some ClusterQueues in groups that a rule need not tell apart.

        Those of a group have one parent, the same policies, and the same signs of quotas and
        limits in the same flavor-resources.
        """
        groups: dict[object, list[int]] = {}
        nodes = self.snapshot.tree.nodes
        for queue in queues:
            node = nodes[queue]
            quotas = frozenset((fr, *map(_sign, quota)) for fr, quota in node.quotas.items())
            key = node.parent, self.policies(queue), quotas, node.active, node.weight_nano
            groups.setdefault(key, []).append(queue)
        yield from groups.values()

    def called(self, queues: Sequence[int]) -> str:
        """Return a group of ClusterQueues by its first."""
        more = f" (and {len(queues) - 1:,} more like it)" if len(queues) > 1 else ""
        return self.name(queues[0]) + more

    def name(self, queue: int) -> str:
        """Return a ClusterQueue as kubectl names it."""
        return f"clusterqueue/{self.snapshot.queue_name(queue)}"

    def names(self, queues: Iterable[int]) -> tuple[str, ...]:
        """Return ClusterQueues as kubectl names them."""
        return tuple(map(self.name, queues))


def _sign(amount: int | None) -> int | None:
    return None if amount is None else (amount > 0) - (amount < 0)
