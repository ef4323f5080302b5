"""The preemptor, its queue and its candidates: what the rules say before any removal.

Written from docs/semantics/kueue.md §5.2 (policies), §5.3 (collecting, variants) and §5.5
(attempts), and from kueue ff69552e pkg/scheduler/preemption/classical. Kueue's objects are put in
words here, too: amounts in users' units, queues as kubectl names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property

import numpy as np
from msgspec import Struct

from planner.quantity import format_units
from planner.quota.classes import IntArray
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.holding import Shape
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Share
from planner.state.queues import Preemption
from planner.verifier.kueue_topology import Floor


def say_amount(snapshot: Snapshot, fr: int, units: int, *, named: bool = True) -> str:
    """Write an amount as a quantity, with its resource and flavor unless not ``named``."""
    flavor_resource = snapshot.tree.frs[fr]
    quantity = format_units(units, flavor_resource.resource)
    return f"{quantity} {flavor_resource}" if named else quantity


def say_node(snapshot: Snapshot, node: int) -> str:
    """Name a ClusterQueue or cohort."""
    kind = "ClusterQueue" if snapshot.tree.nodes[node].is_queue else "Cohort"
    return f"{kind} {snapshot.queue_name(node)}"


def say_shares(*shares: Share) -> list[str]:
    """Write shares in thousandths, with six digits unless two that differ would look alike.

    Shares of weight 0 are infinite and compare by their ratios.
    """
    values = [share.order[1] for share in shares]
    short = [f"{value:.6g}" for value in values]
    # A verdict that says "400 is more than 400" would help nobody.
    texts = short if len(set(short)) == len(set(values)) else [repr(value) for value in values]
    return [
        f"infinity (weight 0, ratio {text})" if share.order[0] else text
        for share, text in zip(shares, texts, strict=True)
    ]


class Variant(StrEnum):
    """Why a workload is a candidate (docs/semantics/kueue.md §5.3)."""

    WITHIN_CQ = "WithinCQ"
    HIERARCHICAL_RECLAIM = "HierarchicalReclaim"
    RECLAIM_WITHOUT_BORROWING = "ReclaimWithoutBorrowing"
    RECLAIM_WHILE_BORROWING = "ReclaimWhileBorrowing"

    @property
    def reason(self) -> str:
        """The code Kueue writes into the Preempted condition (docs/semantics/kueue.md §5.8)."""
        return _REASON[self]


_REASON = {
    Variant.WITHIN_CQ: "InClusterQueue",
    Variant.HIERARCHICAL_RECLAIM: "InCohortReclamation",
    Variant.RECLAIM_WITHOUT_BORROWING: "InCohortReclamation",
    Variant.RECLAIM_WHILE_BORROWING: "InCohortReclaimWhileBorrowing",
}


class Setting(Struct, frozen=True, dict=True):
    """A preemptor with its flavors assigned, on the snapshot as it was.

    ``request`` is what must be available in the end, per fr in integer units: REQ, and the pods
    where the queue covers ``pods``; ``searched`` is REQ, ``contested`` is FRS
    (docs/semantics/kueue.md §5.1). ``floor`` has the podsets that need a place on nodes.
    """

    snapshot: Snapshot
    preemptor: Preemptor
    request: Mapping[int, int]
    contested: frozenset[int]
    searched: Mapping[int, int]
    floor: Floor

    @property
    def queue(self) -> int:
        """The preemptor's ClusterQueue."""
        return self.preemptor.queue

    @cached_property
    def policy(self) -> Preemption:
        """The preemption policies of the preemptor's queue: the only ones that matter."""
        return self.snapshot.queues[self.queue].spec.preemption

    @cached_property
    def path(self) -> tuple[int, ...]:
        """The preemptor's queue and the cohorts above it, the root last."""
        return self.snapshot.tree.path(self.queue)

    def holder(self, key: str, queue: str) -> Admitted | None:
        """Return the workload with a key if it holds quota, looked for in ``queue`` first."""
        snapshot = self.snapshot
        here = snapshot.admitted.get(snapshot.node_of.get(queue, -1))
        found = None if here is None else here.find(key)
        others = (one.find(key) for one in snapshot.admitted.values())
        return found or next(filter(None, others), None)

    @cached_property
    def _sides(self) -> dict[int, tuple[int, ...] | None]:
        tree, on_path = self.snapshot.tree, set(self.path)
        sides: dict[int, tuple[int, ...] | None] = {}
        for node in self.snapshot.admitted:
            climbed = tree.path(node)
            # The first node on the path is the lowest common ancestor; None is another tree.
            below = next((i for i, at in enumerate(climbed) if at in on_path), None)
            sides[node] = None if below is None else climbed[:below]
        return sides

    def side(self, queue: int) -> tuple[int, ...]:
        """Return a queue and the cohorts above it, strictly below the common ancestor.

        Empty for the preemptor's own queue and for a queue of another tree.
        """
        return self._sides.get(queue) or ()

    def in_tree(self, queue: int) -> bool:
        """Say whether a queue is the preemptor's or shares its root cohort."""
        return self._sides.get(queue) is not None

    def ancestor(self, queue: int) -> int:
        """Return the lowest common ancestor of a queue in the tree and the preemptor's queue."""
        side = self.side(queue)
        return self.snapshot.tree.nodes[side[-1]].parent if side else self.queue

    @cached_property
    def advantage(self) -> Mapping[int, bool]:
        """Per cohort above the preemptor: whether it has hierarchical advantage there.

        It has if the request fits in the quota of its queue or of a cohort further down.
        """
        usage = self.snapshot.usage
        # The whole request counts, not only its contested flavor-resources (§5.3).
        fits, remaining = usage.fits_in_quota(self.queue, self.searched)
        advantage = {}
        for cohort in self.path[1:]:
            # Before the cohort's own test: fitting in its quota gives advantage only further up.
            advantage[cohort] = fits
            fits_here, remaining = usage.fits_in_quota(cohort, remaining)
            fits = fits or fits_here
        return advantage

    def names_contested(self, workload: Admitted | Shape) -> bool:
        """Say whether a workload names a contested flavor-resource, whatever the amount."""
        return not self.contested.isdisjoint(workload.names)

    def permits(self, workload: Admitted) -> bool:
        """Say whether the policy for its queue permits a workload as a victim (§5.2)."""
        own = workload.queue == self.queue
        policy = self.policy.within_cluster_queue if own else self.policy.reclaim_within_cohort
        mine, its = self.preemptor.priority, workload.priority
        if policy == "LowerPriority":
            return mine > its
        if policy == "LowerOrNewerEqualPriority":
            newer = self.preemptor.queued_before(workload.queued_at)
            return mine > its or (mine == its and newer)
        return policy == "Any"

    def variant(self, workload: Admitted) -> Variant:
        """Classify a workload of the tree which the policies permit (§5.3)."""
        if workload.queue == self.queue:
            return Variant.WITHIN_CQ
        if self.advantage[self.ancestor(workload.queue)]:
            return Variant.HIERARCHICAL_RECLAIM
        borrow = self.policy.borrow_within_cohort
        threshold = borrow.max_priority_threshold
        if (
            borrow.policy == "Never"
            or workload.priority >= self.preemptor.priority
            or (threshold is not None and workload.priority > threshold)
        ):
            return Variant.RECLAIM_WITHOUT_BORROWING
        return Variant.RECLAIM_WHILE_BORROWING

    def reason(self, workload: Admitted) -> str:
        """Return the reason code of a workload of the tree which the policies permit (§5.8)."""
        return self.variant(workload).reason

    def variants(self, some: Holders) -> tuple[Sequence[Variant], IntArray]:
        """Return different variants, and for each of some holders the number of its own: (C,)."""
        ancestor = np.zeros(len(self.snapshot.tree.nodes), dtype=np.int64)
        for queue in self._sides:
            ancestor[queue] = self.ancestor(queue)
        # Ancestor and priority decide; one holder of each kind is asked about.
        _, rank = np.unique(some.columns.priority, return_inverse=True)
        kinds = ancestor[some.columns.queue] * (1 + int(rank.max(initial=0))) + rank
        _, first, which = np.unique(kinds, return_index=True, return_inverse=True)
        return [self.variant(some[at]) for at in first.tolist()], which.astype(np.int64)

    def _permitted(self, queues: Iterable[int]) -> Holders:
        """Return the workloads of queues that pass all laws which judge each victim by itself.

        Active queues of the tree, a contested flavor-resource, and the policies: KQ-03 to KQ-05.
        """
        snapshot, mine = self.snapshot, self.preemptor.priority
        asked = np.zeros(len(snapshot.tree.nodes), dtype=np.bool_)
        asked[[one for one in queues if self.in_tree(one) and snapshot.is_active(one)]] = True
        held = snapshot.contenders(self.queue)
        # Workloads with the same usage name the same fr: one is tested for all of a kind.
        shapes, which = held.alike
        naming = np.array([self.names_contested(one) for one in shapes], dtype=np.bool_)
        places = np.flatnonzero(asked[held.columns.queue] & naming[which])
        # Of policies, the side and the priority decide, unless it equals the preemptor's.
        priority, own = held.columns.priority[places], held.columns.queue[places] == self.queue
        _, rank = np.unique(priority, return_inverse=True)
        _, first, which = np.unique(2 * rank + own, return_index=True, return_inverse=True)
        one_of_each = map(held.__getitem__, places[first].tolist())
        permits = np.array([*map(self.permits, one_of_each)], dtype=np.bool_)[which]
        equal = np.flatnonzero(priority == mine)
        permits[equal] = [self.permits(held[at]) for at in places[equal].tolist()]
        return held.at(places[permits])

    def borrows_contested(self, queue: int) -> bool:
        """Say whether a queue uses more than its nominal quota in a contested fr (§6.2)."""
        tree, used = self.snapshot.tree, self.snapshot.usage.amount[queue]
        return any(used[fr] > tree.nominal(queue, fr) for fr in self.contested)

    @property
    def kept_nominal(self) -> Mapping[int, int]:
        """What has to end within nominal quota in an attempt without borrowing (§5.6)."""
        return self.searched

    def enough(self, node: int, fr: int) -> int:
        """Return the largest usage of a node off the path at which it gives no victim (§5.6)."""
        return self.snapshot.tree.subtree[node][fr]

    def is_asked(self, node: int) -> bool:  # noqa: ARG002 - all are, here
        """Say whether a node off the path has to be over its quota to give a victim."""
        return True

    def permitted_where_borrowed(self) -> Holders:
        """Return the permitted workloads of the own queue and queues that borrow contested fr."""
        admitted = self.snapshot.admitted
        return self._permitted(
            one for one in admitted if one == self.queue or self.borrows_contested(one)
        )

    @cached_property
    def candidates(self) -> Holders:
        """The candidates that Kueue would collect: permitted, and with a side over quota now."""
        usage = self.snapshot.usage
        return self._permitted(
            queue
            for queue in self.snapshot.admitted
            # By usage before any removal, whichever the candidate is.
            if not any(usage.within_nominal(node, self.contested) for node in self.side(queue))
        )

    @cached_property
    def attempts(self) -> tuple[bool, ...]:
        """The attempts in Kueue's order, each as "borrowing is permitted" (§5.5)."""
        own, some = self.queue, self.candidates
        others = some.at(np.flatnonzero(some.columns.queue != own))
        variants = {*self.variants(others)[0]}
        # A missing borrowWithinCohort reads as Never, as Kueue treats the two alike (§5.5).
        forbidden = self.policy.borrow_within_cohort.policy == "Never"
        tree, used = self.snapshot.tree, self.snapshot.usage.amount[own]
        under_nominal = all(used[fr] < tree.nominal(own, fr) for fr in self.contested)
        if not variants or (forbidden and not under_nominal):
            return (True,)
        if forbidden and Variant.HIERARCHICAL_RECLAIM not in variants:
            return (False, True)
        return (True, False)
