"""Classical preemption by the definition, with only some of its laws."""

from collections.abc import Collection, Iterable
from functools import cached_property

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from tests.brute_force import Gone, Simulation


class Relaxed(Simulation):
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
        """Say whether any set keeps to the laws."""
        tried = self.attempts if "KQ-08" in self.kept_laws else (True, False)
        return any(self.legal(borrowing=borrowing) for borrowing in tried)

    def fits(self, gone: Gone, *, borrowing: bool) -> bool:
        """Say whether the preemptor fits, as far as KQ-01 and KQ-02 are kept."""
        for fr, asked in self.request.items():
            used = self.usage(self.queue, fr, gone) + asked
            within = borrowing or used <= self.tree.nominal(self.queue, fr)
            if "KQ-02" in self.kept_laws and not within:
                return False
            if "KQ-01" in self.kept_laws and asked > max(0, self.available(self.queue, fr, gone)):
                return False
        return True

    @cached_property
    def variants(self) -> dict[str, str]:
        """Every workload that KQ-03, KQ-04, KQ-05 and KQ-07 permit, where kept."""
        own = {
            workload.key: "WithinCQ"
            for workload in self.snapshot.admitted.get(self.queue, ())
            if self._is_permitted(workload, "KQ-04", self.policy.within_cluster_queue)
        }
        return own | self._of_others()

    def _is_permitted(self, workload: Admitted, law: str, policy: str) -> bool:
        if "KQ-03" in self.kept_laws and not self.contested & workload.names:
            return False
        return law not in self.kept_laws or self.permits(workload, policy)

    def _collect(self, cohort: int, visited: int) -> Iterable[Admitted]:
        for child in self.tree.children[cohort]:
            node = self.tree.nodes[child]
            nothing: Gone = frozenset()
            within = "KQ-07" in self.kept_laws and self.within_quota(child, nothing)
            if child == visited or not node.active or within:
                continue
            if not node.is_queue:
                yield from self._collect(child, visited)
                continue
            for workload in self.snapshot.admitted.get(child, ()):
                if self._is_permitted(workload, "KQ-05", self.policy.reclaim_within_cohort):
                    yield workload

    def takes(self, key: str, gone: Gone, *, borrowing: bool) -> bool:
        """Say whether a workload may go after others, as far as KQ-06 and KQ-07 are kept."""
        variant = self.variants[key]
        restricted = borrowing and variant == "ReclaimWithoutBorrowing"
        if "KQ-06" in self.kept_laws and restricted:
            return False
        return "KQ-07" not in self.kept_laws or self.over_quota(key, gone)
