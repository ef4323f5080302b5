"""What every step of KEP-83's algorithm looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.laws.kep83 import K83_AT_MIN, K83_BORROWS, K83_FITS, K83_WITHOUT_BORROWING
from planner.quota.kueue.amount import add
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.laws import keeps
from planner.state.kep83 import Kep83
from planner.state.queues import Preemption


@dataclass(frozen=True, slots=True)
class Kep83Context:
    """One preemption search: who wants in, with what request, by which options.

    ``usage`` is changed by the search and restored at its end. ``request`` is per fr in integer
    units; ``involved`` are the fr whose assigned mode is Preempt; ``cost`` is what evicting a
    workload costs, by ``namespace/name``, 0 where nothing is said.
    """

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    request: Mapping[int, int]
    involved: frozenset[int]
    options: Kep83
    cost: Mapping[str, int]

    @property
    def queue(self) -> int:
        """The preemptor's ClusterQueue."""
        return self.preemptor.queue

    @property
    def policy(self) -> Preemption:
        """The preemption policies of the preemptor's ClusterQueue."""
        return self.snapshot.queues[self.queue].spec.preemption

    @keeps(K83_FITS, K83_WITHOUT_BORROWING)
    def fits(self) -> bool:
        """Say whether the request fits within the quota: where preemption is needed, within min."""
        usage, queue = self.usage, self.queue
        for fr, amount in self.request.items():
            if amount > max(0, usage.available(queue, fr)):
                return False
            # What fits as it is may borrow; only an assignment that preempts may not.
            within_min = fr in self.involved and not self.options.borrows
            if within_min and add(usage.amount[queue][fr], amount) > usage.tree.nominal(queue, fr):
                return False
        return True

    @keeps(K83_BORROWS)
    def is_borrowing(self, queue: int) -> bool:
        """Say whether a ClusterQueue uses more than its min of some involved flavor."""
        used, tree = self.usage.amount[queue], self.usage.tree
        return any(used[fr] > tree.nominal(queue, fr) for fr in self.involved)

    @keeps(K83_AT_MIN)
    def is_below_min(self, queue: int) -> bool:
        """Say whether a ClusterQueue uses less than its min of all the involved flavors."""
        used, tree = self.usage.amount[queue], self.usage.tree
        # Below, not at it: where Kueue of today stops at its quota, the KEP takes one more.
        return all(used[fr] < tree.nominal(queue, fr) for fr in self.involved)
