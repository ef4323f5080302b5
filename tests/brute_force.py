"""Classical preemption by the definition: remove workloads one at a time, in every order.

A set is legal in an attempt if single removals, each accepted at its moment, lead to it, and
the preemptor then fits (the definition of the recorded ``legal`` masks). Everything is written
from docs/semantics/kueue.md §3 and §5, as literally as possible and with no regard to speed:
usage is summed up anew from what is left, candidates are collected by walking the tree down.
Only what was read (quotas, workloads, assignment) is shared with the product.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

from planner.quota.kueue.amount import add, subtract
from planner.quota.kueue.assignment import Assignment, contested, total_request, whole_request
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot

Gone = frozenset[str]
"""The workloads removed so far, as namespace/name."""


class Simulation:
    """One preemptor with its flavors assigned, on one snapshot. Keep the workloads few."""

    def __init__(self, snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> None:
        self.snapshot = snapshot
        self.tree = snapshot.tree
        self.preemptor = preemptor
        self.queue = preemptor.queue
        self.policy = snapshot.queues[preemptor.queue].spec.preemption
        self.request = total_request(assignment, preemptor, snapshot)
        self.needed = whole_request(assignment, preemptor, snapshot)
        self.contested = contested(assignment, snapshot)
        self.workloads = {w.key: w for held in snapshot.admitted.values() for w in held}
        self._usage: dict[tuple[int, int, Gone], int] = {}

    # §3: quota arithmetic, always from the beginning.

    def usage(self, node: int, fr: int, gone: Gone) -> int:
        """Sum up what is left below a node, without what its children keep for themselves."""
        key = (node, fr, gone)
        if key not in self._usage:
            total = 0
            if self.tree.nodes[node].is_queue:
                for workload in self.snapshot.admitted[node]:
                    if workload.key not in gone:
                        total = add(total, workload.usage.get(fr, 0))
            for child in self.tree.children[node]:
                lent = subtract(self.usage(child, fr, gone), self.kept(child, fr))
                total = add(total, max(0, lent))
            self._usage[key] = total
        return self._usage[key]

    def subtree(self, node: int, fr: int) -> int:
        """Return the quota of a node and of everything below that is lent to it."""
        total = self.tree.nominal(node, fr)
        for child in self.tree.children[node]:
            total = add(total, subtract(self.subtree(child, fr), self.kept(child, fr)))
        return total

    def kept(self, node: int, fr: int) -> int:
        """Return the quota which a node never lends."""
        quota = self.tree.nodes[node].quotas.get(fr)
        if quota is None or quota.lending_limit is None:
            return 0
        return max(0, subtract(self.subtree(node, fr), quota.lending_limit))

    def available(self, node: int, fr: int, gone: Gone) -> int:
        """Return what a node can still use; may be negative."""
        used, kept = self.usage(node, fr, gone), self.kept(node, fr)
        parent = self.tree.nodes[node].parent
        if parent < 0:
            return subtract(self.subtree(node, fr), used)
        from_above = self.available(parent, fr, gone)
        limit = self.tree.borrowing_limit(node, fr)
        if limit is not None:
            lendable = subtract(self.subtree(node, fr), kept)
            taken = max(0, subtract(used, kept))
            from_above = min(from_above, add(subtract(lendable, taken), limit))
        return add(max(0, subtract(kept, used)), from_above)

    def within_quota(self, node: int, gone: Gone) -> bool:
        """Say whether a node is over its quota in no contested flavor-resource."""
        return all(self.usage(node, fr, gone) <= self.subtree(node, fr) for fr in self.contested)

    def fits(self, gone: Gone, *, borrowing: bool) -> bool:
        """Say whether the preemptor fits (5.1 ``workloadFits``)."""
        for fr, asked in self.request.items():
            used = self.usage(self.queue, fr, gone)
            if not borrowing and add(used, asked) > self.tree.nominal(self.queue, fr):
                return False
        return all(
            asked <= max(0, self.available(self.queue, fr, gone))
            for fr, asked in self.needed.items()
        )

    # §5.2 and §5.3: candidates, as collected before the first removal.

    @cached_property
    def variants(self) -> dict[str, str]:
        """Every candidate with its variant."""
        found = {}
        if self.policy.within_cluster_queue != "Never":
            for workload in self.snapshot.admitted[self.queue]:
                if self._satisfies(workload, self.policy.within_cluster_queue):
                    found[workload.key] = "WithinCQ"
        if self.policy.reclaim_within_cohort == "Never":
            return found
        return found | self._of_others()

    def _of_others(self) -> dict[str, str]:
        found = {}
        visited = self.queue
        advantage, rest = self._fits_in_quota(self.queue, self.request)
        at = self.tree.nodes[self.queue].parent
        while at >= 0:
            for workload in self._collect(at, visited):
                found[workload.key] = self._variant(workload, advantage=advantage)
            fits_here, rest = self._fits_in_quota(at, rest)
            advantage = advantage or fits_here
            visited, at = at, self.tree.nodes[at].parent
        return found

    def _satisfies(self, workload: Admitted, policy: str) -> bool:
        return bool(self.contested & workload.names) and self.permits(workload, policy)

    def permits(self, workload: Admitted, policy: str) -> bool:
        """Say whether a policy lets a workload go for the preemptor."""
        mine, its = self.preemptor.priority, workload.priority
        if policy == "LowerOrNewerEqualPriority":
            return mine > its or (mine == its and self.preemptor.queued_at < workload.queued_at)
        return policy == "Any" or (policy == "LowerPriority" and mine > its)

    def _fits_in_quota(self, node: int, asked: dict[int, int]) -> tuple[bool, dict[int, int]]:
        nothing: Gone = frozenset()
        fits, rest = True, {}
        for fr, amount in asked.items():
            used = self.usage(node, fr, nothing)
            fits = fits and add(used, amount) <= self.subtree(node, fr)
            free = max(0, subtract(self.kept(node, fr), used))
            rest[fr] = max(0, subtract(amount, free))
        return fits, rest

    def _collect(self, cohort: int, visited: int) -> Iterable[Admitted]:
        for child in self.tree.children[cohort]:
            node = self.tree.nodes[child]
            if child == visited or not node.active or self.within_quota(child, frozenset()):
                continue
            if not node.is_queue:
                yield from self._collect(child, visited)
                continue
            for workload in self.snapshot.admitted[child]:
                if self._satisfies(workload, self.policy.reclaim_within_cohort):
                    yield workload

    def _variant(self, workload: Admitted, *, advantage: bool) -> str:
        borrow = self.policy.borrow_within_cohort
        if advantage:
            return "HierarchicalReclaim"
        threshold = borrow.max_priority_threshold
        above = threshold is not None and workload.priority > threshold
        if borrow.policy == "Never" or workload.priority >= self.preemptor.priority or above:
            return "ReclaimWithoutBorrowing"
        return "ReclaimWhileBorrowing"

    # §5.5 and §5.6: attempts and removals.

    @cached_property
    def attempts(self) -> tuple[bool, ...]:
        """The attempts in Kueue's order, each as "borrowing is permitted"."""
        others = [v for v in self.variants.values() if v != "WithinCQ"]
        forbidden = self.policy.borrow_within_cohort.policy == "Never"
        under = all(
            self.usage(self.queue, fr, frozenset()) < self.tree.nominal(self.queue, fr)
            for fr in self.contested
        )
        if not others or (forbidden and not under):
            return (True,)
        if forbidden and "HierarchicalReclaim" not in others:
            return (False, True)
        return (True, False)

    def over_quota(self, key: str, gone: Gone) -> bool:
        """Say whether a victim's queue and cohorts are over quota now; own queue: always."""
        mine = {self.queue}
        at = self.queue
        while at >= 0:
            mine.add(at)
            at = self.tree.nodes[at].parent
        at = self.workloads[key].queue
        while at not in mine:
            if self.within_quota(at, gone):
                return False
            at = self.tree.nodes[at].parent
        return True

    def takes(self, key: str, gone: Gone, *, borrowing: bool) -> bool:
        """Say whether Kueue would take a workload after those which are gone (§5.6)."""
        variant = self.variants.get(key)
        if variant is None or (borrowing and variant == "ReclaimWithoutBorrowing"):
            return False
        return self.over_quota(key, gone)

    def legal(self, *, borrowing: bool) -> set[Gone]:
        """Return every legal set of an attempt; the empty one if the preemptor fits at once."""
        reached = reachable(
            self.variants, lambda key, gone: self.takes(key, gone, borrowing=borrowing)
        )
        return {gone for gone in reached if self.fits(gone, borrowing=borrowing)}

    def removable(self, among: Iterable[str]) -> set[Gone]:
        """Return the sets that can go one by one if only being over quota matters."""
        return reachable(among, self.over_quota)


def reachable(among: Iterable[str], takes: Callable[[str, Gone], bool]) -> set[Gone]:
    """Return every set that single accepted removals lead to, the empty one included."""
    keys = list(among)
    start: Gone = frozenset()
    found = {start}
    ahead = [start]
    while ahead:
        gone = ahead.pop()
        for key in keys:
            if key not in gone and takes(key, gone):
                more = gone | {key}
                if more not in found:
                    found.add(more)
                    ahead.append(more)
    return found
