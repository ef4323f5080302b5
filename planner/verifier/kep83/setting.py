"""Who wants in, and over whom, by KEP-83: before anything is removed.

Written from KEP-83, "ClusterQueue API changes", "Preemption" and "Alternatives".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.waiting import seconds_waiting
from planner.state.kep83 import CohortPolicy, Kep83, QueuePolicy
from planner.verifier.kueue.setting import Setting

OWN_QUEUE: Final = "InClusterQueue"
RECLAIMED: Final = "InCohortReclamation"
WHILE_BORROWING: Final = "InCohortReclaimWhileBorrowing"


@dataclass(frozen=True)
class Kep83Setting(Setting):
    """A preemptor with its flavors assigned, by KEP-83's rules under some options.

    ``contested`` are the KEP's involved flavors.
    """

    options: Kep83

    @cached_property
    def cohort_policy(self) -> CohortPolicy:
        """The policy for victims of other queues."""
        return self.options.within_cohort(self.policy)

    @cached_property
    def queue_policy(self) -> QueuePolicy:
        """The policy for victims of the own queue."""
        return self.options.within_cluster_queue(self.policy)

    @cached_property
    def waited_s(self) -> int:
        """For how many seconds the preemptor has waited since it was first attempted."""
        return seconds_waiting(self.preemptor.workload, self.snapshot.now)

    @property
    def may_preempt(self) -> bool:
        """Whether the preemptor has waited long enough."""
        return self.waited_s >= self.options.wait

    def permits(self, workload: Admitted) -> bool:
        """Say whether the policy for its queue permits a workload as a victim."""
        policy = self.queue_policy if workload.queue == self.queue else self.cohort_policy
        # The other values, of either field, all ask for a lower priority; equal ones never go.
        if policy in {"Never", "ReclaimFromAny"}:
            return policy == "ReclaimFromAny"
        return workload.priority < self.preemptor.priority

    def reason(self, workload: Admitted) -> str:
        """Return the code Kueue gives such a victim today."""
        if workload.queue == self.queue:
            return OWN_QUEUE
        # The KEP has no reason codes; these are what Kueue says today of a removal of that kind.
        return WHILE_BORROWING if self.options.borrows else RECLAIMED

    def borrows_contested(self, queue: int) -> bool:
        """Say whether a queue uses more than its min of some involved flavor."""
        used = self.snapshot.usage.amount[queue]
        return any(used[fr] > self.snapshot.tree.nominal(queue, fr) for fr in self.contested)

    @cached_property
    def candidates(self) -> Sequence[Admitted]:
        """What the KEP would collect: what passes K83-03 to K83-06 and K83-08."""
        if not self.may_preempt:
            return ()
        return [
            workload
            for queue in self.snapshot.admitted
            if queue == self.queue or self.borrows_contested(queue)
            for workload in self.permitted(queue)
        ]


def kep83_setting_of(setting: Setting, options: Kep83) -> Kep83Setting:
    """Return the same preemptor and state, by KEP-83's rules."""
    return Kep83Setting(
        setting.snapshot,
        setting.preemptor,
        setting.searched,
        setting.contested,
        setting.searched,
        setting.floor,
        options,
    )
