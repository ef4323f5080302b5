"""KEP-83 by its text: workloads removed one at a time, in every order; and its own algorithm.

Everything is written from the KEP's sections "ClusterQueue API changes", "Preemption" and
"Alternatives", with no regard to speed, and with the decisions on what it leaves open that
``planner.research.kep83.laws`` states. Quota arithmetic is that of the other brute force, summed up
anew each time; of the product only what was read and the names of the options are used.
"""

from collections.abc import Mapping

from planner.quota.kueue.amount import add
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.research.kep83.options import Kep83
from tests.brute_force import Gone, Simulation, reachable

NOBODY: Gone = frozenset()


class Kep83Simulation(Simulation):
    """One preemptor with its flavors assigned, on one snapshot. Keep the workloads few."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a decision depends on
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        assignment: Assignment,
        options: Kep83,
        waited: int = 0,
        cost: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(snapshot, preemptor, assignment)
        self.options = options
        self.waited = waited
        self.cost = cost or {}
        # The defaults of the options are what the ClusterQueue says, in today's words.
        reclaim = self.policy.reclaim_within_cohort
        self.within_cohort = (
            options.cohort
            or {
                "Never": "Never",
                "LowerPriority": "ReclaimFromLowerPriority",
                "Any": "ReclaimFromAny",
            }[reclaim]
        )
        own = options.queue or self.policy.within_cluster_queue
        self.within_queue = "Never" if own == "Never" else "LowerPriority"

    def fits_in_quota(self, gone: Gone) -> bool:
        """Step 4: within the quota; what needs preemption does not borrow, as a rule."""
        for fr, asked in self.request.items():
            if asked > max(0, self.available(self.queue, fr, gone)):
                return False
            if fr in self.contested and self.within_cohort != "LowerPriority":
                used = self.usage(self.queue, fr, gone)
                if add(used, asked) > self.tree.nominal(self.queue, fr):
                    return False
        return True

    def candidates(self) -> set[str]:
        """Steps 1 and 2: whom the algorithm lists."""
        if self.waited < self.options.wait:
            return set()
        return {key for key, workload in self.workloads.items() if self._is_listed(workload)}

    def _is_listed(self, workload: Admitted) -> bool:
        if not self.contested & workload.names:
            return False
        lower = workload.priority < self.preemptor.priority
        if workload.queue == self.queue:
            return lower and self.within_queue == "LowerPriority"
        if self._root(workload.queue) != self._root(self.queue):
            return False
        if not self.tree.nodes[workload.queue].active or self.within_cohort == "Never":
            return False
        if not lower and self.within_cohort != "ReclaimFromAny":
            return False
        return any(
            self.usage(workload.queue, fr, NOBODY) > self.tree.nominal(workload.queue, fr)
            for fr in self.contested
        )

    def _root(self, node: int) -> int:
        while self.tree.nodes[node].parent >= 0:
            node = self.tree.nodes[node].parent
        return node

    def is_skipped(self, key: str, gone: Gone) -> bool:
        """Step 4: a queue already below its min quota for all the involved flavors is skipped."""
        queue = self.workloads[key].queue
        return queue != self.queue and all(
            self.usage(queue, fr, gone) < self.tree.nominal(queue, fr) for fr in self.contested
        )

    def legal_sets(self) -> set[Gone]:
        """Return every set that single permitted removals lead to and that makes room."""
        reached = reachable(self.candidates(), lambda key, gone: not self.is_skipped(key, gone))
        return {gone for gone in reached if gone and self.fits_in_quota(gone)}

    def in_order(self) -> list[str]:
        """Step 3: return the candidates in order."""
        return sorted(self.candidates(), key=self._place)

    def algorithm(self) -> list[str]:
        """Steps 4 and 5: remove in order until it fits, add back in reverse; who is left."""
        gone: list[str] = []
        for key in self.in_order():
            if self.fits_in_quota(frozenset(gone)) and gone:
                break
            if not self.is_skipped(key, frozenset(gone)):
                gone.append(key)
        if not self.fits_in_quota(frozenset(gone)):
            return []
        for key in reversed(gone.copy()):
            rest = [other for other in gone if other != key]
            if self.fits_in_quota(frozenset(rest)):
                gone = rest
        return gone

    def _place(self, key: str) -> list[float | str]:
        workload = self.workloads[key]
        compared: list[float | str] = [0 if workload.queue != self.queue else 1]
        for criterion in self.options.order or ("ByLowestPriority", "ByLowestRuntime"):
            if criterion == "ByLowestPriority":
                compared.append(workload.priority)
            elif criterion == "ByLowestDisruptionCost":
                compared.append(self.cost.get(key, 0))
            else:
                ran = self.snapshot.now.timestamp() - workload.reserved_s
                compared.append(ran if criterion == "ByLowestRuntime" else -ran)
        return [*compared, workload.uid]
