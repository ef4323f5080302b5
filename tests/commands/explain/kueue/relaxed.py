"""Preemption by the definition, with only some of its laws: what is not kept permits everything."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from tests.brute_force import question_of
from tests.oracle.cluster import Held, NodeId
from tests.oracle.fair import Search
from tests.oracle.legality import BORROWING, NO_BORROWING, collected, reachable, reached
from tests.oracle.question import Question


@dataclass(frozen=True)
class Relaxed(Question):
    """One preemptor on one snapshot, without fair sharing."""

    kept: Collection[str] = ()

    def has_plan(self) -> bool:
        """Say whether any set keeps to the laws."""
        candidates, attempts = collected(self)
        if "KQ-06" not in self.kept:
            free = {NO_BORROWING: BORROWING}
            candidates = [replace(c, variant=free.get(c.variant, c.variant)) for c in candidates]
        tried = attempts if "KQ-08" in self.kept else [True, False]
        return any(reached(self, candidates, borrow=borrow) for borrow in tried)

    def fits(self, gone: int, *, borrow: bool) -> bool:
        """Whether it fits, as far as KQ-01 and KQ-02 are kept."""
        tree, nominal = self.tree, self.cluster.nodes[self.queue].nominal
        for at, asked in self.request.items():
            within = borrow or tree.usage(self.queue, at, gone) + asked <= nominal.get(at, 0)
            if "KQ-02" in self.kept and not within:
                return False
            if "KQ-01" in self.kept and asked > max(0, tree.available(self.queue, at, gone)):
                return False
        return True

    def within_nominal(self, node: NodeId, gone: int) -> bool:
        """Whether KQ-07 keeps what is below a node from going."""
        return "KQ-07" in self.kept and super().within_nominal(node, gone)

    def may_take(self, candidate: Held) -> bool:
        """Whether KQ-03, KQ-04 and KQ-05 permit a workload, where kept."""
        return self.permits_by(candidate, "KQ-03", {True: "KQ-04", False: "KQ-05"})

    def permits_by(self, candidate: Held, flavors: str, policies: dict[bool, str]) -> bool:
        """Whether two laws permit a workload, where kept: on flavors, and on the policy.

        The latter is named by whether the workload is in the preemptor's own queue.
        """
        own = ("queue", candidate.queue) == self.queue
        policy = self.policies["withinClusterQueue" if own else "reclaimWithinCohort"]
        if flavors in self.kept and candidate.uses.isdisjoint(self.contested):
            return False
        return policies[own] not in self.kept or self.permits(policy, candidate)


class RelaxedFair(Relaxed):
    """One preemptor on one snapshot, with fair sharing."""

    def has_plan(self) -> bool:
        """Say whether some order of single removals leads to a set that the laws permit."""
        search, held = Search(self), self.cluster.held

        def allowed(gone: int, index: int) -> bool:
            borrows = "FS-06" not in self.kept or search.borrows(gone, held[index])
            return borrows and ("FS-07" not in self.kept or search.fair(gone, index))

        among = tuple(index for index, one in enumerate(held) if self.may_take(one))
        return any(self.fits(gone, borrow=True) for gone in reachable(among, allowed))

    def fits(self, gone: int, *, borrow: bool) -> bool:
        """Whether it fits, if FS-01 is kept."""
        return "FS-01" not in self.kept or self.tree.fits(gone, borrow=borrow)

    def may_take(self, candidate: Held) -> bool:
        """Whether the laws that look at single workloads permit one."""
        tree, queue = self.tree, ("queue", candidate.queue)
        node, own = self.cluster.nodes[queue], queue == self.queue
        if not own and tree.above(queue)[-1:] != tree.above(self.queue)[-1:]:
            return False
        over = any(tree.usage(queue, at, 0) > node.nominal.get(at, 0) for at in self.contested)
        if not node.active or ("FS-05" in self.kept and not own and not over):
            return False
        return self.permits_by(candidate, "FS-02", {True: "FS-03", False: "FS-04"})


def has_plan(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    kept: Collection[str],
    *,
    fair: bool,
) -> bool:
    """Say whether a plan exists with some laws only, by the definition."""
    question = question_of(snapshot, preemptor, assignment)
    return (RelaxedFair if fair else Relaxed)(**vars(question), kept=kept).has_plan()
