"""The cluster as it is kept up to date by its changes, and what of it is the planner's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import numpy as np

from planner.operations.kubectl.kueue_dump import Dump
from planner.operations.kubectl.kueue_resource import WORKLOADS
from planner.operations.kubectl.watch import WatchEvent
from planner.operations.steer.kueue.decide import Holder, Replay, Tree
from planner.operations.steer.kueue.marks import Marked
from planner.operations.steer.kueue.propose import replayed, snapshot_of
from planner.operations.watch.kueue.keep import Keeper
from planner.state.kueue_workload import Workload

OLD: Final = timedelta(seconds=5)
"""The clock of the state is set anew after so long, though nothing has changed."""
LOST_S: Final = 10.0
"""Seconds after which a change of ours that does not show is lost."""
NOWHERE: Final = -1
"""The tree of what is ours, and whose ClusterQueue is not known."""


class Mirror(Keeper):
    """The state of a cluster, and the workloads that have a gate or a boost of ours.

    ``followed`` has the workloads that were evicted for each preemptor that somebody asks about,
    by its UID; ``_awaited`` are changes of ours that no event has shown yet.
    """

    def __init__(self, dump: Dump, how: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        super().__init__(dump, how, seconds)
        self.followed: dict[str, set[str]] = {}
        self._awaited: dict[str, int] = {}
        self._awaits_since = 0.0
        found = (Marked(one) for one in dump.objects if one["kind"] == "Workload")
        self.ours = {one.key: one for one in found if one.is_ours}
        taken = snapshot_of(self.state)
        self._roots = {name: taken.tree.root(node) for name, node in taken.node_of.items()}
        self._replays: dict[int, dict[str, Replay]] = {}
        self._snapshot = self.state, taken

    def take(self, event: WatchEvent) -> bool:
        """Take one change, as a watch does; say whether all has to be read anew."""
        anew = super().take(event)
        one = Marked(event.value)
        if event.resource != WORKLOADS or event.value.get("kind") != "Workload":
            return anew
        if event.kind == "DELETED" or one.revision >= self._awaited.get(one.key, 0):
            self._awaited.pop(one.key, None)
        if event.kind == "DELETED" or not one.is_ours:
            self.ours.pop(one.key, None)
        elif one.revision >= self._versions.get(one.key, 0):
            self.ours[one.key] = one
        if one.preempted is not None and one.preempted[0] in self.followed:
            self.followed[one.preempted[0]].add(one.key)
        return anew

    def settle(self) -> None:
        """Apply all changes that were taken; what a watch compares is not kept."""
        if self._new or self.now - self.state.now >= OLD:
            super().settle()
        for queue in self.touched:  # trees decide nothing about one another
            self._replays.pop(self._roots.get(queue, NOWHERE), None)
        self.touched.clear()
        self.episodes.clear()

    def awaits(self, changed: Marked) -> None:
        """Wait for an event that shows a change of ours; nothing is decided around it until then.

        Events of a resource type come in the order of the changes: who has seen ours has seen all
        that happened to workloads before it.
        """
        if changed.revision > self._versions.get(changed.key, 0):
            self._awaited[changed.key] = changed.revision
            self._awaits_since = self._seconds()

    @property
    def is_behind(self) -> bool:
        """Whether changes of ours do not show yet."""
        return bool(self._awaited)

    @property
    def is_lost(self) -> bool:
        """Whether they have not shown for so long that all has to be read anew."""
        return self.is_behind and self._seconds() - self._awaits_since >= LOST_S

    def find(self, key: str) -> Marked | None:
        """Return a workload as it is now; ``None`` if it is gone."""
        found = None if key in self.ours else self.state.workloads.find(key)
        return self.ours.get(key) or (None if found is None else marked(found))

    def queue_of(self, one: Marked) -> str:
        """Return the ClusterQueue in which a workload holds quota, or waits; empty if unknown."""
        if one.holds_quota:
            return str(one.at("status", "admission", "clusterQueue") or "")
        namespace, queue = one.at("metadata", "namespace"), one.at("spec", "queueName")
        return self._queue_of.get((str(namespace), str(queue)), "")

    @property
    def roots(self) -> list[int]:
        """The roots of the cohort trees in which something is ours."""
        return [*dict.fromkeys(map(self._root, self.ours.values()))]

    def tree(self, root: int) -> Tree:
        """Return what counts in a cohort tree."""
        some = [one for one in self.ours.values() if self._root(one) == root]
        columns = self.state.workloads.columns
        queues = {name for name, found in self._roots.items() if found == root}
        return Tree(
            tuple(sorted((one for one in some if one.is_gated and one.waits), key=_turn)),
            tuple(one for one in some if one.boosted_for is not None),
            frozenset(
                Holder(columns.key[at], columns.uid[at], bool(columns.evicted[at]))
                for at in np.flatnonzero(columns.holds_quota).tolist()
                if columns.queues[columns.admitted_by[at]] in queues
            ),
        )

    def replays(self, root: int) -> Callable[[str], Replay]:
        """Return what says of a workload of a tree what Kueue would do if its gates were open."""
        known = self._replays.setdefault(root, {})

        def replay(key: str) -> Replay:
            if key not in known:
                if self._snapshot[0] is not self.state:
                    self._snapshot = self.state, snapshot_of(self.state)
                known[key] = replayed(*self._snapshot, key)
            return known[key]

        return replay

    def _root(self, one: Marked) -> int:
        return self._roots.get(self.queue_of(one), NOWHERE)


def marked(workload: Workload) -> Marked:
    """Return a workload of a state as the API server has it."""
    return Marked(workload.model_dump(mode="json", by_alias=True, exclude_none=True))


def _turn(one: Marked) -> tuple[int, str, str]:
    """Return where a workload comes among those that are blocked: by priority, then by age."""
    priority, created = one.at("spec", "priority"), one.at("metadata", "creationTimestamp")
    return -priority if isinstance(priority, int) else 0, str(created), one.uid
