"""Fair sharing by the definition, with only some of its laws."""

from collections.abc import Collection

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from tests.brute_force import Gone, reachable
from tests.brute_force_fair import FairSimulation


class RelaxedFair(FairSimulation):
    """One preemptor on one snapshot; laws that are not kept permit everything."""

    def __init__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        assignment: Assignment,
        kept: Collection[str],
    ) -> None:
        super().__init__(snapshot, preemptor, assignment)
        self.kept_laws = kept

    def has_plan(self) -> bool:
        """Say whether some order of single removals leads to a set that the laws permit."""
        among = [key for key, workload in self.workloads.items() if self._may_go(workload)]
        return any(self._makes_room(gone) for gone in reachable(among, self.accepts))

    def _makes_room(self, gone: Gone) -> bool:
        return "FS-01" not in self.kept_laws or self.fits(gone, borrowing=True)

    def _may_go(self, workload: Admitted) -> bool:
        """Say whether the laws that look at single workloads permit one."""
        own = workload.queue == self.queue
        law, policy = ("FS-04", str(self.policy.reclaim_within_cohort))
        if own:
            law, policy = ("FS-03", str(self.policy.within_cluster_queue))
        elif self._root(workload.queue) != self._root(self.queue):
            return False
        if not self.tree.nodes[workload.queue].active:
            return False
        if "FS-02" in self.kept_laws and not self.contested & workload.names:
            return False
        if "FS-05" in self.kept_laws and not own and not self._borrows_contested(workload.queue):
            return False
        return law not in self.kept_laws or self.permits(workload, policy)

    def _borrows_contested(self, queue: int) -> bool:
        nothing: Gone = frozenset()
        return any(
            self.usage(queue, fr, nothing) > self.tree.nominal(queue, fr) for fr in self.contested
        )

    def accepts(self, key: str, gone: Gone) -> bool:
        """Say whether a workload may go after others, as far as FS-06 and FS-07 are kept."""
        borrows = "FS-06" not in self.kept_laws or self.borrows(key, gone)
        return borrows and ("FS-07" not in self.kept_laws or self.permitted_by_share(key, gone))
