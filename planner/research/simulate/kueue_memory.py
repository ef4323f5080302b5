"""Decisions of Kueue that are kept: where a cluster is as it was before, they are as before.

Victims come back and are admitted again, so that a cohort tree is often as it was but for times. Of
times a decision reads which holder got quota before which, and whether a holder of the preemptor's
own priority counts as newer; the clock it never reads. What a workload asks for, and its priority,
are the same however often it queues.

Source: docs/semantics/kueue.md §5.2 and §5.4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import names_replaced
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.context import Tried
from planner.reference.kueue.cycle.processing import Decider
from planner.reference.kueue.decision import Decision
from planner.research.simulate.world import Text, ranks

MOST: Final = 300
"""So many states of trees are kept: a state that comes back mostly does so after a few others."""
_BY_TIME: Final = "LowerOrNewerEqualPriority"


class _Standing(NamedTuple):
    """A part of a cluster as it is: its holders by key, and all decisions made where it was so."""

    holders: Mapping[str, Admitted]
    known: dict[Text, Decision]


class Memory:
    """A decider that keeps the decisions of another decider, which must not look at the clock.

    ``parts`` has the part of the cluster that each ClusterQueue belongs to; parts do not affect one
    another. ``forget`` is to be called for each part that changes.
    """

    def __init__(self, decider: Decider, parts: Mapping[int, int]) -> None:
        self._decider: Final = decider
        self._parts: Final = parts
        self._standings: Final[dict[int, _Standing]] = {}
        self._known: Final[dict[Text, dict[Text, Decision]]] = {}

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return the decision; with ``nominated`` flavors it is made anew, within a cycle."""
        # The snapshot then has the usage of earlier entries of this cycle. A slice is decided for
        # by what each podset of the old slice holds, which is not looked at here.
        if nominated is not None or names_replaced(preemptor.workload, snapshot.configuration):
            return self._decider(snapshot, preemptor, nominated=nominated, tried=tried)
        part = self._parts[preemptor.queue]
        standing = self._standings.get(part)
        if standing is None:
            standing = self._standings[part] = self._standing_of(snapshot, part)
        walks = tuple(tuple(places.items()) for places in tried)
        asked = preemptor.key, walks, _newer(snapshot, preemptor, standing.holders)
        found = standing.known.get(asked)
        if found is not None:
            return _with_holders(found, standing.holders)
        decision = standing.known[asked] = self._decider(snapshot, preemptor, tried=tried)
        return decision

    def forget(self, part: int) -> None:
        """Look at a part anew: a workload came, is being evicted or gave quota back."""
        self._standings.pop(part, None)

    def _standing_of(self, snapshot: Snapshot, part: int) -> _Standing:
        nodes = [node for node, own in self._parts.items() if own == part]
        holders = {one.key: one for node in nodes for one in snapshot.admitted[node]}
        # Where pods are placed on nodes, decisions read more than what is compared here.
        if snapshot.topologies.looked_at:
            return _Standing(holders, {})
        if len(self._known) >= MOST:
            self._known.clear()
        state = _state_of(snapshot, part, holders.values())
        return _Standing(holders, self._known.setdefault(state, {}))


def _state_of(snapshot: Snapshot, root: int, holders: Collection[Admitted]) -> Text:
    """Return all that decisions in the tree of a root read of its holders, and of its usage."""
    # The usage by itself: where amounts wrap around or saturate, holders alone do not tell it.
    usage = tuple(tuple(snapshot.usage.amount[node]) for node in snapshot.tree.below(root))
    rank = ranks(one.reserved_s for one in holders)
    return usage, tuple(
        (
            one.key,
            one.evicted,
            rank[one.reserved_s],
            tuple(one.usage.items()),
            frozenset(one.names),
            one.past,
        )
        for one in holders
    )


def _newer(snapshot: Snapshot, preemptor: Preemptor, holders: Mapping[str, Admitted]) -> Text:
    """Say of each holder of the preemptor's priority whether it counts as newer, if that counts."""
    policies = snapshot.queues[preemptor.queue].spec.preemption
    if _BY_TIME not in {policies.within_cluster_queue, policies.reclaim_within_cohort}:
        return ()
    return tuple(
        preemptor.queued_before(one.queued_at)
        for one in holders.values()
        if one.priority == preemptor.priority
    )


def _with_holders(decision: Decision, holders: Mapping[str, Admitted]) -> Decision:
    """Return a decision made before with its targets as they stand now."""
    found = decision.search
    if not found.targets:
        return decision
    targets = tuple(one._replace(workload=holders[one.workload.key]) for one in found.targets)
    return replace(decision, search=found._replace(targets=targets))
