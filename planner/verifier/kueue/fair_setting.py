"""Who wants in, and over whom, under fair sharing: before anything is removed.

Written from docs/semantics/kueue.md §6.1 to §6.3 and §6.5, and from kueue ff69552e
pkg/scheduler/preemption/preemption.go and pkg/scheduler/preemption/fairsharing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.quota.kueue.share import Share, Shares
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.tree import Usage
from planner.state.kueue_configuration import Strategy
from planner.verifier.kueue.setting import Setting

OWN_QUEUE: Final = "InClusterQueue"
WITHIN_NOMINAL: Final = "InCohortReclamation"
BY_SHARE: Final = "InCohortFairSharing"

FINAL_SHARE: Final[Strategy] = "LessThanOrEqualToFinalShare"
INITIAL_SHARE: Final[Strategy] = "LessThanInitialShare"


@dataclass(frozen=True)
class FairSetting(Setting):
    """A preemptor with its flavors assigned, under fair sharing."""

    @cached_property
    def shares(self) -> Shares:
        """The shares of the tree, as functions of usage."""
        return Shares(self.snapshot.tree, self.snapshot.configuration.rules)

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The configured strategies: a removal is legal if one of them permits it."""
        return self.snapshot.configuration.strategies

    def with_request(self, usage: Usage) -> Usage:
        """Return a copy of some usage in which REQ counts at the preemptor's queue (§6.3)."""
        counted = usage.copy()
        counted.add(self.queue, self.searched)
        return counted

    @cached_property
    def stays_within_nominal(self) -> bool:
        """Whether the preemptor's queue is entitled to the request, whatever the shares (§6.3).

        With REQ added and nothing removed, it uses no more than its nominal quota in every
        contested flavor-resource, and the gate is on.
        """
        used = self.with_request(self.snapshot.usage).amount[self.queue]
        nominal = self.snapshot.tree.nominal
        # Evaluated once, before the first removal: victims of the own queue do not change it
        # (§6.3).
        within = all(used[fr] <= nominal(self.queue, fr) for fr in self.contested)
        return within and self.snapshot.configuration.gate("FairSharingPreemptWithinNominal")

    def reason(self, workload: Admitted) -> str:
        """Return the code Kueue writes into the Preempted condition (§6.5)."""
        if workload.queue == self.queue:
            return OWN_QUEUE
        return WITHIN_NOMINAL if self.stays_within_nominal else BY_SHARE

    def borrows_contested(self, queue: int) -> bool:
        """Say whether a queue uses more than its nominal quota in a contested fr (§6.2)."""
        tree, used = self.snapshot.tree, self.snapshot.usage.amount[queue]
        return any(used[fr] > tree.nominal(queue, fr) for fr in self.contested)

    @cached_property
    def candidates(self) -> Sequence[Admitted]:
        """What Kueue would collect (§6.2): what passes FS-02 to FS-05."""
        return [
            workload
            for queue in self.snapshot.admitted
            if queue == self.queue or self.borrows_contested(queue)
            for workload in self.permitted(queue)
        ]

    def rival(self, top: int) -> int:
        """Return the sibling of a node, just below the common ancestor, on the preemptor's path."""
        return self.path[self.path.index(self.snapshot.tree.nodes[top].parent) - 1]

    def distance(self, queue: int) -> int:
        """Return how far up the preemptor's path the common ancestor with a queue lies."""
        return self.path.index(self.ancestor(queue)) if self.side(queue) else 0

    def is_fair(self, mine: Share, before: Share, after: Share) -> bool:
        """Say whether a strategy permits a removal (§6.5).

        ``mine`` is the share of the preemptor's side, ``before`` and ``after`` are those of the
        victim's side; REQ is counted.
        """
        # Doubles, compared as they are: Kueue rounds nothing, so a tolerance would be another rule.
        final = FINAL_SHARE in self.strategies and mine.order <= after.order
        return final or (INITIAL_SHARE in self.strategies and mine.order < before.order)
