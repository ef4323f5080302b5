"""What Kueue decided for a head: it decides the same until its part of the cluster changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.context import Tried
from planner.reference.kueue.cycle.record import Decider
from planner.reference.kueue.decision import Decision


class _Known(NamedTuple):
    preemptor: Preemptor
    tried: Tried
    decision: Decision


class Memory:
    """A decider that asks another one only for what may have changed since it was asked.

    That one must not look at the clock. ``parts`` are those of the cluster that ClusterQueues
    belong to, which have nothing to do with one another; ``forget`` has to be told what changes in
    one.
    """

    def __init__(self, decider: Decider, parts: Mapping[int, int]) -> None:
        self._decider: Final = decider
        self._parts: Final = parts
        self._known: Final[dict[int, dict[str, _Known]]] = {}

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return the decision; among flavors of before it is made in the middle of a cycle."""
        # The snapshot then has what earlier entries of this cycle took: that is no answer for the
        # next one.
        if nominated is not None:
            return self._decider(snapshot, preemptor, nominated=nominated, tried=tried)
        known = self._known.setdefault(self._parts[preemptor.queue], {})
        found = known.get(preemptor.key)
        # By identity: a workload that queues again is another preemptor, with another time to
        # compare.
        if found is not None and found.preemptor is preemptor and found.tried == tried:
            return found.decision
        decision = self._decider(snapshot, preemptor, tried=tried)
        known[preemptor.key] = _Known(preemptor, tried, decision)
        return decision

    def forget(self, part: int) -> None:
        """Ask anew for all of a part, in which something was admitted, evicted or given back."""
        self._known.pop(part, None)


Instead = Callable[[Snapshot, Preemptor, Decision], Decision]
"""Puts other victims into a decision; it may look at the clock."""


class Changed:
    """A decider whose decisions get other victims, each time that one is made."""

    def __init__(self, decider: Decider, instead: Instead) -> None:
        self._decider: Final = decider
        self._instead: Final = instead

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return the decision with other victims, flavors as they were decided."""
        found = self._decider(snapshot, preemptor, nominated=nominated, tried=tried)
        return self._instead(snapshot, preemptor, found)
