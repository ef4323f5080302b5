"""Fair sharing by the definition: remove workloads one at a time, in every order.

A set is legal if single removals, each of which some configured strategy accepts at its moment,
lead to it, and the preemptor then fits. Written from docs/semantics/kueue.md §6, as literally
as possible and with no regard to speed; quotas and usage are those of ``tests.brute_force``.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from planner.quota.kueue.amount import add, subtract
from tests.brute_force import Gone, Simulation, reachable


class Drs(NamedTuple):
    """What §6.1 computes of a node."""

    borrowing: bool
    ratio: float
    weight: float


def compare(a: Drs, b: Drs) -> int:
    """Compare two shares as the end of §6.1 says: -1, 0 or 1."""
    a_infinite, b_infinite = (drs.weight == 0 and drs.ratio != 0 for drs in (a, b))
    if a_infinite and b_infinite:
        return (a.ratio > b.ratio) - (a.ratio < b.ratio)
    if a_infinite != b_infinite:
        return 1 if a_infinite else -1
    mine, its = (drs.ratio / drs.weight if drs.ratio else 0.0 for drs in (a, b))
    return (mine > its) - (mine < its)


class FairSimulation(Simulation):
    """One preemptor with its flavors assigned, on one snapshot. Keep the workloads few."""

    # §6.1 and §6.3: shares, the request counted at the preemptor's queue.

    def counted(self, node: int, fr: int, gone: Gone) -> int:
        """Sum up usage below a node, with REQ at the preemptor's queue."""
        if self.tree.nodes[node].is_queue:
            asked = self.request.get(fr, 0) if node == self.queue else 0
            return add(self.usage(node, fr, gone), asked)
        total = 0
        for child in self.tree.children[node]:
            lent = subtract(self.counted(child, fr, gone), self.kept(child, fr))
            total = add(total, max(0, lent))
        return total

    def knows(self, node: int) -> set[int]:
        """Return the flavor-resources in the subtree quota map of a node."""
        known = set(self.tree.nodes[node].quotas)
        return known.union(*(self.knows(child) for child in self.tree.children[node]))

    def potential(self, node: int, fr: int) -> int:
        """Return what a node could use if nothing ran (§3)."""
        parent = self.tree.nodes[node].parent
        if parent < 0:
            return self.subtree(node, fr)
        capacity = add(self.kept(node, fr), self.potential(parent, fr))
        limit = self.tree.borrowing_limit(node, fr)
        most = capacity if limit is None else add(self.subtree(node, fr), limit)
        return min(capacity, most)

    def share(self, node: int, gone: Gone) -> Drs:
        """Compute the share of a node as it is now."""
        weight = self.tree.nodes[node].weight
        parent = self.tree.nodes[node].parent
        if parent < 0:
            return Drs(borrowing=False, ratio=0.0, weight=weight)
        excess: dict[str, int] = {}
        for fr in self.knows(node):
            over = subtract(self.counted(node, fr, gone), self.subtree(node, fr))
            if over > 0:
                resource = self.tree.frs[fr].resource
                excess[resource] = add(excess.get(resource, 0), over)
        root = parent
        while self.tree.nodes[root].parent >= 0:
            root = self.tree.nodes[root].parent
        ratio = 0.0
        for resource, over in excess.items():
            lendable = 0
            for fr in self.knows(root):
                if self.tree.frs[fr].resource == resource:
                    lendable = add(lendable, self.potential(parent, fr))
            if lendable > 0:
                ratio = max(ratio, float(over) * 1000 / float(lendable))
        return Drs(bool(excess), ratio, weight)

    # §6.2: candidates.

    @cached_property
    def candidates(self) -> set[str]:
        """Every candidate, as collected before the first removal."""
        nothing: Gone = frozenset()
        found = set()
        for workload in self.workloads.values():
            if workload.queue == self.queue:
                policy: str = self.policy.within_cluster_queue
            elif self._root(workload.queue) == self._root(self.queue) and any(
                self.usage(workload.queue, fr, nothing) > self.tree.nominal(workload.queue, fr)
                for fr in self.contested
            ):
                policy = self.policy.reclaim_within_cohort
            else:
                continue
            if self.tree.nodes[workload.queue].active and self._satisfies(workload, policy):
                found.add(workload.key)
        return found

    def _root(self, node: int) -> int:
        while self.tree.nodes[node].parent >= 0:
            node = self.tree.nodes[node].parent
        return node

    # §6.3 to §6.6: single removals.

    @cached_property
    def within_nominal(self) -> bool:
        """Say whether the request is within the nominal quota of its queue."""
        return self.snapshot.configuration.gate("FairSharingPreemptWithinNominal") and all(
            self.counted(self.queue, fr, frozenset()) <= self.tree.nominal(self.queue, fr)
            for fr in self.contested
        )

    def side(self, key: str) -> list[int]:
        """Return a victim's queue and the cohorts above it that are not above the preemptor."""
        mine, at = set(), self.queue
        while at >= 0:
            mine.add(at)
            at = self.tree.nodes[at].parent
        found, at = [], self.workloads[key].queue
        while at not in mine:
            found.append(at)
            at = self.tree.nodes[at].parent
        return found

    def borrows(self, key: str, gone: Gone) -> bool:
        """Say whether a victim's queue and cohorts borrow now; own queue: always."""
        return all(self.share(node, gone).borrowing for node in self.side(key))

    def permitted_by_share(self, key: str, gone: Gone) -> bool:
        """Say whether some configured strategy takes a victim now; own queue: always."""
        side = self.side(key)
        if not side or self.within_nominal:
            return True
        ancestor = self.tree.nodes[side[-1]].parent
        rival = self.queue
        while self.tree.nodes[rival].parent != ancestor:
            rival = self.tree.nodes[rival].parent
        mine = self.share(rival, gone)
        old, new = self.share(side[-1], gone), self.share(side[-1], gone | {key})
        configured = self.snapshot.configuration.strategies
        final = "LessThanOrEqualToFinalShare" in configured and compare(mine, new) <= 0
        initial = "LessThanInitialShare" in configured and compare(mine, old) < 0
        return final or initial

    def accepts(self, key: str, gone: Gone) -> bool:
        """Say whether Kueue's primitives accept a removal in any strategy."""
        return self.borrows(key, gone) and self.permitted_by_share(key, gone)

    @cached_property
    def legal_sets(self) -> set[Gone]:
        """Every legal set; the empty one if the preemptor fits at once."""
        reached = reachable(self.candidates, self.accepts)
        return {gone for gone in reached if self.fits(gone, borrowing=True)}

    def borrowing_only(self, among: Iterable[str]) -> set[Gone]:
        """Return the sets that can go one by one if only borrowing matters."""
        return reachable(among, self.borrows)

    def accepted(self, among: Iterable[str]) -> set[Gone]:
        """Return the sets that can go one by one, whoever is a candidate, fitting or not."""
        return reachable(among, self.accepts)
